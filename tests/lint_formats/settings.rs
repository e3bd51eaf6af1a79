//! `kdns.toml`, `.gitignore`, and how files are written.

use std::fs;

use super::{Ended, ended, folder, kdns, lint};

const LOOP: &str = ". {\n    forward . 127.0.0.1\n}\n";

/// The lines of `--format concise` without what follows the code.
fn found(ended: &Ended) -> Vec<String> {
    let lines = ended.out.lines();
    let lines = lines.map(|it| it.split_once('[').unwrap().0.replace(": ", " "));
    lines.collect()
}

pub(super) fn run(directory: &std::path::Path, args: &[&str]) -> Ended {
    let mut command = kdns(directory);
    command.args(["--format", "concise"]).args(args);
    ended(command)
}

#[test]
fn the_nearest_file_upward_counts() {
    let folder = folder(&[
        ("kdns.toml", "select = [\"KP001\"]\n"),
        ("a/b/Corefile", LOOP),
        ("c/kdns.toml", "select = [\"KC002\"]\nfail-on = \"error\"\n"),
        ("c/d/Corefile", LOOP),
        ("other.toml", "select = [\"KC002\"]\n"),
    ]);
    fs::create_dir(folder.path().join(".git")).unwrap();
    let at = |place: &str| folder.path().join(place);
    assert_eq!(run(&at("a/b"), &[]).status, 0);
    let inner = run(&at("c/d"), &[]);
    assert_eq!(
        (inner.status, found(&inner)),
        (1, vec!["Corefile:2:15 KC002".to_owned()])
    );
    // Another file, and an option over it.
    assert_eq!(run(&at("a/b"), &["--config", "../../other.toml"]).status, 1);
    assert_eq!(run(&at("a/b"), &["--select", "KC002"]).status, 1);
    assert_eq!(run(&at("c/d"), &["--ignore", "KC002"]).status, 0);
}

/// As in /tmp, where it can be anybody's.
#[test]
fn a_file_above_the_checkout_does_not_count() {
    let folder = folder(&[
        ("kdns.toml", "[cluster]\n"),
        ("a/Corefile", LOOP),
        ("b/.git/HEAD", ""),
        ("b/c/Corefile", LOOP),
    ]);
    for place in ["a", "b", "b/c"] {
        let ended = run(&folder.path().join(place), &[]);
        assert_eq!((ended.status, ended.err.as_str()), (1, ""), "{place}");
    }
}

#[test]
fn what_is_wrong_in_it_has_its_place() {
    for (text, message) in [
        (
            "# x\nselct = []\n",
            "kdns: kdns.toml:2:1: unknown field `selct`",
        ),
        (
            "select = [\"KX001\"]\n",
            "kdns: kdns.toml:1:11: no rule has the code or name KX001",
        ),
        (
            "fail-on = \"fatal\"\n",
            "kdns: kdns.toml:1:11: fatal is none of error, warning and info",
        ),
        ("assume = [\n", "kdns: kdns.toml:"),
        (
            "[per-file-ignores]\n\"*.yaml\" = \"KC\"\n",
            "kdns: kdns.toml:2:12: ",
        ),
    ] {
        let folder = folder(&[("kdns.toml", text), ("Corefile", LOOP)]);
        let ended = run(folder.path(), &[]);
        assert_eq!((ended.status, ended.out.as_str()), (2, ""), "{text}");
        assert!(ended.err.starts_with(message), "{text}: {}", ended.err);
        assert_eq!(ended.err.lines().count(), 1, "{}", ended.err);
    }
}

