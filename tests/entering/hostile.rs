//! Containers whose files try to make the node's programs do more than ask.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::json;

use crate::lab::{KDNS, kdns, result};
use crate::node::Node;
use crate::places::shell;

/// Says that its code has run.
const LIBRARY: &str = r#"
#include <stdio.h>
__attribute__((constructor)) static void run(void) { fclose(fopen("/run/owned", "w")); }
"#;
const OWNED: &str = "/run/owned";

/// What a container's nsswitch.conf says, the lines about hosts that the
/// command sees, and what is said about it.
const LINES: [(&str, &str, &str); 7] = [
    (
        "passwd: x/../evil\nhosts: files dns\n",
        "hosts: files dns\n",
        "",
    ),
    (
        "passwd: evil\ngroup: evil\nshadow: evil\ninitgroups: evil\n",
        "hosts: files dns\n",
        "",
    ),
    (
        "hosts: x/../evil files\n",
        "hosts: files\n",
        "looked up by `x/../evil`",
    ),
    (
        "hosts: files evil [UNAVAIL=return] /evil\n",
        "hosts: files\n",
        "looked up by `evil`",
    ),
    (
        "hosts: files mdns4_minimal [NOTFOUND=return] dns\n",
        "hosts: files dns\n",
        "no library",
    ),
    (
        "hosts: files [SUCCESS=merge] dns\n",
        "hosts: files dns\n",
        "after `files` has found",
    ),
    ("hosts: files [x] evil\n", "", "glibc cannot read"),
];
const DATABASES: [&str; 6] = [
    "passwd",
    "group",
    "hosts",
    "ahosts",
    "services",
    "initgroups",
];

/// The word for a service becomes the name of a library.
pub(crate) fn libraries() {
    let node = Node::boot();
    let id = node.id(1);
    let image = node.image(&id);
    let pid = node.container(&id, |_| {}).to_string();
    let of_node = "passwd: files\nhosts: files\nhosts dns\nnetgroup: nis\n";
    fs::write("/etc/nsswitch.conf", of_node).unwrap();
    fs::write("/run/library.c", LIBRARY).unwrap();
    shell(&format!(
        "cd {}; mkdir -p etc libnss_x; gcc -w -shared -fPIC -o evil.so.2 /run/library.c; cp evil.so.2 libnss_evil.so.2",
        image.display()
    ));
    let nsswitch = image.join("etc/nsswitch.conf");
    // In the container's directory, with a path for libraries that leads there.
    let getent = |prefix: &[&str], database: &str| {
        let words = [prefix, &["getent", database, "nobody-has-this"]].concat();
        let (program, words) = words.split_first().unwrap();
        let mut command = Command::new(program);
        let command = command.args(words).current_dir(format!("/proc/{pid}/root"));
        result(&command.env("LD_LIBRARY_PATH", ".").output().unwrap())
    };

    // The library does what is thought of it.
    fs::write(&nsswitch, "passwd: x/../evil\n").unwrap();
    let lay = "cat etc/nsswitch.conf > /run/n; mount --bind /run/n /etc/nsswitch.conf; exec \"$@\"";
    getent(&["unshare", "--mount", "sh", "-ec", lay, "sh"], "passwd");
    assert!(Path::new(OWNED).exists());
    fs::remove_file(OWNED).unwrap();

    let rest = "passwd: files\nnetgroup: nis\n";
    for (text, hosts, said) in LINES {
        fs::write(&nsswitch, text).unwrap();
        for database in DATABASES {
            let (status, out, err) = getent(&[KDNS, "nsenter", &pid, "--"], database);
            assert!(!Path::new(OWNED).exists(), "{text} {database}");
            assert!(
                status == 2 || database == "initgroups",
                "{text} {database} {status}"
            );
            assert!(
                err.contains(said) && (!said.is_empty() || err.is_empty()),
                "{out}{err}"
            );
        }
        let (_, out, _) = kdns(&["nsenter", &pid, "--", "cat", "/etc/nsswitch.conf"]);
        assert_eq!(out, format!("{hosts}{rest}"), "{text}");
    }
    as_the_node_has_it(&nsswitch, &pid, of_node);
}

/// What the target has as the node has it, and a node without the file.
fn as_the_node_has_it(nsswitch: &Path, pid: &str, of_node: &str) {
    fs::write(nsswitch, of_node).unwrap();
    let (_, out, err) = kdns(&["nsenter", pid, "--", "cat", "/etc/nsswitch.conf"]);
    assert_eq!((out.as_str(), err.as_str()), (of_node, ""));
    fs::remove_file("/etc/nsswitch.conf").unwrap();
    fs::write(nsswitch, "hosts: evil\n").unwrap();
    let (status, _, err) = kdns(&["nsenter", pid, "--", "true"]);
    assert_eq!(status, 0);
    assert!(err.contains("the node has no /etc/nsswitch.conf"), "{err}");
}

const VARIABLES: [&str; 9] = [
    "LOCALDOMAIN",
    "RES_OPTIONS",
    "HOSTALIASES",
    "RESOLV_HOST_CONF",
    "GODEBUG",
    "LD_PRELOAD",
    "GCONV_PATH",
    "NLSPATH",
    "LOCPATH",
];

