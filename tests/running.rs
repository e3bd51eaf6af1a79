//! Every command says of a kubelet that was started before its files were
//! changed what `check-loop` says of it: what it has, or that this is not
//! known. What the files say by now counts from its restart on.

#![expect(clippy::unwrap_used, reason = "a test may stop at the first surprise")]

#[expect(dead_code, reason = "other tests need the rest of it")]
mod trees;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use self::trees::timed;

/// What kdns answers: the status, standard output and standard error.
fn kdns(arguments: &[&str], root: &Path) -> (i32, String, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_kdns"));
    let output = command.args(arguments).arg("--root").arg(root).output();
    let output = output.unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    let status = output.status.code().unwrap();
    (status, text(output.stdout), text(output.stderr))
}

fn node(name: &str) -> PathBuf {
    let nodes = Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata/nodes");
    timed(&nodes.join(name)).unwrap()
}

fn json(arguments: &[&str], root: &Path) -> (i32, Value) {
    let (status, out, _) = kdns(&[arguments, &["--format", "json"]].concat(), root);
    (status, serde_json::from_str(&out).unwrap())
}

/// The file that the running kubelet has is known from a pod that it made, or
/// from its flags.
#[test]
fn upstream_follows_what_the_running_kubelet_has() {
    for name in ["cluster-not-restarted", "cluster-unit-not-reloaded"] {
        let root = node(name);
        let (_, report) = json(&["upstream"], &root);
        let files = report["files"].as_array().unwrap();
        let role = |role: &str| files.iter().find(|it| it["role"] == role);
        let now = role("kubelet").or_else(|| role("both")).unwrap();
        assert_eq!(now["servers"][0]["address"], "127.0.0.53", "{name}: {now}");
        let later = role("restarted-kubelet").unwrap();
        assert_eq!(later["path"], "/run/systemd/resolve/resolv.conf", "{name}");
        let (_, text, _) = kdns(&["upstream"], &root);
        let head = "from the kubelet's restart on, its file: /run/systemd/resolve/resolv.conf";
        assert!(text.contains(head), "{name}: {text}");
        let remark = report["remarks"].to_string();
        assert!(remark.contains("was changed"), "{name}: {remark}");
        assert!(remark.contains("restart"), "{name}: {remark}");
    }
}

/// What its files would do from its restart on is one cause, and its fix is of them.
#[test]
fn doctor_says_first_what_comes_with_the_restart() {
    let (status, report) = json(&["doctor"], &node("cluster-restart-will-loop"));
    assert_eq!(status, 1);
    let causes = report["causes"].as_array().unwrap();
    assert_eq!(causes[0]["code"], "after-kubelet-restart");
    let rule = |it: &&Value| it["code"] == "loopback-nameserver";
    assert_eq!(causes.iter().filter(rule).count(), 0, "{causes:#?}");
    let fix = causes[0]["fix"].to_string();
    let line = "/etc/kubernetes/kubelet.yaml:8:1";
    assert!(fix.contains(line), "{causes:#?}");
    assert!(fix.contains("systemctl restart kubelet"), "{causes:#?}");
    assert!(!fix.contains("delete pod"), "{causes:#?}");
}

/// What the node's own lookups do not need, nobody is to repair.
#[test]
fn a_server_of_a_file_that_counts_from_the_restart_on_is_no_cause_of_its_own() {
    let directory = tempfile::tempdir().unwrap();
    let root = directory.path().join("root");
    let mut copy = Command::new("cp");
    copy.arg("-a")
        .arg(node("cluster-restart-will-loop"))
        .arg(&root);
    assert!(copy.status().unwrap().success());
    let settings = root.join("etc/kubernetes/kubelet.yaml");
    let text = fs::read_to_string(&settings).unwrap();
    // It is newer than the kubelet by its time of now.
    fs::write(&settings, text.replace("/etc/resolv.conf", "/etc/new.conf")).unwrap();
    fs::write(root.join("etc/new.conf"), "nameserver 127.0.0.1\n").unwrap();
    let (status, report) = json(&["doctor"], &root);
    assert_eq!(status, 1);
    let causes = report["causes"].as_array().unwrap();
    assert_eq!(causes[0]["code"], "after-kubelet-restart", "{causes:#?}");
    let (_, text, _) = kdns(&["doctor"], &root);
    assert!(text.contains("seen at /etc/new.conf:1:12"), "{text}");
    let of_rest = |it: &&Value| it["code"] == "dead-server" || it["code"] == "loopback-nameserver";
    assert_eq!(causes.iter().filter(of_rest).count(), 0, "{causes:#?}");
    // The fix is in each format.
    for format in ["sarif", "github"] {
        let (_, out, _) = kdns(&["check-loop", "--format", format], &root);
        assert!(out.contains("before the kubelet is restarted"), "{out}");
    }
}

/// A copy has the time of systemd's link from whoever copied it.
#[test]
fn a_copied_link_says_nothing_of_the_kubelet_s_start() {
    let root = node("cluster-restart-will-loop");
    let link = root.join("run/systemd/units/invocation:kubelet.service");
    assert!(link.is_symlink());
    let (_, report) = json(&["upstream"], &root);
    let remark = report["remarks"].to_string();
    assert!(remark.contains("was changed after"), "{remark}");
}

