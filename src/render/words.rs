//! The sentences that text and JSON share.

use std::net::IpAddr;
use std::time::Duration;

use crate::engine::machine::Outcome;
use crate::engine::message::Because;
use crate::explain::advice::Change;
use crate::explain::cluster::Meaning;
use crate::explain::decision::{Decision, Order};
use crate::explain::transition::Reply;
use crate::name::Name;
use crate::resolver::reading::Origin;
use crate::scenario::Scenario;
use crate::text::{counted, escaped};

/// `FILE:LINE:COLUMN` of a word of the file, or what else a setting comes from.
pub fn origin(scenario: &Scenario, origin: Origin) -> String {
    match (origin, &scenario.resolv_conf) {
        (Origin::File(span), Some(conf)) => conf.place(span.start),
        (Origin::File(_), None) => "no file".to_owned(),
        (Origin::Environment(variable), _) => variable.to_owned(),
        (Origin::Own(at), _) => {
            let own = scenario.own.as_ref().and_then(|it| it.servers.get(at));
            own.map(|it| it.place.to_string()).unwrap_or_default()
        }
        (Origin::HostName, _) => format!("host name {}", scenario.hostname),
        (Origin::BuiltIn, _) => "default".to_owned(),
    }
}

/// The decision as one sentence, without its resolvers.
pub fn decision(scenario: &Scenario, decision: &Decision) -> String {
    let list = || {
        let from = decision.search_origin.map(|it| origin(scenario, it));
        let entries = counted(decision.search, "entry", "entries");
        format!(
            "the search list of {entries} ({})",
            from.unwrap_or_default()
        )
    };
    let compared = compared(scenario, decision);
    match &decision.order {
        Order::Nothing(Outcome::Found(_)) if scenario.name.parse::<IpAddr>().is_ok() => {
            "nothing is asked: the name is an address".to_owned()
        }
        Order::Nothing(Outcome::Found(_)) => {
            "nothing is asked: the answer is known without DNS".to_owned()
        }
        Order::Nothing(failed) => {
            let code = failed.code().unwrap_or_default();
            match Name::from_plain(scenario.name.as_bytes()) {
                Err(error) => format!("nothing is asked, as {error}: it ends with {code}"),
                Ok(_) => {
                    let is_refused = ["EAI_NONAME", "no such host"].contains(&code);
                    let why = not_a_host_name(&scenario.name).filter(|_| is_refused);
                    let why = why.unwrap_or_default();
                    format!("nothing is asked{why}: it ends with {code}")
                }
            }
        }
        Order::Rooted => "a final dot: this name and no other".to_owned(),
        Order::AsIsFirst => format!("{compared}: the name as it is first, then {}", list()),
        Order::SearchFirst => format!("{compared}: first {}, then the name as it is", list()),
        Order::SearchOnly => format!("{compared}: only {}, never the name as it is", list()),
        Order::AsIsOnly if decision.has_enough_dots() == Some(false) => {
            format!("it never searches: the name as it is, without {}", list())
        }
        Order::AsIsOnly => format!("{compared}: the name as it is, without {}", list()),
        Order::NoSearchList => "no search list: the name as it is".to_owned(),
        Order::Other => "another name is asked in its place".to_owned(),
    }
}

/// What no host name has, and how DNS has it.
fn not_a_host_name(name: &str) -> Option<String> {
    let is_usual = |it: char| it.is_ascii_alphanumeric() || "-_.".contains(it);
    let odd = name.chars().find(|it| !is_usual(*it))?;
    let ascii = idna::domain_to_ascii(name).ok().filter(|it| it != name);
    let ascii = ascii.filter(|it| it.chars().all(is_usual));
    let hint = ascii.map_or_else(String::new, |it| format!(" (in DNS it is {it})"));
    let odd = escaped(odd.to_string().as_bytes());
    Some(format!(", as no host name has `{odd}`{hint}"))
}

