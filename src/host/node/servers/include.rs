//! Reads configuration files that name further ones.

use std::ffi::OsStr;
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::path::Path;

use crate::config::dnsmasq_conf::{self, Include};
use crate::config::named_conf::{self, NamedConf, Statement};
use crate::config::settings::{Setting, Settings};
use crate::config::unbound_conf;
use crate::host::node::files;
use crate::host::root::Root;
use crate::text::Source;

/// Most files of one program.
const MAX_FILES: usize = 1000;

/// Most bytes of these files together: one that includes itself has no end.
const MAX_BYTES: usize = 16 << 20;

/// Deepest chain of files that include each other.
const MAX_DEPTH: usize = 20;

/// The settings of a dnsmasq with these arguments, the program's name left
/// out, and of the files that they lead to.
pub(super) fn dnsmasq(
    root: &Root,
    arguments: &[String],
    label: &str,
    settings: &mut Settings,
    skipped: &mut Vec<String>,
) {
    let name = format!("arguments of dnsmasq {label}");
    let (source, found) = dnsmasq_conf::arguments(&name, arguments, 0);
    settings.files.push(source);
    let mut reader = Dnsmasq {
        root,
        settings,
        skipped,
    };
    let (files, others): (Vec<Setting>, Vec<Setting>) = found.into_iter().partition(|it| {
        let name = reader.settings.name(it);
        dnsmasq_conf::long_name(name) == Some("conf-file")
    });
    reader.take(others, 0);
    let has_file = !files.is_empty();
    // It reads the files after the arguments.
    reader.take(files, 0);
    if !has_file {
        reader.file(b"/etc/dnsmasq.conf", false, 1);
        // Debian's unit gives this directory as an argument.
        let is_running = arguments.iter().any(|it| !it.is_empty());
        if !is_running {
            let value = b"/etc/dnsmasq.d,.dpkg-dist,.dpkg-old,.dpkg-new";
            reader.include(dnsmasq_conf::include(b"conf-dir", value), 0);
        }
    }
}

struct Dnsmasq<'r> {
    root: &'r Root,
    settings: &'r mut Settings,
    skipped: &'r mut Vec<String>,
}

impl Dnsmasq<'_> {
    fn take(&mut self, settings: Vec<Setting>, depth: usize) {
        for setting in settings {
            let name = self.settings.name(&setting);
            let include = dnsmasq_conf::include(name, self.settings.value(&setting));
            if include.is_some() {
                self.include(include, depth);
            } else {
                self.settings.settings.push(setting);
            }
        }
    }

    fn include(&mut self, include: Option<Include>, depth: usize) {
        match include {
            None => {}
            Some(Include::File(path)) => self.file(&path, false, depth + 1),
            Some(Include::Servers(path)) => self.file(&path, true, depth + 1),
            Some(Include::Directory(directory)) => {
                let path = Path::new(OsStr::from_bytes(&directory.path));
                for name in self.root.list(path).unwrap_or_default() {
                    if directory.takes(name.as_bytes()) {
                        let file = path.join(&name).into_os_string().into_vec();
                        self.file(&file, false, depth + 1);
                    }
                }
            }
        }
    }

    fn file(&mut self, path: &[u8], only_servers: bool, depth: usize) {
        if depth > MAX_DEPTH || is_full(&self.settings.files) {
            return;
        }
        // NetworkManager's way to say that there is none.
        if path == b"/dev/null" {
            return;
        }
        let Some(source) = files::source(self.root, path, self.skipped) else {
            return;
        };
        // It reads no file twice.
        if self.settings.files.iter().any(|it| it.name == source.name) {
            return;
        }
        let mut found = dnsmasq_conf::parse(&source, self.settings.files.len());
        if only_servers {
            let is_server = |it: &Setting| {
                let name = it.name.of(&source.bytes);
                matches!(name, b"server" | b"rev-server")
            };
            found.retain(is_server);
        }
        self.settings.files.push(source);
        self.take(found, depth);
    }
}

/// The settings of an unbound with this file.
pub(super) fn unbound(root: &Root, path: &str, settings: &mut Settings, skipped: &mut Vec<String>) {
    unbound_file(root, path.as_bytes(), settings, skipped, 0);
}

fn unbound_file(
    root: &Root,
    path: &[u8],
    settings: &mut Settings,
    skipped: &mut Vec<String>,
    depth: usize,
) {
    if depth > MAX_DEPTH || is_full(&settings.files) {
        return;
    }
    let Some(source) = files::source(root, path, skipped) else {
        return;
    };
    let found = unbound_conf::parse(&source, settings.files.len());
    settings.files.push(source);
    for setting in found {
        let value = settings.value(&setting).to_vec();
        let Some((pattern, _)) = unbound_conf::include(settings.name(&setting), &value) else {
            settings.settings.push(setting);
            continue;
        };
        for path in matching(root, pattern, b"/etc/unbound") {
            unbound_file(root, &path, settings, skipped, depth + 1);
        }
    }
}

/// The configuration of a named with this file.
pub(super) fn named(root: &Root, path: &str, skipped: &mut Vec<String>) -> NamedConf {
    let mut conf = NamedConf::default();
    conf.statements = named_file(root, path.as_bytes(), &mut conf, skipped, 0);
    conf
}

