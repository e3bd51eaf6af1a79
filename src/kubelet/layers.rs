//! Which of the values counts that a kubelet was given for one key.
//!
//! Source: kubernetes `cmd/kubelet/app/server.go: NewKubeletCommand`: the
//! file of `--config`, the drop-ins in order, then the flags once more.

/// All that sets one key, whoever looks: `S` is a value with where it stands.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Layers<S> {
    files: Vec<S>,
    flags: Vec<S>,
}

impl<S> Default for Layers<S> {
    fn default() -> Self {
        let (files, flags) = (Vec::new(), Vec::new());
        Self { files, flags }
    }
}

impl<S> Layers<S> {
    /// What a file says, which beats the files before it.
    pub fn file(&mut self, set: S) {
        self.files.push(set);
    }

    /// What a flag says, which beats the flags before it and every file.
    pub fn flag(&mut self, set: S) {
        self.flags.push(set);
    }

    /// All of them, the weakest first.
    pub fn all(&self) -> impl DoubleEndedIterator<Item = &S> {
        self.files.iter().chain(&self.flags)
    }

    /// The one that counts; `None`: the default does.
    pub fn counting(&self) -> Option<&S> {
        self.all().next_back()
    }

    /// The one that counts, then what it overrode, the strongest first.
    pub fn strongest_first(self) -> impl Iterator<Item = S> {
        self.files.into_iter().chain(self.flags).rev()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flags_beat_files_whatever_was_read_first() {
        let mut layers = Layers::default();
        assert_eq!(layers.counting(), None);
        layers.flag("--a");
        layers.file("main");
        layers.file("drop-in");
        assert_eq!(layers.counting(), Some(&"--a"));
        layers.flag("--b");
        let all: Vec<_> = layers.all().copied().collect();
        assert_eq!(all, ["main", "drop-in", "--a", "--b"]);
        let all: Vec<_> = layers.strongest_first().collect();
        assert_eq!(all, ["--b", "--a", "drop-in", "main"]);
    }
}
