use std::fs;
use std::os::unix::fs::symlink;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use super::*;
use crate::config::resolv_conf::ResolvConf;
use crate::host::root::{Resolution, Root};
use crate::host::situation::{self, Situation};
use crate::loopback::{self, Lead};

const BOTH: [Resolution; 2] = [Resolution::Kernel, Resolution::Walk];

fn node(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("testdata/nodes")
        .join(name)
}

/// The situation on a node of testdata, the same for both ways to resolve.
fn situation(name: &str) -> Situation {
    let [kernel, walk] = BOTH.map(|resolution| {
        situation::read_situation(&Root::below(&node(name), resolution).unwrap()).unwrap()
    });
    assert_eq!(kernel, walk);
    kernel
}

/// Where the first of the servers behind one is written.
fn first_server(lead: &Lead) -> Option<&str> {
    Some(&lead.upstream.as_ref()?.servers.first()?.place)
}

/// `path → leads to` of the links, and what the servers of the file are: each with the place
/// of its own first server.
fn check_node(name: &str, links: &[(&str, &str)], owners: &[(&str, Option<&str>)]) {
    let found = situation(name);
    let found_links: Vec<(&str, &str)> = found
        .links
        .iter()
        .map(|link| (link.path.to_str().unwrap(), link.leads_to.to_str().unwrap()))
        .collect();
    assert_eq!(found_links, links, "{name}");
    let conf = ResolvConf::parse(found.resolv_conf.unwrap().source);
    assert_eq!(conf.source.name, "/etc/resolv.conf");
    let leads: Vec<Lead> = loopback::name_servers(&conf)
        .filter_map(|(address, _)| loopback::lead(address, &conf, &found.evidence))
        .collect();
    let found_owners: Vec<(&str, Option<&str>)> = leads
        .iter()
        .map(|it| (it.owner.id, first_server(it)))
        .collect();
    assert_eq!(found_owners, owners, "{name}");
    assert_eq!(found.hostname.as_deref(), Some("node-a"));
    assert_eq!(found.interfaces, None);
    assert!(found.hosts.is_some() && found.nsswitch.is_some());
    assert_eq!(found.skipped, []);
}

#[test]
fn nodes_are_read_with_their_links_and_local_servers() {
    check_node(
        "ubuntu-resolved",
        &[("/etc/resolv.conf", "/run/systemd/resolve/stub-resolv.conf")],
        &[(
            "systemd-resolved",
            Some("/run/systemd/resolve/resolv.conf:17:12"),
        )],
    );
    check_node(
        "ubuntu-resolved-uplink",
        &[("/etc/resolv.conf", "/run/systemd/resolve/resolv.conf")],
        &[],
    );
    check_node(
        "old-ubuntu-dnsmasq",
        &[
            ("/etc/resolv.conf", "/var/run/resolvconf/resolv.conf"),
            ("/var/run", "/run"),
        ],
        &[("networkmanager-dnsmasq", None)],
    );
    check_node("plain", &[], &[]);
}

#[test]
fn nothing_but_the_files_is_read_where_all_servers_are_ordinary() {
    assert_eq!(situation("plain").evidence.files, []);
    assert_eq!(situation("ubuntu-resolved-uplink").evidence.files, []);
    assert_eq!(situation("ubuntu-resolved").evidence.files.len(), 1);
}

#[test]
fn this_machine_has_a_host_name_and_a_loopback_interface() {
    let found = situation::read_situation(&Root::live().unwrap()).unwrap();
    assert!(found.hostname.is_some());
    assert!(!found.interfaces.unwrap().is_empty());
    let slash = Root::below(Path::new("/"), Resolution::default()).unwrap();
    assert!(slash.is_live());
}

/// A root with the given links, beside a file that must not be read.
fn root_with(links: &[(&str, &str)]) -> (tempfile::TempDir, PathBuf) {
    let directory = tempfile::tempdir().unwrap();
    fs::write(directory.path().join("secret"), "outside").unwrap();
    let root = directory.path().join("root");
    fs::create_dir_all(root.join("etc/deep")).unwrap();
    fs::write(root.join("etc/file"), "inside").unwrap();
    fs::write(root.join("secret"), "inside too").unwrap();
    for (path, target) in links {
        symlink(target, root.join(path)).unwrap();
    }
    (directory, root)
}

