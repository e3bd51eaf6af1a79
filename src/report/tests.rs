use super::*;

/// A report as check-loop writes it, on one line.
fn report(node: Option<&str>, verdict: &str, file: &str) -> String {
    let value = serde_json::json!({
        "format": 1, "node": node, "verdict": verdict, "now": "no loop", "next_start": "no loop",
        "headline": "x", "setup": {
            "resolv_conf": file, "resolv_conf_from": "/var/lib/kubelet/config.yaml",
            "leads_to": file, "name_servers": ["10.0.0.2"], "on_node": [], "forwards": []
        },
        "chain": [], "chains": [], "fix": null, "evidence": [], "missing": ["no Corefile"],
        "remarks": [], "skipped": [], "errors": [], "new_key": {"a": [1, "}"]}
    });
    value.to_string()
}

fn merged(input: &[u8]) -> Summary {
    let mut merge = Merge::default();
    let mut stream = Stream::new(&mut merge, "in".to_owned());
    let lines = input.split_inclusive(|&byte| byte == b'\n');
    lines.for_each(|line| stream.line(line));
    stream.end(None);
    merge.finish()
}

/// The nodes, the lines passed over, and where what is wrong.
#[track_caller]
fn check(input: &[u8], nodes: u64, passed_over: u64, errors: &[&str]) -> Summary {
    let summary = merged(input);
    let found: Vec<String> = summary
        .errors
        .iter()
        .map(|it| format!("{}: {}", it.at, it.message))
        .collect();
    assert_eq!(found.len(), errors.len(), "{found:?}");
    for (found, start) in found.iter().zip(errors) {
        assert!(found.starts_with(start), "{found:?}");
    }
    assert_eq!((summary.nodes, summary.passed_over), (nodes, passed_over));
    summary
}

#[test]
fn reports_are_found_among_what_logs_put_around_them() {
    let one = report(Some("a"), "no loop", "/x");
    let value: serde_json::Value = serde_json::from_str(&one).unwrap();
    let pretty = serde_json::to_string_pretty(&value).unwrap();
    let lines = |mark: &str| -> String {
        let lines = pretty.lines().map(|it| format!("{mark}{it}\n"));
        lines.collect()
    };
    let wrapped = |key: &str, text: &str| serde_json::json!({ key: text }).to_string();
    for (input, passed_over) in [
        (one.clone(), 0),
        (format!("{one}\r\n"), 0),
        (format!("\u{feff}{one}\n\n"), 0),
        (format!("[pod/kdns-x/kdns] {one}\n"), 0),
        (format!("2026-11-21T02:07:12.8Z stdout F {one}\n"), 0),
        (format!("kdns: cannot read it\n{one}\nbye\n"), 2),
        (format!("{{\"level\":\"info\"}}\n{one}\n"), 1),
        (lines(""), 0),
        (format!("\u{feff}{}", lines("")), 0),
        (lines("[pod/kdns-x/kdns] "), 0),
        (wrapped("log", &format!("{one}\n")), 0),
        (wrapped("message", &lines("")), 0),
        (wrapped("MESSAGE", &wrapped("log", &one)), 0),
        (wrapped("log", "nothing"), 1),
        (format!("x {{\"a\": \0}}\n{one}\n"), 1),
        (format!("panic: map[a:{{b}}]\n&{{1 2}} x\n{one}\n"), 2),
        (format!(".:53 {{\n  forward . /x\n}}\n{one}\n"), 3),
        (format!("\u{7f}{{\u{1}\n{one}\n"), 1),
        (
            format!("[\n{},\n{}]\n", lines("  ").trim_end(), lines("  ")),
            2,
        ),
    ] {
        let nodes = u64::from(input.contains("no loop"));
        check(input.as_bytes(), nodes, passed_over, &[]);
    }
}

#[test]
fn what_is_wrong_is_said_with_its_place_and_stops_nothing() {
    let good = report(Some("a"), "no loop", "/x");
    let newer = good.replace("\"format\":1", "\"format\":3");
    let odd = report(Some("b"), "fine", "/x");
    let typed = good.replace("\"evidence\":[]", "\"evidence\":7");
    let half = good.get(..good.len() / 2).unwrap();
    let deep = format!("{{\"verdict\":{}", "[".repeat(100_000));
    for (bad, error) in [
        (&newer, "in:1: what stands here is a report in format 3"),
        (&odd, "in:1: what stands here has the verdict fine"),
        (&typed, "in:1:"),
        (&half.to_owned(), "in:1:"),
        (&"{\"verdict\":\u{1b}[31m".to_owned(), "in:1:"),
        (&deep, "in:1:"),
        (
            &"{\"format\":1,\"no".to_owned(),
            "in:1:15: what stands here is no JSON",
        ),
        (
            &"{".to_owned(),
            "in:1: the report that begins here does not end",
        ),
        (
            &"[a] {".to_owned(),
            "in:1: the report that begins here does not end",
        ),
        (
            &"[a] {\n[a]   \"format\": 1,".to_owned(),
            "in:1: the report that begins here does not end",
        ),
    ] {
        let summary = check(format!("{bad}\n{good}\n").as_bytes(), 1, 0, &[error]);
        let message = &summary.errors[0].message;
        assert!(
            !message.chars().any(crate::text::is_unprintable),
            "{message:?}"
        );
    }
    let bytes = [
        b"{\"verdict\":\"\xff\",\"next_start\":1}\n",
        good.as_bytes(),
    ]
    .concat();
    check(&bytes, 1, 0, &["in:1:"]);
}

