//! All commands agree about the kubelet of a node: what its files come to is
//! the same for those that read a node and for `lint`.

#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::too_many_lines,
    reason = "a test may stop at the first surprise"
)]

mod cases;
mod partial;
mod rancher;
mod units;

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use kdns::host::node::{self, Parts, StandIns, kubelet, processes};
use kdns::host::root::{Resolution, Root};
use kdns::host::tree;
use kdns::kubelet::choice::NODE_FILE;
use kdns::kubelet::effective::from_directory_of;
use kdns::kubelet::flags::Name;
use kdns::kubelet::{Found, Kubelet, Origin, distribution};
use kdns::lint::context::Context;
use kdns::lint::document::{At, FileId};
use kdns::lint::workspace::{File, Workspace};
use kdns::lint::{Given, extract, reading, recognise, subject};
use kdns::text::{Place, Source};

/// A setting: its values, and where it stands; nothing: it was not made.
type Made = (Vec<String>, String);

/// `resolvConf`, `clusterDNS`, `clusterDomain`.
#[derive(Debug)]
struct Said([Made; 3]);

impl Said {
    /// Whether it is the same; a place can be that of the whole line.
    fn agrees(&self, other: &Self) -> bool {
        self.0.iter().zip(&other.0).all(|(one, other)| {
            let rest = other.1.strip_prefix(&one.1);
            let is_there = !one.1.is_empty() && rest.is_some_and(|it| it.starts_with(':'));
            one.0 == other.0 && (one.1 == other.1 || is_there)
        })
    }
}

/// What the commands say that read a node, of its files alone.
fn by_node(directory: &Path) -> Option<(Kubelet, Said)> {
    let root = &Root::below(directory, Resolution::default()).unwrap();
    let kubelet = kubelet::read_kubelet(root, &[], None).0?;
    let place = |origin: &Origin| match origin {
        Origin::File(place) => shown(directory, place),
        // `lint` says that of a file that is not there, and goes on.
        Origin::BuiltIn | Origin::Unread(_) => String::new(),
        other => format!("{other:?}"),
    };
    let servers = kubelet.cluster_dns.value.iter().map(ToString::to_string);
    let said = Said([
        (
            vec![kubelet.resolv_conf.value.clone()],
            place(&kubelet.resolv_conf.origin),
        ),
        (servers.collect(), place(&kubelet.cluster_dns.origin)),
        (
            vec![kubelet.cluster_domain.value.clone()],
            place(&kubelet.cluster_domain.origin),
        ),
    ]);
    Some((kubelet, said))
}

/// The files that `lint --root` reads of a node.
fn of_root(directory: &Path) -> Vec<Source> {
    let root = Root::below(directory, Resolution::default()).unwrap();
    let node = node::read_node(&root, &StandIns::default(), Parts::default()).unwrap();
    let mut sources = node.sources;
    sources.extend(node::settings::files(&root).0);
    sources
}

/// The files below a directory, as `lint DIRECTORY` reads them.
fn of_directory(directory: &Path) -> Vec<Source> {
    let files = tree::walk(directory, &|_| true).files.into_iter();
    let sources = files.map(|path| {
        Source::new(
            path.strip_prefix(directory).unwrap().display().to_string(),
            fs::read(&path).unwrap(),
        )
    });
    sources.collect()
}

