//! Whether a part of the kernel is there already, so that asking for it loads
//! nothing.
//!
//! Some questions make the kernel load a module, and some tools do that
//! themselves: whoever only looks asks here first.

use std::path::Path;

use super::ReadError;
use super::root::Root;

/// Where each line of a file begins with the name of a module that was loaded.
const LOADED: &str = "/proc/modules";

/// Whether the module `name` is loaded or built in, or nothing can be loaded at
/// all. What is built in and nowhere to be seen counts as not there.
pub fn is_there(root: &Root, name: &str) -> bool {
    match is_loaded(root, name) {
        Ok(true) => return true,
        // A kernel without modules has no such file.
        Err(error) if error.is_missing() => return true,
        _ => {}
    }
    root.is_directory(Path::new(&format!("/sys/module/{name}")))
        || is_locked(root)
        || is_built_in(root, name)
}

/// Whether the module is in the list of those that were loaded.
pub(super) fn is_loaded(root: &Root, name: &str) -> Result<bool, ReadError> {
    let is_line = |line: &[u8]| {
        line.strip_prefix(name.as_bytes())
            .is_some_and(|it| it.starts_with(b" "))
    };
    let file = root.read_once(Path::new(LOADED))?;
    Ok(lines(&file.source.bytes).any(is_line))
}

/// Whether nobody can load a module any more.
fn is_locked(root: &Root) -> bool {
    let read = root.read_once(Path::new("/proc/sys/kernel/modules_disabled"));
    read.is_ok_and(|it| it.source.bytes.starts_with(b"1"))
}

/// Whether the list of what was built into the running kernel has the module.
///
/// Source: kbuild, `Documentation/kbuild/kbuild.rst`, modules.builtin.
fn is_built_in(root: &Root, name: &str) -> bool {
    let release = nix::sys::utsname::uname();
    let Some(release) = release.as_ref().ok().and_then(|it| it.release().to_str()) else {
        return false;
    };
    let list = format!("/lib/modules/{release}/modules.builtin");
    let ending = format!("/{name}.ko");
    let read = root.read_once(Path::new(&list));
    read.is_ok_and(|it| lines(&it.source.bytes).any(|line| line.ends_with(ending.as_bytes())))
}

fn lines(bytes: &[u8]) -> impl Iterator<Item = &[u8]> {
    bytes.split(|&byte| byte == b'\n')
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::host::root::fixture::root_with;

    fn check(files: &[(&str, &str)], name: &str, expected: bool) {
        let (_directory, root) = root_with(files);
        assert_eq!(is_there(&root, name), expected, "{files:?} {name}");
    }

    #[test]
    fn a_module_is_there_if_nothing_need_be_loaded() {
        let loaded = ("proc/modules", "ip_tables 36864 2 iptable_nat, Live 0x0\n");
        check(&[loaded], "ip_tables", true);
        check(&[loaded], "ip_table", false);
        check(&[loaded], "nf_tables", false);
        check(
            &[loaded, ("sys/module/nf_tables/version", "")],
            "nf_tables",
            true,
        );
        check(
            &[loaded, ("proc/sys/kernel/modules_disabled", "1\n")],
            "nf_tables",
            true,
        );
        check(
            &[loaded, ("proc/sys/kernel/modules_disabled", "0\n")],
            "nf_tables",
            false,
        );
        // A kernel without modules.
        check(&[], "nf_tables", true);
    }
}