fn named_file(
    root: &Root,
    path: &[u8],
    conf: &mut NamedConf,
    skipped: &mut Vec<String>,
    depth: usize,
) -> Vec<Statement> {
    if depth > MAX_DEPTH || is_full(&conf.files) {
        return Vec::new();
    }
    let Some(source) = files::source(root, path, skipped) else {
        return Vec::new();
    };
    let found = named_conf::parse(&source, conf.files.len());
    conf.files.push(source);
    spliced(root, found, conf, skipped, depth)
}

/// The statements with those of included files in place of each `include`.
fn spliced(
    root: &Root,
    statements: Vec<Statement>,
    conf: &mut NamedConf,
    skipped: &mut Vec<String>,
    depth: usize,
) -> Vec<Statement> {
    let mut found = Vec::with_capacity(statements.len());
    for mut statement in statements {
        if conf.word(&statement, 0) == b"include" && statement.block.is_none() {
            let pattern = conf.word(&statement, 1).to_vec();
            for path in matching(root, &pattern, b"/etc/bind") {
                found.extend(named_file(root, &path, conf, skipped, depth + 1));
            }
            continue;
        }
        let block = statement.block.take();
        statement.block = block.map(|block| spliced(root, block, conf, skipped, depth));
        found.push(statement);
    }
    found
}

fn is_full(files: &[Source]) -> bool {
    let bytes: usize = files.iter().map(|file| file.bytes.len()).sum();
    files.len() >= MAX_FILES || bytes >= MAX_BYTES
}

/// NetworkManager's configuration: the main file, then the drop-ins, of
/// which one in `/etc` takes the place of its namesakes elsewhere.
///
/// Source: NetworkManager.conf(5).
pub(super) fn network_manager(root: &Root, skipped: &mut Vec<String>) -> Vec<Source> {
    let mut paths = vec![b"/etc/NetworkManager/NetworkManager.conf".to_vec()];
    let directories = [
        "/etc/NetworkManager/conf.d",
        "/run/NetworkManager/conf.d",
        "/usr/lib/NetworkManager/conf.d",
    ];
    paths.extend(drop_ins(root, &directories));
    let sources = paths
        .iter()
        .filter_map(|path| files::source(root, path, skipped));
    sources.collect()
}

/// The paths of `*.conf` in these directories, sorted by name; of files with
/// one name only the first directory's.
pub(super) fn drop_ins(root: &Root, directories: &[&str]) -> Vec<Vec<u8>> {
    let mut found: Vec<(Vec<u8>, Vec<u8>)> = Vec::new();
    for directory in directories {
        for name in root.list(Path::new(directory)).unwrap_or_default() {
            let name = name.into_vec();
            let is_new = found.iter().all(|(other, _)| *other != name);
            if is_new && name.ends_with(b".conf") {
                let path = [directory.as_bytes(), b"/", &name].concat();
                found.push((name, path));
            }
        }
    }
    found.sort();
    found.into_iter().map(|(_, path)| path).collect()
}

/// The files that a pattern with `*` and `?` in its last component means,
/// sorted; one without them is taken as it is. A relative one begins at `from`.
fn matching(root: &Root, pattern: &[u8], from: &[u8]) -> Vec<Vec<u8>> {
    let whole = if pattern.starts_with(b"/") {
        pattern.to_vec()
    } else {
        [from, b"/", pattern].concat()
    };
    if !whole.iter().any(|byte| b"*?[".contains(byte)) {
        return vec![whole];
    }
    let slash = whole.iter().rposition(|&byte| byte == b'/').unwrap_or(0);
    let (directory, name) = whole.split_at(slash);
    let name = name.strip_prefix(b"/").unwrap_or(name);
    let path = Path::new(OsStr::from_bytes(directory));
    let names = root.list(path).unwrap_or_default().into_iter();
    let fits = |it: &Vec<u8>| fits(name, it) && !it.starts_with(b".");
    names
        .map(std::ffi::OsString::into_vec)
        .filter(fits)
        .map(|it| [directory, b"/", &it].concat())
        .collect()
}

/// Whether a name fits a pattern of `glob(7)` with `*` and `?`.
fn fits(pattern: &[u8], name: &[u8]) -> bool {
    let (mut at, mut from) = (0, 0);
    let mut star: Option<(usize, usize)> = None;
    while from < name.len() {
        match pattern.get(at) {
            Some(b'*') => {
                star = Some((at, from));
                at += 1;
            }
            Some(byte) if *byte == b'?' || name.get(from) == Some(byte) => {
                at += 1;
                from += 1;
            }
            _ => match star {
                Some((star_at, taken)) => {
                    at = star_at + 1;
                    from = taken + 1;
                    star = Some((star_at, from));
                }
                None => return false,
            },
        }
    }
    let rest = pattern.get(at..).unwrap_or_default();
    rest.iter().all(|&byte| byte == b'*')
}

#[cfg(test)]
mod tests {
    use super::fits;

    #[test]
    fn patterns_fit_names() {
        for (pattern, name, expected) in [
            ("*.conf", "a.conf", true),
            ("*.conf", "a.conf.bak", false),
            ("a?c*", "abcd", true),
            ("a?c*", "ac", false),
            ("*a*b*", "xxaxxbxx", true),
            ("", "", true),
        ] {
            let found = fits(pattern.as_bytes(), name.as_bytes());
            assert_eq!(found, expected, "{pattern} {name}");
        }
    }
}