#[test]
fn files_have_rules_of_their_own() {
    let settings = "select = [\"KC002\"]\n[per-file-ignores]\n\"test/\" = [\"KC\"]\n\"*.template\" = [\"forward-to-loopback\"]\n\"/a/Corefile\" = [\"KP\"]\n";
    let folder = folder(&[
        (".git/HEAD", ""),
        ("kdns.toml", settings),
        ("a/Corefile", LOOP),
        ("test/Corefile", LOOP),
        ("test/deep/Corefile", LOOP),
        ("b/Corefile.template", LOOP),
        ("tests/Corefile", LOOP),
    ]);
    let expected = ["a/Corefile:2:15 KC002", "tests/Corefile:2:15 KC002"];
    let ended = run(folder.path(), &[]);
    assert_eq!(found(&ended), expected, "{}", ended.err);
    // Paths are the file's, wherever kdns is started and however they are named.
    let inner = run(&folder.path().join("test"), &["deep/Corefile"]);
    assert_eq!(found(&inner), Vec::<String>::new(), "{}", inner.out);
    let absolute = folder.path().join("test/Corefile");
    let inner = run(folder.path(), &[absolute.to_str().unwrap()]);
    assert_eq!(found(&inner), Vec::<String>::new(), "{}", inner.out);
    let inner = run(&folder.path().join("a"), &["../test/Corefile"]);
    assert_eq!(found(&inner), Vec::<String>::new(), "{}", inner.out);
}

#[test]
fn settings_are_shown_as_they_could_be_written() {
    let settings = "select = [\"KC\"]\nassume = \"none\"\ncluster-dns = [\"10.96.0.10\"]\n[per-file-ignores]\n\"a\\\"b\" = [\"KC002\"]\n";
    let folder = folder(&[("kdns.toml", settings), ("Corefile", LOOP)]);
    let args = [
        "--show-settings",
        "--kubelet-version",
        "1.31.2",
        "--fail-on",
        "error",
        "--ignore",
        "KC008",
    ];
    let shown = run(folder.path(), &args);
    assert_eq!((shown.status, shown.err.as_str()), (0, ""));
    for line in [
        "# from kdns.toml, options and defaults",
        "fail-on = \"error\"",
        "assume = \"none\"",
        "kubelet-version = \"1.31.2\"",
        "cluster-dns = [\"10.96.0.10\"]",
        "\"a\\\"b\" = [\"KC002\"]",
    ] {
        assert!(
            shown.out.lines().any(|it| it == line),
            "{line}\n{}",
            shown.out
        );
    }
    // Read again, they say the same.
    fs::write(folder.path().join("again.toml"), &shown.out).unwrap();
    let again = run(
        folder.path(),
        &["--config", "again.toml", "--show-settings"],
    );
    let rest = |text: &str| text.split_once('\n').unwrap().1.to_owned();
    assert_eq!(rest(&again.out), rest(&shown.out));
}

#[test]
fn rules_are_counted() {
    let folder = folder(&[(
        "Corefile",
        ". {\n    forward . 127.0.0.1\n    forward a 127.0.0.2\n} # kdns: ignore[KP001]\n",
    )]);
    let ended = lint(folder.path(), &["--statistics"]);
    assert_eq!(ended.status, 1);
    let expected = "2  KC002[forward-to-loopback]\n1  KS001[unused-suppression] (1 with a fix)\n";
    assert_eq!(ended.out, expected);
    // A format for programs stays what it is.
    let ended = lint(folder.path(), &["--statistics", "--format", "json"]);
    assert!(ended.out.starts_with('{'));
}

#[test]
fn what_git_ignores_is_left_out_unless_it_is_named() {
    let folder = folder(&[
        (".gitignore", "out/\n*.bak\n!keep.Corefile.bak\n"),
        ("out/Corefile", LOOP),
        ("old.Corefile.bak", LOOP),
        ("a/.gitignore", "Corefile\n"),
        ("a/Corefile", LOOP),
        ("b/Corefile", LOOP),
        (".git/Corefile", LOOP),
        (".hidden/Corefile", LOOP),
    ]);
    let ended = lint(folder.path(), &["--format", "concise"]);
    assert_eq!(
        found(&ended),
        [".hidden/Corefile:2:15 KC002", "b/Corefile:2:15 KC002"]
    );
    let named = lint(
        folder.path(),
        &["--format", "concise", "out/Corefile", "a/Corefile"],
    );
    assert_eq!(found(&named).len(), 2, "{}", named.out);
}

