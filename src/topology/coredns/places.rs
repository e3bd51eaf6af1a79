//! Places in the files of a Corefile, many of them.

use crate::config::corefile::{At, Corefile};
use crate::config::resolv_conf::ResolvConf;
use crate::text::Place;

/// Knows the lines of each file.
#[derive(Debug)]
pub(super) struct Places(Vec<ResolvConf>);

impl Places {
    pub(super) fn new(corefile: &Corefile) -> Self {
        let lines = corefile.sources.iter().cloned().map(ResolvConf::parse);
        Self(lines.collect())
    }

    /// Where a word stands, for people, without counting every line before it.
    pub(super) fn place(&self, at: At) -> Place {
        let file = self.0.get(at.source);
        let position = file.map(|file| file.position(at.span.start));
        Place::new(
            file.map_or_else(String::new, |file| file.source.name.clone()),
            position.map_or(1, |it| it.line),
            position.map_or(1, |it| it.column),
        )
    }
}
