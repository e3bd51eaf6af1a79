//! What the running kubelet has, which can be other than its files by now.

use super::*;

#[test]
fn a_file_that_is_newer_than_the_process_is_told() {
    let stat = |ticks: u64| {
        let zeros = " 0".repeat(30);
        format!("812 (kubelet) S 1 812 812 0 -1 0 0 0 0 0 0 0 0 0 20 0 1 0 {ticks}{zeros}\n")
    };
    for (ticks, is_newer) in [(0, true), (1_000_000_000_000, false)] {
        let (directory, root) = root_with(&[
            ("/proc/812/comm", "kubelet\n"),
            ("/proc/812/cmdline", "kubelet\0--config=/k.yaml\0"),
            ("/proc/812/stat", &stat(ticks)),
            ("/proc/stat", "cpu 1 2 3\nbtime 1000000000\n"),
            ("/etc/hostname", "node-a\n"),
            ("/k.yaml", CONFIGURATION),
        ]);
        let old = fs::File::open(directory.path().join("etc/hostname")).unwrap();
        old.set_modified(std::time::UNIX_EPOCH).unwrap();
        let kubelet = read_kubelet(&root, &scan(&root).0, None).0.unwrap();
        let newer = Remark::Newer {
            file: "/k.yaml".to_owned(),
            pid: 812,
        };
        let expected: &[Remark] = if is_newer { &[newer] } else { &[] };
        assert_eq!(kubelet.remarks, expected, "{ticks}");
    }
}

/// A node whose kubelet was started with `flag`, and has it in its unit as
/// `of_unit`; all files but `newer` are older than the process.
fn running_node(flag: &str, of_unit: &str, newer: &[&str]) -> (tempfile::TempDir, Root) {
    const UNIT: &str = "/etc/systemd/system/kubelet.service";
    let stat = format!(
        "812 (kubelet) S 1{} 100{}\n",
        " 0".repeat(17),
        " 0".repeat(30)
    );
    let command = format!("/usr/bin/kubelet\0--config=/k.yaml\0{flag}\0");
    let unit = format!("[Service]\nExecStart=/usr/bin/kubelet --config=/k.yaml{of_unit}\n");
    let (directory, root) = root_with(&[
        ("/proc/812/comm", "kubelet\n"),
        ("/proc/812/cmdline", &command),
        ("/proc/812/stat", &stat),
        ("/proc/stat", "btime 1000000000\n"),
        ("/etc/hostname", "node-a\n"),
        (UNIT, &unit),
        ("/k.yaml", CONFIGURATION),
    ]);
    for path in ["/k.yaml", UNIT, "/etc/hostname"] {
        let below = path.trim_start_matches('/');
        let file = fs::File::open(directory.path().join(below)).unwrap();
        let seconds = if newer.contains(&path) {
            1_000_000_100
        } else {
            1
        };
        let time = std::time::UNIX_EPOCH + std::time::Duration::from_secs(seconds);
        file.set_modified(time).unwrap();
    }
    (directory, root)
}

/// What runs is told by the age of files, a flag of the process, or by the
/// kubelet itself; a copy without the times of its files tells nothing.
#[test]
fn what_a_running_kubelet_has_is_not_what_its_file_says_by_now() {
    let configz = Source::new(
        "configz",
        b"{\"kubeletconfig\": {\"resolvConf\": \"/old\"}}",
    );
    // The process's flag, the unit's, which file is newer, whether others are old, configz.
    let cases = [
        ("", "", "", true, false, "as the files"),
        ("", "", "/k.yaml", true, false, "not known"),
        ("", "", "/k.yaml", false, false, "as the files"),
        ("", "", "/k.yaml", true, true, "/old"),
        ("", "", "", true, true, "/old"),
        (
            "--resolv-conf=/flag",
            " --resolv-conf=/flag",
            "/k.yaml",
            true,
            false,
            "as the files",
        ),
        (
            "--resolv-conf=/flag",
            "",
            "/etc/systemd/system/kubelet.service",
            true,
            false,
            "/flag",
        ),
        ("--resolv-conf=/flag", "", "", true, false, "as the files"),
    ];
    for case in cases {
        let (flag, of_unit, newer, is_kept, is_shown, expected) = case;
        let also_newer = if is_kept { "" } else { "/etc/hostname" };
        let (_directory, root) = running_node(flag, of_unit, &[newer, also_newer]);
        let shown = is_shown.then_some(&configz);
        let kubelet = read_kubelet(&root, &scan(&root).0, shown).0.unwrap();
        let found = match &kubelet.running {
            None => "as the files",
            Some(it) if matches!(it.resolv_conf.origin, Origin::Unread(_)) => "not known",
            Some(it) => it.resolv_conf.value.as_str(),
        };
        assert_eq!(found, expected, "{case:?}: {kubelet:#?}");
    }
}