/// What `lint` says of every kubelet in these files.
fn by_lint(root: &Path, sources: Vec<Source>, known: &Kubelet, of_node: &Said) -> Vec<Said> {
    let sources: BTreeMap<String, Source> = sources
        .into_iter()
        .map(|it| (it.name.clone(), it))
        .collect();
    let sources: Vec<Arc<Source>> = sources.into_values().map(Arc::new).collect();
    let file = |(number, source): (usize, &Arc<Source>)| {
        let number = FileId(u32::try_from(number).unwrap());
        let is_chosen = source.name.starts_with('/');
        let form = recognise::form(&source.name, &source.bytes, is_chosen);
        let found = form.map(|it| reading::documents(number, source, Some(it)));
        File {
            path: source.name.as_str().into(),
            facts: found.and_then(|it| extract::facts(&it).kept()),
        }
    };
    let mut given = Given::default();
    given.options.kubelet_version = known.version;
    let workspace = Workspace::new(&given, sources.iter().enumerate().map(file).collect());
    let context = Context::new(&workspace);
    let place = |at: At| {
        let source = &sources[at.file.0 as usize];
        shown(root, &source.place_of(at.span.start))
    };
    // What makes nodes can lie beside them.
    let is_of_node = |it: &&subject::Kubelet<'_>| {
        let path = it.path.trim_start_matches('/');
        TOPS.contains(&path.split_once('/').map_or("", |it| it.0))
    };
    let kubelets = context.kubelets().iter().filter(is_of_node);
    kubelets.map(|it| said(it, &place, of_node)).collect()
}

/// A place, links on the way followed.
fn shown(root: &Path, place: &Place) -> String {
    let path = root.join(place.file.trim_start_matches('/'));
    let path = path.canonicalize().unwrap_or(path);
    let path = path.strip_prefix(root).unwrap_or(&path);
    format!("{}:{}:{}", path.display(), place.line, place.column)
}

fn said(made: &subject::Kubelet<'_>, place: &dyn Fn(At) -> String, of_node: &Said) -> Said {
    let path = format!("/{}", made.path.trim_start_matches('/'));
    let keys = [Name::ResolvConf, Name::ClusterDns, Name::ClusterDomain];
    let line = |at: &str| at.rsplit_once(':').map_or("", |it| it.0).to_owned();
    let mut of_node = of_node.0.iter();
    Said(keys.map(|key| {
        let of_node = of_node.next().unwrap();
        let setting = made.setting(key);
        let Some(setting) = setting.filter(|it| !it.is_null) else {
            // Some distributions have defaults of their own.
            let default = match key {
                _ if of_node.1.is_empty() => of_node.0.clone(),
                Name::ResolvConf => vec![NODE_FILE.to_owned()],
                Name::ClusterDns => Vec::new(),
                _ => vec![String::new()],
            };
            // A null takes back what was set, and can stand nowhere.
            let at = setting.map_or(String::new(), |it| place(it.at));
            return (default, line(&at));
        };
        // What sets a variable need not be given to lint.
        if setting.values.iter().any(|it| it.text.contains('$')) {
            return of_node.clone();
        }
        let values = setting.values.iter();
        let values = match key {
            Name::ClusterDns => values
                .filter_map(|it| Some(it.address()?.to_string()))
                .collect(),
            Name::ResolvConf if !setting.is_flag => values
                .map(|it| from_directory_of(&path, it.text.clone()))
                .collect(),
            _ => values.map(|it| it.text.clone()).collect(),
        };
        let at = match setting.values.first() {
            Some(first) if key == Name::ClusterDns => first.at,
            _ => setting.at,
        };
        (values, place(at))
    }))
}

/// A copy of the files of a node, without what tells what runs on it.
fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let (kind, to) = (entry.file_type().unwrap(), to.join(entry.file_name()));
        if kind.is_dir() && !matches!(entry.file_name().to_str(), Some("proc" | "sys")) {
            copy(&entry.path(), &to);
        } else if kind.is_symlink() {
            symlink(fs::read_link(entry.path()).unwrap(), &to).unwrap();
        } else if kind.is_file() {
            fs::copy(entry.path(), &to).unwrap();
        }
    }
}

