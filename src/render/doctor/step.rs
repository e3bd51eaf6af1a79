//! A step of a fix: what to do, and what to type for it.

use crate::check_loop::Edit;
use crate::render::command::Command;

/// A step of a fix.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(super) struct Step {
    /// What to do, without a full stop; empty: the commands say it.
    pub(super) text: String,
    /// The line of a file that goes, and the one that comes; empty: none.
    pub(super) change: Option<(String, String)>,
    /// What to type, on the node or where kubectl is.
    pub(super) commands: Vec<Command>,
}

impl Step {
    pub(super) fn new(text: impl Into<String>) -> Self {
        Self {
            text: text.into(),
            change: None,
            commands: Vec::new(),
        }
    }

    /// The same with one more command.
    pub(super) fn typing(mut self, command: Command) -> Self {
        self.commands.push(command);
        self
    }

    /// The same, which is to change a line like this.
    pub(super) fn changing(mut self, edit: &Edit) -> Self {
        self.change = Some((edit.old.clone().unwrap_or_default(), edit.new.clone()));
        self
    }

    /// All of it on one line, without a full stop.
    pub(super) fn line(&self) -> String {
        let changes = self.change.iter().map(|(old, new)| {
            let signed = [("-", old), ("+", new)].into_iter();
            let signed = signed.filter(|(_, it)| !it.is_empty());
            let signed: Vec<String> = signed.map(|(sign, it)| format!("{sign} {it}")).collect();
            signed.join("; ")
        });
        let commands: Vec<&str> = self.commands.iter().map(Command::as_str).collect();
        let parts = [self.text.clone(), commands.join("; ")];
        let parts = parts.into_iter().chain(changes);
        let parts: Vec<String> = parts.filter(|it| !it.is_empty()).collect();
        parts.join(": ")
    }
}
