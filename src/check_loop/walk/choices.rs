//! Whom a server can ask.

use std::net::SocketAddr;

use super::Walk;
use crate::check_loop::facts::Unknown;
use crate::check_loop::quote;
use crate::check_loop::report::{End, Proof, SendsTo};
use crate::check_loop::servers::Server;
use crate::check_loop::view::Listed;
use crate::text::Place;
use crate::topology::{Forward, Target};

/// Most servers of one forward that are looked at; CoreDNS takes 15.
const MAX_CHOICES: usize = 200;

/// Where a choice leads.
pub(super) enum Leads {
    To(SocketAddr),
    /// The DNS pods, by way of a service whose address is not known.
    ClusterDns,
    Nowhere(End),
}

/// One of the servers that another one can ask.
pub(super) struct Choice {
    pub(super) to: Leads,
    pub(super) sends_to: SendsTo,
    pub(super) target: Place,
    pub(super) is_from_file: bool,
    pub(super) proof: Vec<Proof>,
}

fn unknown(why: Unknown) -> Leads {
    Leads::Nowhere(End::Unknown(why))
}

impl Walk<'_, '_> {
    /// Whom the server can ask, in order.
    pub(super) fn choices(&self, server: &Server<'_>, forward: &Forward) -> Vec<Choice> {
        let own = self.graph.addresses(&server.dns.network);
        let mut choices = Vec::new();
        for target in &forward.to {
            if choices.len() >= MAX_CHOICES {
                break;
            }
            let one = |to, value: &Target| Choice {
                to,
                proof: self.written(&target.place, value),
                sends_to: SendsTo::Target(value.clone()),
                target: target.place.clone(),
                is_from_file: false,
            };
            let leads = match &target.value {
                Target::Address(to) if server.dns.leaves_out(*to, own) => continue,
                Target::File(path) => {
                    choices.extend(self.listed(server, path, &|to| one(to, &target.value)));
                    continue;
                }
                Target::Address(to) => Leads::To(*to),
                Target::Roots => Leads::Nowhere(End::Outside),
                Target::ClusterDns => Leads::ClusterDns,
                Target::Other(what) => unknown(Unknown::Target(what.clone())),
            };
            choices.push(one(leads, &target.value));
        }
        let is_more = forward.to.len() > MAX_CHOICES || choices.len() > MAX_CHOICES;
        choices.truncate(MAX_CHOICES);
        if let Some(first) = forward.to.first().filter(|_| is_more) {
            choices.push(Choice {
                to: unknown(Unknown::TooManyServers(MAX_CHOICES)),
                sends_to: SendsTo::Further,
                target: first.place.clone(),
                is_from_file: false,
                proof: Vec::new(),
            });
        }
        choices
    }

    /// The servers of the file at `path`; `one` makes a choice of the target that names it.
    fn listed(
        &self,
        server: &Server<'_>,
        path: &str,
        one: &dyn Fn(Leads) -> Choice,
    ) -> Vec<Choice> {
        let own = self.graph.addresses(&server.dns.network);
        let who = || server.dns.name();
        let listed = match self.graph.view(server, path, self.when) {
            Err(reason) => return vec![one(unknown(reason))],
            Ok(listed) if listed.is_empty() => {
                let path = path.to_owned();
                return vec![one(unknown(Unknown::NoServer { who: who(), path }))];
            }
            Ok(listed) => listed,
        };
        let listed = listed
            .into_iter()
            .filter(|it| !server.dns.leaves_out(it.to, own));
        let choice = |it: Listed| {
            let file = one(Leads::To(it.to));
            Choice {
                sends_to: SendsTo::Target(Target::Address(it.to)),
                proof: file.proof.into_iter().chain(it.proof).collect(),
                is_from_file: true,
                ..file
            }
        };
        let mut choices: Vec<Choice> = listed.map(choice).collect();
        if self.graph.is_cut(server, path, self.when) {
            let path = path.to_owned();
            choices.push(one(unknown(Unknown::Cut { who: who(), path })));
        }
        choices
    }

    /// The line of a configuration that says so; what is a default, or an
    /// argument, stands in no file.
    fn written(&self, place: &Place, value: &Target) -> Vec<Proof> {
        let source = self.graph.source(&place.file);
        let is_file = place.file.starts_with('/') || source.is_some();
        let proof =
            is_file.then(|| quote::quote_in(source, place, &value.written().unwrap_or_default()));
        // No word of a configuration stands for some, and the file may not be at hand.
        proof.into_iter().filter(|it| !it.text.is_empty()).collect()
    }
}