/// `2 dots are fewer than ndots:5 (FILE:3:9)`; only the dots where the
/// resolver compares them with nothing.
fn compared(scenario: &Scenario, decision: &Decision) -> String {
    let (dots, be) = match decision.dots {
        1 => ("1 dot".to_owned(), "is"),
        dots => (format!("{dots} dots"), "are"),
    };
    let relation = match decision.has_enough_dots() {
        Some(true) => "not fewer than",
        _ => "fewer than",
    };
    match decision.ndots {
        Some(ndots) => {
            let from = origin(scenario, ndots.origin);
            let cut = match written_ndots(scenario, ndots.origin) {
                Some(written) if written > ndots.value => format!(", cut from {written}"),
                _ => String::new(),
            };
            let value = ndots.value;
            format!("{dots} {be} {relation} ndots:{value} ({from}{cut})")
        }
        None => dots,
    }
}

/// The number that the file has for `ndots`: resolvers have an upper limit.
fn written_ndots(scenario: &Scenario, origin: Origin) -> Option<u32> {
    let Origin::File(span) = origin else {
        return None;
    };
    let word = scenario.resolv_conf.as_ref()?.bytes(span);
    let number = word.strip_prefix(b"ndots:")?;
    std::str::from_utf8(number).ok()?.parse().ok()
}

/// Where a candidate comes from.
pub fn because(because: &Because) -> String {
    match because {
        Because::Search(index) => format!("search {}", index + 1),
        Because::AsIs => "as is".to_owned(),
        Because::HostAlias => "HOSTALIASES".to_owned(),
        Because::Cname => "alias target".to_owned(),
        Because::FollowUp => "follow-up".to_owned(),
        Because::Reverse => "reverse".to_owned(),
        Because::Module => "nsswitch.conf".to_owned(),
    }
}

/// What a name would be in the cluster.
pub fn meaning(meaning: &Meaning) -> String {
    match meaning {
        Meaning::Service { service, namespace } => {
            format!("service {service} in namespace {namespace}")
        }
        Meaning::HeadlessPod {
            pod,
            service,
            namespace,
        } => {
            format!("pod {pod} of the headless service {service} in namespace {namespace}")
        }
        Meaning::Port {
            port,
            service,
            namespace,
        } => {
            format!("port {port} (SRV) of service {service} in namespace {namespace}")
        }
        Meaning::PodAddress => "the address of a pod".to_owned(),
        Meaning::Nothing => "nothing in the cluster has such a name".to_owned(),
        Meaning::External => "a name outside of the cluster".to_owned(),
    }
}

/// How an answer is called.
pub fn reply(reply: Reply) -> &'static str {
    match reply {
        Reply::NxDomain => "NXDOMAIN",
        Reply::NoData => "NODATA",
        Reply::ServFail => "SERVFAIL",
        Reply::Refused => "REFUSED",
        Reply::NotImp => "NOTIMP",
        Reply::FormErr => "FORMERR",
        Reply::Silence => "silence",
        Reply::PortClosed => "a closed port",
    }
}

/// A change, as the beginning of a sentence.
pub fn change(change: &Change) -> String {
    match change {
        Change::FinalDot(name) => format!("Write {name} with its final dot"),
        Change::Ndots(ndots) => format!("Set ndots:{ndots}"),
    }
}

/// What a change costs besides what it does to other names.
pub fn trade_off(change: &Change) -> &'static str {
    match change {
        Change::FinalDot(_) => {
            "the name must be complete, and a program that hands it on (HTTP Host, TLS) hands on the dot"
        }
        Change::Ndots(_) => "every name that the pod looks up is affected",
    }
}

/// Seconds, `2.5 s`.
pub fn seconds(duration: Duration) -> String {
    let tenths = (duration.as_millis() + 50) / 100;
    if tenths.is_multiple_of(10) {
        format!("{} s", tenths / 10)
    } else {
        format!("{}.{} s", tenths / 10, tenths % 10)
    }
}
