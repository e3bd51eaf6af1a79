use super::*;
use crate::resolver::glibc::V2_36;
use crate::scenario::file;

fn check(text: &str, servers: &[&str], search: &[&str], dropped: &[&str]) {
    let mut scenario = Scenario::new("1", "a");
    scenario.resolv_conf = Some(file("resolv.conf", text));
    let reading = res_vinit(&scenario, &V2_36);
    let found: Vec<String> = reading
        .servers
        .iter()
        .map(|server| server.value.to_string())
        .collect();
    assert_eq!(found, servers, "{text:?}");
    let found: Vec<Cow<'_, str>> = reading
        .search
        .iter()
        .map(|entry| String::from_utf8_lossy(&entry.value))
        .collect();
    assert_eq!(found, search, "{text:?}");
    let found: Vec<&str> = reading
        .dropped
        .first()
        .iter()
        .map(|it| std::str::from_utf8(it.span.slice(text.as_bytes())).unwrap())
        .collect();
    assert_eq!(found, dropped, "{text:?}");
}

#[test]
fn lines_count_from_their_first_byte() {
    check("", &["127.0.0.1"], &[], &[]);
    check("nameserver\t10.0.0.1 # x", &["10.0.0.1"], &[], &["#", "x"]);
    check(
        " nameserver 10.0.0.1\n",
        &["127.0.0.1"],
        &[],
        &[" nameserver 10.0.0.1"],
    );
    check(
        "nameserver 10.0.0.1\r\nsearch a.t\r\n",
        &["127.0.0.1"],
        &["a.t\r"],
        &["10.0.0.1\r"],
    );
    check(
        "search a  b\t#c\nsearch\nsearch \n",
        &["127.0.0.1"],
        &["a", "b", "#c"],
        &["search", "search "],
    );
    check(
        "search a\ndomain b c\nfoo bar\n#\n",
        &["127.0.0.1"],
        &["b"],
        &["search a", "c", "foo bar"],
    );
    check(
        "nameserver 1.1\0x\nsearch a\0 b\n",
        &["1.0.0.1"],
        &["a"],
        &[],
    );
}

#[test]
fn a_keyword_in_another_place_is_known() {
    for keyword in ["nameserver", "search", "domain", "options", "sortlist"] {
        let text = format!(" {keyword} x");
        let why = why_unknown(text.as_bytes(), keyword.as_bytes());
        assert_eq!(why, "the line is indented, so glibc does not see it");
    }
}

#[test]
fn only_three_servers_are_used() {
    let text = "nameserver 010.1\nnameserver fe80::1%eth0\nnameserver 1.2.3.256\n\
                nameserver ::1\nnameserver ::1\n";
    check(
        text,
        &["8.0.0.1", "fe80::1%eth0", "::1"],
        &[],
        &["1.2.3.256", "::1"],
    );
}

#[test]
fn a_long_domain_ends_the_program() {
    let refused = |domains: &[usize]| {
        let mut scenario = Scenario::new("1", "a");
        let words: Vec<String> = domains.iter().map(|&length| "a".repeat(length)).collect();
        let text = format!("search {}\n", words.join(" "));
        scenario.resolv_conf = Some(file("resolv.conf", text));
        res_vinit(&scenario, &V2_36).refused.is_some()
    };
    for (domains, expected) in [
        (&[255][..], false),
        (&[256], true),
        (&[54, 230], true),
        (&[55, 230], true),
        (&[56, 230], false),
        (&[1, 1, 1, 1, 1, 300], true),
        (&[1, 1, 1, 1, 1, 1, 300], false),
    ] {
        assert_eq!(refused(domains), expected, "{domains:?}");
    }
}
