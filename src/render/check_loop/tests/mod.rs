//! Every format, on reports made by hand: a plain one, and one full of
//! strings that no format may let through.

mod reports;

pub(super) use self::reports::only;
use self::reports::{HOSTILE, filled, report, reports};
use super::*;
use crate::check_loop::{Report, Verdict};
use crate::finding::Severity;
use crate::render::json::schema;
use crate::text::is_unprintable;

type Write = fn(&Report, &mut dyn std::io::Write) -> std::io::Result<()>;
type WriteError = fn(&str, &mut dyn std::io::Write) -> std::io::Result<()>;

const FORMATS: [(&str, Write, WriteError); 8] = [
    ("json", json_document, json_error),
    ("jsonl", json_line, jsonl_error),
    ("concise", concise::write, concise::write_error),
    ("sarif", sarif::write, sarif::write_error),
    ("github", github::write, github::write_error),
    ("junit", junit::write, junit::write_error),
    ("npd", npd::write, npd::write_error),
    ("prometheus", prometheus::write, prometheus::write_error),
];

fn json_document(report: &Report, out: &mut dyn std::io::Write) -> std::io::Result<()> {
    json::write(report, &[], false, out)
}

fn json_line(report: &Report, out: &mut dyn std::io::Write) -> std::io::Result<()> {
    json::write(report, &[], true, out)
}

fn json_error(message: &str, out: &mut dyn std::io::Write) -> std::io::Result<()> {
    json::write_error(message, Some(message), false, out)
}

fn jsonl_error(message: &str, out: &mut dyn std::io::Write) -> std::io::Result<()> {
    json::write_error(message, Some(message), true, out)
}

fn written(write: Write, report: &Report) -> String {
    let mut out = Vec::new();
    write(report, &mut out).unwrap();
    String::from_utf8(out).unwrap()
}

fn written_error(write: WriteError, message: &str) -> String {
    let mut out = Vec::new();
    write(message, &mut out).unwrap();
    String::from_utf8(out).unwrap()
}

#[test]
fn no_format_lets_a_stranger_steer() {
    for (format, write, write_error) in FORMATS {
        let texts = reports()
            .into_iter()
            .map(|(name, report)| (name, written(write, &report)));
        let error = ("error".to_owned(), written_error(write_error, HOSTILE));
        for (name, text) in texts.chain([error]) {
            let odd: Vec<char> = text
                .chars()
                .filter(|&c| c != '\n' && is_unprintable(c))
                .collect();
            assert!(odd.is_empty(), "{format}: {name}: {odd:?}");
            assert!(text.ends_with('\n'), "{format}: {name}");
        }
    }
}

/// Every report, and an error, fits the schema.
fn check_schema(schema: &serde_json::Value, write: Write, write_error: WriteError) {
    let validator = jsonschema::validator_for(schema).unwrap();
    let texts = reports().into_iter().map(|(_, it)| written(write, &it));
    for text in texts.chain([written_error(write_error, HOSTILE)]) {
        let value = serde_json::from_str(&text).unwrap();
        let errors: Vec<String> = validator
            .iter_errors(&value)
            .map(|it| it.to_string())
            .collect();
        assert!(errors.is_empty(), "{errors:?}\n{text}");
    }
}

#[test]
fn json_fits_its_schema() {
    check_schema(
        schema::<json::CheckLoopDocument<'_>>().as_value(),
        json_document,
        json_error,
    );
}

#[test]
fn json_holds_the_strings_as_they_are() {
    let text = written(json_document, &filled(Verdict::Loop, HOSTILE));
    let value: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert_eq!(value["verdict"], "loop");
    assert_eq!(value["chain"][0]["proof"][1]["text"], HOSTILE);
    assert_eq!(value["chain"][0]["line"], 20);
    assert_eq!(value["fix"]["new"], HOSTILE);
}

#[test]
fn sarif_fits_the_official_schema() {
    let schema = include_str!("../../../../testdata/schemas/sarif-2.1.0.json");
    let mut schema: serde_json::Value = serde_json::from_str(schema).unwrap();
    // Its brackets are no regular expression of ECMA 262, and kdns writes no language.
    let patterns = &mut schema["definitions"]["run"]["properties"]["language"];
    patterns.as_object_mut().unwrap().remove("pattern").unwrap();
    let components = &mut schema["definitions"]["toolComponent"]["properties"]["language"];
    components.as_object_mut().unwrap().remove("pattern");
    check_schema(&schema, sarif::write, sarif::write_error);
}

