//! What a file has is kept when kdns writes it, or the file is refused.

use std::ffi::{OsStr, OsString};
use std::fs::{self, Permissions};
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, chown, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use libtest_mimic::Trial;
use rustix::fs::{XattrFlags, getxattr, setxattr};
use tempfile::TempDir;

use crate::lab::{Ended, KDNS, behind, script, testdata};
use crate::needs;
use crate::root::trial;

pub(crate) fn trials() -> Vec<Trial> {
    vec![
        anywhere("writer::what is refused", refused),
        anywhere("writer::links", links),
        anywhere("writer::what is kept", kept),
        anywhere("writer::own descriptors", descriptors),
        trial("writer::files of others", &[], others),
        trial("writer::no exchange", &["strace"], no_exchange),
        trial("writer::openat2 is refused", &["strace"], no_openat2),
        trial(
            "writer::mounted and immutable",
            &["unshare", "mount", "sh"],
            mounted,
        ),
    ]
}

/// A trial that needs nothing.
pub(crate) fn anywhere(name: &str, run: fn()) -> Trial {
    needs::trial(name, None, move || {
        run();
        Ok(())
    })
}

/// In memory where there is such a place: thousands of files are written.
pub(crate) fn folder() -> TempDir {
    let memory = Path::new("/dev/shm");
    let made = tempfile::tempdir_in(memory).or_else(|_| tempfile::tempdir());
    made.unwrap()
}

pub(crate) fn names(directory: &Path) -> Vec<String> {
    let name = |entry: fs::DirEntry| entry.file_name().into_string().unwrap();
    let entries = fs::read_dir(directory).unwrap();
    let mut names: Vec<String> = entries.map(|it| name(it.unwrap())).collect();
    names.sort();
    names
}

const FIXABLE: &str = "nameserver 192.0.2.1\nnameserver 192.0.2.1\n";
const FIXED: &str = "nameserver 192.0.2.1\n";

/// A tree with a file that can be fixed.
fn fixable() -> (TempDir, PathBuf) {
    let folder = folder();
    let file = folder.path().join("resolv.conf");
    fs::write(&file, FIXABLE).unwrap();
    (folder, file)
}

fn fix(file: &Path) -> Ended {
    behind(&[], &fixing(file))
}

fn output(file: &Path) -> Ended {
    behind(&[], &reporting(file))
}

fn reporting(file: &Path) -> Vec<OsString> {
    let pod = testdata("readme/pod.conf").into_os_string();
    let words = ["explain".into(), "web".into(), "--file".into(), pod];
    let output = ["--output".into(), file.into()];
    words.into_iter().chain(output).collect()
}

fn fixing(file: &Path) -> [&OsStr; 3] {
    ["lint".as_ref(), "--fix".as_ref(), file.as_os_str()]
}

/// Refused with this reason, and as it was.
#[track_caller]
fn check_left(ended: &Ended, file: &Path, reason: &str) {
    assert_eq!(ended.status, 2, "{ended:?}");
    assert!(ended.err.contains(reason), "{reason}: {ended:?}");
    assert_eq!(ended.err.lines().count(), 1, "{ended:?}");
    assert_eq!(fs::read_to_string(file).unwrap(), FIXABLE);
}

fn refused() {
    let set_mode =
        |mode| move |file: &Path| fs::set_permissions(file, Permissions::from_mode(mode)).unwrap();
    let hard_link = |file: &Path| fs::hard_link(file, file.with_file_name("other")).unwrap();
    let check = |prepare: &dyn Fn(&Path), reason| {
        let (folder, file) = fixable();
        prepare(&file);
        let before = names(folder.path());
        check_left(&fix(&file), &file, reason);
        check_left(&output(&file), &file, reason);
        assert_eq!(names(folder.path()), before);
    };
    check(&set_mode(0o4755), "it is setuid or setgid");
    check(&set_mode(0o2755), "it is setuid or setgid");
    check(&set_mode(0o444), "it is read-only; chmod u+w allows it");
    check(&hard_link, "it is one of 2 hard links to a file");
    // Of several files none is changed where one may not be.
    let (folder, file) = fixable();
    let locked = folder.path().join("a.resolv.conf");
    fs::write(&locked, FIXABLE).unwrap();
    set_mode(0o4700)(&locked);
    check_left(&fix(folder.path()), &file, "nothing was changed");
}

