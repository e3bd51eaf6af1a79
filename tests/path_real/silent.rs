//! Looking changes nothing: no module is loaded, no table made, no file written.

use std::collections::BTreeSet;
use std::process::Command;

use crate::Scene;
use crate::lab::{FAR, KDNS, Lab, NEAR, kube_proxy, restore, sh};

pub(crate) const SCENES: &[Scene] = &[
    ("silent::strace", strace),
    ("silent::no table is made", no_table),
    ("silent::a tool that others may write to", foreign_tool),
    ("silent::a missing tool", missing_tool),
];

/// Programs that are started, by their paths, and other calls that would change
/// something.
fn calls(arguments: &[&str]) -> (BTreeSet<String>, Vec<String>) {
    let output = Command::new("strace")
        .args(["-f", "-qq", "-s", "200", "-o", "/run/calls"])
        .args(["-e", "trace=execve,execveat,open,openat,openat2,creat,unlink,unlinkat,rename,renameat,renameat2,mkdir,mkdirat,link,linkat,symlink,symlinkat,truncate,ftruncate,mount,umount2,init_module,finit_module,delete_module,chmod,fchmod,fchmodat,chown,fchown,fchownat,sethostname"])
        .arg(KDNS)
        .args(arguments)
        .output()
        .unwrap();
    assert!(output.status.code().is_some(), "{output:?}");
    let text = std::fs::read_to_string("/run/calls").unwrap();
    let (mut programs, mut others) = (BTreeSet::new(), Vec::new());
    for line in text.lines() {
        let call = line.split_once(' ').unwrap().1.trim_start();
        if call.starts_with("<...") || call.starts_with("+++") || call.starts_with("---") {
            continue;
        }
        let path = call.split('"').nth(1).unwrap_or_default();
        if call.starts_with("execve") {
            programs.insert(path.to_owned());
        } else if call.starts_with("open") {
            let writes = ["O_WRONLY", "O_RDWR", "O_CREAT", "O_TRUNC", "O_TMPFILE"];
            if writes.iter().any(|it| call.contains(it)) && path != "/dev/null" {
                others.push(call.to_owned());
            }
        } else {
            others.push(call.to_owned());
        }
    }
    (programs, others)
}

fn strace() {
    let _lab = Lab::new();
    restore("legacy", &kube_proxy(&[NEAR[0], FAR]));
    sh("iptables-nft -A INPUT -p udp --dport 9 -j ACCEPT");
    sh("ipset create KUBE-TEST hash:ip");
    let (programs, others) = calls(&["path", "--target", "/run/netns/client"]);
    let allowed = [
        "iptables-legacy-save",
        "iptables-nft-save",
        "ip6tables-legacy-save",
        "ip6tables-nft-save",
        "nft",
        "ipset",
    ];
    let tools: BTreeSet<&str> = programs
        .iter()
        .filter(|it| *it != KDNS && *it != "/proc/self/exe")
        .map(|it| it.strip_prefix("/usr/sbin/").unwrap_or(it))
        .collect();
    assert!(
        tools.contains("iptables-legacy-save") && tools.contains("nft"),
        "{programs:?}"
    );
    assert!(tools.iter().all(|it| allowed.contains(it)), "{programs:?}");
    assert_eq!(others, Vec::<String>::new());
}

/// In a network namespace without tables there are none afterwards.
fn no_table() {
    let _lab = Lab::new();
    let names = |pod: &str| {
        let script = "cat /proc/net/ip_tables_names /proc/net/ip6_tables_names; nft list tables";
        let output = Command::new("ip")
            .args(["netns", "exec", pod, "sh", "-c", script])
            .output();
        String::from_utf8(output.unwrap().stdout).unwrap()
    };
    assert_eq!(names("client"), "");
    let (programs, _) = calls(&["path", "--target", "/run/netns/client", "10.244.0.2"]);
    assert!(
        !programs
            .iter()
            .any(|it| it.contains("legacy") || it.contains("modprobe")),
        "{programs:?}"
    );
    assert_eq!(names("client"), "");
}

/// What somebody else could have put there is named, and not run.
fn foreign_tool() {
    let _lab = Lab::new();
    restore("legacy", &kube_proxy(&[NEAR[0]]));
    sh(
        "cp /usr/sbin/xtables-legacy-multi /run/tool; chmod 777 /run/tool
        mount --bind /run/tool /usr/sbin/xtables-legacy-multi",
    );
    let (programs, _) = calls(&["path", "--target", "/run/netns/client"]);
    assert!(
        !programs.iter().any(|it| it.contains("legacy")),
        "{programs:?}"
    );
    let said = said(&["path", "--target", "/run/netns/client"]);
    assert!(
        said.contains("its owner is not root, or others may write to it"),
        "{said}"
    );
}

fn missing_tool() {
    let _lab = Lab::new();
    restore("legacy", &kube_proxy(&[NEAR[0]]));
    sh("mount -t tmpfs tmpfs /usr/sbin");
    let said = said(&["path", "10.96.0.10"]);
    let words = said.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(
        words.contains("iptables-legacy-save is in none of /usr/sbin, /sbin, /usr/bin, /bin"),
        "{said}"
    );
}

/// All that is written to both outputs, in one line.
fn said(arguments: &[&str]) -> String {
    let output = Command::new(KDNS)
        .args(arguments)
        .arg("-v")
        .output()
        .unwrap();
    let text = [output.stdout, output.stderr].concat();
    let text = String::from_utf8(text).unwrap();
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