#[test]
fn sarif_has_a_result_only_where_something_is_found_or_open() {
    for verdict in Verdict::ALL {
        let text = written(sarif::write, &report(verdict));
        let log: serde_json::Value = serde_json::from_str(&text).unwrap();
        let run = &log["runs"][0];
        let results = run["results"].as_array().unwrap();
        assert_eq!(results.len(), usize::from(verdict != Verdict::NoLoop));
        for result in results {
            let rules = run["tool"]["driver"]["rules"].as_array().unwrap();
            let of_id = rules.iter().position(|it| it["id"] == result["ruleId"]);
            assert_eq!(result["ruleIndex"].as_u64(), of_id.map(|it| it as u64));
        }
    }
    let text = written(sarif::write, &report(Verdict::Loop));
    let log: serde_json::Value = serde_json::from_str(&text).unwrap();
    let fix = &log["runs"][0]["results"][0]["fixes"][0]["artifactChanges"][0];
    assert_eq!(
        fix["artifactLocation"]["uri"],
        "file:///var/lib/kubelet/config.yaml"
    );
    assert_eq!(fix["replacements"][0]["deletedRegion"]["endColumn"], 29);
}

#[test]
fn github_commands_are_one_line_each_and_escaped() {
    for (name, report) in reports() {
        let text = written(github::write, &report);
        for line in text.lines() {
            let rest = ["::error ", "::warning ", "::notice "]
                .iter()
                .find_map(|it| line.strip_prefix(it));
            let (properties, message) = rest.unwrap().split_once("::").unwrap();
            assert!(
                properties.contains("title=kdns check-loop"),
                "{name}: {line}"
            );
            let is_known = |it: &str| {
                ["file=", "line=", "col=", "title="]
                    .iter()
                    .any(|key| it.starts_with(key))
            };
            assert!(properties.split(',').all(is_known), "{name}: {line}");
            let escapes = message.split('%').skip(1);
            let is_escape = |it: &str| ["25", "0D", "0A"].iter().any(|code| it.starts_with(code));
            assert!(escapes.into_iter().all(is_escape), "{name}: {line}");
        }
    }
    let text = written(github::write, &report(Verdict::Loop));
    let start = "::error file=/var/lib/kubelet/config.yaml,line=8,col=1,title=kdns check-loop::DNS loops: the ";
    assert!(text.starts_with(start), "{text}");
}

#[test]
fn junit_is_xml_that_can_be_read_back() {
    for (name, report) in reports() {
        let text = written(junit::write, &report);
        let read = quick_junit::Report::deserialize_from_str(&text).unwrap();
        let fails = findings::severity(report.verdict) == Severity::Error;
        assert_eq!(
            (read.tests, read.failures),
            (1, usize::from(fails)),
            "{name}"
        );
        assert_eq!(read.errors, usize::from(report.verdict == Verdict::Unknown));
    }
    let text = written_error(junit::write_error, HOSTILE);
    let read = quick_junit::Report::deserialize_from_str(&text).unwrap();
    assert_eq!((read.tests, read.errors), (1, 1));
}

#[test]
fn npd_takes_one_short_line() {
    let texts = reports()
        .into_iter()
        .map(|(name, it)| (name, written(npd::write, &it)));
    let error = ("error".to_owned(), written_error(npd::write_error, HOSTILE));
    for (name, text) in texts.chain([error]) {
        assert!(text.len() <= 80 && text.is_ascii(), "{name}: {text}");
        assert_eq!(text.lines().count(), 1, "{name}: {text}");
    }
    for (verdict, line) in [
        (
            Verdict::Loop,
            "loop: 127.0.0.53:53; fix resolvConf in /var/lib/kubelet/config.yaml:8\n",
        ),
        (
            Verdict::WillLoop,
            "will loop: 127.0.0.53:53; fix resolvConf in /var/lib/kubelet/config.yaml:8\n",
        ),
        (Verdict::NoLoop, "no loop: DNS of this node leads outside\n"),
    ] {
        assert_eq!(written(npd::write, &report(verdict)), line);
    }
}