fn links() {
    let (folder, file) = fixable();
    let path = folder.path();
    fs::create_dir(path.join("sub")).unwrap();
    symlink("../resolv.conf", path.join("sub/resolv.conf")).unwrap();
    symlink(".", path.join("here")).unwrap();
    symlink("nowhere", path.join("dangling")).unwrap();
    for (link, named) in [
        ("sub/resolv.conf", "sub/resolv.conf"),
        ("here/resolv.conf", "here"),
    ] {
        let link = path.join(link);
        let reason = format!(
            "{} is a link, and nothing is written through one",
            path.join(named).display()
        );
        check_left(&fix(&link), &file, &reason);
        check_left(&output(&link), &file, &reason);
        let leads = format!("it leads to {}", path.display());
        assert!(output(&link).err.contains(&leads));
    }
    check_left(&output(&path.join("dangling")), &file, "dangling is a link");
    check_left(&output(&path.join("here/new")), &file, "here is a link");
    assert_eq!(names(path), ["dangling", "here", "resolv.conf", "sub"]);
}

const ATTRIBUTE: &str = "user.kdns";
const LIST: &str = "system.posix_acl_access";

/// A list of access rights as the kernel has it: user 1 may read, too.
fn list() -> Vec<u8> {
    let entry = |tag: u16, rights: u16, id: u32| {
        [
            &tag.to_le_bytes()[..],
            &rights.to_le_bytes(),
            &id.to_le_bytes(),
        ]
        .concat()
    };
    let none = u32::MAX;
    [
        2_u32.to_le_bytes().to_vec(),
        entry(0x01, 6, none),
        entry(0x02, 4, 1),
        entry(0x04, 0, none),
        entry(0x10, 4, none),
        entry(0x20, 0, none),
    ]
    .concat()
}

fn attribute(file: &Path, name: &str) -> Option<Vec<u8>> {
    let mut value = vec![0; 256];
    let length = getxattr(file, name, &mut value[..]).ok()?;
    value.truncate(length);
    Some(value)
}

/// Mode, list of access rights and attributes.
fn kept() {
    for write in [fix as fn(&Path) -> Ended, output] {
        let folder = folder_with_attributes();
        let file = folder.path().join("resolv.conf");
        fs::write(&file, FIXABLE).unwrap();
        fs::set_permissions(&file, Permissions::from_mode(0o640)).unwrap();
        let has = |name, value: &[u8]| setxattr(&file, name, value, XattrFlags::empty()).is_ok();
        let has_attribute = has(ATTRIBUTE, b"kept");
        let has_list = has(LIST, &list());
        let mode = fs::metadata(&file).unwrap().mode();
        let ended = write(&file);
        assert_eq!(ended.status, 0, "{ended:?}");
        assert_ne!(fs::read_to_string(&file).unwrap(), FIXABLE);
        assert_eq!(fs::metadata(&file).unwrap().mode(), mode);
        assert_eq!(attribute(&file, ATTRIBUTE).is_some(), has_attribute);
        assert_eq!(attribute(&file, LIST), has_list.then(list));
        assert_eq!(names(folder.path()), ["resolv.conf"]);
    }
}

/// Where files can have attributes, if there is such a place.
fn folder_with_attributes() -> TempDir {
    let target = Path::new(env!("CARGO_TARGET_TMPDIR"));
    tempfile::tempdir_in(target).unwrap_or_else(|_| folder())
}

/// They are the caller's, and no links of a stranger.
fn descriptors() {
    let folder = folder();
    let report = folder.path().join("report");
    let pod = testdata("readme/pod.conf");
    let explain = format!(
        "explain web --file '{}' --format json --output",
        pod.display()
    );
    for (words, to) in [
        ("/dev/stdout", "| cat >>"),
        ("/dev/fd/1", ">>"),
        ("/dev/stderr", "2>&1 >/dev/null | grep -v kdns >>"),
        ("/dev/fd/3", "3>>"),
        ("/proc/self/fd/3", "3>>"),
    ] {
        fs::write(&report, "before\n").unwrap();
        let text = format!("'{KDNS}' {explain} {words} {to} '{}'", report.display());
        let ended = Command::new("sh")
            .args(["-c", &text])
            .stdin(Stdio::null())
            .output()
            .unwrap();
        let text = fs::read_to_string(&report).unwrap();
        assert!(text.starts_with("before\n{"), "{words}: {ended:?} {text}");
    }
}

const USER: u32 = 54_321;
const GROUP: u32 = 54_322;

