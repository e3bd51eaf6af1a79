//! Servers of one list that do not give the same answers, though any of them
//! is asked.

use std::net::IpAddr;

use super::facts::Remark;
use super::graph::Graph;
use super::report::When;
use super::servers::{Role, Server};
use super::view::Listed;
use crate::address::{is_private, is_public_resolver};
use crate::text::Place;
use crate::topology::{Policy, Target};

/// Remarks about a private server beside a public resolver, which knows none
/// of its names.
pub(super) fn remarks(graph: &Graph<'_>) -> Vec<Remark> {
    let mut remarks = Vec::new();
    for server in graph.servers.iter().filter(|it| it.role == Role::Cluster) {
        for forward in &server.dns.forwards {
            if forward.policy == Policy::Sequential {
                continue;
            }
            let targets = forward.to.iter().map(|it| &it.value);
            let remark = of_list(
                server,
                &targets
                    .flat_map(|it| asked(graph, server, it))
                    .collect::<Vec<_>>(),
            );
            remarks.extend(remark.filter(|it| !remarks.contains(it)));
        }
    }
    remarks
}

/// The servers of a target, with the file that lists them.
fn asked(graph: &Graph<'_>, server: &Server<'_>, target: &Target) -> Vec<(IpAddr, Option<Place>)> {
    match target {
        Target::Address(to) => vec![(to.ip(), None)],
        Target::File(path) => {
            // What it has now, or else what it would get.
            let listed = graph.view(server, path, When::Now);
            let listed = listed.or_else(|_| graph.view(server, path, When::NextStart));
            let place = |it: &Listed| it.proof.last().map(|it| it.place.clone());
            let listed = listed.unwrap_or_default();
            listed.iter().map(|it| (it.to.ip(), place(it))).collect()
        }
        _ => Vec::new(),
    }
}

fn of_list(server: &Server<'_>, asked: &[(IpAddr, Option<Place>)]) -> Option<Remark> {
    let find = |is_it: fn(IpAddr) -> bool| asked.iter().find(|(ip, _)| is_it(*ip));
    let (private, public) = (find(is_private)?, find(is_public_resolver)?);
    let count = asked
        .iter()
        .filter(|(ip, _)| is_public_resolver(*ip))
        .count();
    Some(Remark::Unlike {
        who: server.dns.name(),
        public: public.0,
        place: public.1.clone(),
        private: private.0,
        some: count,
        all: asked.len(),
    })
}
