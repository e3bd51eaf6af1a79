//! Reads the configuration of daemons that look names up by themselves.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use super::include::{Includes, matching};
use crate::config::statements::{Statement, Statements};
use crate::config::{glob, haproxy_cfg, nginx_conf};
use crate::host::root::Root;
use crate::program::daemon::Start;
use crate::scenario::own::Daemon;
use crate::text::{Source, escaped};

/// Most bytes of a daemon's files together: what is made of them is larger.
const MAX_BYTES: usize = 4 << 20;
/// Most lines that include files: each looks into a directory.
const MAX_INCLUDES: usize = 1000;
/// What could not be read is said up to so many times.
const MAX_SAID: usize = 100;

/// The configuration that a daemon was started with, as its root has it now, and
/// what of it could not be read. Relative paths begin at `directory` where
/// nothing else says.
pub fn read_daemon(
    root: &Root,
    daemon: Daemon,
    start: &Start,
    directory: &Path,
) -> (Statements, Vec<String>) {
    let mut conf = Statements::default();
    let mut skipped = Vec::new();
    let from = directory.join(start.prefix.as_deref().unwrap_or_default());
    for path in &start.paths {
        let path = from.join(path);
        let mut includes = Includes {
            root,
            skipped: &mut skipped,
        };
        let found = match daemon {
            Daemon::Nginx => {
                let base = path.parent().unwrap_or(&from).to_owned();
                let mut nginx = Nginx {
                    includes,
                    base,
                    left: MAX_INCLUDES,
                };
                nginx.file(&path, &mut conf, 0)
            }
            Daemon::Haproxy if root.is_directory(&path) => {
                let all = matching(root, b"*.cfg", &path.to_string_lossy(), includes.skipped);
                let all = all.iter();
                all.flat_map(|it| includes.haproxy_file(it, &mut conf))
                    .collect()
            }
            Daemon::Haproxy => includes.haproxy_file(&path, &mut conf),
            Daemon::Envoy => {
                conf.files.extend(includes.whole_file(&path, &conf, 0));
                Vec::new()
            }
        };
        conf.statements.extend(found);
    }
    let texts = start.texts.iter().take(1);
    conf.files
        .extend(texts.map(|it| Source::new("--config-yaml", it.as_bytes())));
    (conf, skipped)
}

impl Includes<'_> {
    fn haproxy_file(&mut self, path: &Path, conf: &mut Statements) -> Vec<Statement> {
        let Some(source) = self.whole_file(path, conf, 0) else {
            return Vec::new();
        };
        let found = haproxy_cfg::parse(&source, conf.files.len());
        conf.files.push(source);
        found
    }

    /// A file that has to be there: what is missing is said.
    fn whole_file(&mut self, path: &Path, conf: &Statements, depth: usize) -> Option<Source> {
        let before = self.skipped.len();
        let bytes: usize = conf.files.iter().map(|it| it.bytes.len()).sum();
        let found = (bytes < MAX_BYTES)
            .then(|| self.file(path, &conf.files, depth))
            .flatten();
        if found.is_none() && self.skipped.len() == before {
            let path = crate::host::shown(path);
            self.say(format!("{path} was not read"));
        }
        found
    }

    fn say(&mut self, sentence: String) {
        if self.skipped.len() < MAX_SAID {
            self.skipped.push(sentence);
        }
    }
}

/// The files of an nginx.
struct Nginx<'r> {
    includes: Includes<'r>,
    /// Where relative paths begin: beside the main file.
    base: PathBuf,
    /// How many lines that include files are followed still.
    left: usize,
}

impl Nginx<'_> {
    fn file(&mut self, path: &Path, conf: &mut Statements, depth: usize) -> Vec<Statement> {
        let Some(source) = self.includes.whole_file(path, conf, depth) else {
            return Vec::new();
        };
        let found = nginx_conf::parse(&source, conf.files.len()).statements;
        conf.files.push(source);
        // Source: nginx `src/core/ngx_conf_file.c: ngx_conf_include` (1.22)
        conf.with_included(found, &mut |conf, pattern| {
            self.included(pattern, conf, depth)
        })
    }

    fn included(&mut self, pattern: &[u8], conf: &mut Statements, depth: usize) -> Vec<Statement> {
        // A list of MIME types has no names in it.
        if pattern.ends_with(b"mime.types") {
            return Vec::new();
        }
        let folder = Path::new(OsStr::from_bytes(pattern)).parent();
        let is_wide = folder.is_some_and(|it| glob::has_wildcard(it.as_os_str().as_bytes()));
        if is_wide || self.left == 0 {
            let pattern = escaped(pattern);
            let sentence = format!("`include {pattern}` was not followed");
            self.includes.say(sentence);
            return Vec::new();
        }
        self.left -= 1;
        let base = self.base.to_string_lossy();
        let paths = matching(self.includes.root, pattern, &base, self.includes.skipped);
        let mut found = Vec::new();
        for path in paths {
            found.extend(self.file(&path, conf, depth + 1));
        }
        found
    }
}