/// Files and variables of the target that no program of the node gets to see.
pub(crate) fn unseen() {
    const FILES: &[&str] = &[
        "host.conf",
        "gai.conf",
        "ld.so.preload",
        "ld.so.cache",
        "services",
        "networks",
        "passwd",
        "hostname",
    ];
    let node = Node::boot();
    let id = node.id(1);
    let image = node.image(&id);
    fs::create_dir_all(image.join("etc")).unwrap();
    for file in FILES {
        fs::write(image.join("etc").join(file), "kdns-target\n").unwrap();
    }
    let long = format!("LOCALDOMAIN={}", "a.test ".repeat(1000));
    let pid = node.container(&id, |config| {
        config["hostname"] = json!("$(touch${IFS}/run/owned)");
        config["process"]["env"] = json!([
            long,
            "RES_OPTIONS=ndots:1 \u{1b}]0;x\u{7}",
            "HOSTALIASES=../../../etc/passwd",
            "RESOLV_HOST_CONF=/etc/shadow",
            "GODEBUG=netdns=cgo",
            "LD_PRELOAD=/evil.so",
            "GCONV_PATH=/etc",
            "NLSPATH=/etc",
            "LOCPATH=/etc",
        ]);
    });
    let pid = pid.to_string();
    for file in FILES {
        let script = format!("cat /etc/{file} 2>/dev/null || :");
        let (_, out, _) = kdns(&["nsenter", &pid, "--", "sh", "-c", &script]);
        assert!(!out.contains("kdns-target"), "{file}");
    }
    let (_, out, err) = kdns(&["nsenter", &pid, "--", "env"]);
    for name in VARIABLES {
        assert!(
            !out.lines().any(|it| it.starts_with(&format!("{name}="))),
            "{out}"
        );
    }
    assert!(
        err.contains("LOCALDOMAIN is left out") && err.contains("RES_OPTIONS is left out"),
        "{err}"
    );
    let (_, out, err) = kdns(&["nsenter", &pid, "--", "uname", "-n"]);
    assert_eq!(out, "node-a\n");
    assert!(
        err.contains("host name is `$(touch${IFS}/run/owned)`"),
        "{err}"
    );
}

/// What a lookup opens does not depend on what the target's data says.
pub(crate) fn data() {
    let node = Node::boot();
    let (plain, hostile) = (node.id(1), node.id(2));
    let options = "options debug edns0 use-vc trust-ad rotate no-reload inet6 no-aaaa ../../evil attempts:1 timeout:1\n";
    let conf = format!(
        "search ../evil /evil $(id) `id`\nsortlist 10.0.0.0/../evil\nlookup evil\ninclude /evil\n{options}"
    );
    let hosts = "include /evil\n10.0.0.1 ../evil /evil $(id)\n";
    for (id, conf, hosts) in [(&plain, "", ""), (&hostile, conf.as_str(), hosts)] {
        let image = node.image(id);
        fs::create_dir_all(image.join("etc")).unwrap();
        fs::write(
            image.join("etc/resolv.conf"),
            format!("nameserver 127.0.0.1\n{conf}"),
        )
        .unwrap();
        fs::write(
            image.join("etc/hosts"),
            format!("127.0.0.1 localhost\n{hosts}"),
        )
        .unwrap();
        fs::write(
            image.join("aliases"),
            "kdns-none ../../evil\ninclude /evil\n",
        )
        .unwrap();
    }
    let start = |id: &str, env: &[&str]| {
        let pid = node.container(id, |config| config["process"]["env"] = json!(env));
        pid.to_string()
    };
    let env = [
        "HOSTALIASES=/aliases",
        "RES_OPTIONS=../evil ndots:99 debug",
        "LOCALDOMAIN=../evil /evil",
    ];
    let (plain_pid, hostile_pid) = (start(&plain, &[]), start(&hostile, &env));
    let (usual, more) = (getent_opens(&plain_pid), getent_opens(&hostile_pid));
    assert!(more.is_subset(&usual), "{usual:?}\n{more:?}");
    // It can end such a program, or keep it busy, as it does in the target.
    let conf = node.image(&plain).join("etc/resolv.conf");
    let ended = |text: &str| {
        fs::write(&conf, text).unwrap();
        let getent = ["timeout", "3", "getent", "hosts", "a"];
        kdns(&[&["nsenter", &plain_pid, "--"], &getent[..]].concat()).0
    };
    assert_eq!(ended("sortlist x/1\n"), 124);
    assert_eq!(ended(""), 2);
}

/// What a lookup of the node's C library opens and runs, and where it connects.
fn getent_opens(pid: &str) -> BTreeSet<String> {
    let trace = format!("/run/trace-{pid}");
    let strace = format!("strace -f -e trace=open,openat,execve,connect -o {trace}");
    let getent = strace.split(' ').chain(["getent", "ahosts", "kdns-none"]);
    let words: Vec<&str> = ["nsenter", pid, "--"].into_iter().chain(getent).collect();
    let (_, _, err) = kdns(&words);
    let lines = fs::read_to_string(&trace).unwrap_or_else(|_| panic!("{err}"));
    let paths = lines.lines().filter_map(|it| it.split('"').nth(1));
    // The copy of its HOSTALIASES is such a one.
    let paths = paths.filter(|it| !it.starts_with("/proc/self/fd/"));
    let paths: BTreeSet<String> = paths.map(str::to_owned).collect();
    for file in ["/etc/resolv.conf", "/etc/hosts"] {
        assert!(paths.contains(file), "{paths:?}");
    }
    paths
}