#[test]
fn the_last_report_of_a_node_counts() {
    let lines = [
        report(Some("a"), "loop", "/x"),
        report(None, "no loop", "/x"),
        report(Some("a"), "no loop", "/x"),
        report(None, "no loop", "/x"),
        report(Some("b"), "unknown", "/x"),
    ];
    let summary = check(lines.join("\n").as_bytes(), 4, 0, &[]);
    assert_eq!(summary.repeated, 1);
    assert_eq!(summary.with(Verdict::Loop), 0);
    let examples: Vec<_> = summary
        .groups
        .iter()
        .map(|it| it.examples.join(" "))
        .collect();
    assert_eq!(examples, ["b", "a in:2 in:4"]);
    assert_eq!(summary.groups[0].kind.why.as_deref(), Some("no Corefile"));
}

#[test]
fn the_odd_one_out_is_far_from_most() {
    let summary = |counts: &[usize]| {
        let mut lines = String::new();
        for (group, count) in counts.iter().enumerate() {
            for node in 0..*count {
                let name = format!("n{group}-{node}");
                lines += &report(Some(&name), "no loop", &format!("/{group}"));
                lines.push('\n');
            }
        }
        let summary = merged(lines.as_bytes());
        let odd = summary.groups.iter().filter(|it| it.is_odd);
        let odd: Vec<u64> = odd.map(|it| it.nodes).collect();
        (odd, summary)
    };
    for (counts, expected) in [
        (&[4][..], &[][..]),
        (&[1, 1], &[]),
        (&[2, 1], &[]),
        (&[3, 1], &[1]),
        (&[80, 20], &[]),
        (&[95, 5, 1], &[5, 1]),
    ] {
        assert_eq!(summary(counts).0, expected, "{counts:?}");
    }
    let (_, summary) = summary(&[3, 1]);
    let own = summary.from_the_usual(&summary.groups[1]);
    assert_eq!(own[0], (Attribute::ResolvConf, "/1".to_owned()));
    let what: Vec<_> = summary.differences.iter().map(|it| it.attribute).collect();
    assert_eq!(what, [Attribute::ResolvConf, Attribute::LeadsTo]);
    assert_eq!(summary.differences[0].values[0].nodes, 3);
}

/// Whatever comes, what is kept is bounded.
#[test]
fn further_kinds_are_counted_together() {
    let mut merge = Merge::default();
    let mut stream = Stream::new(&mut merge, "in".to_owned());
    for number in 0..MAX_GROUPS + 50 {
        let name = format!("n{number}");
        let line = report(Some(&name), "no loop", &format!("/{number}"));
        stream.line(line.as_bytes());
        stream.line(b"{\"verdict\":broken");
    }
    stream.end(None);
    let summary = merge.finish();
    assert_eq!(summary.groups.len(), MAX_GROUPS + 1);
    let rest = summary.groups.iter().find(|it| it.kind.is_rest).unwrap();
    assert_eq!((rest.nodes, rest.examples.len()), (50, MAX_EXAMPLES));
    assert_eq!(summary.errors.len(), MAX_ERRORS);
    assert_eq!(summary.error_count, 1050);
}

/// A report that says of which machine it is.
fn of_machine(cluster: Option<&str>, machine: Option<&str>, verdict: &str) -> String {
    let text = report(Some("a"), verdict, "/x");
    let mut value: serde_json::Value = serde_json::from_str(&text).unwrap();
    value["cluster"] = cluster.into();
    value["machine_id"] = machine.into();
    format!("{value}\n")
}

#[test]
fn two_machines_of_one_name_are_never_one_node() {
    let check = |reports: &[String], nodes: u64, conflicts: &[(&str, bool)]| {
        let summary = merged(reports.concat().as_bytes());
        let found = summary.conflicts.iter();
        let found: Vec<(&str, bool)> = found
            .map(|it| (it.name.as_str(), it.is_of_machines))
            .collect();
        assert_eq!((summary.nodes, found.as_slice()), (nodes, conflicts));
    };
    let of = of_machine;
    let (one, other) = (Some("1"), Some("2"));
    // The same machine was fixed meanwhile.
    check(&[of(None, one, "loop"), of(None, one, "no loop")], 1, &[]);
    let two = [of(None, one, "loop"), of(None, other, "no loop")];
    check(&two, 2, &[("a", true)]);
    let again = [
        of(None, one, "loop"),
        of(None, other, "loop"),
        of(None, other, "loop"),
    ];
    check(&again, 2, &[("a", true)]);
    let told_apart = [of(Some("x"), one, "loop"), of(Some("y"), other, "loop")];
    check(&told_apart, 2, &[]);
    // Without the machine it cannot be known.
    let unknown = [of(None, None, "loop"), of(None, None, "no loop")];
    check(&unknown, 1, &[("a", false)]);
    check(&[of(None, None, "loop"), of(None, None, "loop")], 1, &[]);
    check(
        &[of(None, one, "loop"), of(None, None, "no loop")],
        1,
        &[("a", false)],
    );
}
