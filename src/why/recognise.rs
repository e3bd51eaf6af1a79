//! Which known messages a text has in it.

mod causes;
mod seen;
mod sighting;

use std::cmp::Reverse;
use std::ops::Range;

use self::causes::causes;
use self::seen::Seen;
use self::sighting::Sighting;
use super::asked::Asked;
use super::catalogue::{Catalogue, Message};
use super::cause::{Cause, Likely};
use super::named::{name, server};
use super::pattern::{Alike, Match, Pattern, Searched};
use super::plain::{Code, MOST, boundary, code_of, line_starts, plain, unwrapped, without_url};
use super::platform::Platform;
use super::shown;
use crate::node::Node;
use crate::order::Order as _;

/// What a text says.
#[derive(Clone, Debug)]
pub struct Recognised<'c> {
    /// The message in it that says the most.
    pub message: &'c Message,
    /// Other messages in it, in the order of what they say.
    pub others: Vec<&'c Message>,
    /// Whom it says was asked.
    pub asked: Option<Asked>,
    /// Whether the words of the message stand near each other; far apart, in a long text,
    /// they may be of different things, so nothing is proved or ruled out by them.
    pub is_near: bool,
    /// The name that was looked up, if it says so.
    pub name: Option<String>,
    /// What rows of a listing in the text show, if the message rests on them.
    pub shown: Option<String>,
    /// What other programs say elsewhere in the text, each with its likeliest causes.
    pub besides: Vec<(&'c Message, Vec<&'c Cause>)>,
    /// What it can come from, the likeliest first; empty: it is no DNS error.
    pub causes: Vec<(Likely, &'c Cause)>,
}

/// A text whose message is not known.
#[derive(Clone, Debug)]
pub struct Unknown<'c> {
    /// Known ones that look like it, the most alike first, at most three.
    pub nearest: Vec<&'c Message>,
    /// Whom it says was asked.
    pub asked: Option<Asked>,
}

/// So many other messages of a text are named, each with so many causes.
const MOST_APART: usize = 3;

/// Words that stand farther from each other, in bytes, may be of different things.
const NEAR: usize = 240;

/// A text of so many bytes may be a title, which names what is wrong by its subject alone.
const TITLE: usize = 240;

impl<'c> Recognised<'c> {
    /// What the message proves in this text, each a sentence without a full stop.
    pub fn proves(&self) -> &'c [&'static str] {
        self.said(&self.message.proves)
    }

    /// What it rules out in this text.
    pub fn rules_out(&self) -> &'c [&'static str] {
        self.said(&self.message.rules_out)
    }

    fn said(&self, all: &'c [&'static str]) -> &'c [&'static str] {
        if self.is_near { all } else { &[] }
    }
}

/// What the text says; on a node its files tell whose addresses are in it.
///
/// # Errors
///
/// No known message is in it.
pub fn recognise<'c>(
    catalogue: &'c Catalogue,
    text: &str,
    node: Option<&Node>,
) -> Result<Recognised<'c>, Unknown<'c>> {
    let text = without_url(text.get(..boundary(text, MOST)).unwrap_or_default());
    let (apart, joined) = unwrapped(&text);
    let (says, found) = read(catalogue, &apart, node);
    // Whether a screen has cut a word there, or wrapped the text between two, is not known.
    match joined.map(|it| read(catalogue, &it, node)) {
        Some((more, joined)) if more > says => joined,
        _ => found,
    }
}

/// How much the message says, a program's more than what is seen; nothing if none is known.
type Says = Option<(bool, usize)>;