fn check_read(links: &[(&str, &str)], path: &str, expected: Result<&str, &str>) {
    let (_directory, root) = root_with(links);
    for resolution in BOTH {
        let found = Root::below(&root, resolution)
            .unwrap()
            .read(Path::new(path));
        let found = found
            .map(|file| String::from_utf8(file.source.bytes).unwrap())
            .map_err(|error| error.to_string());
        let below = |reason: &str| {
            let root = root.display();
            match reason.strip_prefix(": ") {
                Some(reason) => format!("cannot read {path} below {root}: {reason}"),
                None => reason.to_owned(),
            }
        };
        assert_eq!(
            found,
            expected.map(str::to_owned).map_err(below),
            "{resolution:?} {path}"
        );
    }
    let links = BOTH.map(|resolution| {
        let root = Root::below(&root, resolution).unwrap();
        root.links(Path::new(path)).map_err(|it| it.to_string())
    });
    assert_eq!(links[0], links[1], "{path}");
}

#[test]
fn links_and_dots_cannot_leave_the_root() {
    check_read(&[], "/etc/file", Ok("inside"));
    check_read(&[], "etc/./deep//../file", Ok("inside"));
    check_read(&[], "/../../secret", Ok("inside too"));
    check_read(&[("etc/a", "../../../secret")], "/etc/a", Ok("inside too"));
    check_read(&[("etc/a", "/secret")], "/etc/a", Ok("inside too"));
    check_read(&[("up", "..")], "/up/secret", Ok("inside too"));
    check_read(
        &[("a", "/b"), ("b", "etc/../c"), ("c", "etc/")],
        "/a/file",
        Ok("inside"),
    );
    check_read(
        &[("etc/a", "/deep")],
        "/etc/a/../file",
        Err(": no such file or directory"),
    );
}

#[test]
fn what_is_no_regular_file_is_one_clear_sentence() {
    check_read(&[], "/etc", Err(": it is a directory, not a regular file"));
    check_read(&[], "/", Err(": it is a directory, not a regular file"));
    check_read(&[], "/none/file", Err(": no such file or directory"));
    check_read(&[], "/etc/file/", Err(": not a directory"));
    check_read(&[], "/etc/file/x", Err(": not a directory"));
    check_read(&[("a", "/none")], "/a", Err(": no such file or directory"));
    check_read(
        &[("a", "b"), ("b", "a")],
        "/a",
        Err(": too many symbolic links encountered"),
    );
}

#[test]
fn a_fifo_neither_hangs_nor_is_read() {
    let (_directory, root) = root_with(&[]);
    let path = root.join("fifo");
    nix::unistd::mkfifo(&path, Mode::from_bits_truncate(0o600)).unwrap();
    let started = Instant::now();
    let sentence = "it is a FIFO, not a regular file";
    for resolution in BOTH {
        let error = Root::below(&root, resolution)
            .unwrap()
            .read(Path::new("/fifo"));
        assert!(error.unwrap_err().to_string().ends_with(sentence));
    }
    let error = read_path(&path).unwrap_err().to_string();
    let named = path.display();
    assert_eq!(error, format!("cannot read {named}: {sentence}"));
    let error = read_path(Path::new("/dev/null")).unwrap_err().to_string();
    assert_eq!(
        error,
        "cannot read /dev/null: it is a device, not a regular file"
    );
    assert!(started.elapsed() < Duration::from_secs(5));
}

/// As `<(…)` of a shell gives it, and one that a writer opens later.
#[test]
fn a_fifo_that_the_caller_named_is_read() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("fifo");
    nix::unistd::mkfifo(&path, Mode::from_bits_truncate(0o600)).unwrap();
    let writer = std::thread::spawn({
        let path = path.clone();
        move || fs::write(path, vec![b'x'; 200_000]).unwrap()
    });
    let file = read_named(&path).unwrap();
    writer.join().unwrap();
    assert_eq!((file.source.bytes.len(), file.is_cut), (200_000, false));
    let error = read_named(Path::new("/dev/null")).unwrap_err().to_string();
    assert!(error.ends_with("it is a device, not a regular file"));
    assert!(read_named(&path.join("x")).is_err());
}

