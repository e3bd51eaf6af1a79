use super::*;
use crate::config::traced::Spot;

fn started(units: &[&str], environment: &[(&str, &str)]) -> Vec<Vec<String>> {
    let entries: Vec<Entry> = units
        .iter()
        .enumerate()
        .flat_map(|(file, unit)| entries(unit.as_bytes(), file))
        .collect();
    let service = Service::of_entries(&entries);
    let mut all = service.environment.clone();
    all.extend(environment.iter().map(|(name, value)| {
        let value = Traced::untraced(value.as_bytes());
        ((*name).to_owned(), value)
    }));
    service
        .exec_start
        .iter()
        .map(|it| {
            let words = command(it, &all, Unset::Empty);
            words.iter().map(|it| it.text().into_owned()).collect()
        })
        .collect()
}

fn check(units: &[&str], environment: &[(&str, &str)], expected: &[&[&str]]) {
    assert_eq!(started(units, environment), expected, "{units:?}");
}

#[test]
fn lines_go_on_and_comments_between_them_do_not_count() {
    check(
        &["[Service]\nExecStart=/bin/a --b \\\n  # no\n  --c\\\n\n[Install]\nExecStart=/bin/d\n"],
        &[],
        &[&["/bin/a", "--b", "--c"]],
    );
}

#[test]
fn an_empty_value_takes_back_those_before() {
    check(
        &[
            "[Service]\nEnvironment=A=1 \"B=2 3\"\nExecStart=/bin/a",
            "[Service]\nExecStart=\nExecStart=-/bin/b $A ${B} $B x${A}y $C ${C} a$A $$A\n",
        ],
        &[("A", "--x --y='1 2'")],
        &[&[
            "/bin/b",
            "--x",
            "--y=1 2",
            "2 3",
            "2",
            "3",
            "x--x --y='1 2'y",
            "",
            "a$A",
            "$A",
        ]],
    );
}

#[test]
fn words_have_quotes_and_escapes() {
    check(
        &["[Service]\nExecStart=:@/bin/a 'b c' --d=\"e f\"g \\x41 h\\si '' $A ; /bin/k"],
        &[("A", "1")],
        &[&["/bin/a", "b c", "--d=e fg", "A", "h i", "", "$A"]],
    );
}

#[test]
fn variables_do_not_grow_without_bound() {
    let value = "x".repeat(MAX_ARGUMENT / 2 + 1);
    let unit = format!(
        "[Service]\nExecStart=/a {} {}",
        "${A}".repeat(9),
        "$A ".repeat(99)
    );
    let words = &started(&[&unit], &[("A", &value)])[0];
    let length: usize = words.iter().map(String::len).sum();
    assert!(length < 4 * MAX_ARGUMENT, "{length}");
}

#[test]
fn a_unit_can_name_itself() {
    let found = with_name("-/etc/default/%N.%p.%n%%", "k3s@a.service");
    assert_eq!(found, "-/etc/default/k3s@a.k3s.k3s@a.service%");
}

#[test]
fn every_byte_of_an_argument_knows_where_it_stands() {
    let unit = "[Service]\nEnvironment=\"A=--x=y\"\nExecStart=/bin/a $A";
    let entries = entries(unit.as_bytes(), 7);
    let service = Service::of_entries(&entries);
    let words = command(&service.exec_start[0], &service.environment, Unset::Empty);
    let offset = u32::try_from(unit.find('y').unwrap()).unwrap();
    assert_eq!(words[1].spot(4), Some(Spot { file: 7, offset }));
}

fn check_observed(unit: &str, variables: &[u8], argv: &str) {
    let entries = entries(unit.as_bytes(), 0);
    let service = Service::of_entries(&entries);
    let mut environment = service.environment.clone();
    if !service.environment_files.is_empty() {
        let variables = crate::config::env_file::variables(variables, 1);
        environment.extend(variables.into_iter().map(|it| (it.name, it.value)));
    }
    let words = command(
        service.exec_start.last().unwrap(),
        &environment,
        Unset::Empty,
    );
    // With `@` the first word is the name that the program gets.
    let first = if unit.contains("ExecStart=@") { 2 } else { 1 };
    let found: Vec<String> = words
        .iter()
        .skip(first)
        .map(|it| it.text().into_owned())
        .collect();
    // An argument can have a line end in it.
    assert_eq!(found.join("\n") + "\n", argv);
}

#[test]
fn command_lines_are_those_that_systemd_makes() {
    macro_rules! observed {
        ($($name:literal),*) => {
            [$((
                include_str!(concat!("../../../testdata/units/", $name, ".service")),
                include_str!(concat!("../../../testdata/units/", $name, ".argv")),
            )),*]
        };
    }
    let variables = include_bytes!("../../../testdata/units/env");
    for (unit, argv) in observed!("1", "2", "3") {
        check_observed(unit, variables, argv);
    }
}

#[test]
fn many_variables_are_found_in_time() {
    let unit = format!("[Service]\nExecStart=/a {}", "$A ".repeat(300_000));
    let names: Vec<String> = (0..50_000).map(|number| format!("V{number}")).collect();
    let environment: Vec<(&str, &str)> = names.iter().map(|name| (name.as_str(), "")).collect();
    assert_eq!(started(&[&unit], &environment), [["/a"]]);
}
