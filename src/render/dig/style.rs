//! How records are laid out.

use std::cell::OnceCell;

use super::idn::{self, Refused};
use super::words;
use crate::dig::lookup::{Globals, Print};
use crate::name::Name;

/// Where the parts of a record stand, and how its data is written.
///
/// Source: BIND bin/dig/dig.c: `printmessage`, lib/dns/masterdump.c (9.18)
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Style {
    /// Columns of time to live, class, type and data.
    pub(super) columns: [usize; 4],
    /// Over several lines.
    pub(super) multiline: bool,
    /// Comments on keys and SOA records.
    pub(super) record_comments: bool,
    /// With time to live.
    pub(super) ttl: bool,
    /// Time to live as `1d2h`.
    pub(super) ttl_units: bool,
    /// With class.
    pub(super) class: bool,
    /// With keys and signatures.
    pub(super) crypto: bool,
    /// Every record as an unknown one.
    pub(super) unknown_format: bool,
    /// AAAA records with all digits.
    pub(super) expand_aaaa: bool,
    /// Names of IDNA in their own letters.
    pub(super) idn_out: bool,
    /// The first name that has no letters of its own.
    refused: OnceCell<Refused>,
    /// As items of YAML.
    pub(super) yaml: bool,
    /// The length of words of hexadecimal and base64 text; 0: one word.
    pub(super) width: usize,
    /// The time, in seconds since 1970, for times of DNSSEC.
    pub(super) now: u64,
}

impl Style {
    /// The style of records in sections.
    pub fn of_section(print: &Print, globals: &Globals, now: u64) -> Self {
        if globals.yaml {
            return Self {
                yaml: true,
                idn_out: print.idn_out,
                ..Self::plain(globals, now)
            };
        }
        let columns = if print.multiline || !print.ttl && !print.class {
            [24, 24, 24, 32]
        } else if !print.ttl || !print.class {
            [24, 24, 32, 40]
        } else {
            [24, 32, 40, 48]
        };
        let multiline = print.multiline;
        let said = print.record_comments;
        let width = match globals.split {
            Some(split) => usize::try_from(split).unwrap_or_default(),
            // A line has 80 columns.
            None if multiline => 80 - 32,
            None => 60,
        };
        Self {
            columns,
            multiline,
            record_comments: said == Some(true) || multiline && said.is_none(),
            ttl: print.ttl,
            ttl_units: print.ttl_units,
            class: print.class,
            crypto: print.crypto,
            unknown_format: print.unknown_format,
            expand_aaaa: print.expand_aaaa,
            idn_out: print.idn_out,
            refused: OnceCell::new(),
            yaml: false,
            width,
            now,
        }
    }

    /// The style of `+short`.
    ///
    /// Source: BIND bin/dig/dig.c: `say_message` (9.18)
    pub fn short(print: &Print, globals: &Globals, now: u64) -> Self {
        Self {
            record_comments: print.record_comments == Some(true),
            crypto: print.crypto,
            unknown_format: print.unknown_format,
            expand_aaaa: print.expand_aaaa,
            idn_out: print.idn_out,
            ..Self::plain(globals, now)
        }
    }

    fn plain(globals: &Globals, now: u64) -> Self {
        Self {
            columns: [24, 32, 40, 48],
            multiline: false,
            record_comments: false,
            ttl: true,
            ttl_units: false,
            class: true,
            crypto: true,
            unknown_format: false,
            expand_aaaa: false,
            idn_out: false,
            refused: OnceCell::new(),
            yaml: false,
            width: globals
                .split
                .map_or(60, |split| usize::try_from(split).unwrap_or_default()),
            now,
        }
    }

    /// A name with its last dot, in the letters of the style; one that has none
    /// stays as it is, and is [`Style::refused`].
    pub(super) fn name(&self, name: &Name) -> String {
        let text = words::name(name);
        if !self.idn_out {
            return text;
        }
        idn::in_own_letters(&text).unwrap_or_else(|refused| {
            self.refused.get_or_init(|| refused);
            text
        })
    }

    /// The first name that is refused, which ends dig.
    pub(super) fn refused(self) -> Result<(), Refused> {
        self.refused.into_inner().map_or(Ok(()), Err)
    }

    /// What stands between the lines of one record.
    pub(super) fn line_break(&self) -> &'static str {
        if self.multiline { "\n\t\t\t\t" } else { " " }
    }
}

/// Goes from column `from` to column `to`, at least one further, with tabs
/// and spaces; the column then.
///
/// Source: BIND lib/dns/masterdump.c: `indent` (9.18)
pub(super) fn indent(out: &mut String, from: usize, to: usize) -> usize {
    const TAB: usize = 8;
    let to = to.max(from + 1);
    let tabs = to / TAB - from / TAB;
    let from = if tabs > 0 { to / TAB * TAB } else { from };
    out.extend(std::iter::repeat_n('\t', tabs));
    out.extend(std::iter::repeat_n(' ', to - from));
    to
}