/// What a text says that nothing wraps.
fn read<'c>(
    catalogue: &'c Catalogue,
    text: &str,
    node: Option<&Node>,
) -> (Says, Result<Recognised<'c>, Unknown<'c>>) {
    let (title, code) = (title(text), code_of(text));
    let told = shown::told(text);
    let place = |end: usize| plain(told.text.get(..end).unwrap_or_default()).len();
    let (own, health) = (place(told.own), place(told.health));
    let text = plain(&told.text);
    let small = text.to_ascii_lowercase();
    let searched = Searched {
        text: &text,
        small: &small,
    };
    let alike = Alike::of(&text);
    // What is well is no message.
    let said = searched.upto(health);
    let lines = line_starts(&told.text);
    let seen = Seen::of(&alike, &told.text, health);
    let mut found = sightings(catalogue, said, &lines, &seen);
    let has_named = |it: &Sighting<'_, '_>| !it.at.found.is_empty();
    found.retain(|it| code.is_none_or(|code| code == Code::Change && has_named(it)));
    let found = ranked(&found, title..own, &lines);
    // A long text about a subject that complains of nothing is no report.
    let is_title = said.text.len() <= TITLE;
    let is_told = |it: &&&Sighting<'_, '_>| {
        !it.message.speaker.is_symptom() || it.at.end > own || is_title || seen.complains()
    };
    let Some(first) = found.first().filter(is_told) else {
        let unknown = Unknown {
            nearest: super::nearest::nearest(catalogue, said.small),
            asked: server(said.text, &[], node),
        };
        return (None, Err(unknown));
    };
    let says = Some(first.says());
    let texts = (searched, alike.searched());
    let mut recognised = recognised(catalogue, texts, first, &found, node);
    if first.at.end > own {
        let rows = told.text.get(told.own..).unwrap_or_default();
        let mut ends = rows.match_indices('\n').map(|it| it.0);
        let end = ends.find(|it| place(told.own + it) >= first.at.end);
        let row = end.and_then(|it| rows.get(..it)?.lines().last());
        recognised.shown = row.map(str::to_owned);
    }
    (says, Ok(recognised))
}

/// What the first of these messages says in the text, as it is and alike.
fn recognised<'c>(
    catalogue: &'c Catalogue,
    (searched, seen): (Searched<'_>, Searched<'_>),
    first: &Sighting<'c, '_>,
    found: &[&Sighting<'c, '_>],
    node: Option<&Node>,
) -> Recognised<'c> {
    let Sighting { message, at, .. } = first;
    let apart = apart(found);
    // What another program says elsewhere is of other lookups, and so is what stands in it.
    let is_apart = |it: &Range<usize>| it.end <= at.start || at.end <= it.start;
    let of_others = apart.iter().flat_map(|it| it.message.places(searched));
    let of_others: Vec<Range<usize>> = of_others.filter(is_apart).collect();
    let is_own = |it: &&&Sighting<'_, '_>| {
        let is_in = |other: &Range<usize>| other.start <= it.at.start && it.at.end <= other.end;
        !of_others.iter().any(is_in)
    };
    let matches: Vec<&Match<'_>> = found.iter().filter(is_own).map(|it| &it.at).collect();
    let mut own = searched.text.to_owned();
    for it in &of_others {
        own.replace_range(it.clone(), &" ".repeat(it.len()));
    }
    let asked = server(&own, &matches, node);
    let name = name(&own, &matches);
    let looked = message.looked(name.as_deref());
    // A machine with Docker can be named as well as a node.
    let is_node = node.is_some_and(|it| it.kubelet.is_some());
    let platform = Platform::told(searched.small, asked.map(|it| it.kind), looked)
        .or(is_node.then_some(Platform::Cluster));
    let alone = |it: &&Sighting<'c, '_>| it.alone(catalogue, (searched, seen), node, platform);
    Recognised {
        message,
        besides: apart.iter().map(alone).collect(),
        others: found.iter().skip(1).map(|it| it.message).collect(),
        is_near: !message.speaker.is_symptom() || at.end - at.start <= NEAR,
        asked,
        causes: causes(catalogue, seen, found, asked.as_ref(), looked, platform),
        name,
        shown: None,
    }
}

/// Each known message in a text whose lines begin there, once.
fn sightings<'c, 't>(
    catalogue: &'c Catalogue,
    searched: Searched<'t>,
    lines: &[usize],
    seen: &'t Seen<'t>,
) -> Vec<Sighting<'c, 't>> {
    let mut found: Vec<Sighting<'_, '_>> = Vec::new();
    for message in &catalogue.messages {
        let patterns = message.patterns.iter();
        let is_seen = message.speaker.is_symptom();
        let matches = patterns.filter_map(|it| {
            let at = if is_seen {
                seen.find(it)?
            } else {
                own_match(message, it, searched, lines)?
            };
            Some(Sighting {
                message,
                weight: it.weight,
                is_open: it.is_open(),
                at,
            })
        });
        found.extend(matches.max_by_key(|it| it.weight));
    }
    found.retain(|it| !it.is_denied(seen.all));
    if found.is_empty() {
        found.extend(cut(catalogue, searched));
    }
    found
}

/// The first place where the pattern matches and words before it in its line, or in it, do not
/// say that it is another program's.
fn own_match<'t>(
    message: &Message,
    pattern: &Pattern,
    searched: Searched<'t>,
    lines: &[usize],
) -> Option<Match<'t>> {
    let mut done = 0;
    loop {
        let at = pattern.find(searched.from(done))?;
        let (start, end) = (at.start + done, at.end + done);
        let line = lines.iter().copied().rfind(|it| *it <= start);
        let near = boundary(searched.text, start.saturating_sub(NEAR));
        let near = near.max(line.unwrap_or_default());
        let near = searched.upto(end).from(near);
        if !message.unless.iter().any(|it| it.find(near).is_some()) {
            return Some(Match { start, end, ..at });
        }
        done = end;
    }
}