/// The unit that would start the kubelet that runs on a node, if it has none.
fn add_unit(node: &Path, to: &Path) {
    let unit = to.join("etc/systemd/system/kubelet.service");
    let root = Root::below(node, Resolution::default()).unwrap();
    let kubelet = kubelet::read_kubelet(&root, &processes::scan(&root).0, None).0;
    let is_program =
        |it: &Kubelet| matches!(&it.found, Found::Process { comm, .. } if comm == "kubelet");
    let Some(kubelet) = kubelet.filter(is_program) else {
        return;
    };
    let command = kubelet::arguments(&root, &kubelet);
    let units = distribution::UNITS.iter();
    let has_unit = units
        .map(|it| to.join("etc/systemd/system").join(it.0))
        .any(|it| it.symlink_metadata().is_ok());
    let is_of_snap = command.iter().any(|it| it.contains("/snap/"));
    if has_unit || is_of_snap || kubelet::read_kubelet(&root, &[], None).0.is_none() {
        return;
    }
    let words = command.iter().map(|word| {
        let word = word.replace('\\', "\\\\").replace('"', "\\\"");
        format!("\"{}\"", word.replace('%', "%%").replace('$', "$$"))
    });
    let words: Vec<String> = words.collect();
    fs::create_dir_all(unit.parent().unwrap()).unwrap();
    fs::write(unit, format!("[Service]\nExecStart={}\n", words.join(" "))).unwrap();
}

/// The roots of nodes below a directory.
fn roots(directory: &Path, found: &mut Vec<PathBuf>) {
    if TOPS.iter().any(|it| directory.join(it).is_dir()) {
        return found.push(directory.to_owned());
    }
    let entries = fs::read_dir(directory).unwrap();
    let mut paths: Vec<PathBuf> = entries.map(|it| it.unwrap().path()).collect();
    paths.sort();
    paths.retain(|it| it.is_dir() && !it.is_symlink());
    for path in &paths {
        roots(path, found);
    }
}

/// Directories that every node has.
const TOPS: [&str; 6] = ["etc", "var", "run", "usr", "lib", "home"];

/// Where the two differ; `None`: there is no kubelet.
fn difference(directory: &Path) -> Option<Result<(), String>> {
    let (kubelet, of_node) = by_node(directory)?;
    let origins = [&kubelet.resolv_conf.origin, &kubelet.cluster_dns.origin];
    let sets_something = origins.iter().any(|it| matches!(it, Origin::File(_)))
        || matches!(kubelet.cluster_domain.origin, Origin::File(_));
    let mut wrong = String::new();
    for (name, sources) in [
        ("--root", of_root(directory)),
        ("DIR", of_directory(directory)),
    ] {
        let of_lint = by_lint(directory, sources, &kubelet, &of_node);
        // There is nothing to lint where nothing is set.
        let is_same = match of_lint.as_slice() {
            [] => !sets_something,
            [one] => one.agrees(&of_node),
            _ => false,
        };
        if !is_same {
            writeln!(wrong, "  node:    {of_node:?}").unwrap();
            for it in &of_lint {
                writeln!(wrong, "  lint {name}: {it:?}").unwrap();
            }
        }
    }
    Some(if wrong.is_empty() { Ok(()) } else { Err(wrong) })
}

#[test]
fn lint_and_the_other_commands_say_the_same_of_every_node() {
    let testdata = Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata");
    let mut found = Vec::new();
    for folder in ["nodes", "kubelet", "lint", "lint-formats", "lint-real"] {
        roots(&testdata.join(folder), &mut found);
    }
    let mut seen = Seen::default();
    for root in found {
        let name = root.strip_prefix(&testdata).unwrap();
        seen.tree(&name.to_string_lossy(), |to| {
            copy(&root, to);
            add_unit(&root, to);
        });
    }
    assert!(seen.count > 350, "{}", seen.count);
    assert!(seen.wrong.is_empty(), "{}", seen.wrong);
}

#[derive(Default)]
struct Seen {
    count: usize,
    wrong: String,
}

impl Seen {
    fn tree(&mut self, name: &str, make: impl FnOnce(&Path)) {
        let directory = tempfile::tempdir().unwrap();
        let node = directory.path().join("node");
        make(&node);
        match difference(&node) {
            Some(Err(text)) => writeln!(self.wrong, "{name}:\n{text}").unwrap(),
            Some(Ok(())) => {}
            None => return,
        }
        self.count += 1;
    }
}