#[test]
fn paths_of_any_bytes_are_read_and_shown_safely() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join(OsStr::from_bytes(b"a\xff\x1b[1m"));
    fs::write(&path, "x").unwrap();
    let file = read_path(&path).unwrap();
    assert!(file.source.name.ends_with("a\\xff\\u{1b}[1m"));
    assert_eq!(file.source.bytes, b"x");
    let missing = read_path(&directory.path().join("a\nb")).unwrap_err();
    assert!(missing.is_missing());
    assert!(
        missing
            .to_string()
            .ends_with("a\\u{a}b: no such file or directory")
    );
    let error = read_path(directory.path()).unwrap_err().to_string();
    assert!(error.ends_with(": it is a directory, not a regular file"));
    assert!(read_path(Path::new("")).unwrap_err().is_missing());
    assert!(read_path(Path::new("a\0b")).is_err());
}

#[test]
fn a_long_file_is_cut_and_says_so() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("long");
    for (length, is_cut) in [(MAX_BYTES, false), (MAX_BYTES + 1, true)] {
        fs::write(&path, vec![b'x'; length]).unwrap();
        let file = read_path(&path).unwrap();
        assert_eq!((file.source.bytes.len(), file.is_cut), (MAX_BYTES, is_cut));
    }
}

#[test]
fn a_root_must_be_a_directory() {
    let (_directory, root) = root_with(&[]);
    let error = |path: &Path| {
        let root = Root::below(path, Resolution::default());
        root.unwrap_err()
            .to_string()
            .replace(&path.display().to_string(), "DIR")
    };
    assert_eq!(
        error(&root.join("none")),
        "cannot open the directory DIR: no such file or directory"
    );
    assert_eq!(
        error(&root.join("secret")),
        "cannot open the directory DIR: not a directory"
    );
}

#[test]
fn a_link_that_leads_nowhere_is_no_file_but_is_told() {
    let (_directory, root) = root_with(&[("etc/resolv.conf", "../run/none")]);
    for resolution in BOTH {
        let found = situation::read_situation(&Root::below(&root, resolution).unwrap()).unwrap();
        assert_eq!(found.resolv_conf, None);
        assert_eq!(found.links.len(), 1);
        assert_eq!(found.links[0].leads_to, Path::new("/run/none"));
        assert_eq!((found.hostname, found.hosts), (None, None));
    }
}

#[test]
fn a_refused_permission_says_what_would_help() {
    let words = reason(Errno::EACCES);
    if nix::unistd::geteuid().is_root() {
        // What root lacks here is the machine's own affair.
        assert!(words.starts_with("permission denied"), "{words}");
    } else {
        assert!(
            words.starts_with("permission denied (needs root)"),
            "{words}"
        );
    }
}

#[test]
fn a_module_of_nsswitch_is_looked_for_beside_the_only_c_library() {
    let folder = tempfile::tempdir().unwrap();
    let put = |path: &str, bytes: &[u8]| {
        let path = folder.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, bytes).unwrap();
    };
    let line = b"hosts: files myhostname mdns4 resolve mymachines sss dns\n";
    put("etc/nsswitch.conf", line);
    for resolution in BOTH {
        let root = Root::below(folder.path(), resolution).unwrap();
        let found = |is_running| {
            let file = root.read(Path::new("/etc/nsswitch.conf")).unwrap();
            let found = situation::nss_modules(&root, Some(&file), is_running);
            let states = found
                .iter()
                .map(|(name, state)| format!("{name} {state:?}"));
            states.collect::<Vec<_>>().join(", ")
        };
        let _ = fs::remove_dir_all(folder.path().join("usr"));
        assert_eq!(found(true), "");
        put("usr/lib64/libc.so.6", b"");
        put("usr/lib64/libnss_myhostname.so.2", b"");
        put("usr/lib64/libnss_mdns4.so.2", b"");
        put("usr/lib64/libnss_resolve.so.2", b"");
        put("usr/lib64/libnss_sss.so.2", b"");
        // What sss asks is not known; systemd asks over D-Bus before 247 alone.
        put("run/dbus/system_bus_socket", b"");
        let _ = fs::remove_dir_all(folder.path().join("run/systemd"));
        assert_eq!(
            found(true),
            "mdns4 Installed, myhostname Found, resolve Found, sss Found"
        );
        put("run/systemd/resolve/io.systemd.Resolve", b"");
        assert_eq!(
            found(false),
            "mdns4 Found, myhostname Found, resolve Served, sss Found"
        );
        // That of another architecture.
        put("usr/lib/i386-linux-gnu/libc.so.6", b"");
        assert_eq!(found(true), "");
    }
}