/// Line ends and a mark at the beginning change no place, and `--fix` keeps them.
#[test]
fn files_of_other_systems_are_the_same_files() {
    let pod = "kind: Pod\napiVersion: v1\nspec:\n  hostNetwork: true\n  dnsPolicy: ClusterFirst # é\n# kdns: ignore[KC999]\n";
    let conf = "nameserver 127.0.0.53\noptions edns0\n";
    let kubelet = "kind: KubeletConfiguration\napiVersion: kubelet.config.k8s.io/v1beta1\nresolverConfig: /x\n";
    let files = [
        ("pod.yaml", pod),
        ("Corefile", LOOP),
        ("resolv.conf", conf),
        ("kubelet.yaml", kubelet),
    ];
    let plain = folder(&files);
    let expected = lint(plain.path(), &["--format", "concise"]).out;
    assert!(expected.lines().count() >= 3, "{expected}");
    for (mark, end) in [("", "\r\n"), ("\u{feff}", "\n"), ("\u{feff}", "\r\n")] {
        let other: Vec<(&str, String)> = files
            .iter()
            .map(|(path, text)| (*path, format!("{mark}{}", text.replace('\n', end))))
            .collect();
        let other: Vec<(&str, &str)> = other
            .iter()
            .map(|(path, text)| (*path, text.as_str()))
            .collect();
        let other = folder(&other);
        let found = lint(other.path(), &["--format", "concise"]).out;
        // A mark hides the first word of a resolv.conf, which has no other one.
        let of = |text: &str| -> Vec<String> {
            let lines = text
                .lines()
                .filter(|it| mark.is_empty() || !it.starts_with("resolv.conf"));
            lines.map(str::to_owned).collect()
        };
        assert_eq!(of(&found), of(&expected), "{mark:?} {end:?}");
        let shown = lint(other.path(), &["--color", "never"]).out;
        assert!(!shown.contains(['\r', '\u{feff}', '\u{fffd}']), "{shown}");
        lint(other.path(), &["--fix"]);
        let fixed = fs::read_to_string(other.path().join("pod.yaml")).unwrap();
        let pod = pod.replace("# kdns: ignore[KC999]\n", "");
        assert_eq!(fixed, format!("{mark}{}", pod.replace('\n', end)));
    }
}

/// Nobody knows what they would suppress.
#[test]
fn suppressions_of_what_was_not_read_are_not_unused() {
    let pod =
        "- {kind: Pod, spec: {hostNetwork: true, dnsPolicy: ClusterFirst}} # kdns: ignore[KP001]\n";
    let list = |count: usize| format!("kind: List\napiVersion: v1\nitems:\n{}", pod.repeat(count));
    let broken = format!("{}a: [\n", list(2));
    let folder = folder(&[
        ("long.yaml", &list(13_000)),
        ("broken.yaml", &broken),
        ("many.yaml", &list(9000)),
    ]);
    let ended = lint(folder.path(), &["--format", "concise"]);
    let lines: Vec<&str> = ended.out.lines().collect();
    assert_eq!(lines.len(), 1, "{lines:?}");
    assert!(lines[0].starts_with("broken.yaml:"), "{lines:?}");
    assert_eq!(
        (ended.status, ended.err.as_str()),
        (2, "kdns: cannot read long.yaml: it is longer than 1 MiB\n")
    );
}

/// Of what could not be parsed nobody can tell what a comment suppresses,
/// whether that it could not be parsed is a finding that is wanted or not.
#[test]
fn comments_in_broken_files_are_not_unused() {
    let text = "a: b # kdns: ignore[KK001] why\nkind: KubeletConfiguration\n---\nkubelet: [\n";
    let folder = folder(&[("config.yaml", text)]);
    for rules in ["KS001,KK001", "KS001,KS002,KK001"] {
        let ended = run(folder.path(), &["--select", rules]);
        assert!(!ended.out.contains("KS001"), "{}", ended.out);
    }
}

