//! A known message in a text, beside the others that are in it.

use super::MOST_APART;
use super::causes::weighed;
use crate::node::Node;
use crate::why::catalogue::{Catalogue, Message};
use crate::why::cause::Cause;
use crate::why::named::{name, server};
use crate::why::pattern::{Match, Searched};
use crate::why::platform::Platform;

/// A known message in a text.
pub(super) struct Sighting<'c, 't> {
    pub(super) message: &'c Message,
    /// [`crate::why::pattern::Pattern::weight`].
    pub(super) weight: usize,
    /// Whether its end is anything.
    pub(super) is_open: bool,
    pub(super) at: Match<'t>,
}

impl<'c> Sighting<'c, '_> {
    /// Whether a program, and no tool with which somebody looked, says it of DNS, and it leads
    /// somewhere.
    pub(super) fn is_program(&self) -> bool {
        let message = self.message;
        let speaker = message.speaker;
        let is_said = !speaker.is_symptom() && !speaker.is_check() && !message.is_aside;
        is_said && message.is_dns() && message.leads()
    }

    /// How much it says: a program's more than what is seen, a note that is no DNS error least.
    pub(super) fn says(&self) -> (bool, usize) {
        if self.message.is_aside && !self.message.is_dns() {
            (false, 0)
        } else {
            (!self.message.speaker.is_symptom(), self.weight)
        }
    }

    /// The message, with the likeliest causes that it has in this text.
    pub(super) fn alone(
        &self,
        catalogue: &'c Catalogue,
        (searched, seen): (Searched<'_>, Searched<'_>),
        node: Option<&Node>,
        platform: Option<Platform>,
    ) -> (&'c Message, Vec<&'c Cause>) {
        let own = searched.text.get(self.at.start..self.at.end);
        let own = own.unwrap_or_default();
        let asked = server(own, &[&self.at], node);
        let looked = self.message.looked(name(own, &[&self.at]).as_deref());
        let own = catalogue.causes_of(self.message, asked.as_ref(), looked);
        let causes = match own.len() {
            1 => own,
            _ => weighed(catalogue, seen, self.message, looked, platform, &own, &own),
        };
        let likeliest = causes.into_iter().take(MOST_APART).map(|it| it.1);
        (self.message, likeliest.collect())
    }

    /// Whether it is what is seen, and the text only denies it: `Tailscale
    /// is not installed`.
    pub(super) fn is_denied(&self, searched: Searched<'_>) -> bool {
        let may = self.message.speaker.is_symptom();
        let mut patterns = self.message.patterns.iter();
        may && !patterns.any(|it| it.is_said_in(searched))
    }

    /// Whether another speaker hands it on: its words are among the other's, as
    /// Docker's are around Go's, or says more of its own that makes it no DNS error. What
    /// is no DNS error hands nothing on by an end that may be anything; what is seen, and a note, never do.
    pub(super) fn is_part_of(&self, other: &Self) -> bool {
        if other.message.speaker.is_symptom() || other.message.is_aside {
            return false;
        }
        let is_inside = other.at.start <= self.at.start && self.at.end <= other.at.end;
        let length = self.at.end - self.at.start;
        let other_length = other.at.end - other.at.start;
        let is_less = length == other_length && self.weight < other.weight;
        let is_smaller = length < other_length || (is_less && !other.message.is_dns());
        let is_other = self.message.speaker != other.message.speaker;
        let may = if other.message.is_dns() {
            is_other
        } else {
            !other.is_open
        };
        is_inside && is_smaller && may
    }
}
