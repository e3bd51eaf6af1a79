//! What a resolver takes from the configuration, and from where.

use std::borrow::Cow;
use std::time::Duration;

use crate::address::Server;
use crate::order::Order as _;
use crate::text::Span;

/// Some resolvers have no limit on servers, and ask all that a file lists. Of
/// so many a run is played; those behind them are dropped with this reason.
pub const MAX_SERVERS: usize = 100;

/// Why servers after [`MAX_SERVERS`] are not in a reading.
pub const TOO_MANY_SERVERS: &str =
    "the resolver would use it, too, but kdns plays only the first 100 servers";

/// Some resolvers read a search list of any length. Of so many words a run is
/// played, as many as it can ask for
/// ([`MAX_QUERIES`](crate::simulation::MAX_QUERIES)).
pub const MAX_SEARCH: usize = 2000;

/// Why words of a search list after [`MAX_SEARCH`] are not in a reading: all
/// that stands behind them on the line is dropped at once.
pub const TOO_MANY_DOMAINS: &str =
    "the resolver would use it, too, but kdns plays only the first 2000 domains";

/// A configuration as one resolver reads it.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Reading<'a> {
    /// The servers it uses, in its order, repeats kept unless it drops them.
    pub servers: Vec<Setting<Server>>,
    /// The search list it uses, in its order; texts as it holds them.
    pub search: Vec<Setting<Cow<'a, [u8]>>>,
    /// Names with at least so many dots are asked as they are first; `None`
    /// if the resolver knows no such number.
    pub ndots: Option<Setting<u32>>,
    /// The time-out of its formula; what it means differs.
    pub timeout: Setting<Duration>,
    /// The number of attempts of its formula; what it means differs.
    pub attempts: Setting<u32>,
    /// Options that are in force and change what is sent, as spelled in
    /// `resolv.conf(5)`.
    pub flags: Vec<Setting<&'static str>>,
    /// What stands in the file and has no effect here.
    pub dropped: Unused,
    /// Why the resolver refuses the whole file, if it does.
    pub refused: Option<Dropped>,
}

/// A value and where it comes from.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Setting<T> {
    /// The value in force.
    pub value: T,
    /// Where it comes from.
    pub origin: Origin,
}

impl<T> Setting<T> {
    /// A value that comes from there.
    pub const fn new(value: T, origin: Origin) -> Self {
        Self { value, origin }
    }
}

/// Where a setting comes from.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum Origin {
    /// A word of `resolv.conf`.
    File(Span),
    /// An environment variable.
    Environment(&'static str),
    /// The configuration of a daemon: a server of [`Scenario::own`](crate::scenario::Scenario::own),
    /// by its number from 0.
    Own(usize),
    /// The domain of the host name.
    HostName,
    /// The resolver's own default.
    #[default]
    BuiltIn,
}

/// Words of the file that have no effect, or not the one that they seem to have.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Dropped {
    /// Where they stand.
    pub span: Span,
    /// Why, as the end of a sentence about them: `a 4th name server`.
    pub why: Cow<'static, str>,
}

/// Words without effect. A file can have a million of them.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Unused {
    first: Vec<Dropped>,
    count: usize,
}

/// So many words without effect are kept, those that stand first; the others
/// are counted.
const MAX_UNUSED: usize = 1000;

impl Unused {
    /// Notes that the words under `span` have no effect.
    pub fn push(&mut self, span: Span, why: impl Into<Cow<'static, str>>) {
        let why = why.into();
        self.first.push(Dropped { span, why });
        self.count += 1;
        if self.first.len() == 2 * MAX_UNUSED {
            self.sort();
            self.first.truncate(MAX_UNUSED);
        }
    }

    /// Takes back what was said of words that `part` is in.
    pub fn forget(&mut self, part: Span) {
        let before = self.first.len();
        self.first
            .retain(|it| !(it.span.start <= part.start && part.end <= it.span.end));
        self.count -= before - self.first.len();
    }

    /// Puts them in the order of the file.
    pub fn sort(&mut self) {
        self.first.order_by_key(|it| it.span);
    }

    /// Those that are kept.
    pub fn first(&self) -> &[Dropped] {
        self.first.get(..MAX_UNUSED).unwrap_or(&self.first)
    }

    /// How many more words were dropped than are kept with their reason.
    pub fn more(&self) -> usize {
        self.count.saturating_sub(MAX_UNUSED)
    }
}

impl<T> Setting<T> {
    /// A value from a word of the file.
    pub fn file(value: T, span: Span) -> Self {
        Self {
            value,
            origin: Origin::File(span),
        }
    }

    /// A value from a daemon's configuration, by its number there.
    pub fn own(value: T, at: usize) -> Self {
        Self {
            value,
            origin: Origin::Own(at),
        }
    }

    /// The resolver's own default.
    pub fn built_in(value: T) -> Self {
        Self {
            value,
            origin: Origin::BuiltIn,
        }
    }
}

impl Reading<'_> {
    /// The same, with texts of its own.
    pub fn into_owned(self) -> Reading<'static> {
        let search = self.search.into_iter();
        let owned =
            |it: Setting<Cow<'_, [u8]>>| Setting::new(it.value.into_owned().into(), it.origin);
        Reading {
            servers: self.servers,
            search: search.map(owned).collect(),
            ndots: self.ndots,
            timeout: self.timeout,
            attempts: self.attempts,
            flags: self.flags,
            dropped: self.dropped,
            refused: self.refused,
        }
    }

    /// Notes that the words under `span` have no effect.
    pub fn drop(&mut self, span: Span, why: impl Into<Cow<'static, str>>) {
        self.dropped.push(span, why);
    }
}
