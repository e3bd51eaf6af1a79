//! Servers that are really asked, and a name that is really looked up.

use std::io;
use std::net::{IpAddr, SocketAddr};

use anyhow::bail;
use nix::errno::Errno;

use super::args::DoctorArgs;
use super::network;
use crate::check_loop::seen::Target;
use crate::check_loop::{self, State};
use crate::cli::explain;
use crate::cli::streams::Streams;
use crate::doctor::{Answer, Asked, Here, Lookup, Route, Unasked, Whom};
use crate::host::io_reason;
use crate::node::{Node, Pod, is_dns_server};
use crate::path::Protocol;
use crate::path::probe::{self, Ask, Came, Question};
use crate::topology::{Instance, Network};
use crate::upstream;
use crate::wire::endpoints;

/// More servers are not asked, but for those of the target.
const MAX_ASKED: usize = 50;

/// What the kernel says of an address that no route leads to.
const NO_ROUTE: i32 = Errno::ENETUNREACH as i32;

/// The name that every cluster has.
const NAME: &str = "kubernetes.default";

/// So much of a reply that others have shows whether they were asked.
const ENOUGH: u16 = 512;

/// Reply codes of a server that does not ask others, or in vain: SERVFAIL, REFUSED.
const FAILED: [u16; 2] = [2, 5];

/// A lookup takes no longer, in seconds.
const BUDGET: &str = "15";

/// Asks every upstream server, and every DNS pod if queries do not go round.
///
/// # Errors
///
/// Why nobody was asked.
pub(super) fn ask(
    args: &DoctorArgs,
    node: &Node,
    (loops, servers): (&check_loop::Report, &upstream::Report),
    route: Option<&Route>,
) -> Result<Vec<Asked>, Unasked> {
    if !args.ask {
        return Err(Unasked::NotWanted);
    }
    let is_clear = loops.now == State::NoLoop;
    let ends = servers.outside().into_iter().chain(ends(loops));
    let pods = is_clear.then(|| check_loop::probe_targets(node));
    let pods = pods.iter().flatten().filter_map(|it| pod(it, node));
    let own = args.target().into_iter();
    let own = own.flat_map(|it| network::servers_of(node, it));
    let whom = in_order(ends, pods, own);
    if whom.is_empty() {
        return Err(if is_clear {
            Unasked::NoServer
        } else {
            Unasked::Loops
        });
    }
    let asks: Vec<Ask> = whom.iter().flat_map(|it| asks(&it.0, it.1)).collect();
    let came = endpoints::ask_all(&asks);
    let asked = whom
        .into_iter()
        .map(|(whom, server)| asked(whom, server, &came));
    let leaves_out = |it: &Asked| route.is_some_and(|route| route.leaves_out(it.server));
    let asked = asked.map(|it| Asked {
        is_left_out: matches!(it.whom, Whom::Pod(_)) && leaves_out(&it),
        ..it
    });
    Ok(asked.collect())
}

/// Who is asked: those that all depend on first, each once.
fn in_order(
    ends: impl Iterator<Item = SocketAddr>,
    pods: impl Iterator<Item = (Whom, SocketAddr)>,
    own: impl Iterator<Item = SocketAddr>,
) -> Vec<(Whom, SocketAddr)> {
    let mut whom: Vec<(Whom, SocketAddr)> = Vec::new();
    let add = |all: &mut Vec<(Whom, SocketAddr)>, it: (Whom, SocketAddr)| {
        if !is_of_some_link(it.1) && all.iter().all(|known| known.1 != it.1) {
            all.push(it);
        }
    };
    ends.for_each(|it| add(&mut whom, (Whom::Upstream, it)));
    whom.extend(pods);
    whom.truncate(MAX_ASKED);
    own.for_each(|it| add(&mut whom, (Whom::Target, it)));
    whom
}

/// Whether it is one address on each link, and which link is meant is not known.
fn is_of_some_link(server: SocketAddr) -> bool {
    matches!(server, SocketAddr::V6(it) if it.ip().is_unicast_link_local() && it.scope_id() == 0)
}

/// The servers outside the node where queries of the cluster's DNS end now.
fn ends(loops: &check_loop::Report) -> impl Iterator<Item = SocketAddr> {
    let chains = loops.chains.iter();
    let ended =
        chains.filter(|it| it.end == check_loop::End::Outside && it.when == check_loop::When::Now);
    ended.filter_map(|it| it.hops.last()?.sends_to.address())
}

/// A DNS pod, at its own address, or at the node's if it is on that network.
fn pod(target: &Target, node: &Node) -> Option<(Whom, SocketAddr)> {
    let is_it = |pod: &&Pod| match &target.network {
        Network::Pod(key) => pod.key() == *key,
        Network::Node => {
            let is_on_node = pod.host_network == Some(true) && is_dns_server(pod);
            is_on_node && target.who.instance == Instance::Pod(pod.label())
        }
    };
    let pod = node.pods.iter().find(is_it)?;
    let addresses = match target.network {
        Network::Pod(_) => &pod.addresses,
        Network::Node => &node.addresses,
    };
    let ip = if target.server.ip().is_loopback() {
        *addresses.first()?
    } else {
        target.server.ip()
    };
    let is_reached = target.takes_any || !target.server.ip().is_loopback();
    let server = SocketAddr::new(ip, target.server.port());
    is_reached.then(|| (Whom::Pod(pod.label()), server))
}

