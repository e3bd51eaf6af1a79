//! Which search domains a client has, as its queries show.
//!
//! A lookup of `api.example.com` in the namespace `shop` asks for
//! `api.example.com.shop.svc.cluster.local`, then for the same base with
//! `svc.cluster.local` and `cluster.local`, then as-is. What follows on a query
//! that failed, with the same base before another end, shows that both ends
//! are search domains.

use super::name::{Labels, Suffix};

/// So many namespaces are kept of a client, and so many search domains in all: behind
/// the address of a node are many pods.
const MAX_SPACES: usize = 12;
const MAX_DOMAINS: usize = 24;

/// So many queries that failed without a known search domain are kept, each
/// until so many others of the client were looked at.
const MAX_OPEN: usize = 8;
const MAX_AGE: u8 = 200;

/// The search domains of a client.
#[derive(Clone, Debug, Default)]
pub(super) struct Search {
    /// In the order in which they are tried: `NAMESPACE.svc.DOMAIN`, of which a lookup has
    /// one; `svc.DOMAIN`, `DOMAIN`; what the node's file adds.
    domains: Vec<Suffix>,
    /// How many of them are of namespaces.
    spaces: usize,
    /// Whether the two of the cluster are among them.
    has_cluster: bool,
    /// Failed queries that nothing explains so far, the newest last.
    open: Vec<Open>,
}

#[derive(Clone, Debug)]
struct Open {
    /// The first 0, 1, 2… labels of its name, hashed.
    prefixes: Box<[u64]>,
    /// Of `BASE.NAMESPACE.svc.DOMAIN`.
    cluster: Option<Cluster>,
    /// So many queries are still looked at.
    left: u8,
}

#[derive(Clone, Copy, Debug)]
struct Cluster {
    base: u64,
    space: Suffix,
    parts: [Suffix; 2],
}

/// Where a name stands in a lookup.
#[derive(Clone, Copy, Debug)]
pub(super) struct Role {
    /// The base, hashed, and how many labels it has.
    pub(super) base: u64,
    pub(super) labels: usize,
    /// Which search domain is behind it; `None`: it is asked as-is.
    pub(super) suffix: Option<Suffix>,
}

/// A candidate of a lookup with a search domain, hashed.
#[derive(Clone, Copy, Debug)]
pub(super) struct Tried {
    pub(super) hash: u64,
    /// Whether it is the one just before: without it there is no lookup.
    pub(super) is_nearest: bool,
}

impl Search {
    /// Whether any search domain is known.
    pub(super) fn is_known(&self) -> bool {
        self.domains.len() > self.spaces
    }

    /// Whether a name can teach anything: something failed that nothing explains,
    /// or the name has none of the search domains, whose list may be longer.
    pub(super) fn is_curious(&self, labels: &Labels) -> bool {
        let is_searched = || self.domains.iter().any(|it| labels.without(*it).is_some());
        !self.open.is_empty() || (self.is_known() && !is_searched())
    }

    /// What a name can be in lookups of this client: as-is, and with each
    /// search domain that it ends in.
    pub(super) fn roles<'s>(&'s self, labels: &'s Labels) -> impl Iterator<Item = Role> + 's {
        let whole = Role {
            base: labels.hash(),
            labels: labels.count,
            suffix: None,
        };
        let searched = self.domains.iter().filter_map(|&suffix| {
            labels.without(suffix).map(|base| Role {
                base,
                labels: labels.count - suffix.labels,
                suffix: Some(suffix),
            })
        });
        std::iter::once(whole).chain(searched)
    }

