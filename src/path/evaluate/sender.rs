//! Whether a packet's sender can be behind the link that it comes in through:
//! `rp_filter`.

use super::Walk;
use super::branch::{Branch, Link};
use super::route::step;
use crate::path::host::{Route, RouteKind};
use crate::path::{Kind, Stage, What};

/// The table that decides where nobody has written policies of his own.
const MAIN: u32 = 254;
/// The tables that every namespace asks: `local`, `main`, `default`.
const USUAL: [u32; 3] = [255, MAIN, 253];

/// `rp_filter`: the way back must lead out through the same link, or there must
/// be one.
#[derive(Clone, Copy, Eq, PartialEq)]
enum Filter {
    Off,
    Strict,
    Loose,
}

impl Walk<'_> {
    /// Takes out ways whose packets `rp_filter` drops, behind PREROUTING.
    ///
    /// Source: Linux `net/ipv4/fib_frontend.c: __fib_validate_source`.
    pub(super) fn with_way_back(&mut self, branches: Vec<Branch>) -> Vec<Branch> {
        let mut passed = Vec::new();
        for mut branch in branches {
            match self.strange(&branch) {
                None => passed.push(branch),
                Some(why) => {
                    branch.steps.push(step(&branch, Stage::RpFilter, why));
                    self.end(branch, Kind::Drop, None);
                }
            }
        }
        passed
    }

    /// Why a packet is dropped for its sender; `None`: it passes, or that is not
    /// known.
    fn strange(&self, branch: &Branch) -> Option<What> {
        let Link::Named(link) = &branch.seen.in_link else {
            return None;
        };
        let source = branch.seen.source;
        let filter = self.filter(link);
        if source.is_unspecified() || source.is_ipv6() || &**link == "lo" || filter == Filter::Off {
            return None;
        }
        let mut links = self.host.links.iter().flatten();
        let known = links.find(|it| it.name == *link)?;
        if known.master.is_some() {
            // Its switch takes the packet before the routes are asked.
            return None;
        }
        let routes = self.host.routes.as_ref()?;
        let policies = self.host.policies.iter().flatten();
        let mut own = policies.filter(|it| !USUAL.contains(&it.table));
        if own.next().is_some() {
            return None;
        }
        let back: Vec<&Route> = best(routes, |it| it.table == MAIN && it.covers(source));
        let is_unicast = |it: &&Route| it.kind == RouteKind::Unicast;
        let is_there = back.iter().any(is_unicast);
        let is_same = back.iter().any(|it| it.link.as_deref() == Some(&**link));
        let name = Box::from(&**link);
        match filter {
            _ if !is_there => Some(What::SenderUnrouted(name, source)),
            Filter::Strict if !is_same => Some(What::SenderElsewhere(name, source)),
            _ => None,
        }
    }

    /// The stricter of the settings of all links and of this one.
    fn filter(&self, link: &str) -> Filter {
        let value = |of: &str| {
            let name = format!("net.ipv4.conf.{of}.rp_filter");
            self.host.sysctls.get(&name)?.trim().parse::<u8>().ok()
        };
        // A dot in the name of a link is a slash there.
        match value("all").max(value(&link.replace('.', "/"))) {
            Some(1) => Filter::Strict,
            Some(2) => Filter::Loose,
            _ => Filter::Off,
        }
    }
}

/// The routes that are the best of those that fit: several, if they share the
/// packets.
fn best(routes: &[Route], fits: impl Fn(&&Route) -> bool) -> Vec<&Route> {
    let rank = |it: &&Route| (u8::MAX - it.prefix, it.metric);
    let first = routes.iter().filter(&fits).min_by_key(rank);
    let is_best = |it: &&Route| first.is_some_and(|first| rank(it) == rank(&first));
    routes.iter().filter(&fits).filter(is_best).collect()
}