/// What a server is asked. A DNS pod is alive if it answers by itself, whatever its
/// upstream does; an upstream server that forwards what it is asked has to answer.
fn asks(whom: &Whom, to: SocketAddr) -> Vec<Ask> {
    let questions: &[Question] = match whom {
        Whom::Upstream | Whom::Target => &[Question::Version, Question::Keys(ENOUGH)],
        Whom::Pod(_) => &[Question::Version, Question::Status],
    };
    let over = [Protocol::Udp, Protocol::Tcp].into_iter();
    let each = over.flat_map(|protocol| questions.iter().map(move |it| (protocol, *it)));
    each.map(|(protocol, question)| Ask {
        to,
        protocol,
        question,
    })
    .collect()
}

/// A server answers over UDP or TCP if it answers one question.
fn asked(whom: Whom, server: SocketAddr, came: &[probe::Asked]) -> Asked {
    let over = |protocol: Protocol| {
        let its = came
            .iter()
            .filter(|it| it.ask.to == server && it.ask.protocol == protocol);
        let best = its.min_by_key(|it| !matches!(it.came, Came::Reply { .. }));
        best.map_or(Answer::NotAsked, answer)
    };
    let resolves = |it: &probe::Asked| {
        let is_long = it.ask.to == server && matches!(it.ask.question, Question::Keys(_));
        is_long && matches!(it.came, Came::Reply { rcode, .. } if !FAILED.contains(&rcode))
    };
    let is_malformed = |it: &probe::Asked| {
        let is_it = matches!(it.came, Came::Reply { is_malformed, .. } if is_malformed);
        it.ask.to == server && is_it
    };
    Asked {
        udp: over(Protocol::Udp),
        tcp: over(Protocol::Tcp),
        fails: !matches!(whom, Whom::Pod(_)) && !came.iter().any(resolves),
        is_malformed: came.iter().any(is_malformed),
        is_left_out: false,
        whom,
        server,
    }
}

fn answer(asked: &probe::Asked) -> Answer {
    match asked.came {
        Came::Reply { .. } => Answer::Reply(asked.after),
        Came::Elsewhere(from) => Answer::Elsewhere(from),
        Came::Silence | Came::Connected => Answer::Silence(asked.after),
        Came::NotSent(NO_ROUTE) => Answer::NoRoute,
        Came::NotSent(number) if is_kept_in(Errno::from_raw(number), asked.ask.to.ip()) => {
            Answer::NotSent
        }
        Came::NotSent(number) | Came::Error(number) => {
            Answer::Failed(io_reason(&io::Error::from_raw_os_error(number)))
        }
    }
}

/// Whether the kernel says so where it drops what is sent: a rule of netfilter, a
/// route or rule of `prohibit`, of `blackhole`.
///
/// Source: linux `net/ipv4/fib_semantics.c` `fib_props`. Of addresses that nobody can
/// have as such, sockets say the same.
fn is_kept_in(errno: Errno, to: IpAddr) -> bool {
    let is_anybodys = match to {
        IpAddr::V4(it) => !it.is_unspecified(),
        IpAddr::V6(it) => !it.is_unicast_link_local() && !it.is_unspecified(),
    };
    match errno {
        Errno::EPERM => true,
        Errno::EACCES | Errno::EINVAL => is_anybodys,
        _ => false,
    }
}

/// Looks the name up that every cluster has, as the target does; an error says why
/// it was not looked up. `None`: nobody wanted it.
pub(super) fn look_up(
    args: &DoctorArgs,
    here: &Here,
    (node, client): (&Node, Option<&str>),
    streams: &mut Streams<'_>,
) -> Option<Result<Lookup, String>> {
    if let Some(client) = client.filter(|it| args.ask && network::asks_elsewhere(node, it)) {
        return Some(Err(format!(
            "no name was looked up: {client} does not ask the cluster's DNS by its search list, \
             which finds {NAME} (hostNetwork pods do with dnsPolicy ClusterFirstWithHostNet)"
        )));
    }
    let words = args.ask.then(|| words(args, here, client))?;
    let looked_up = words.and_then(|it| explain::look_up(&it, streams));
    let lookup = looked_up.map(|(scenario, lived)| Lookup {
        target: client.map(str::to_owned),
        scenario,
        lived,
    });
    Some(lookup.map_err(|error| format!("{error:#}")))
}

