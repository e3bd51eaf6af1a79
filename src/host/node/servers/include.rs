//! Reads configuration files that name further ones.

use std::ffi::OsStr;
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::path::{Path, PathBuf};

use crate::config::dnsmasq_conf::{self, Include};
use crate::config::named_conf;
use crate::config::settings::{Setting, Settings};
use crate::config::statements::{Statement, Statements};
use crate::config::unbound_conf;
use crate::host::node::{corefiles, files};
use crate::host::root::Root;
use crate::order::Order as _;
use crate::text::Source;
use crate::topology::Instance;

/// Most files of one program.
const MAX_FILES: usize = 1000;

/// Most bytes of these files together: one that includes itself has no end.
const MAX_BYTES: usize = 16 << 20;

/// Deepest chain of files that include each other.
const MAX_DEPTH: usize = 20;

/// Reads the files of a root, and notes which of them could not be read.
pub(super) struct Includes<'r> {
    pub(super) root: &'r Root,
    pub(super) skipped: &'r mut Vec<String>,
}

impl Includes<'_> {
    /// The settings of a dnsmasq with these arguments, the program's name left
    /// out, and of the files that they lead to.
    pub(super) fn dnsmasq(&mut self, arguments: &[String], instance: &Instance) -> Settings {
        let mut settings = Settings::default();
        let name = format!("arguments of dnsmasq{instance}");
        let (source, found) = dnsmasq_conf::arguments(&name, arguments, 0);
        settings.files.push(source);
        let (files, others): (Vec<Setting>, Vec<Setting>) = found
            .into_iter()
            .partition(|it| dnsmasq_conf::long_name(settings.name(it)) == Some("conf-file"));
        self.take(others, &mut settings, 0);
        let has_file = !files.is_empty();
        // It reads the files after the arguments.
        self.take(files, &mut settings, 0);
        if !has_file {
            self.dnsmasq_file(b"/etc/dnsmasq.conf", false, &mut settings, 1);
            // Debian's unit gives this directory as an argument.
            let is_running = arguments.iter().any(|it| !it.is_empty());
            if !is_running {
                let value = b"/etc/dnsmasq.d,.dpkg-dist,.dpkg-old,.dpkg-new";
                let include = dnsmasq_conf::include(b"conf-dir", value);
                self.dnsmasq_include(include, &mut settings, 0);
            }
        }
        settings
    }

    fn take(&mut self, found: Vec<Setting>, settings: &mut Settings, depth: usize) {
        for setting in found {
            let name = settings.name(&setting);
            let include = dnsmasq_conf::include(name, settings.value(&setting));
            if include.is_some() {
                self.dnsmasq_include(include, settings, depth);
            } else {
                settings.settings.push(setting);
            }
        }
    }

    fn dnsmasq_include(&mut self, include: Option<Include>, into: &mut Settings, depth: usize) {
        match include {
            None => {}
            Some(Include::File(path)) => self.dnsmasq_file(&path, false, into, depth + 1),
            Some(Include::Servers(path)) => self.dnsmasq_file(&path, true, into, depth + 1),
            Some(Include::Directory(directory)) => {
                let path = Path::new(OsStr::from_bytes(&directory.path));
                for name in files::names(self.root, path, self.skipped) {
                    if directory.takes(name.as_bytes()) {
                        let file = path.join(&name).into_os_string().into_vec();
                        self.dnsmasq_file(&file, false, into, depth + 1);
                    }
                }
            }
        }
    }

    fn dnsmasq_file(&mut self, path: &[u8], only_servers: bool, into: &mut Settings, depth: usize) {
        // NetworkManager's way to say that there is none.
        if path == b"/dev/null" {
            return;
        }
        let Some(source) = self.file(path, &into.files, depth) else {
            return;
        };
        // It reads no file twice.
        if into.files.iter().any(|it| it.name == source.name) {
            return;
        }
        let mut found = dnsmasq_conf::parse(&source, into.files.len());
        if only_servers {
            let is_server = |it: &Setting| {
                let name = it.name.slice(&source.bytes);
                matches!(name, b"server" | b"rev-server")
            };
            found.retain(is_server);
        }
        into.files.push(source);
        self.take(found, into, depth);
    }

    /// The settings of an unbound with this file.
    pub(super) fn unbound(&mut self, path: &str) -> Settings {
        let mut settings = Settings::default();
        self.unbound_file(path.as_bytes(), &mut settings, 0);
        settings
    }

    fn unbound_file(&mut self, path: &[u8], into: &mut Settings, depth: usize) {
        let Some(source) = self.file(path, &into.files, depth) else {
            return;
        };
        let found = unbound_conf::parse(&source, into.files.len());
        into.files.push(source);
        for setting in found {
            let value = into.value(&setting).to_vec();
            let Some((pattern, _)) = unbound_conf::include(into.name(&setting), &value) else {
                into.settings.push(setting);
                continue;
            };
            for path in matching(self.root, pattern, "/etc/unbound", self.skipped) {
                self.unbound_file(&path, into, depth + 1);
            }
        }
    }

    /// The configuration of a named with this file.
    pub(super) fn named(&mut self, path: &str) -> Statements {
        let mut conf = Statements::default();
        conf.statements = self.named_file(path.as_bytes(), &mut conf, 0);
        conf
    }

    fn named_file(&mut self, path: &[u8], conf: &mut Statements, depth: usize) -> Vec<Statement> {
        let Some(source) = self.file(path, &conf.files, depth) else {
            return Vec::new();
        };
        let found = named_conf::parse(&source, conf.files.len());
        conf.files.push(source);
        conf.with_included(found, &mut |conf, pattern| {
            let paths = matching(self.root, pattern, "/etc/bind", self.skipped);
            let files = paths.iter();
            files
                .flat_map(|it| self.named_file(it, conf, depth + 1))
                .collect()
        })
    }

    /// NetworkManager's configuration: the main file, then the drop-ins, of
    /// which one in `/etc` takes the place of its namesakes elsewhere.
    ///
    /// Source: NetworkManager.conf(5).
    pub(super) fn network_manager(&mut self) -> Vec<Source> {
        let mut paths = vec![b"/etc/NetworkManager/NetworkManager.conf".to_vec()];
        let directories = [
            "/etc/NetworkManager/conf.d",
            "/run/NetworkManager/conf.d",
            "/usr/lib/NetworkManager/conf.d",
        ];
        paths.extend(drop_ins(self.root, &directories));
        let sources = paths.iter().filter_map(|path| self.file(path, &[], 0));
        sources.collect()
    }

    /// A file behind so many others, unless these are too many.
    pub(super) fn file(&mut self, path: &[u8], before: &[Source], depth: usize) -> Option<Source> {
        if depth > MAX_DEPTH || is_full(before) {
            return None;
        }
        files::source(self.root, Path::new(OsStr::from_bytes(path)), self.skipped)
    }
}

fn is_full(files: &[Source]) -> bool {
    let bytes: usize = files.iter().map(|file| file.bytes.len()).sum();
    files.len() >= MAX_FILES || bytes >= MAX_BYTES
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
    found.order();
    found.into_iter().map(|(_, path)| path).collect()
}

/// The files that a pattern names, without hidden ones; a relative one begins at
/// `from`.
pub(super) fn matching(
    root: &Root,
    pattern: &[u8],
    from: &str,
    skipped: &mut Vec<String>,
) -> Vec<Vec<u8>> {
    let path = Path::new(from).join(OsStr::from_bytes(pattern));
    let is_hidden = |it: &PathBuf| {
        *it != path
            && it
                .file_name()
                .is_some_and(|it| it.as_bytes().starts_with(b"."))
    };
    let mut found = corefiles::named(root, &path, skipped);
    found.retain(|it| !is_hidden(it));
    found
        .into_iter()
        .map(|it| it.into_os_string().into_vec())
        .collect()
}
