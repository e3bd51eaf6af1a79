//! What follows from a log, in words.

use std::net::IpAddr;

use crate::check_loop::log::SightingKind;
use crate::finding::Severity;
use crate::render::check_loop::words::sighting;
use crate::render::sentence::{Sentence, sentence};
use crate::render::why::numbers::{grouped, minute, percent};
use crate::render::why::said::Said;
use crate::text::{counted, escaped};
use crate::why::log::{Advice, Rcode, Resolver};

pub(super) fn resolver(resolver: Resolver) -> &'static str {
    match resolver {
        Resolver::Glibc => "glibc",
        Resolver::Musl => "musl",
        Resolver::GlibcOrMusl => "glibc or musl",
        Resolver::Go => "go",
        Resolver::CAres => "c-ares",
    }
}

pub(in crate::render) fn said(advice: &Advice) -> Said {
    let fact = Sentence::new(advice.code(), fact(advice));
    Said {
        fact: fact.begun(),
        fix: fix(advice),
    }
}

#[expect(clippy::too_many_lines, reason = "a table: one arm a fact")]
fn fact(advice: &Advice) -> String {
    match advice {
        Advice::NoQueries => {
            "there is no line about a query: the plugin log is not on, or this is \
             another program's log"
                .to_owned()
        }
        Advice::Message {
            id, meaning, name, ..
        } => {
            let name = name
                .as_ref()
                .map_or_else(String::new, |it| format!(", of {}", escaped(it.as_bytes())));
            format!(
                "{}: {id}{name}; no line is about a query",
                meaning.trim_end_matches('.')
            )
        }
        Advice::Filtered => "the log has only queries that failed (log with a class): which of \
             them were search-list waste it cannot tell, because the answers that would show it \
             are not in it"
            .to_owned(),
        Advice::Waste { waste, queries } => format!(
            "{} of {} queries ({}) were for names with a search domain too many: their lookups \
             were answered under another name",
            grouped(*waste),
            grouped(*queries),
            percent(*waste, *queries)
        ),
        Advice::Breaks { names } => {
            let names: Vec<String> = names.iter().map(|it| escaped(it.as_bytes())).collect();
            format!(
                "with ndots:2 images with musl (Alpine) would not find {}: they have two dots, and \
                 were found with a search domain, which musl does not try then; glibc and Go do",
                names.join(", ")
            )
        }
        Advice::Missing { names } => format!(
            "in this log no query for {} got a record: there is no such Service, a headless one \
             has no ready pod, or it has none of that type",
            names.join(", ")
        ),
        Advice::ByTurns {
            name,
            denied,
            queries,
            ..
        } => format!(
            "{name} was there and not there by turns: NXDOMAIN to {} of {} queries",
            grouped(*denied),
            grouped(*queries)
        ),
        Advice::Ndots {
            client,
            pod,
            resolver: by,
            saves,
            queries,
            breaks,
        } => {
            let who = pod.as_ref().unwrap_or(client);
            let mut text = format!(
                "with ndots:2 {} would save {} of its {} queries",
                escaped(who.as_bytes()),
                grouped(*saves),
                grouped(*queries)
            );
            if !breaks.is_empty() {
                let names: Vec<String> = breaks.iter().map(|it| escaped(it.as_bytes())).collect();
                let names = names.join(", ");
                text += &match by {
                    Some(Resolver::Musl) => {
                        format!(", and its resolver, musl, would not find {names} any more")
                    }
                    Some(Resolver::Glibc | Resolver::Go | Resolver::CAres) => {
                        format!("; {names} would cost one more query each, and still be found")
                    }
                    _ => format!(
                        "; with musl it would not find {names} any more, with glibc and Go it would"
                    ),
                };
            }
            text
        }
        Advice::FinalDot { name, saves } => format!(
            "a final dot ({}.) would save {} queries, wherever that name is written",
            escaped(name.as_bytes()),
            grouped(*saves)
        ),
        Advice::Error(seen) => {
            let meaning = sighting(seen.kind);
            let (file, line) = &seen.place;
            let times = if seen.count == 1 {
                String::new()
            } else {
                format!(", {} times", grouped(seen.count))
            };
            format!("{meaning}{times}: {} ({file}:{line})", seen.text)
        }
        Advice::Timeouts {
            server,
            count,
            worst,
            name,
        } => {
            let whose = name.as_ref().map(|it| format!(", each for {it}"));
            let whose = whose.unwrap_or_default();
            let times = match count {
                1 => "once".to_owned(),
                _ => format!("{} times", grouped(*count)),
            };
            let when = match worst {
                Some((at, length, most)) => {
                    let within = match length {
                        1 => "at".to_owned(),
                        _ => format!("in the {length} minutes from"),
                    };
                    let share = if most == count {
                        String::new()
                    } else {
                        format!("{} of them ", grouped(*most))
                    };
                    format!(", {share}{within} {}", minute(*at))
                }
                None => String::new(),
            };
            format!("{server} did not answer {times}{whose}{when}")
        }
        Advice::Broken {
            zone,
            rcode,
            count,
            queries,
        } => {
            let what = match rcode {
                Rcode::Unanswered => "no reply",
                other => other.word(),
            };
            format!(
                "{} of {} queries below {} got {what}",
                grouped(*count),
                grouped(*queries),
                escaped(zone.as_bytes())
            )
        }
        Advice::Slow { zone, count } => format!(
            "{} answers below {} took over 2 s: an upstream server did not answer, and the next \
             one did, which leaves no error line",
            grouped(*count),
            escaped(zone.as_bytes())
        ),
        Advice::Aaaa { zone, count } => format!(
            "{} queries for AAAA below {} failed, where those for A did not",
            grouped(*count),
            escaped(zone.as_bytes())
        ),
        Advice::Truncated { count, queries } => {
            let how_many = if count == queries {
                format!("all {} replies", grouped(*count))
            } else {
                format!("{} of {} replies", grouped(*count), grouped(*queries))
            };
            format!(
                "{how_many} were cut to what fits in UDP (tc): a client has the answer only if it \
                 asks again over TCP, which musl before 1.2.4 never does"
            )
        }
        Advice::Repeats {
            client,
            name,
            answers,
            seconds,
            ttl,
            is_known,
        } => format!(
            "{} was answered to {} {} times in {seconds} s, though an answer may be kept for {ttl} s{}",
            escaped(name.as_bytes()),
            escaped(client.as_bytes()),
            grouped(*answers),
            if *is_known {
                ""
            } else {
                " (kubeadm's ttl; --corefile tells yours)"
            },
        ),
        Advice::Restarts { starts, logs } => {
            let logs = counted(*logs, "log", "logs");
            format!(
                "CoreDNS started {starts} times in {logs}: it was restarted, or lines of several pods \
                 are in it"
            )
        }
        Advice::Bounded { forgotten, beyond } => format!(
            "there were more clients and names than are kept: {} failed queries were not joined \
             with their lookups, and {} queries came from clients that are not listed, so the \
             waste is at least what is said",
            grouped(*forgotten),
            grouped(*beyond)
        ),
        Advice::Timeless { lines } => format!(
            "{} lines have no time and were counted whatever --since and --until say",
            grouped(*lines)
        ),
    }
}

