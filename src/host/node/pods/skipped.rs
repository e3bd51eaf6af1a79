//! What of a node's pods could not be read.

use std::path::Path;

use nix::errno::Errno;

use super::Unread;
use crate::host::ReadError;
use crate::host::root::Root;

/// What could not be read: of many files for the same reason only the first
/// is named.
#[derive(Default)]
pub(super) struct Skipped {
    alike: Vec<(Option<Errno>, String, usize)>,
    /// Mounts that kept kdns waiting, each by its name.
    silent: Vec<String>,
    /// Pods that did.
    silent_pods: Vec<String>,
}

impl Skipped {
    /// What was read; an error is kept, unless there is simply no such file.
    pub(super) fn take<T>(&mut self, read: Result<T, ReadError>) -> Option<T> {
        match read {
            Ok(read) => return Some(read),
            Err(error) if error.is_missing() => {}
            // No such process; a file where a directory is usual.
            Err(error) if matches!(error.errno(), Some(Errno::ESRCH | Errno::ENOTDIR)) => {}
            // Whatever lies there: once for each.
            Err(ReadError::Unanswered {
                mount: Some(mount),
                silence,
                ..
            }) => {
                let sentence = format!("cannot read {mount}: {silence}");
                if !self.silent.contains(&sentence) {
                    self.silent.push(sentence);
                }
            }
            Err(error) => self.note(error.errno(), error.to_string()),
        }
        None
    }

    /// What was read of a pod: one whose files nobody serves is named.
    pub(super) fn take_of<T>(&mut self, pod: &str, read: Result<T, ReadError>) -> Option<T> {
        // Who served them has ended, or keeps kdns waiting.
        let is_unserved = |error: &ReadError| {
            let gone = [Errno::ENOTCONN, Errno::ESTALE, Errno::EIO];
            matches!(error, ReadError::Unanswered { mount: None, .. })
                || error.errno().is_some_and(|it| gone.contains(&it))
        };
        match read {
            Err(error) if is_unserved(&error) => {
                let sentence = format!("pod {pod} is not readable: {error}");
                self.silent_pods.push(sentence);
                None
            }
            read => self.take(read),
        }
    }

    pub(super) fn note(&mut self, errno: Option<Errno>, sentence: String) {
        let same = self.alike.iter_mut().find(|(kind, ..)| *kind == errno);
        match same {
            Some((_, _, more)) => *more += 1,
            None => self.alike.push((errno, sentence, 0)),
        }
    }

    /// Notes sentences that name no reason.
    pub(super) fn extend(&mut self, sentences: impl IntoIterator<Item = String>) {
        sentences.into_iter().for_each(|it| self.note(None, it));
    }

    pub(super) fn is_empty(&self) -> bool {
        self.alike.is_empty() && self.silent.is_empty() && self.silent_pods.is_empty()
    }

    /// The first sentence about what only another user may read.
    pub(super) fn denied(&self) -> Option<String> {
        let is_denied = |errno: &Option<Errno>| matches!(errno, Some(Errno::EACCES | Errno::EPERM));
        let found = self.alike.iter().find(|(errno, ..)| is_denied(errno))?;
        Some(found.1.clone())
    }

    pub(super) fn unread(self) -> Unread {
        let denied = self.denied();
        let sentence = |(_, sentence, more)| match more {
            0 => sentence,
            _ => format!("{sentence}, and {more} more like this"),
        };
        let alike = self.alike.into_iter().map(sentence);
        let mut sentences: Vec<String> = alike.chain(self.silent).collect();
        let of_all = sentences.first().cloned();
        sentences.extend(self.silent_pods.iter().cloned());
        Unread {
            sentences,
            of_all,
            of_pods: self.silent_pods,
            denied,
        }
    }
}

/// What is in a directory that need not be there, as paths.
pub(super) fn list(root: &Root, directory: &str, skipped: &mut Skipped) -> Vec<(String, String)> {
    let names = skipped.take(root.list(Path::new(directory)));
    let names = names.unwrap_or_default().into_iter();
    let names = names.filter_map(|name| name.into_string().ok());
    names
        .map(|name| (format!("{directory}/{name}"), name))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_want_of_privilege_is_told_apart() {
        let mut skipped = Skipped::default();
        skipped.note(Some(Errno::EIO), "broken".to_owned());
        skipped.note(None, "a sentence".to_owned());
        assert_eq!(skipped.denied(), None);
        skipped.note(Some(Errno::EACCES), "denied".to_owned());
        skipped.note(Some(Errno::EACCES), "denied again".to_owned());
        assert_eq!(skipped.denied().as_deref(), Some("denied"));
        let all = ["broken", "a sentence", "denied, and 1 more like this"];
        assert_eq!(skipped.unread().sentences, all);
    }

    #[test]
    fn a_pod_whose_files_nobody_serves_any_more_is_named() {
        let mut skipped = Skipped::default();
        let ended = ReadError::System {
            file: "/etc/resolv.conf".to_owned(),
            errno: Errno::ENOTCONN,
        };
        assert_eq!(skipped.take_of::<()>("shop/web", Err(ended)), None);
        let unread = skipped.unread();
        assert_eq!(unread.sentences, unread.of_pods);
        assert_eq!((unread.of_pods.len(), unread.of_all), (1, None));
    }
}
