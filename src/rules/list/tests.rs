use super::row::{Columns, rule};
use crate::rules::rule::{Action, Addresses, LinkName, Match, Part, Side, Test};
use crate::rules::{Family, Rules, Text, Unreadable, View};
use crate::text::Source;

const VIEW: View = View {
    text: 0,
    start: 0,
    end: 0,
    line: 1,
};

fn read(text: &str) -> Result<Rules, Unreadable> {
    let source = Source::new("paste", text);
    Rules::parse(vec![Box::new(source) as Box<dyn Text + Send>])
}

/// The names of the tables, each with whose chains are in it.
fn tables(text: &str) -> Vec<(String, usize)> {
    let rules = read(text).expect("a list");
    let all = rules.tables.iter().filter(|it| !it.is_gone);
    all.map(|it| (it.name.to_string(), it.bases.len()))
        .collect()
}

/// The parts of a row of `-L -n -v`, as `iptables-save` would have them.
fn parts(row: &str) -> Vec<Part> {
    let columns = Columns::from_heading("pkts bytes target prot opt in out source destination");
    let row = rule(row, columns.expect("a heading"), "X", VIEW);
    row.expect("a row").parts
}

fn test(is_negated: bool, what: Match) -> Part {
    Part::If(Test { is_negated, what })
}

#[test]
fn a_row_is_the_rule_that_it_shows() {
    let network = |it| vec![Addresses::network(it).expect("a network")];
    let row = "  12K  1M RETURN    !6    -f  eth0   !cali+  10.244.0.0/255.255.0.255 !10.0.0.0/8  ";
    let link = |name: &str, is_prefix| LinkName {
        name: name.into(),
        is_prefix,
    };
    let expected = [
        test(true, Match::Protocol(6)),
        test(false, Match::Never),
        test(false, Match::InLink(link("eth0", false))),
        test(true, Match::OutLink(link("cali", true))),
        test(
            false,
            Match::Address(Side::Source, network("10.244.0.0/255.255.0.255")),
        ),
        test(
            true,
            Match::Address(Side::Destination, network("10.0.0.0/8")),
        ),
        Part::Do(Action::Return),
    ];
    assert_eq!(parts(row), expected);
    let row = "0 0 X all -- any any anywhere anywhere [goto] ";
    assert_eq!(parts(row), [Part::Do(Action::Goto("X".into()))]);
    // Without a target it does nothing; old versions leave out what is empty.
    let row = "    0     0            udp      *      *       ::/0                 fd00::/8 ";
    assert_eq!(parts(row)[0], test(false, Match::Never));
}

#[test]
fn what_a_comment_says_is_no_condition() {
    let row = "1 2 DROP 0 -- * * 0.0.0.0/0 0.0.0.0/0 /* a */ udp dpt:53 */";
    let words = "/* a */ udp dpt:53 */";
    let expected = [
        test(false, Match::Unknown(words.into())),
        Part::Do(Action::Drop),
    ];
    assert_eq!(parts(row), expected);
}

#[test]
fn what_is_not_known_ends_what_is() {
    let row = "1 2 DROP 17 -- * * 0.0.0.0/0 0.0.0.0/0 udp dpt:53 STRING match \"udp dpt:1\" ALGO";
    let words = "STRING match \"udp dpt:1\" ALGO";
    let parts = parts(row);
    assert_eq!(parts[2], test(false, Match::Unknown(words.into())));
    assert_eq!(parts[3], Part::Do(Action::Drop));
}

#[test]
fn a_list_is_of_the_table_that_has_its_chains() {
    let chain = |name: &str| {
        format!(
            "Chain {name} (policy ACCEPT)\ntarget     prot opt source               destination\n\n"
        )
    };
    let all = |names: &[&str]| names.iter().map(|it| chain(it)).collect::<String>();
    let filter = all(&["INPUT", "FORWARD", "OUTPUT"]);
    let nat = all(&["PREROUTING", "INPUT", "OUTPUT", "POSTROUTING"]);
    let raw = all(&["PREROUTING", "OUTPUT"]);
    let found = tables(&format!(
        "{filter}Chain A (0 references)\ntarget prot opt source destination\n\n{nat}{raw}"
    ));
    let expected = [("filter", 3), ("nat", 4), ("raw", 2)];
    assert_eq!(found, expected.map(|it| (it.0.to_owned(), it.1)));
    // One chain can be of several.
    let one = chain("FORWARD");
    assert!(matches!(read(&one), Err(Unreadable::Unclear(place)) if place.line == 1));
    let found = tables(&one.replace("ACCEPT", "DROP"));
    assert_eq!(found, [("filter".to_owned(), 1)]);
    let found = tables(&format!("root@n1:~# iptables -t mangle -nL FORWARD\n{one}"));
    assert_eq!(found, [("mangle".to_owned(), 1)]);
}

#[test]
fn policies_show_the_table() {
    let policy = |chain: &&str| format!("-P {chain} ACCEPT\n");
    let all = |chains: &[&str]| chains.iter().map(policy).collect::<Vec<_>>().concat();
    let filter = all(&["INPUT", "FORWARD", "OUTPUT"]);
    let mangle = all(&["PREROUTING", "INPUT", "FORWARD", "OUTPUT", "POSTROUTING"]);
    let text =
        format!("{filter}{mangle}-A PREROUTING -d 10.0.0.1/32 -j MARK --set-xmark 0x1/0x1\n");
    let expected = [("filter", 3), ("mangle", 5)];
    assert_eq!(tables(&text), expected.map(|it| (it.0.to_owned(), it.1)));
}

#[test]
fn what_a_list_leaves_out_is_not_known() {
    let text = "Chain INPUT (policy DROP)\ntarget     prot opt source               destination\nACCEPT     all  --  0.0.0.0/0            0.0.0.0/0           \n";
    let rules = read(text).expect("a list");
    assert_eq!(rules.tables[0].family, Some(Family::V4));
    let parts = &rules.rules(0, "INPUT").expect("a chain")[0].parts;
    assert!(matches!(&parts[0], Part::If(it) if matches!(it.what, Match::Unknown(_))));
    assert_eq!(parts[1], Part::Do(Action::Accept));
}
