//! Whom a server can ask.

use std::net::SocketAddr;

use super::Walk;
use crate::check_loop::facts::Unknown;
use crate::check_loop::graph::short;
use crate::check_loop::quote;
use crate::check_loop::report::End;
use crate::check_loop::report::Proof;
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
    pub(super) shown: String,
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
            let one = |to, shown: String| Choice {
                to,
                proof: self.written(&target.place, &short(&shown)),
                shown,
                target: target.place.clone(),
                is_from_file: false,
            };
            match &target.value {
                Target::Address(to) if server.dns.leaves_out(*to, own) => {}
                Target::Address(to) => choices.push(one(Leads::To(*to), to.to_string())),
                Target::File(path) => choices.extend(self.listed(server, path, &one)),
                Target::Roots => {
                    let end = Leads::Nowhere(End::Outside);
                    choices.push(one(end, "the root servers".to_owned()));
                }
                Target::ClusterDns => {
                    choices.push(one(
                        Leads::ClusterDns,
                        "the service kube-dns-upstream".to_owned(),
                    ));
                }
                Target::Other(what) => {
                    choices.push(one(unknown(Unknown::Target(what.clone())), what.clone()));
                }
            }
        }
        let is_more = forward.to.len() > MAX_CHOICES || choices.len() > MAX_CHOICES;
        choices.truncate(MAX_CHOICES);
        if let Some(first) = forward.to.first().filter(|_| is_more) {
            choices.push(Choice {
                to: unknown(Unknown::TooManyServers(MAX_CHOICES)),
                shown: "further servers".to_owned(),
                target: first.place.clone(),
                is_from_file: false,
                proof: Vec::new(),
            });
        }
        choices
    }

    /// The servers of the file at `path`; `one` makes a choice of its target.
    fn listed(
        &self,
        server: &Server<'_>,
        path: &str,
        one: &dyn Fn(Leads, String) -> Choice,
    ) -> Vec<Choice> {
        let own = self.graph.addresses(&server.dns.network);
        let (who, shown) = (|| server.dns.label(), path.to_owned());
        let listed = match self.graph.view(server, path, self.when) {
            Err(reason) => return vec![one(unknown(reason), shown)],
            Ok(listed) if listed.is_empty() => {
                let path = path.to_owned();
                return vec![one(unknown(Unknown::NoServer { who: who(), path }), shown)];
            }
            Ok(listed) => listed,
        };
        let listed = listed
            .into_iter()
            .filter(|it| !server.dns.leaves_out(it.to, own));
        let choice = |it: Listed| {
            let file = one(Leads::To(it.to), path.to_owned());
            Choice {
                shown: it.to.to_string(),
                proof: file.proof.into_iter().chain(it.proof).collect(),
                is_from_file: true,
                ..file
            }
        };
        let mut choices: Vec<Choice> = listed.map(choice).collect();
        if self.graph.is_cut(server, path, self.when) {
            let path = path.to_owned();
            choices.push(one(unknown(Unknown::Cut { who: who(), path }), shown));
        }
        choices
    }

    /// The line of a configuration that says so; what is a default, or an
    /// argument, stands in no file.
    fn written(&self, place: &Place, value: &str) -> Vec<Proof> {
        let source = self.graph.source(&place.file);
        let is_file = place.file.starts_with('/') || source.is_some();
        let proof = is_file.then(|| quote::quote_in(source, place, value));
        proof.into_iter().collect()
    }
}
