//! Documents that are changed at random, read by Go's decoder and by kdns.

use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};

use libtest_mimic::Trial;

/// Debian's package of the decoder, over `golang-gopkg-yaml.v2-dev`.
const DECODER: &str = "/usr/share/gocode/src/sigs.k8s.io/yaml/yaml.go";
/// The program around it, beside the table that it made.
const PROGRAM: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/testdata/yaml/table.go");
/// So many documents a run, without `KDNS_SCENARIOS`.
const DOCUMENTS: u64 = 6_000;

pub(crate) fn trial() -> Trial {
    let is_there = Path::new(DECODER).exists() && Path::new("/usr/bin/go").exists();
    let missing = (!is_there).then(|| "needs golang-k8s-sigs-yaml-dev".to_owned());
    crate::needs::trial(
        "changed_documents_are_taken_as_go_takes_them",
        missing,
        || {
            changed_documents_are_taken_as_go_takes_them();
            Ok(())
        },
    )
}

fn changed_documents_are_taken_as_go_takes_them() {
    let number = |name: &str| std::env::var(name).ok().and_then(|it| it.parse().ok());
    let seed = crate::seed::seed();
    let mut random = Random(seed);
    let documents = number("KDNS_SCENARIOS").unwrap_or(DOCUMENTS);
    let texts: Vec<String> = (0..documents).map(|_| changed(&mut random)).collect();
    let verdicts = decoded(&texts);
    assert_eq!(verdicts.len(), texts.len(), "KDNS_SEED={seed}");
    let pairs = texts.iter().zip(&verdicts);
    let wrong: Vec<String> = pairs
        .filter(|(text, verdict)| !is_left_out(text, verdict) && !crate::is_taken_so(text, verdict))
        .map(|(text, verdict)| format!("{text:?}\n    {verdict}"))
        .collect();
    let count = wrong.len();
    let first: Vec<String> = wrong.into_iter().take(5).collect();
    assert!(
        first.is_empty(),
        "KDNS_SEED={seed}: {count} of {documents} are taken otherwise\n{}",
        first.join("\n")
    );
    let refused = verdicts.iter().filter(|it| it.starts_with("error")).count();
    assert!(
        refused > 100 && verdicts.len() - refused > 100,
        "{refused} of {documents} are refused"
    );
}

/// What is known to be taken otherwise: tags that hold brackets and a colon that
/// begins a line in brackets, and what stands right behind the brackets of a whole
/// document, which kdns refuses, a last line of blanks, and keys that are numbers
/// and booleans, which [`crate::is_taken_so`] does not compare.
fn is_left_out(text: &str, verdict: &str) -> bool {
    let has_colon = ["\n:}", "\n:]", "\n:,"].iter().any(|it| text.contains(it));
    let has_other_key = ["\"true\":", "\"false\":"]
        .iter()
        .any(|it| verdict.contains(it))
        || verdict.split('"').any(|it| it.parse::<f64>().is_ok());
    let ends_with_blanks = text.ends_with([' ', '\t']);
    let begins_whole = verdict == "ok\t{}" && text.trim_start().starts_with("{}");
    ends_with_blanks
        || begins_whole
        || text.contains(['!', '%', '\u{feff}', '\u{85}'])
        || has_colon
        || has_other_key
}

/// What Go's decoder makes of each text.
fn decoded(texts: &[String]) -> Vec<String> {
    let mut child = Command::new("/usr/bin/go")
        .args(["run", PROGRAM])
        .envs([("GO111MODULE", "off"), ("GOPATH", "/usr/share/gocode")])
        .env("GOCACHE", std::env::temp_dir().join("kdns-go-cache"))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let lines: String = texts.iter().map(|it| quoted(it) + "\n").collect();
    let writer = std::thread::spawn(move || stdin.write_all(lines.as_bytes()));
    let output = child.wait_with_output().unwrap();
    writer.join().unwrap().unwrap();
    assert!(output.status.success(), "{output:?}");
    let rows = String::from_utf8(output.stdout).unwrap();
    let verdict = |row: &str| row.split_once('\t').unwrap().1.to_owned();
    rows.lines().map(verdict).collect()
}

/// In Go's quoting.
fn quoted(text: &str) -> String {
    let escaped = |it: char| match it {
        '"' | '\\' => format!("\\{it}"),
        ' '..='~' => it.to_string(),
        _ => format!("\\U{:08x}", u32::from(it)),
    };
    let inside: String = text.chars().map(escaped).collect();
    format!("\"{inside}\"")
}

