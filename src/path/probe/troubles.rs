//! What the answers of a probe say beside each other.

use std::net::SocketAddr;

use super::super::findings::{ConnectionFinding, Fact, LinkFinding};
use super::super::{Protocol, Tree};
use super::{Ask, Came, Question, Row, endpoints};

/// Something that is wrong.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Trouble {
    /// Everybody answers when asked directly, and the Service does not, or not
    /// always.
    OnlyService {
        /// The Service.
        service: SocketAddr,
        /// Over what.
        protocol: Protocol,
        /// How many queries got no reply, of how many.
        lost: (usize, usize),
    },
    /// The reply came from another address than was asked.
    Elsewhere {
        /// Who was asked.
        asked: SocketAddr,
        /// Who replied.
        from: SocketAddr,
    },
    /// An endpoint does not answer, or not always.
    Endpoint {
        /// The endpoint.
        endpoint: SocketAddr,
        /// Over what.
        protocol: Protocol,
        /// How many queries got no reply, of how many.
        lost: (usize, usize),
    },
    /// What a server answers by itself is answered, and the keys of the root, for
    /// which most ask another one, are not, or not always: a slow or dead upstream,
    /// or a server that drops such queries.
    NotPassedOn {
        /// Who was asked.
        to: SocketAddr,
        /// How many queries got no reply, of how many.
        lost: (usize, usize),
    },
    /// Short replies come, and long ones of this length do not.
    Long {
        /// Who was asked.
        to: SocketAddr,
        /// The shortest length that is lost.
        bytes: u16,
    },
}

impl Trouble {
    /// Whether a finding of this kind makes such a trouble.
    pub fn is_explained_by(&self, fact: &Fact) -> bool {
        let is_full = matches!(
            fact,
            Fact::Connection(ConnectionFinding::Full { .. } | ConnectionFinding::Losing(_))
        );
        match self {
            Self::OnlyService { .. } => match fact {
                Fact::Link(it) => matches!(it, LinkFinding::Bridge { .. }),
                Fact::Connection(it) => !matches!(it, ConnectionFinding::Lost { .. }),
                Fact::Cache(_) | Fact::Proxy(_) | Fact::Policy(_) | Fact::Service(_) => true,
            },
            Self::Elsewhere { .. } => matches!(fact, Fact::Link(LinkFinding::Bridge { .. })),
            Self::Endpoint { .. } => is_full || matches!(fact, Fact::Policy(_)),
            Self::NotPassedOn { .. } => false,
            Self::Long { .. } => {
                matches!(
                    fact,
                    Fact::Link(LinkFinding::Narrow { .. } | LinkFinding::Small { .. })
                )
            }
        }
    }
}

/// What is wrong, from what came of the questions of a plan for these trees.
pub(super) fn troubles(trees: &[Tree], rows: &[Row]) -> Vec<Trouble> {
    let mut found = Vec::new();
    for row in rows {
        let elsewhere = row.others.iter().find_map(|it| match it.0 {
            Came::Elsewhere(from) => Some(from),
            _ => None,
        });
        if let Some(from) = elsewhere {
            let trouble = Trouble::Elsewhere {
                asked: row.ask.to,
                from,
            };
            if !found.contains(&trouble) {
                found.push(trouble);
            }
        }
    }
    for tree in trees {
        let protocol = tree.packet.protocol;
        let service = SocketAddr::new(tree.packet.destination, tree.packet.port);
        let lost_of = |to| lost_itself(rows, to, protocol);
        let mut behind = endpoints(tree);
        behind.retain(|it| *it != service);
        if behind.is_empty() && !tree.fails() {
            behind.push(service);
        }
        let mut are_alive = !behind.is_empty();
        for endpoint in behind {
            let lost = lost_of(endpoint);
            if lost.0 > 0 {
                are_alive = false;
                found.push(Trouble::Endpoint {
                    endpoint,
                    protocol,
                    lost,
                });
            }
        }
        let ends = endpoints(tree).into_iter();
        found.extend(ends.filter_map(|it| not_passed_on(rows, it, protocol)));
        let lost = lost_of(service);
        if lost.0 > 0 && are_alive {
            found.push(Trouble::OnlyService {
                service,
                protocol,
                lost,
            });
        }
    }
    found.extend(long(rows));
    found
}

/// How many queries got no reply that a server answers by itself, of how many: of
/// the two questions of that kind, the one that it answers better.
fn lost_itself(rows: &[Row], to: SocketAddr, protocol: Protocol) -> (usize, usize) {
    let own = rows
        .iter()
        .filter(|it| it.ask.to == to && it.ask.protocol == protocol);
    let short = own.filter(|it| matches!(it.ask.question, Question::Version | Question::Status));
    let lost = short.map(|it| (it.times - it.answered, it.times));
    lost.min_by_key(|it| it.0).unwrap_or_default()
}

/// A server that always answers by itself, and not for the keys of the root.
fn not_passed_on(rows: &[Row], to: SocketAddr, protocol: Protocol) -> Option<Trouble> {
    let ask = Ask {
        to,
        protocol,
        question: Question::Keys(512),
    };
    let row = rows.iter().find(|it| it.ask == ask)?;
    let is_alive = matches!(lost_itself(rows, to, protocol), (0, 1..));
    let lost = row.times - row.answered;
    (is_alive && lost > 0).then_some(Trouble::NotPassedOn {
        to,
        lost: (lost, row.times),
    })
}

/// Those who answer briefly and not at length.
fn long(rows: &[Row]) -> Vec<Trouble> {
    let mut found: Vec<Trouble> = Vec::new();
    let of = |to: SocketAddr, size| {
        let mut udp = rows
            .iter()
            .filter(|it| it.ask.protocol == Protocol::Udp && it.ask.to == to);
        udp.find(|it| it.ask.question == size)
    };
    for row in rows {
        let Question::Keys(bytes @ 513..) = row.ask.question else {
            continue;
        };
        // The same question whose reply always fits.
        let control = of(row.ask.to, Question::Keys(512));
        let is_alive = control.is_some_and(|it| it.times > 0 && it.answered == it.times);
        let is_lost = row.ask.protocol == Protocol::Udp && row.answered * 2 < row.times;
        let is_known = |it: &Trouble| matches!(it, Trouble::Long { to, .. } if *to == row.ask.to);
        if is_alive && is_lost && !found.iter().any(is_known) {
            found.push(Trouble::Long {
                to: row.ask.to,
                bytes,
            });
        }
    }
    found
}