/// What to type behind `kdns explain`.
fn words(args: &DoctorArgs, here: &Here, client: Option<&str>) -> anyhow::Result<Vec<String>> {
    let mut words: Vec<&str> = vec![NAME, "--live", "--budget", BUDGET];
    match (client, here) {
        (Some(client), _) => words.extend(["--target", client]),
        (None, Here::Pod) => {}
        (None, _) => bail!(
            "no name was looked up: no pod that asks the cluster's DNS is to be seen; kdns doctor \
             --ask TARGET looks up as that one does"
        ),
    }
    let directory = args.node.directory().display().to_string();
    match here {
        Here::Below(_) => words.extend(["--root", &directory]),
        Here::Debug(root) => words.extend(["--root", root]),
        Here::Node | Here::Pod | Here::Elsewhere | Here::Unseen(_) => {}
    }
    Ok(words.into_iter().map(str::to_owned).collect())
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::doctor::checks;

    /// The servers of a pod's own file come after the DNS pods.
    #[test]
    fn pods_are_asked_before_servers_of_their_own() {
        let server = |it: u8| SocketAddr::from(([172, 31, 0, it], 53));
        let pods = || (10..13).map(|it| (Whom::Pod(it.to_string()), server(it)));
        let ends = [server(1), server(1)].into_iter();
        let own = [server(1), server(12), server(20)].into_iter();
        let mut expected = vec![(Whom::Upstream, server(1))];
        expected.extend(pods());
        expected.push((Whom::Target, server(20)));
        assert_eq!(in_order(ends, pods(), own), expected);
        let ends = (0..60).map(server);
        let all = in_order(ends, pods(), [server(99)].into_iter());
        assert_eq!(all.len(), MAX_ASKED + 1);
    }

    /// A server that answers what it knows by itself need not reach any other.
    #[test]
    fn nothing_is_no_answer_of_others() {
        let server = SocketAddr::from(([172, 31, 0, 53], 53));
        let reply = |rcode| Came::Reply {
            rcode,
            bytes: 30,
            is_malformed: false,
        };
        for (long, fails) in [
            (Came::Silence, true),
            (reply(2), true),
            (reply(5), true),
            (reply(0), false),
            (reply(3), false),
        ] {
            let came = |it: Ask| probe::Asked {
                came: match it.question {
                    Question::Keys(_) => long.clone(),
                    _ => reply(0),
                },
                ask: it,
                port: None,
                after: Duration::ZERO,
            };
            let all = asks(&Whom::Upstream, server).into_iter().map(came);
            let all: Vec<probe::Asked> = all.collect();
            let it = asked(Whom::Upstream, server, &all);
            assert_eq!((it.fails, it.is_silent()), (fails, false), "{long:?}");
            assert!(!asked(Whom::Pod("it".to_owned()), server, &all).fails);
        }
    }

    /// Of one of which only the beginning can be read, nobody knows what it says.
    #[test]
    fn a_reply_that_cannot_be_read_is_no_answer_for_sure() {
        let server = SocketAddr::from(([172, 31, 0, 53], 53));
        for whom in [Whom::Upstream, Whom::Pod("it".to_owned())] {
            for bad in 0..5 {
                let came = |(at, ask): (usize, Ask)| probe::Asked {
                    came: Came::Reply {
                        rcode: 0,
                        bytes: 30,
                        is_malformed: at == bad,
                    },
                    ask,
                    port: None,
                    after: Duration::ZERO,
                };
                let all = asks(&whom, server).into_iter().enumerate().map(came);
                let all: Vec<probe::Asked> = all.collect();
                let it = asked(whom.clone(), server, &all);
                assert_eq!(it.is_malformed, bad < 4, "{bad}");
                let is_ok = checks::servers(&[it]).state == crate::doctor::State::Ok;
                assert_eq!(is_ok, bad == 4, "{bad}");
            }
        }
    }

    #[test]
    fn an_address_of_whatever_link_is_not_asked() {
        let ends = ["[fe80::1]:53", "[fe80::1%3]:53", "192.0.2.53:53"];
        let ends = ends.iter().map(|it| it.parse().unwrap());
        let whom = in_order(ends, std::iter::empty(), std::iter::empty());
        let asked: Vec<String> = whom.iter().map(|it| it.1.to_string()).collect();
        assert_eq!(asked, ["[fe80::1%3]:53", "192.0.2.53:53"]);
    }

    #[test]
    fn what_the_node_keeps_in_is_no_silence() {
        for (errno, to, is_kept) in [
            (Errno::EPERM, "192.0.2.53", true),
            (Errno::EACCES, "192.0.2.53", true),
            (Errno::EINVAL, "192.0.2.53", true),
            (Errno::EINVAL, "2001:db8::53", true),
            (Errno::EINVAL, "fe80::53", false),
            (Errno::EHOSTUNREACH, "192.0.2.53", false),
            (Errno::ECONNREFUSED, "192.0.2.53", false),
        ] {
            assert_eq!(
                is_kept_in(errno, to.parse().unwrap()),
                is_kept,
                "{errno} {to}"
            );
        }
    }
}
