//! Which of the values counts that a kubelet was given for one key.
//!
//! Source: kubernetes `cmd/kubelet/app/server.go: NewKubeletCommand`: the
//! file of `--config`, the drop-ins in order, then the flags once more.

use std::collections::BTreeMap;

use crate::kubelet::flags::Name;

/// All that a kubelet was given, whoever has read it: `S` is a value with where
/// it stands. Files come in the order in which the kubelet reads them.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Given<S> {
    keys: BTreeMap<Name, Layers<S>>,
}

/// What files say of a key, and what flags say.
type Layers<S> = (Vec<S>, Vec<S>);

/// Every flag beats every file.
fn weakest_first<S>((files, flags): &Layers<S>) -> impl DoubleEndedIterator<Item = &S> {
    files.iter().chain(flags)
}

impl<S> Default for Given<S> {
    fn default() -> Self {
        let keys = BTreeMap::new();
        Self { keys }
    }
}

impl<S> Given<S> {
    /// What a file says of a key.
    pub fn file(&mut self, key: Name, set: S) {
        self.keys.entry(key).or_default().0.push(set);
    }

    /// What a flag says of a key.
    pub fn flag(&mut self, key: Name, set: S) {
        self.keys.entry(key).or_default().1.push(set);
    }

    /// All that sets a key, the weakest first.
    pub fn all(&self, key: Name) -> impl DoubleEndedIterator<Item = &S> {
        self.keys.get(&key).into_iter().flat_map(weakest_first)
    }

    /// What counts of a key; `None`: the default does.
    pub fn counting(&self, key: Name) -> Option<&S> {
        self.all(key).next_back()
    }

    /// All that sets any key.
    pub fn iter(&self) -> impl Iterator<Item = &S> {
        self.keys.values().flat_map(weakest_first)
    }

    /// Takes out what sets a key, the strongest first.
    pub fn take(&mut self, key: Name) -> impl Iterator<Item = S> + use<S> {
        let (files, flags) = self.keys.remove(&key).unwrap_or_default();
        files.into_iter().chain(flags).rev()
    }
}

/// What a command line sets, in order: repeats of a list add up, and `add` puts the
/// second one behind the first.
pub fn added_up<S>(
    flags: impl IntoIterator<Item = (Name, S)>,
    mut add: impl FnMut(&mut S, S),
) -> Vec<(Name, S)> {
    let mut sets: Vec<(Name, S)> = Vec::new();
    for (key, set) in flags {
        let is_first = |it: &&mut (Name, S)| it.0 == key && key == Name::ClusterDns;
        match sets.iter_mut().find(is_first) {
            Some(first) => add(&mut first.1, set),
            None => sets.push((key, set)),
        }
    }
    sets
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flags_beat_files_whatever_was_read_first() {
        let key = Name::ResolvConf;
        let mut given = Given::default();
        assert_eq!(given.counting(key), None);
        given.flag(key, "--a");
        given.file(key, "main");
        given.file(key, "drop-in");
        assert_eq!(given.counting(key), Some(&"--a"));
        given.flag(key, "--b");
        let all: Vec<_> = given.all(key).copied().collect();
        assert_eq!(all, ["main", "drop-in", "--a", "--b"]);
        let all: Vec<_> = given.take(key).collect();
        assert_eq!(all, ["--b", "--a", "drop-in", "main"]);
    }

    #[test]
    fn lists_add_up_and_other_flags_do_not() {
        let (list, path) = (Name::ClusterDns, Name::ResolvConf);
        let flags = [(list, "1"), (path, "/a"), (list, "2"), (path, "/b")];
        let flags = flags.map(|(key, text)| (key, text.to_owned()));
        let sets = added_up(flags, |first, more| first.push_str(&more));
        let expected = [(list, "12"), (path, "/a"), (path, "/b")];
        assert_eq!(sets, expected.map(|(key, text)| (key, text.to_owned())));
    }
}
