//! Reads the configuration of daemons that look names up by themselves.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use super::include::{Includes, matching};
use crate::config::named_conf::{NamedConf, Statement};
use crate::config::{glob, haproxy_cfg, nginx_conf};
use crate::host::root::Root;
use crate::program::daemon::Start;
use crate::scenario::own::Daemon;
use crate::text::{Source, escaped};

/// The configuration that a daemon was started with, as its root has it now, and
/// what of it could not be read. Relative paths begin at `directory` where
/// nothing else says.
pub fn read_daemon(
    root: &Root,
    daemon: Daemon,
    start: &Start,
    directory: &Path,
) -> (NamedConf, Vec<String>) {
    let mut conf = NamedConf::default();
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
                includes.nginx_file(&path, &base, &mut conf, 0)
            }
            Daemon::Haproxy if root.is_directory(&path) => {
                let all = matching(root, b"*.cfg", &path.to_string_lossy(), includes.skipped);
                let all = all.iter().map(|it| PathBuf::from(OsStr::from_bytes(it)));
                all.flat_map(|it| includes.haproxy_file(&it, &mut conf))
                    .collect()
            }
            Daemon::Haproxy => includes.haproxy_file(&path, &mut conf),
        };
        conf.statements.extend(found);
    }
    (conf, skipped)
}

impl Includes<'_> {
    fn haproxy_file(&mut self, path: &Path, conf: &mut NamedConf) -> Vec<Statement> {
        let Some(source) = self.whole_file(path, conf, 0) else {
            return Vec::new();
        };
        let found = haproxy_cfg::parse(&source, conf.files.len());
        conf.files.push(source);
        found
    }

    fn nginx_file(
        &mut self,
        path: &Path,
        base: &Path,
        conf: &mut NamedConf,
        depth: usize,
    ) -> Vec<Statement> {
        let Some(source) = self.whole_file(path, conf, depth) else {
            return Vec::new();
        };
        let found = nginx_conf::parse(&source, conf.files.len()).statements;
        conf.files.push(source);
        self.nginx_spliced(found, base, conf, depth)
    }

    /// The directives with those of included files in place of each `include`;
    /// relative paths begin beside the main file.
    ///
    /// Source: nginx `src/core/ngx_conf_file.c: ngx_conf_include` (1.22)
    fn nginx_spliced(
        &mut self,
        statements: Vec<Statement>,
        base: &Path,
        conf: &mut NamedConf,
        depth: usize,
    ) -> Vec<Statement> {
        let mut found = Vec::with_capacity(statements.len());
        for mut statement in statements {
            if conf.word(&statement, 0) == b"include" && statement.block.is_none() {
                let pattern = conf.word(&statement, 1).to_vec();
                let folder = Path::new(OsStr::from_bytes(&pattern)).parent();
                if folder.is_some_and(|it| glob::has_wildcard(it.as_os_str().as_bytes())) {
                    let pattern = escaped(&pattern);
                    self.skipped
                        .push(format!("`include {pattern}` was not followed"));
                }
                // A list of MIME types has no names in it.
                if pattern.ends_with(b"mime.types") {
                    continue;
                }
                for path in matching(self.root, &pattern, &base.to_string_lossy(), self.skipped) {
                    let path = PathBuf::from(OsStr::from_bytes(&path));
                    found.extend(self.nginx_file(&path, base, conf, depth + 1));
                }
                continue;
            }
            let block = statement.block.take();
            statement.block = block.map(|it| self.nginx_spliced(it, base, conf, depth));
            found.push(statement);
        }
        found
    }

    /// A file that has to be there: what is missing is said.
    fn whole_file(&mut self, path: &Path, conf: &NamedConf, depth: usize) -> Option<Source> {
        let before = self.skipped.len();
        let found = self.file(path.as_os_str().as_bytes(), &conf.files, depth);
        if found.is_none() && self.skipped.len() == before {
            let path = crate::host::shown(path);
            self.skipped.push(format!("{path} was not read"));
        }
        found
    }
}
