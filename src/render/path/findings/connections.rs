//! The words of findings about the connection tracking table.

use std::net::SocketAddr;

use super::{Step, Words, advice, command};
use crate::node::kernel::ConntrackCounters;
use crate::path::findings::ConnectionFinding;
use crate::render::sentence::sentence;

/// A finding about the connection tracking table.
pub(super) fn connection(finding: &ConnectionFinding) -> Words {
    match finding {
        ConnectionFinding::Full { count, max } => full(*count, *max),
        ConnectionFinding::Losing(counters) => Words {
            what: sentence!(
                "connections-losing",
                "connections are being lost in the connection tracking table: {}",
                counted(*counters)
            ),
            why: LOST.to_owned(),
            fix: vec![advice(NO_TRACKING)],
        },
        ConnectionFinding::Lost { counters, races_an_hour } => {
            let rate = races_an_hour.filter(|it| *it > 0);
            let rate = rate.map(|it| format!(", {it} lost races an hour")).unwrap_or_default();
            Words {
                what: sentence!(
                    "connections-lost",
                    "connections were lost in the connection tracking table since the node started: {}{rate}",
                    counted(*counters)
                ),
                why: LOST.to_owned(),
                fix: vec![advice(NO_TRACKING)],
            }
        }
        ConnectionFinding::Stale { count, own, service, endpoint } => Words {
            what: sentence!(
                "stale-connection",
                "{} still {} {endpoint}, which is no endpoint of {service} any more{}",
                entries(*count),
                if *count == 1 { "leads to" } else { "lead to" },
                own_words(*own, *count)
            ),
            why: "who asks again from the same port is sent there without asking the rules, until the entry has been idle for its whole time; each repeated query begins that time again".to_owned(),
            fix: vec![delete(*service, *endpoint)],
        },
        ConnectionFinding::Untranslated { count, own, service } => Words {
            what: sentence!(
                "untranslated-connection",
                "{} {} older than the Service's rules: what comes from the same port is not translated{}",
                entries(*count),
                if *count == 1 { "is" } else { "are" },
                own_words(*own, *count)
            ),
            why: "the first packet of a connection decides about its translation, and these had none when theirs came".to_owned(),
            fix: vec![delete(*service, *service)],
        },
    }
}

const LOST: &str = "insert_failed counts queries that were sent from one socket at the same time, as those for IPv4 and IPv6, of which one is dropped: the resolver waits five seconds for it; drop and early_drop count what did not fit the table; other programs than resolvers count, too";

const NO_TRACKING: &str = "run NodeLocal DNSCache, whose queries make no connections; with glibc the option single-request-reopen or use-vc helps, too";

fn full(count: u64, max: u64) -> Words {
    let (code, word) = if count >= max {
        ("connections-full", "full".to_owned())
    } else {
        let percent = count.saturating_mul(100) / max.max(1);
        (
            "connections-nearly-full",
            format!("nearly full ({percent} %)"),
        )
    };
    Words {
        what: sentence!(code, "the connection tracking table is {word}: {count} of {max} entries"),
        why: "what does not fit is dropped before any rule sees it, a query like everything else; each one over UDP makes an entry that stays for 30 seconds or more".to_owned(),
        fix: vec![
            command(&format!("sysctl -w net.netfilter.nf_conntrack_max={}", max.saturating_mul(2))),
            advice("kube-proxy sets it again at its start: conntrack.maxPerCore in its configuration"),
        ],
    }
}

fn counted(counters: ConntrackCounters) -> String {
    let named = [
        ("insert_failed", counters.insert_failed),
        ("drop", counters.drop),
        ("early_drop", counters.early_drop),
    ];
    let named = named.into_iter().filter(|it| it.1 > 0);
    named
        .map(|(name, count)| format!("{name} {count}"))
        .collect::<Vec<_>>()
        .join(", ")
}

fn entries(count: usize) -> String {
    let entries = if count == 1 { "entry" } else { "entries" };
    format!("{count} {entries} of the connection tracking table")
}

fn own_words(own: usize, count: usize) -> String {
    match own {
        0 => String::new(),
        _ if count == 1 => ", for this client".to_owned(),
        _ => format!(", {own} of them for this client"),
    }
}

/// The command that deletes entries by whom they ask and who answers.
fn delete(service: SocketAddr, answers: SocketAddr) -> Step {
    let family = if service.is_ipv6() { " -f ipv6" } else { "" };
    let (service, answers) = (service.ip(), answers.ip());
    command(&format!(
        "conntrack -D{family} -p udp -d {service} -r {answers}"
    ))
}