/// As root.
fn others() {
    for write in [fix as fn(&Path) -> Ended, output] {
        let (folder, file) = fixable();
        chown(folder.path(), Some(USER), Some(GROUP)).unwrap();
        chown(&file, Some(USER), Some(GROUP)).unwrap();
        let reason = "it belongs to user 54321; run kdns as that user, or with --force";
        check_left(&write(&file), &file, reason);
        assert_eq!(names(folder.path()), ["resolv.conf"]);
    }
    let (_folder, file) = fixable();
    chown(&file, Some(USER), Some(GROUP)).unwrap();
    let words = [
        "lint".as_ref(),
        "--fix".as_ref(),
        "--force".as_ref(),
        file.as_os_str(),
    ];
    let ended = behind(&[], &words);
    assert_eq!(ended.status, 0, "{ended:?}");
    assert_eq!(fs::read_to_string(&file).unwrap(), FIXED);
    let status = fs::metadata(&file).unwrap();
    assert_eq!((status.uid(), status.gid()), (USER, GROUP));
    // A setuid file stays refused: it would be another's, or root's.
    fs::write(&file, FIXABLE).unwrap();
    fs::set_permissions(&file, Permissions::from_mode(0o4755)).unwrap();
    check_left(&behind(&[], &words), &file, "it is setuid or setgid");
    // And so does what gives its runner rights: it says so without them, too.
    let (_folder, file) = fixable();
    let capability = [1, 0, 0, 2, 0, 32, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0];
    setxattr(
        &file,
        "security.capability",
        &capability,
        XattrFlags::empty(),
    )
    .unwrap();
    check_left(
        &fix(&file),
        &file,
        "its attribute security.capability cannot be kept",
    );
}

fn injected(call: &str, error: &str, words: &[impl AsRef<OsStr>]) -> Ended {
    let (inject, trace) = (
        format!("inject={call}:error={error}"),
        format!("trace={call}"),
    );
    let strace = [
        "strace",
        "-f",
        "-qq",
        "-o",
        "/dev/null",
        "-e",
        "signal=none",
        "-e",
        &trace,
        "-e",
        &inject,
    ];
    behind(&strace, words)
}

/// A file system, or a filter, that cannot exchange files.
fn no_exchange() {
    for error in ["EINVAL", "ENOSYS"] {
        let (folder, file) = fixable();
        let words = fixing(&file);
        let reason = "its file system cannot exchange files";
        check_left(&injected("renameat2", error, &words), &file, reason);
        let words = reporting(&file);
        // A directory that others can write to is not safe without it.
        fs::set_permissions(folder.path(), Permissions::from_mode(0o777)).unwrap();
        check_left(&injected("renameat2", error, &words), &file, reason);
        fs::set_permissions(folder.path(), Permissions::from_mode(0o755)).unwrap();
        let ended = injected("renameat2", error, &words);
        assert_eq!(ended.status, 0, "{ended:?}");
        assert_ne!(fs::read_to_string(&file).unwrap(), FIXABLE);
        assert_eq!(names(folder.path()), ["resolv.conf"]);
    }
}

/// The walk refuses links, too.
fn no_openat2() {
    for error in ["ENOSYS", "EPERM"] {
        let (folder, file) = fixable();
        symlink(".", folder.path().join("here")).unwrap();
        let through = folder.path().join("here/resolv.conf");
        let run = |file: &Path| injected("openat2", error, &fixing(file));
        check_left(&run(&through), &file, "here is a link");
        let ended = run(&folder
            .path()
            .join("../")
            .join(folder.path().file_name().unwrap())
            .join("resolv.conf"));
        assert_eq!(ended.status, 0, "{ended:?}");
        assert_eq!(fs::read_to_string(&file).unwrap(), FIXED);
    }
}

fn mounted() {
    let text = script(
        r#"
disk=$(mktemp -d)
trap 'umount "$disk/resolv.conf" 2>/dev/null || true; umount "$disk"; rmdir "$disk"' EXIT
mount -t tmpfs own "$disk"
printf 'nameserver 192.0.2.1\nnameserver 192.0.2.1\n' > "$disk/resolv.conf"
cp "$disk/resolv.conf" "$disk/other"
mount --bind "$disk/other" "$disk/resolv.conf"
set +e
"$KDNS" lint --fix "$disk/resolv.conf" 2>&1; echo "$?"
umount "$disk/resolv.conf"
if chattr +i "$disk/resolv.conf" 2>/dev/null; then
    "$KDNS" lint --fix "$disk/resolv.conf" 2>&1; echo "$?"
    chattr -i "$disk/resolv.conf"
else
    echo "it is immutable: not here"; echo 2
fi
mount -o remount,ro "$disk"
"$KDNS" lint --fix "$disk/resolv.conf" 2>&1; echo "$?"
"#,
    );
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines.len(), 6, "{text}");
    for (at, reason) in [
        (0, "something is mounted on it"),
        (2, "it is immutable"),
        (4, "read-only file system"),
    ] {
        assert!(lines[at].contains(reason), "{text}");
        assert_eq!(lines[at + 1], "2", "{text}");
    }
}
