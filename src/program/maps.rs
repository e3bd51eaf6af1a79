//! The files that a process has mapped.

/// The paths in `/proc/PID/maps` that are those of libraries, each once, in the
/// order of the text. Of a file that is gone (`(deleted)`) the path is left out:
/// another one may be there by now.
///
/// Source: `proc_pid_maps(5)`; Linux `fs/proc/task_mmu.c` `show_map_vma`.
pub fn libraries(text: &[u8]) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    for line in text.split(|&byte| byte == b'\n') {
        let Ok(line) = std::str::from_utf8(line) else {
            continue;
        };
        // Five columns of the kernel's, then the path with whatever is in it.
        let Some(at) = line.find('/') else { continue };
        let path = line.get(at..).unwrap_or_default();
        let name = path.rsplit('/').next().unwrap_or_default();
        let is_new = found.last().is_none_or(|it| it != path);
        if is_new && is_library(name) && !found.iter().any(|it| it == path) {
            found.push(path.to_owned());
        }
    }
    found
}

/// `libc.so.6`, `libc-2.31.so`, `ld-musl-x86_64.so.1`.
fn is_library(name: &str) -> bool {
    let is_shared = name.contains(".so.") || name.strip_suffix(".so").is_some();
    is_shared && !name.ends_with(" (deleted)")
}

/// The C library that a mapped file or a loader belongs to, if it is one without a model.
pub fn other_libc(path: &str) -> Option<&'static str> {
    let name = path.rsplit('/').next().unwrap_or_default();
    let is_uclibc = ["ld-uClibc", "ld64-uClibc", "libuClibc-"]
        .iter()
        .any(|it| name.starts_with(it));
    let is_bionic = path.contains("/bionic/") || path.starts_with("/system/");
    let bionic = is_bionic.then_some("bionic");
    if is_uclibc { Some("uClibc-ng") } else { bionic }
}

/// Which C library a mapped file is, by its name.
///
/// musl's is its dynamic loader, to which `libc.musl-x86_64.so.1` is a link.
pub fn libc_of(path: &str) -> Option<super::elf::Family> {
    use super::elf::Family;
    let name = path.rsplit('/').next().unwrap_or_default();
    let is_versioned = name
        .strip_prefix("libc-2.")
        .is_some_and(|it| it.strip_suffix(".so").is_some());
    if name.starts_with("ld-musl-") || name.starts_with("libc.musl-") {
        Some(Family::Musl)
    } else if name == "libc.so.6" || is_versioned {
        Some(Family::Glibc)
    } else if name == "libc.so" && other_libc(path).is_none() {
        // As musl installs it where no distribution renames it.
        Some(Family::Musl)
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::program::elf::Family;

    const MAPS: &[u8] = b"\
55f0a1000000-55f0a1004000 r--p 00000000 fe:01 1311                       /usr/bin/sleep
55f0a2000000-55f0a2021000 rw-p 00000000 00:00 0                          [heap]
7f12a4000000-7f12a4026000 r--p 00000000 fe:01 2001                       /usr/lib/x86_64-linux-gnu/libc.so.6
7f12a4026000-7f12a417b000 r-xp 00026000 fe:01 2001                       /usr/lib/x86_64-linux-gnu/libc.so.6
7f12a4300000-7f12a4301000 r--p 00000000 fe:01 2002                       /lib/libc-2.31.so (deleted)
7f12a4301000-7f12a4302000 r--p 00000000 fe:01 2003                       /lib64/ld-linux-x86-64.so.2
7f12a4303000-7f12a4304000 r--p 00000000 fe:01 2004                       /odd name/libx.so.1
\xff
7ffd0d000000-7ffd0d002000 r-xp 00000000 00:00 0                          [vdso]
";

    #[test]
    fn libraries_once_and_in_order() {
        let expected = [
            "/usr/lib/x86_64-linux-gnu/libc.so.6",
            "/lib64/ld-linux-x86-64.so.2",
            "/odd name/libx.so.1",
        ];
        assert_eq!(libraries(MAPS), expected);
        assert!(libraries(b"").is_empty());
    }

    #[test]
    fn c_libraries_without_a_model() {
        let check = |path: &str, expected| assert_eq!(other_libc(path), expected, "{path}");
        check("/lib/ld-uClibc.so.1", Some("uClibc-ng"));
        check("/lib/libuClibc-1.0.45.so", Some("uClibc-ng"));
        check("/lib/ld64-uClibc-1.0.45.so", Some("uClibc-ng"));
        check("/system/bin/linker64", Some("bionic"));
        check("/lib/libc.so.6", None);
        check("/lib/ld-musl-x86_64.so.1", None);
    }

    #[test]
    fn c_libraries_by_name() {
        let check = |path: &str, expected| assert_eq!(libc_of(path), expected, "{path}");
        check("/lib/x86_64-linux-gnu/libc.so.6", Some(Family::Glibc));
        check("/lib/libc-2.28.so", Some(Family::Glibc));
        check("/lib/ld-musl-aarch64.so.1", Some(Family::Musl));
        check("/lib/libc.musl-x86_64.so.1", Some(Family::Musl));
        check("/usr/local/lib/libc.so", Some(Family::Musl));
        check("/lib/libc.so.1", None);
        check("/apex/com.android.runtime/lib64/bionic/libc.so", None);
        check("/system/lib64/libc.so", None);
        check("/lib/libcares.so.2", None);
        check("/lib/libc++.so.1", None);
        check("", None);
    }
}
