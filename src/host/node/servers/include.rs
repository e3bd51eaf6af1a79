//! Reads configuration files that name further ones.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use crate::config::dnsmasq_conf::{self, Include};
use crate::config::named_conf;
use crate::config::settings::{Setting, Settings};
use crate::config::statements::{Statement, Statements};
use crate::config::unbound_conf;
use crate::host::node::{corefiles, files};
use crate::host::root::Root;
use crate::text::Source;
use crate::topology::{Instance, Program, ServerName};

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
        let server = ServerName {
            program: Program::Dnsmasq.name().to_owned(),
            instance: instance.clone(),
        };
        let name = format!("arguments of {server}");
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
            let main = Include::File(b"/etc/dnsmasq.conf".to_vec());
            self.dnsmasq_include(&main, &mut settings, 0);
            // Debian's unit gives this directory as an argument.
            let is_running = arguments.iter().any(|it| !it.is_empty());
            let value = b"/etc/dnsmasq.d,.dpkg-dist,.dpkg-old,.dpkg-new";
            let include = dnsmasq_conf::include(b"conf-dir", value);
            if let Some(include) = include.filter(|_| !is_running) {
                self.dnsmasq_include(&include, &mut settings, 0);
            }
        }
        settings
    }

    fn take(&mut self, found: Vec<Setting>, settings: &mut Settings, depth: usize) {
        for setting in found {
            let name = settings.name(&setting);
            match dnsmasq_conf::include(name, settings.value(&setting)) {
                Some(include) => self.dnsmasq_include(&include, settings, depth),
                None => settings.settings.push(setting),
            }
        }
    }

    fn dnsmasq_include(&mut self, include: &Include, into: &mut Settings, depth: usize) {
        match include {
            Include::File(path) | Include::Servers(path) => {
                let only_servers = matches!(include, Include::Servers(_));
                self.dnsmasq_file(as_path(path), only_servers, into, depth + 1);
            }
            Include::Directory(directory) => {
                let folder = as_path(&directory.path);
                for name in files::names(self.root, folder, self.skipped) {
                    if directory.takes(name.as_bytes()) {
                        self.dnsmasq_file(&folder.join(name), false, into, depth + 1);
                    }
                }
            }
        }
    }

    fn dnsmasq_file(&mut self, path: &Path, only_servers: bool, into: &mut Settings, depth: usize) {
        // NetworkManager's way to say that there is none.
        if path.as_os_str() == "/dev/null" {
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
        self.unbound_file(Path::new(path), &mut settings, 0);
        settings
    }

    fn unbound_file(&mut self, path: &Path, into: &mut Settings, depth: usize) {
        let Some(source) = self.file(path, &into.files, depth) else {
            return;
        };
        let found = unbound_conf::parse(&source, into.files.len());
        into.files.push(source);
        for setting in found {
            let value = into.value(&setting).to_vec();
            if value.is_empty() || !unbound_conf::is_include(into.name(&setting)) {
                into.settings.push(setting);
                continue;
            }
            for path in matching(self.root, &value, "/etc/unbound", self.skipped) {
                self.unbound_file(&path, into, depth + 1);
            }
        }
    }

    /// The configuration of a named with this file.
    pub(super) fn named(&mut self, path: &str) -> Statements {
        let mut conf = Statements::default();
        conf.statements = self.named_file(Path::new(path), &mut conf, 0);
        conf
    }

    fn named_file(&mut self, path: &Path, conf: &mut Statements, depth: usize) -> Vec<Statement> {
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
        let main = PathBuf::from("/etc/NetworkManager/NetworkManager.conf");
        let directories = [
            "/etc/NetworkManager/conf.d",
            "/run/NetworkManager/conf.d",
            "/usr/lib/NetworkManager/conf.d",
        ];
        let paths = std::iter::once(main).chain(drop_ins(self.root, &directories));
        paths.filter_map(|it| self.file(&it, &[], 0)).collect()
    }

    /// A file behind so many others, unless these are too many.
    pub(super) fn file(&mut self, path: &Path, before: &[Source], depth: usize) -> Option<Source> {
        if depth > MAX_DEPTH || is_full(before) {
            return None;
        }
        files::source(self.root, path, self.skipped)
    }
}

fn as_path(bytes: &[u8]) -> &Path {
    Path::new(OsStr::from_bytes(bytes))
}

fn is_full(files: &[Source]) -> bool {
    let bytes: usize = files.iter().map(|file| file.bytes.len()).sum();
    files.len() >= MAX_FILES || bytes >= MAX_BYTES
}

/// The paths of `*.conf` in these directories, sorted by name; of files with
/// one name only the first directory's.
pub(super) fn drop_ins(root: &Root, directories: &[&str]) -> Vec<PathBuf> {
    let mut found: BTreeMap<OsString, PathBuf> = BTreeMap::new();
    for directory in directories.iter().map(Path::new) {
        for name in root.list(directory).unwrap_or_default() {
            if name.as_bytes().ends_with(b".conf") {
                let path = directory.join(&name);
                found.entry(name).or_insert(path);
            }
        }
    }
    found.into_values().collect()
}

/// The files that a pattern names, without hidden ones; a relative one begins at
/// `from`.
pub(super) fn matching(
    root: &Root,
    pattern: &[u8],
    from: &str,
    skipped: &mut Vec<String>,
) -> Vec<PathBuf> {
    let path = Path::new(from).join(as_path(pattern));
    let mut found = corefiles::named(root, &path, skipped);
    found.retain(|it| {
        let name = it.file_name().unwrap_or_default();
        *it == path || !name.as_bytes().starts_with(b".")
    });
    found
}
