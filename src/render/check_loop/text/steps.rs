//! What to do, in order, with the commands.

use std::io;

use colored::{Color, Colorize as _};

use super::{Page, shown, words};
use crate::check_loop::facts::{Caveat, Step};
use crate::check_loop::{Fix, Report};
use crate::render::command::Command;
use crate::render::paragraph;
use crate::render::sentence::full_stop;
use crate::render::style::painted;
use words::Action;

/// Whether the caveat can make the fix useless here and now, so that it is said
/// beside it.
pub(super) fn is_brief(caveat: &Caveat) -> bool {
    !matches!(caveat, Caveat::Flag)
}

impl Page<'_> {
    /// The fix, or what helps on.
    pub(super) fn steps(&mut self, report: &Report) -> io::Result<()> {
        if let Some(fix) = &report.fix {
            return self.fix(fix);
        }
        let concern = report.concern.as_ref();
        let then = concern.map_or(&[][..], |it| &it.then);
        let is_question = |it: &Step| {
            let is_at_api = matches!(it, Step::Walk { .. } | Step::MayRead);
            is_at_api || matches!(it, Step::Ask { .. } | Step::Probe)
        };
        match then {
            [] => return Ok(()),
            all if all.iter().all(is_question) => self.title("What to ask next")?,
            _ => self.title("Fix")?,
        }
        let steps: Vec<&Step> = then.iter().collect();
        self.numbered(0, &steps).map(drop)
    }

    fn fix(&mut self, fix: &Fix) -> io::Result<()> {
        self.title("Fix")?;
        let comes_before = |it: &&Step| matches!(it, Step::Write { .. });
        let (before, after): (Vec<&Step>, Vec<&Step>) = fix.then.iter().partition(comes_before);
        let mut number = self.numbered(0, &before)?;
        let is_there = fix.edit.old.as_ref() == Some(&fix.edit.new);
        if is_there {
            self.is_there(fix)?;
        } else {
            number += 1;
            self.edit(number, fix, &after)?;
        }
        let is_said = |it: &&Step| !is_there && matches!(it, Step::ConfigMap { .. });
        let after: Vec<&Step> = after.into_iter().filter(|it| !is_said(it)).collect();
        self.numbered(number, &after)?;
        let verbose = self.style.verbose;
        for caveat in fix.but.iter().filter(|it| verbose || is_brief(it)) {
            self.item("  Note: ", &format!("{}.", words::caveat(caveat).text))?;
        }
        if !verbose {
            return Ok(());
        }
        let not = fix.not.iter().map(|it| words::useless(it).text);
        self.list("What does not fix it", not)
    }

    fn is_there(&mut self, fix: &Fix) -> io::Result<()> {
        let place = shown(&fix.edit.place.to_string());
        let reader = if fix.is_restart {
            "the kubelet has not read it yet"
        } else {
            "nothing is left to edit"
        };
        writeln!(self.out, "  {place} is right, {reader}:")?;
        writeln!(self.out, "       {}", shown(&fix.edit.new))
    }

    /// What to edit: the file, whose whole path people want there, or the
    /// ConfigMap of which it is a copy.
    fn edit(&mut self, number: usize, fix: &Fix, then: &[&Step]) -> io::Result<()> {
        let mark = format!("  {number}. ");
        let source = then.iter().find(|it| matches!(it, Step::ConfigMap { .. }));
        if let Some(step) = source {
            let Action { text, command, .. } = words::action(step);
            self.step(&mark, &text, command.as_ref().map(Command::as_str))?;
            let place = self.place(&fix.edit.place);
            writeln!(self.out, "       {place}")?;
        } else {
            let place = shown(&fix.edit.place.to_string());
            writeln!(self.out, "{mark}Edit {place}")?;
        }
        if let Some(old) = &fix.edit.old {
            self.changed("-", old)?;
        }
        if fix.edit.new.is_empty() {
            return Ok(());
        }
        self.changed("+", &fix.edit.new)
    }

    /// The steps, counted on from `number`; the last number.
    fn numbered(&mut self, mut number: usize, steps: &[&Step]) -> io::Result<usize> {
        for step in steps {
            number += 1;
            let Action { text, command, .. } = words::action(step);
            self.step(
                &format!("  {number}. "),
                &text,
                command.as_ref().map(Command::as_str),
            )?;
        }
        Ok(number)
    }

    /// A step with its command, which has a line of its own where both do not
    /// fit.
    pub(super) fn step(&mut self, mark: &str, text: &str, command: Option<&str>) -> io::Result<()> {
        let Some(command) = command else {
            return self.item(mark, &format!("{text}{}", full_stop(text)));
        };
        let command = shown(command);
        let whole = format!("{mark}{text}: {command}");
        if whole.chars().count() <= paragraph::WIDTH {
            return writeln!(self.out, "{whole}");
        }
        self.item(mark, &format!("{text}:"))?;
        writeln!(self.out, "       {command}")
    }

    fn changed(&mut self, sign: &str, text: &str) -> io::Result<()> {
        let line = format!("{sign} {}", shown(text));
        let color = if sign == "-" {
            Color::Red
        } else {
            Color::Green
        };
        let line = painted(self.style.colors, &line, |it| it.color(color));
        writeln!(self.out, "       {line}")
    }
}