    /// The same for a name of which only the hash is known: what it cannot be
    /// leads to names that nobody asked for.
    pub(super) fn roles_of_hash(&self, hash: u64) -> impl Iterator<Item = Role> + '_ {
        let role = move |suffix: Option<Suffix>| Role {
            base: suffix.map_or(hash, |it| it.before(hash)),
            labels: 0,
            suffix,
        };
        let searched = self.domains.iter().map(move |it| role(Some(*it)));
        std::iter::once(role(None)).chain(searched)
    }

    /// What a lookup tried before `role` got its answer: the search domains
    /// before that one, the nearest first.
    pub(super) fn before(&self, role: Role) -> impl Iterator<Item = Tried> + '_ {
        let count = match role.suffix {
            None => self.domains.len(),
            Some(own) => {
                let at = self.domains.iter().position(|it| *it == own);
                // A lookup has one namespace.
                at.filter(|it| *it >= self.spaces).unwrap_or_default()
            }
        };
        let nearest = self.domains.iter().take(count).rev().enumerate();
        nearest.map(move |(index, it)| Tried {
            hash: it.behind(role.base),
            // Of several namespaces one is the lookup's.
            is_nearest: index == 0 || count == self.spaces,
        })
    }

    /// Those of namespaces.
    fn spaces(&self) -> &[Suffix] {
        self.domains.get(..self.spaces).unwrap_or_default()
    }

    /// Whether a name ends with the namespace of the client.
    pub(super) fn is_first(&self, labels: &Labels) -> bool {
        self.spaces().iter().any(|it| labels.without(*it).is_some())
    }

    /// Whether nothing failed that is not explained.
    pub(super) fn is_calm(&self) -> bool {
        self.open.is_empty()
    }

    /// Keeps a failed query, if it can be the first of a lookup whose search
    /// domain is not known.
    pub(super) fn open(&mut self, labels: &Labels) {
        if labels.is_long || labels.count == 0 {
            return;
        }
        let cluster = cluster_of(labels);
        if cluster.is_some_and(|it| self.spaces().contains(&it.space)) {
            return;
        }
        if self.open.iter().any(|it| it.whole() == labels.hash()) {
            return;
        }
        if self.open.len() >= MAX_OPEN {
            self.open.remove(0);
        }
        self.open.push(Open {
            prefixes: (0..=labels.count).map(|it| labels.prefix(it)).collect(),
            cluster,
            left: MAX_AGE,
        });
    }

    /// Learns from a query that nothing explains: whether it goes on a lookup
    /// that began with one of the open ones, or with one that `is_pending`.
    /// `before` is the name that the client asked for before, if this one is
    /// answered.
    pub(super) fn learn(
        &mut self,
        labels: &Labels,
        before: Option<u64>,
        is_pending: impl Fn(u64) -> bool,
    ) -> bool {
        if labels.is_long || labels.count == 0 {
            return false;
        }
        let known = self.domains.len();
        self.open.retain_mut(|it| {
            it.left -= 1;
            it.left > 0
        });
        self.learn_cluster(labels);
        match before {
            // Names can begin alike by chance. Two that are asked for one after the
            // other hardly do.
            Some(before) if known == 0 => self.learn_alone(labels, before),
            _ => self.learn_next(labels, is_pending),
        }
        self.domains.len() > known
    }

    /// `BASE.NAMESPACE.svc.DOMAIN` failed, and now comes the same base with
    /// another end of the list, or as-is.
    fn learn_cluster(&mut self, labels: &Labels) {
        let whole = labels.hash();
        let goes_on = |it: &Cluster| {
            let next = it.parts.iter().any(|part| part.behind(it.base) == whole);
            next || it.base == whole
        };
        let found = self
            .open
            .iter()
            .position(|it| it.cluster.as_ref().is_some_and(goes_on));
        let Some(cluster) = found.and_then(|at| self.open.remove(at).cluster) else {
            return;
        };
        self.add_cluster(cluster.parts);
        self.add_space(cluster.space);
    }

    /// `BASE.SEARCH` failed, and now `BASE` is answered, or the other way round.
    fn learn_alone(&mut self, labels: &Labels, before: u64) {
        /// A search domain of one label is a rare thing, and names that differ by
        /// one are not.
        const MIN_LABELS: usize = 2;
        let Some(at) = self.open.iter().position(|it| it.whole() == before) else {
            return;
        };
        let begins = |open: &Open| open.prefixes.get(labels.count) == Some(&labels.hash());
        let more = |open: &Open| (open.prefixes.len() - 1).saturating_sub(labels.count);
        // Where no cluster's list is, `ndots` is 1: what has a dot is asked for as
        // it is first.
        let is_single = labels.count == 1;
        let is_searched = |open: &Open| is_single && begins(open) && more(open) >= MIN_LABELS;
        if self.open.get(at).is_some_and(is_searched) {
            let found = self.open.iter().filter(|it| is_searched(it));
            let suffix = |it: &Open| Suffix::between(labels.hash(), it.whole(), more(it));
            let found: Vec<Suffix> = found.map(suffix).collect();
            self.open.retain(|it| !is_searched(it));
            return found.into_iter().for_each(|it| self.add_extra(it));
        }
        let base = self.open.get(at).map_or(0, |it| it.prefixes.len() - 1);
        let is_first = labels.count >= base + MIN_LABELS && labels.prefix(base) == before;
        let suffix = labels.suffix(labels.count.saturating_sub(base));
        // The namespace's comes before those of the cluster.
        let is_cluster = cluster_of(labels).is_some_and(|it| it.parts.contains(&suffix));
        if is_first && !is_cluster {
            self.add(suffix, labels);
        }
    }

    /// The last search domain that is known was tried with a base, and now
    /// comes the same base with another end.
    fn learn_next(&mut self, labels: &Labels, is_pending: impl Fn(u64) -> bool) {
        let Some(&last) = self.domains.last() else {
            return;
        };
        let base = (1..labels.count)
            .rev()
            .find(|&base| is_pending(last.behind(labels.prefix(base))));
        if let Some(base) = base {
            self.add(labels.suffix(labels.count - base), labels);
        }
    }

    fn add(&mut self, suffix: Suffix, labels: &Labels) {
        match cluster_of(labels) {
            Some(it) if it.space == suffix => {
                self.add_cluster(it.parts);
                self.add_space(suffix);
            }
            Some(it) if it.parts.contains(&suffix) => self.add_cluster(it.parts),
            _ => self.add_extra(suffix),
        }
    }

    fn add_space(&mut self, suffix: Suffix) {
        if self.spaces < MAX_SPACES && !self.spaces().contains(&suffix) {
            self.domains.insert(self.spaces, suffix);
            self.spaces += 1;
        }
    }

    fn add_cluster(&mut self, parts: [Suffix; 2]) {
        if !self.has_cluster {
            self.domains.splice(self.spaces..self.spaces, parts);
            self.has_cluster = true;
        }
    }

    fn add_extra(&mut self, suffix: Suffix) {
        if self.domains.len() < MAX_DOMAINS && !self.domains.contains(&suffix) {
            self.domains.push(suffix);
        }
    }

    /// Adds what another log showed of the same client.
    pub(super) fn merge(&mut self, other: &Self) {
        let (spaces, others) = other.domains.split_at(other.spaces);
        for &space in spaces {
            self.add_space(space);
        }
        let extras = match others {
            [one, two, extras @ ..] if other.has_cluster => {
                self.add_cluster([*one, *two]);
                extras
            }
            extras => extras,
        };
        for &extra in extras {
            self.add_extra(extra);
        }
    }
}

impl Open {
    fn whole(&self) -> u64 {
        self.prefixes.last().copied().unwrap_or_default()
    }
}

/// The parts of `BASE.NAMESPACE.svc.DOMAIN`.
fn cluster_of(labels: &Labels) -> Option<Cluster> {
    let domain = labels.cluster_domain()?;
    // At least one label before the namespace's.
    let base = labels.count.checked_sub(domain + 2).filter(|&it| it > 0)?;
    Some(Cluster {
        base: labels.prefix(base),
        space: labels.suffix(domain + 2),
        parts: [labels.suffix(domain + 1), labels.suffix(domain)],
    })
}
