//! How often each resolver was observed: `testdata/vectors`.

use std::collections::BTreeMap;
use std::fs;

use libtest_mimic::Failed;
use serde_json::Value;

use crate::pages::root;

pub(crate) type Counts = BTreeMap<(String, String), usize>;

/// Recorded lookups by resolver and version.
pub(crate) fn observations() -> Result<Counts, Failed> {
    let mut counts = BTreeMap::new();
    for entry in fs::read_dir(root().join("testdata/vectors"))? {
        let path = entry?.path();
        if path.extension().is_none_or(|it| it != "jsonl") {
            continue;
        }
        for line in fs::read_to_string(path)?.lines() {
            let case: Value = serde_json::from_str(line)?;
            let observed = case.get("observed").and_then(Value::as_array);
            count(observed.into_iter().flatten(), &mut counts);
        }
    }
    Ok(counts)
}

/// Those of them that are not predicted, under no version.
pub(crate) fn exceptions() -> Result<Counts, Failed> {
    let text = fs::read_to_string(root().join("testdata/vectors/exceptions.json"))?;
    let all: Vec<Value> = serde_json::from_str(&text)?;
    let mut counts = BTreeMap::new();
    count(all.iter(), &mut counts);
    Ok(counts)
}

fn count<'v>(values: impl Iterator<Item = &'v Value>, counts: &mut Counts) {
    let word = |it: &Value, key| it.get(key).and_then(Value::as_str).unwrap_or("").to_owned();
    for it in values {
        let key = (word(it, "resolver"), word(it, "version"));
        *counts.entry(key).or_default() += 1;
    }
}