/// How to ask a server that did not answer.
fn ask(server: IpAddr, is_one_name: bool) -> String {
    let only = if is_one_name {
        "; if that is answered, only the one name fails: look at its own zone's servers"
    } else {
        ""
    };
    format!(
        "ask it from the DNS pod's network: kdns nsenter POD dig @{server} example.com +tries=1{only}"
    )
}

fn fix(advice: &Advice) -> String {
    match advice {
        Advice::NoQueries => "add `log` to the server block of the Corefile, wait, and ask again",
        Advice::Message { .. } => {
            "kdns why --message \"$(cat LOG)\" says what it proves, its causes, and what decides each"
        }
        Advice::Filtered => "log all classes for a while (`log` without `class`)",
        Advice::Ndots { .. } => {
            "spec.dnsConfig.options: [{name: ndots, value: \"2\"}] in the workload; kdns explain \
             NAME --target POD shows what a name would then ask"
        }
        Advice::Breaks { .. } => {
            "write these names in full, with the domain of the cluster, before ndots is lowered there"
        }
        Advice::Missing { .. } => "kubectl get services,endpoints -A shows whether it is there",
        Advice::ByTurns { is_service, .. } => by_turns(*is_service),
        Advice::FinalDot { .. } => {
            "write the name with its final dot in the workload's configuration, where the program \
             does not use it for TLS or HTTP"
        }
        Advice::Error(seen) if seen.kind.leads_back() => {
            "kdns check-loop on the node of that pod shows through which file, and the fix"
        }
        Advice::Error(seen) if seen.kind == SightingKind::TooManyQueries => {
            "find out who asks (above) and why upstream servers are slow before max_concurrent is \
             raised; kdns check-loop tells whether it is a loop"
        }
        Advice::Error(_) => "kdns why MESSAGE explains the line, and what decides its cause",
        Advice::Timeouts { server, name, .. } => return ask(server.ip(), name.is_some()),
        Advice::Broken { zone, .. } | Advice::Slow { zone, .. } => {
            return format!(
                "kdns upstream tells where queries for {} go; ask each server there",
                escaped(zone.as_bytes())
            );
        }
        Advice::Aaaa { .. } => {
            "ask its servers for AAAA: one that answers NXDOMAIN or an error for a name that has A \
             breaks musl's lookups"
        }
        Advice::Truncated { .. } => {
            "kdns nsenter POD dig NAME +ignore has the cut answer, +tcp the whole one: if +tcp \
             fails, TCP port 53 is blocked; if not, give the clients EDNS or a newer musl, or \
             fewer records"
        }
        Advice::Repeats { .. } => {
            "NodeLocal DNSCache, or a cache in the program, answers these; with glibc and musl \
             there is none"
        }
        Advice::Restarts { .. } => {
            "kubectl logs --prefix tells pods apart; kubectl -n kube-system describe pod tells why \
             the last one ended, and kubectl logs --previous has its log"
        }
        Advice::Timeless { .. } => "kubectl logs --timestamps writes them",
        Advice::Waste { .. } | Advice::Bounded { .. } => "",
    }
    .to_owned()
}

/// What to ask where a name is there by turns.
fn by_turns(is_service: bool) -> &'static str {
    if is_service {
        "ask each DNS pod for it (kdns nsenter POD dig NAME @DNS_POD): if one alone does not \
         know it, recreate that pod; if all do and then do not, its pods get ready and unready: \
         kubectl get endpointslices -A -w"
    } else {
        "kdns check-loop -v tells whether the servers of one list know the same names; ask \
         each of them for it"
    }
}

/// One sentence before all.
pub(super) fn verdict(advice: &[Advice]) -> Sentence {
    match advice.first() {
        Some(first) if first.severity() > Severity::Info => said(first).fact,
        Some(first @ (Advice::NoQueries | Advice::Message { .. } | Advice::Filtered)) => {
            said(first).fact
        }
        _ if advice.iter().any(|it| matches!(it, Advice::Missing { .. })) => sentence!(
            "services-without-record",
            "Services were asked for in vain; nothing else in this log is wrong, as far as a log tells"
        ),
        _ => sentence!(
            "nothing-found",
            "Nothing in this log is wrong, as far as a log tells"
        ),
    }
}