/// Documents that are changed: what Kubernetes files are made of, and what YAML
/// has besides.
const DOCUMENTS_TO_CHANGE: [&str; 16] = [
    "apiVersion: v1\nkind: Pod\nmetadata:\n  name: web\nspec:\n  dnsPolicy: None\n  dnsConfig:\n    nameservers: [10.96.0.10, \"fd00::10\"]\n    searches:\n    - a.example\n    options:\n    - {name: ndots, value: \"2\"}\n",
    "kind: KubeletConfiguration\nclusterDNS:\n  - 10.96.0.10\nclusterDomain: cluster.local # the zone\nevictionHard: {memory.available: \"5%\"}\nfailSwapOn: false\n",
    "data:\n  Corefile: |\n    .:53 {\n        errors\n\n        forward . /etc/resolv.conf\n    }\n  more: >-\n    folded\n     deeper\n    text\n",
    "a: \"x\ny\"\nb: 'it''s'\nc: 'one\n  two'\n",
    "a: [\n  1,\n  two,\n]\nb: {\n  c: d\n}\n",
    "base: &base\n  k: v\nuse:\n  <<: *base\n  more: *base\nlist: [*base, 2]\n",
    "- a\n- - b\n  - c\n-\n  d: e\n- f: g\n  h: i\n",
    "? key\n: value\n? other\n: - 1\n  - 2\n",
    "{\"k\": {\"a\": [1, \"b\", null], \"c\": true}, \"d\": \"e\\n\"}\n",
    "# first\na: b # c\n\n# d\nc:\n# e\n  - d\n  # f\n  - e\n",
    "args: ['--a=b', \"c: d\", e#f, g]\ncommand: [sh, -c, \"a && b\"]\n",
    "---\na: b\n...\n",
    "a: http://x:80/y\nb: -c\nc: ::1\nd: a:b\ne: ?f\n",
    "k: |+\n  text\n\n\nl: |2-\n   more\nm: >\n\n  a\n  b\n",
    "k: no\nl: 1e3\n~x: .5\nm: [y, n, null, ~]\n",
    "a:\tb\nc: \td\ne: [f,\tg]\n",
];

/// What is put in.
const PIECES: [&str; 40] = [
    " ", "  ", "\n", "\t", ":", ": ", "- ", "-", "\"", "'", "[", "]", "{", "}", ",", "#", " #",
    "&a ", "*a", "*base", "|", ">", "|-\n", "@", "`", "?", "? ", "\\", "...\n", "---\n", "<<: ",
    "~", "\r\n", "é", "\u{2028}", "0x", ": |\n", "\\n", "=", "null",
];

/// A document with up to three changes.
fn changed(random: &mut Random) -> String {
    let mut text = (*random.one(&DOCUMENTS_TO_CHANGE)).to_owned();
    for _ in 0..random.below(4) {
        text = match random.below(5) {
            0 | 1 => with_piece(&text, random),
            2 => without_some(&text, random),
            3 => with_moved_line(&text, random),
            _ => with_exchanged_lines(&text, random),
        };
    }
    text
}

fn boundary(text: &str, random: &mut Random) -> usize {
    let places: Vec<usize> = text.char_indices().map(|it| it.0).collect();
    if places.is_empty() {
        return 0;
    }
    *random.one(&places)
}

fn with_piece(text: &str, random: &mut Random) -> String {
    let (before, behind) = text.split_at(boundary(text, random));
    let piece = *random.one::<&str>(&PIECES);
    [before, piece, behind].concat()
}

fn without_some(text: &str, random: &mut Random) -> String {
    let (before, behind) = text.split_at(boundary(text, random));
    let mut rest = behind.chars();
    (0..=random.below(2)).for_each(|_| {
        rest.next();
    });
    [before, rest.as_str()].concat()
}

fn with_moved_line(text: &str, random: &mut Random) -> String {
    let mut lines: Vec<String> = text.split('\n').map(str::to_owned).collect();
    let index = random.index(lines.len());
    let line = lines.remove(index);
    let content = line.trim_start_matches(' ');
    let blanks = line.len() - content.len();
    let blanks = (blanks + random.index(7)).saturating_sub(3);
    lines.insert(index, format!("{}{content}", " ".repeat(blanks)));
    lines.join("\n")
}

fn with_exchanged_lines(text: &str, random: &mut Random) -> String {
    let mut lines: Vec<&str> = text.split('\n').collect();
    let (one, other) = (random.index(lines.len()), random.index(lines.len()));
    lines.swap(one, other);
    lines.join("\n")
}

/// Numbers that a seed repeats.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: u64) -> u64 {
        const STEP: u64 = 6_364_136_223_846_793_005;
        self.0 = self
            .0
            .wrapping_mul(STEP)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % limit
    }

    fn index(&mut self, length: usize) -> usize {
        usize::try_from(self.below(length as u64)).unwrap()
    }

    fn one<'t, T>(&mut self, all: &'t [T]) -> &'t T {
        let index = self.index(all.len());
        all.split_at(index).1.first().unwrap()
    }
}
