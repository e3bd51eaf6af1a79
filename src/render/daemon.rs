//! The words for a daemon's own resolver.

use crate::program::daemon::{Names, Section};
use crate::scenario::own::{Daemon, Given};

/// So many resolvers of one configuration are told one by one.
const MAX_TOLD: usize = 5;

/// What a daemon's configuration says of names, and by what of it `asked` is looked up,
/// as sentences without a full stop.
pub fn sentences(names: &Names, asked: &str) -> Vec<String> {
    let title = names.daemon.title();
    let mut said: Vec<String> = names
        .unread
        .iter()
        .take(MAX_TOLD)
        .map(|it| format!("{title}'s configuration: {it}"))
        .collect();
    let told = names.sections.iter().take(MAX_TOLD);
    said.extend(told.map(|it| section(names.daemon, it)));
    let more = names.more + names.sections.len().saturating_sub(MAX_TOLD);
    if more > 0 {
        said.push(format!("{title}'s configuration has {more} more resolvers"));
    }
    match names.counting(asked) {
        Some(counting) => {
            let differs = |it: &&Section| it.own.servers != counting.own.servers;
            let others = names
                .sections
                .iter()
                .filter(|it| it.place != counting.place);
            if others.into_iter().any(|it| differs(&it)) || names.more > 0 {
                let place = &counting.place;
                said.push(format!("what is explained for {title} is the resolver at {place}; which one counts is a matter of what is asked for"));
            }
        }
        None if names.is_whole() => said.push(nothing(names)),
        None => said.push(format!(
            "whether {title} has a resolver of its own is not known"
        )),
    }
    if let Some(place) = &names.scripts {
        let what = match names.daemon {
            Daemon::Envoy => {
                "further clusters and names come from a control plane or from requests"
            }
            _ => "scripts and modules in it can look names up by themselves",
        };
        said.push(format!("{place}: {title}: {what}, which is not known here"));
    }
    said
}

/// The files are read as they are now, the daemon has read them before.
fn nothing(names: &Names) -> String {
    if names.daemon == Daemon::Envoy {
        return "no cluster in Envoy's bootstrap has a name for an address".to_owned();
    }
    let files = match names.files.as_slice() {
        [main] => main.clone(),
        [main, others @ ..] => format!("{main} or the {} files that it leads to", others.len()),
        [] => "its configuration".to_owned(),
    };
    let (title, lacks) = match names.daemon {
        Daemon::Nginx => ("nginx", "no `resolver`"),
        Daemon::Haproxy if names.sections.is_empty() => ("HAProxy", "no `resolvers`"),
        _ => ("HAProxy", "nothing that uses a `resolvers` section"),
    };
    format!(
        "{title} has {lacks} in {files}: names are looked up once, when it starts, by the C library"
    )
}

fn section(daemon: Daemon, section: &Section) -> String {
    let place = &section.place;
    let label = &section.label;
    let mut servers: Vec<String> = section
        .own
        .servers
        .iter()
        .map(|it| given(&it.value))
        .collect();
    if servers.is_empty() {
        servers.push("no server".to_owned());
    }
    let settings = match section.settings.as_slice() {
        [] => String::new(),
        words => format!("; {}", words.join(", ")),
    };
    let servers = servers.join(", ");
    match (daemon, &section.used) {
        (Daemon::Nginx, _) => format!(
            "{place}: nginx' `resolver` of {label}: {servers}{settings}; it asks them for names in variables and servers with `resolve`, and the C library, once, for all others"
        ),
        (Daemon::Haproxy, Some(used)) => format!(
            "{place}: HAProxy's `resolvers {label}`: {servers}{settings}; used at {used}, and the C library is asked once, at the start, for names that no line gives to it"
        ),
        (Daemon::Envoy, _) => {
            let names = section.names.join(", ");
            let servers = if section.is_libc {
                "the C library"
            } else {
                &servers
            };
            format!("{place}: Envoy's cluster {label}: asks {servers} for {names}{settings}")
        }
        (Daemon::Haproxy, None) => {
            format!("{place}: HAProxy's `resolvers {label}`: {servers}{settings}; no line uses it")
        }
    }
}

fn given(given: &Given) -> String {
    match given {
        Given::Server(server) => server.to_string(),
        Given::Name(name, _) => format!("{name}, a name that the C library looks up at the start"),
        Given::ResolvConf => "those of resolv.conf".to_owned(),
        Given::Unknown(word) => format!("`{word}`, which is not understood here"),
    }
}
