//! Roots of nodes: copies whose files have times, and places in their files.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::time::{Duration, SystemTime};

use kdns::host::root::Root;
use kdns::text::escaped;
use serde_json::Value;

/// A copy of the node whose files have the times that `NAME.times` gives, a
/// line for each: the path and seconds since 1970. Others are as old as can be.
/// It stays until the next run: nothing that is for the whole process is ever dropped.
pub(super) fn timed(node: &Path) -> Option<PathBuf> {
    static COPIED: Mutex<BTreeSet<PathBuf>> = Mutex::new(BTreeSet::new());
    let times = fs::read_to_string(sibling(node, "times")).ok()?;
    let mut copied = COPIED.lock().unwrap();
    let root = Path::new(env!("CARGO_TARGET_TMPDIR"))
        .join(env!("CARGO_CRATE_NAME"))
        .join(name(node));
    if copied.insert(root.clone()) {
        let _ = fs::remove_dir_all(&root);
        copy_old(node, &root);
        for line in times.lines() {
            let (path, seconds) = line.split_once(' ').unwrap();
            set_time(&root.join(path), seconds.parse().unwrap());
        }
    }
    Some(root)
}

fn copy_old(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let (entry, kind) = entry
            .map(|it| (it.path(), it.file_type().unwrap()))
            .unwrap();
        let copy = to.join(entry.file_name().unwrap());
        if kind.is_dir() {
            copy_old(&entry, &copy);
        } else if kind.is_symlink() {
            symlink(fs::read_link(&entry).unwrap(), &copy).unwrap();
        } else {
            fs::copy(&entry, &copy).unwrap();
            set_time(&copy, 0);
        }
    }
    set_time(to, 0);
}

fn set_time(path: &Path, seconds: u64) {
    let time = SystemTime::UNIX_EPOCH + Duration::from_secs(seconds);
    File::open(path).unwrap().set_modified(time).unwrap();
}

/// Every object with a place, however deep.
pub(super) fn collect<'v>(value: &'v Value, places: &mut Vec<&'v Value>) {
    match value {
        Value::Object(object) => {
            if object.contains_key("line") {
                places.push(value);
            }
            object.values().for_each(|it| collect(it, places));
        }
        Value::Array(items) => items.iter().for_each(|it| collect(it, places)),
        _ => {}
    }
}

/// Why a place is not as the report says.
pub(super) fn unsound(place: &Value, root: &Root) -> Option<String> {
    let file = place["file"].as_str().unwrap();
    let line = usize::try_from(place["line"].as_u64().unwrap()).unwrap();
    let column = usize::try_from(place["column"].as_u64().unwrap()).unwrap();
    let shown = format!("{file}:{line}:{column}");
    let read = match root.read(Path::new(file)) {
        Ok(read) => read,
        Err(error) => return Some(format!("{shown}: {error}")),
    };
    let text = String::from_utf8_lossy(&read.source.bytes);
    // An added line stands behind the last one.
    let is_new = place.get("new").is_some() && place["old"].is_null();
    let lines: Vec<&str> = text.split('\n').collect();
    let Some(found) = lines.get(line - 1) else {
        let is_next = is_new && line == lines.len() + 1 && column == 1;
        return (!is_next).then(|| format!("{shown}: no such line"));
    };
    if found.chars().count() + 1 < column {
        return Some(format!("{shown}: no such column in {found:?}"));
    }
    let rest: String = found.chars().skip(column - 1).collect();
    let rest = escaped(rest.as_bytes());
    let is_wrong = match (place["old"].as_str(), place["text"].as_str()) {
        (Some(old), _) => !rest.starts_with(old),
        // A setting is shown whole, and its place is that of the value.
        (None, Some(text)) => !text.contains(word(&rest)),
        (None, None) => false,
    };
    is_wrong.then(|| format!("{shown}: {place} is not there, but {rest:?}"))
}

/// The first word, without its quotes.
fn word(text: &str) -> &str {
    let text = text.trim_start_matches(['"', '\'']);
    let is_end = |c: char| c.is_whitespace() || matches!(c, '"' | '\'' | ',' | ';' | ']' | '\\');
    text.split(is_end).next().unwrap()
}

/// `testdata/nodes/NAME.ENDING`: a name may have a dot in it.
pub(super) fn sibling(node: &Path, ending: &str) -> PathBuf {
    PathBuf::from(format!("{}.{ending}", node.display()))
}

pub(super) fn name(node: &Path) -> String {
    node.file_name().unwrap().to_string_lossy().into_owned()
}