/// How long the title of a ticket is, its first line: what it is about, in the words of who
/// wrote it.
fn title(text: &str) -> usize {
    let first = text.trim_start().lines().next();
    first.map_or(0, |it| plain(it).len())
}

/// The one that says the most first.
///
/// `told`: where the title ends, and where what listings show begins; `lines`: where lines begin.
fn ranked<'f, 'c, 't>(
    found: &'f [Sighting<'c, 't>],
    told: Range<usize>,
    lines: &[usize],
) -> Vec<&'f Sighting<'c, 't>> {
    // What is no DNS error says nothing beside one, unless that is only what
    // everybody sees, or, for a note, what its own line says; a note that is seldom the cause says little; a program's message says
    // what it means, before a tool with which somebody looked and queries in a log, and what
    // leads somewhere more than what does not; of what is seen, what listings show comes first,
    // then what the title says, then what stands together; then what says more.
    let line_of = |at: usize| lines.partition_point(|it| *it <= at);
    let denies = |other: &Sighting<'_, '_>, it: &Sighting<'_, '_>| {
        let message = other.message;
        let is_its = other.at.start <= it.at.start
            && line_of(other.at.start) == line_of(it.at.end.saturating_sub(1));
        !message.is_dns() && !message.speaker.is_symptom() && (!message.is_aside || is_its)
    };
    let rank = |it: &Sighting<'_, '_>| {
        let is_part = found.iter().any(|other| it.is_part_of(other));
        let (message, weight) = (it.message, Reverse(it.weight));
        let is_symptom = message.speaker.is_symptom();
        let leads = !is_symptom || message.leads();
        let is_idle = !leads && found.iter().any(|other| denies(other, it));
        let is_apart = is_symptom && it.at.end - it.at.start > NEAR;
        (
            is_part,
            !message.is_dns() || is_idle,
            message.is_aside && message.is_dns(),
            is_symptom,
            message.speaker.is_check() || message.is_query_line(),
            !leads,
            is_symptom && it.at.start < told.end,
            is_symptom && it.at.end > told.start,
            is_apart,
            weight,
        )
    };
    let ranks: Vec<_> = found.iter().map(rank).collect();
    let mut order: Vec<usize> = (0..found.len()).collect();
    order.order_by_key(|&it| ranks.get(it).copied());
    order.iter().filter_map(|&it| found.get(it)).collect()
}

/// What programs say elsewhere in the text than the first one, at most [`MOST_APART`]; none where that
/// is no DNS error.
fn apart<'f, 'c, 't>(found: &[&'f Sighting<'c, 't>]) -> Vec<&'f Sighting<'c, 't>> {
    let mut apart: Vec<&Sighting<'_, '_>> = Vec::new();
    let Some((first, rest)) = found.split_first().filter(|it| it.0.is_program()) else {
        return apart;
    };
    for sighting in rest.iter().copied().filter(|it| it.is_program()) {
        let is_over = |other: &&Sighting<'_, '_>| {
            other.at.start < sighting.at.end && sighting.at.start < other.at.end
        };
        let is_full = apart.len() == MOST_APART;
        if !is_full && !is_over(first) && !apart.iter().any(is_over) {
            apart.push(sighting);
        }
    }
    apart
}

/// The one message whose end is cut at the end of the text; `None`: it is none, or
/// could be another one.
fn cut<'c, 't>(catalogue: &'c Catalogue, searched: Searched<'t>) -> Option<Sighting<'c, 't>> {
    let messages = catalogue.messages.iter();
    let said = messages.filter(|it| !it.speaker.is_symptom());
    let found = said.flat_map(|message| {
        let patterns = message.patterns.iter();
        patterns.filter_map(move |it| {
            let at = it.find_cut(searched)?;
            Some(Sighting {
                message,
                weight: at.end - at.start,
                is_open: false,
                at,
            })
        })
    });
    let found: Vec<Sighting<'c, 't>> = found.collect();
    let longest = found.iter().map(|it| it.weight).max()?;
    let mut best = found.into_iter().filter(|it| it.weight == longest);
    let first = best.next()?;
    best.all(|it| it.message.id == first.message.id)
        .then_some(first)
}