#[test]
fn upstream_does_not_know_what_nothing_tells() {
    let root = node("cluster-not-restarted-old-pods");
    let (status, report) = json(&["upstream"], &root);
    assert_eq!((status, &report["health"]), (2, &Value::from("unknown")));
    let now = &report["files"][0];
    assert_eq!(now["role"], "kubelet");
    assert_eq!(now["servers"], Value::Array(Vec::new()));
    let problem = now["problem"]["text"].as_str().unwrap();
    assert!(problem.contains("/configz"), "{problem}");
    let later = &report["files"][1];
    assert_eq!(later["role"], "restarted-kubelet");
    assert_eq!(later["servers"][0]["address"], "172.31.0.53");
    // One address is another question.
    let (status, _) = json(&["upstream", "172.31.0.53"], &root);
    assert_eq!(status, 0);
}

#[test]
fn pod_file_is_that_of_the_running_kubelet() {
    let default = ["pod-file", "--policy", "Default"];
    for name in ["cluster-not-restarted", "cluster-unit-not-reloaded"] {
        let (status, out, err) = kdns(&default, &node(name));
        assert_eq!(status, 0, "{name}: {err}");
        assert!(out.contains("nameserver 127.0.0.53\n"), "{name}: {out}");
        assert!(err.contains("restart"), "{name}: {err}");
    }
    let root = node("cluster-not-restarted-old-pods");
    let (status, out, err) = kdns(&default, &root);
    assert_eq!((status, out.as_str()), (2, ""), "{err}");
    assert!(err.contains("was changed after the kubelet"), "{err}");
}

/// `clusterDNS` stands in the same file.
#[test]
fn the_cluster_dns_of_a_running_kubelet_is_as_unknown_as_its_file() {
    let root = node("cluster-not-restarted");
    let (status, out, err) = kdns(&["pod-file"], &root);
    assert_eq!((status, out.as_str()), (2, ""), "{err}");
    assert!(err.contains("was changed after the kubelet"), "{err}");
    // What the user says is known.
    let told = [
        "pod-file",
        "--cluster-dns",
        "10.96.0.10",
        "--cluster-domain",
        "cluster.local",
    ];
    let (status, out, err) = kdns(&told, &root);
    assert_eq!(status, 0, "{err}");
    assert!(out.contains("nameserver 10.96.0.10\n"), "{out}");
    // Flags of the process are what it has, whatever the unit says by now.
    let (status, out, err) = kdns(&["pod-file"], &node("cluster-unit-not-reloaded"));
    assert_eq!(status, 0, "{err}");
    assert!(out.contains("nameserver 10.96.0.10\n"), "{out}");
}

#[test]
fn explain_takes_the_pods_file_of_the_running_kubelet() {
    let directory = tempfile::tempdir().unwrap();
    let manifest = directory.path().join("pod.yaml");
    let text = "apiVersion: v1\nkind: Pod\nmetadata: {name: a}\n\
                spec: {dnsPolicy: Default, containers: [{name: a, image: a}]}\n";
    fs::write(&manifest, text).unwrap();
    let manifest = manifest.to_str().unwrap();
    let asked = ["explain", "x.example", "--pod", manifest];
    let (status, out, err) = kdns(&asked, &node("cluster-not-restarted"));
    assert_eq!(status, 0, "{err}");
    assert!(out.contains("127.0.0.53"), "{out}");
    let (status, out, err) = kdns(&asked, &node("cluster-not-restarted-old-pods"));
    assert_eq!((status, out.as_str()), (2, ""), "{err}");
    assert!(err.contains("was changed after the kubelet"), "{err}");
    let asked = ["explain", "x.example", "--namespace", "default"];
    let (_, out, err) = kdns(&asked, &node("cluster-not-restarted-old-pods"));
    assert!(
        format!("{out}{err}").contains("was changed after the kubelet"),
        "{out}{err}"
    );
}

/// A file that cannot be read is no default.
#[test]
fn what_was_not_read_is_unknown() {
    let nodes = Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata/nodes");
    let root = nodes.join("unreadable-kubelet-config");
    let (status, text, _) = kdns(&["upstream"], &root);
    assert_eq!(status, 2, "{text}");
    let first = text.lines().next().unwrap();
    assert!(
        first.starts_with("Not known where all queries go: the kubelet's configuration"),
        "{text}"
    );
    let (status, out, err) = kdns(&["pod-file"], &root);
    assert_eq!((status, out.as_str()), (2, ""), "{err}");
    assert!(!err.contains("without clusterDNS"), "{err}");
}

/// Whoever may not see the processes of others does not know whether a kubelet
/// runs.
#[test]
fn hidden_processes_are_not_absent_ones() {
    let script = "mount -o remount,hidepid=2 /proc && for command in upstream pod-file check-loop; \
                  do setpriv --reuid=65534 --regid=65534 --clear-groups \"$0\" $command 2>&1; \
                  echo \"status $?\"; done";
    let directory = tempfile::tempdir().unwrap();
    let program = directory.path().join("kdns");
    fs::copy(env!("CARGO_BIN_EXE_kdns"), &program).unwrap();
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    fs::set_permissions(directory.path(), mode).unwrap();
    let mut command = Command::new("unshare");
    command.args(["-m", "-p", "-f", "--mount-proc", "sh", "-c", script]);
    let output = command.arg(&program).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    if text.is_empty() {
        // Without root there is no such namespace.
        assert!(std::env::var("KDNS_REQUIRE_REAL").is_err(), "{text}");
        return;
    }
    assert_eq!(text.matches("status 2").count(), 3, "{text}");
    assert!(text.matches("hidepid (needs root)").count() >= 3, "{text}");
    for wrong in ["no kubelet was found", "No kubelet was found", "no node"] {
        assert!(!text.contains(wrong), "{text}");
    }
}
