//! A table of rules, of which only an index is kept.

use std::hash::{DefaultHasher, Hash as _, Hasher as _};

use super::{Backend, Family, View};
use crate::order::Order as _;

/// A table: its base chains, and where the rules of each chain are written.
#[derive(Clone, Debug)]
pub struct Table {
    /// Its addresses; `None`: of both families (`inet`).
    pub family: Option<Family>,
    /// Who loaded it.
    pub backend: Backend,
    /// Its name: `nat`, `kube-proxy`.
    pub name: Box<str>,
    /// Its base chains, in the order in which they are written.
    pub bases: Vec<Base>,
    /// Whether it is written to its end.
    pub is_whole: bool,
    /// How it is written.
    pub form: Form,
    /// Whether another one is there in its place.
    pub is_gone: bool,
    /// Where it begins.
    pub view: View,
    /// The chain within which the text ends.
    pub cut_in: Option<Box<str>>,
    chains: Vec<Extent>,
    is_sorted: bool,
}

/// How a table is written.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Form {
    /// As `iptables-save` and `iptables -S` do.
    Save,
    /// As `iptables -L` does.
    List,
    /// As nft does, with `-j` or without.
    Nft,
}

/// Where the kernel enters a table.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Base {
    /// The chain's name.
    pub chain: Box<str>,
    /// Where packets come from.
    pub hook: Hook,
    /// Its order at the hook: the smallest first.
    pub priority: i32,
    /// Whether it translates addresses: it sees the first packet of a flow only.
    pub is_nat: bool,
    /// Whether what reaches its end is accepted; `None`: not written.
    pub accepts: Option<bool>,
    /// Where that is written.
    pub view: View,
    /// How many packets have met the policy.
    pub packets: Option<u64>,
}

impl Base {
    /// A built-in chain of a table of iptables, with its order at its hook
    /// (`netfilter_ipv4.h`, `enum nf_ip_hook_priorities`); `None`: it is none.
    pub(super) fn of_iptables(
        table: &str,
        chain: &str,
        accepts: Option<bool>,
        packets: Option<u64>,
        view: View,
    ) -> Option<Self> {
        let hook = Hook::of_chain(chain)?;
        let priority = match (table, hook) {
            ("raw", _) => -300,
            ("mangle", _) => -150,
            ("nat", Hook::Prerouting | Hook::Output) => -100,
            ("nat", _) => 100,
            ("security", _) => 50,
            _ => 0,
        };
        Some(Self {
            chain: chain.into(),
            hook,
            priority,
            is_nat: table == "nat",
            accepts,
            view,
            packets,
        })
    }
}

/// A point on the way of a packet through the kernel.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub enum Hook {
    /// Every packet that comes in through a link.
    Prerouting,
    /// To the node itself.
    Input,
    /// Through the node.
    Forward,
    /// From the node itself.
    Output,
    /// Every packet that leaves.
    Postrouting,
}

impl Hook {
    /// The hook of a built-in chain of iptables.
    pub fn of_chain(name: &str) -> Option<Self> {
        Some(match name {
            "PREROUTING" => Self::Prerouting,
            "INPUT" => Self::Input,
            "FORWARD" => Self::Forward,
            "OUTPUT" => Self::Output,
            "POSTROUTING" => Self::Postrouting,
            _ => return None,
        })
    }
}

/// Lines of one chain that stand together.
#[derive(Clone, Copy, Debug)]
struct Extent {
    chain: u64,
    start: u64,
    length: u32,
    line: u32,
}

impl Table {
    /// A table without chains.
    pub fn new(name: &str, family: Option<Family>, backend: Backend, view: View) -> Self {
        Self {
            family,
            backend,
            name: name.into(),
            bases: Vec::new(),
            is_whole: false,
            form: if backend == Backend::Nftables {
                Form::Nft
            } else {
                Form::Save
            },
            is_gone: false,
            view,
            cut_in: None,
            chains: Vec::new(),
            is_sorted: true,
        }
    }

    /// A table that `iptables -L` lists.
    pub fn listed(name: &str, family: Option<Family>, backend: Backend, view: View) -> Self {
        Self {
            form: Form::List,
            ..Self::new(name, family, backend, view)
        }
    }

    /// Whether nft wrote it.
    pub fn is_of_nft(&self) -> bool {
        self.form == Form::Nft
    }

    /// Adds lines of a chain; empty: it is there.
    pub(super) fn add(&mut self, chain: &[u8], start: u64, end: u64, line: u32) {
        self.chains.push(Extent {
            chain: key(chain),
            start,
            length: u32::try_from(end - start).unwrap_or(u32::MAX),
            line,
        });
        self.is_sorted = false;
    }

    /// Ends the index.
    pub(super) fn sort(&mut self) {
        if !self.is_sorted {
            self.chains.order_by_key(|it| (it.chain, it.start));
            self.is_sorted = true;
        }
    }

    /// Where the rules of a chain are written; `None`: there is no such chain,
    /// or the text ends before its rules.
    pub fn chain(&self, name: &str) -> Option<Vec<View>> {
        let key = key(name.as_bytes());
        let first = self.chains.partition_point(|it| it.chain < key);
        let mut found = self
            .chains
            .iter()
            .skip(first)
            .take_while(|it| it.chain == key);
        let view = |it: &Extent| View {
            text: self.view.text,
            start: it.start,
            end: it.start + u64::from(it.length),
            line: it.line,
        };
        let one = found.next()?;
        let all = std::iter::once(one).chain(found);
        let views: Vec<View> = all.filter(|it| it.length > 0).map(view).collect();
        let is_lost = views.is_empty() && self.cut_in.is_some();
        (!is_lost).then_some(views)
    }

    /// Whether it has any chain of its own, or rule.
    pub fn is_empty(&self) -> bool {
        self.chains.iter().all(|it| it.length == 0)
    }
}

fn key(chain: &[u8]) -> u64 {
    let mut hasher = DefaultHasher::new();
    chain.hash(&mut hasher);
    hasher.finish()
}