#[test]
fn npd_keeps_the_end_of_a_long_path() {
    let mut report = report(Verdict::Refused);
    let file = "/var/lib/kubelet/pods/54f38bab-043d-4069-8201-91e9ecb6b1e8/volumes/Corefile";
    let fix = report.fix.as_mut().unwrap();
    file.clone_into(&mut fix.edit.place.file);
    "forward . 192.0.2.1".clone_into(&mut fix.edit.new);
    assert_eq!(
        written(npd::write, &report),
        "refused: 127.0.0.53:53; fix forward in ...-8201-91e9ecb6b1e8/volumes/Corefile:8\n"
    );
}

#[test]
fn a_change_may_remove_something_or_be_done_already() {
    let old = "nameserver 127.0.0.1";
    for (new, concise_part, npd_part, fixes) in [
        (
            old,
            "\"nameserver 127.0.0.1\" is right and stays",
            "; recreate pods: nameserver in ",
            0,
        ),
        (
            "",
            "to fix it, remove \"nameserver 127.0.0.1\"",
            "; remove nameserver in ",
            1,
        ),
    ] {
        let mut report = report(Verdict::Loop);
        let edit = &mut report.fix.as_mut().unwrap().edit;
        edit.old = Some(old.to_owned());
        new.clone_into(&mut edit.new);
        assert!(written(concise::write, &report).contains(concise_part));
        let line = written(npd::write, &report);
        assert!(line.contains(npd_part), "{line}");
        let log: serde_json::Value = serde_json::from_str(&written(sarif::write, &report)).unwrap();
        let found = log["runs"][0]["results"][0]["fixes"]
            .as_array()
            .map_or(0, Vec::len);
        assert_eq!(found, fixes);
    }
}

#[test]
fn concise_lines_begin_with_a_place() {
    let text = written(concise::write, &report(Verdict::Loop));
    let expected = "\
/var/lib/kubelet/config.yaml:8:1: error: DNS loops: the probe's query came back to dnsmasq on 127.0.1.1:53
/etc/coredns/Corefile:16:5: note: CoreDNS (pod kube-system/coredns-0) in the pod's network sends to 127.0.0.53:53: forward . /etc/resolv.conf
/run/systemd/resolve/stub-resolv.conf:20:1: note: CoreDNS (pod kube-system/coredns-0) in the pod's network sends to 127.0.0.53:53: nameserver 127.0.0.53
/var/log/pods/kube-system_coredns-0_u/coredns/3.log:5:1: note: loop-fatal, seen 3×, from 2026-11-21T02:07:12Z to 2026-11-21T02:09:12Z: [FATAL] plugin/loop: Loop
/var/lib/kubelet/config.yaml:8:1: note: to fix it, replace \"resolvConf: /etc/resolv.conf\" by \"resolvConf: /run/systemd/resolve/resolv.conf\"
/var/lib/kubelet/config.yaml:8:1: note: then: Restart the kubelet: systemctl restart kubelet
/var/lib/kubelet/config.yaml:8:1: note: but: A flag --resolv-conf would override it; this kubelet has none
/var/lib/kubelet/config.yaml:8:1: note: does not help: Removing loop from the Corefile: it only tells of the loop, and without it queries go round until the memory is used up
kdns: note: No DNS server of the cluster was found on this node, so CoreDNS is judged only at its next start
kdns: note: cannot read /etc/unbound: Is a directory
";
    assert_eq!(text, expected);
}

#[test]
fn prometheus_has_one_verdict_and_two_states() {
    for verdict in Verdict::ALL {
        let text = written(prometheus::write, &report(verdict));
        let ones = |name: &str| {
            let is_one = |line: &&str| line.starts_with(name) && line.ends_with("} 1");
            text.lines().filter(is_one).count()
        };
        assert_eq!(ones("kdns_check_loop_verdict{"), 1, "{text}");
        assert_eq!(ones("kdns_check_loop_state{"), 2, "{text}");
        let word = verdict.word();
        let line = format!("kdns_check_loop_verdict{{verdict=\"{word}\"}} 1\n");
        assert!(text.contains(&line), "{text}");
    }
}