/// What the kernel tells is something to look at.
#[test]
fn a_node_can_have_nothing_but_proc() {
    let tables = [
        ("proc/sys/net/netfilter/nf_conntrack_max", "100\n"),
        ("proc/sys/net/netfilter/nf_conntrack_count", "100\n"),
        ("proc/1/comm", "systemd\n"),
    ];
    let full = folder(&tables);
    assert_eq!(run(full.path(), &["--root", "."]).status, 1);
    let empty = folder(&[("proc/1/comm", "systemd\n")]);
    assert_eq!(run(empty.path(), &["--root", "."]).status, 2);
}

#[test]
fn what_was_fixed_is_said_and_read_only_files_are_left() {
    let text = "nameserver 192.0.2.1\nsearch a.example # mine\n";
    let folder = folder(&[("resolv.conf", text)]);
    let path = folder.path().join("resolv.conf");
    let mut permissions = fs::metadata(&path).unwrap().permissions();
    permissions.set_readonly(true);
    fs::set_permissions(&path, permissions.clone()).unwrap();
    let ended = run(folder.path(), &["--fix"]);
    assert_eq!(
        (ended.status, fs::read_to_string(&path).unwrap()),
        (2, text.to_owned())
    );
    assert!(ended.err.contains("it is read-only"), "{}", ended.err);
    fs::set_permissions(&path, std::os::unix::fs::PermissionsExt::from_mode(0o644)).unwrap();
    let ended = run(folder.path(), &["--fix"]);
    assert_eq!(
        (ended.status, ended.err.as_str()),
        (0, "kdns: fixed resolv.conf\n")
    );
    assert_eq!(run(folder.path(), &["--fix"]).err, "");
}

#[test]
fn what_is_added_is_set_in_as_the_blocks_that_are_there() {
    for step in ["  ", "   ", "    ", "\t"] {
        let health = |block: &str| {
            let inner = format!("    kubernetes cluster.local {{\n    {step}ttl 30\n    }}\n");
            format!(".:53 {{\n    errors\n    health{block}\n{inner}}}\n")
        };
        let folder = folder(&[("Corefile", &health(""))]);
        run(folder.path(), &["--select", "KC013", "--fix"]);
        let fixed = fs::read_to_string(folder.path().join("Corefile")).unwrap();
        let block = format!(" {{\n    {step}lameduck 5s\n    }}");
        assert_eq!(fixed, health(&block));
    }
}

#[test]
fn a_long_value_does_not_fill_the_screen() {
    let long = format!(
        "apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\nresolvConf: {}\n",
        "a".repeat(100_000)
    );
    let folder = folder(&[("config.yaml", &long)]);
    let ended = run(folder.path(), &["--select", "KK022"]);
    assert_eq!(ended.status, 1, "{}", ended.err);
    assert!(ended.out.len() < 1000, "{}", ended.out.len());
}

/// What counted for nobody can be what breaks it.
#[test]
fn safe_fixes_let_nothing_count_that_did_not() {
    for text in [
        "\u{feff}nameserver 127.0.0.53\nnameserver 192.0.2.1\n",
        "nameserver 192.0.2.1\noptions ndots: 2\n",
        "nameserver 192.0.2.1\nnameserver 192.0.2.1\nnameserver 192.0.2.2\nnameserver 192.0.2.3\n",
    ] {
        let folder = folder(&[("resolv.conf", text)]);
        let diff = |option| run(folder.path(), &["--diff", option]).out;
        assert_eq!(diff("--fix"), "", "{text}");
        assert_ne!(diff("--unsafe-fixes"), "", "{text}");
    }
    let comment = folder(&[("resolv.conf", "\u{feff}# mine\nnameserver 192.0.2.1\n")]);
    assert_ne!(run(comment.path(), &["--diff"]).out, "");
}
