//! The probe against real servers, with its own packets counted on the wire.

use std::net::SocketAddr;
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use kdns::check_loop::seen::{self, NamespaceFile, ProbeResult, Record, Sight, Target, Unseen};
use kdns::probe;
use kdns::topology::{Instance, Network, ServerName};

use crate::lab::recorder::Recorder;
use crate::lab::servers::{Upstream, upstream};
use crate::lab::{self, Case, Lab, Outcome};

pub(crate) const UPSTREAM: &str = "127.0.0.99";

/// The programs in a circle, `-` for the upstream server that opens it.
pub(crate) const CIRCLES: [&str; 11] = [
    "dnsmasq",
    "dnsmasq dnsmasq",
    "dnsmasq dnsmasq dnsmasq",
    "unbound",
    "unbound unbound",
    "unbound unbound unbound",
    "named",
    "named named",
    "dnsmasq unbound named",
    "unbound-tcp",
    "dnsmasq unbound-tcp",
];

/// The cases.
pub(crate) fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    for circle in CIRCLES {
        for (word, argument) in [("loop", circle.to_owned()), ("line", format!("{circle} -"))] {
            cases.push(Case {
                name: format!("probe::{word}: {circle}"),
                needs: &["ip", "dnsmasq", "unbound", "named"],
                run: circle_of_servers,
                argument,
            });
        }
    }
    let mut case = |name: &str, run, argument: &str| {
        cases.push(Case {
            name: format!("probe::{name}"),
            needs: &["ip", "nsenter", "dnsmasq", "unbound"],
            run,
            argument: argument.to_owned(),
        });
    };
    for program in ["dnsmasq", "unbound", "itself"] {
        case(
            &format!("the upstream is silent: {program}"),
            silent,
            program,
        );
        case(&format!("the upstream is late: {program}"), late, program);
    }
    case("nobody listens", nobody, "");
    case("IPv6, a loop", six, "::1");
    case("IPv6, a way out", six, UPSTREAM);
    case(
        "a pod that loops by its own loopback address",
        pod,
        "127.0.0.53",
    );
    case("a pod that asks the node", pod, "10.244.0.1");
    case("a namespace that is gone", gone, "");
    case("no capabilities", without_capabilities, "");
    cases
}

fn target(server: &str, pod: Option<(&str, String)>) -> Target {
    let takes_any = pod.is_some();
    Target {
        who: ServerName {
            program: server.to_owned(),
            instance: Instance::Only,
        },
        network: pod
            .as_ref()
            .map_or(Network::Node, |(pod, _)| Network::Pod((*pod).to_owned())),
        namespace: pod.map(|(_, path)| NamespaceFile { path, number: None }),
        server: SocketAddr::new(server.parse().unwrap(), 53),
        takes_any,
        others: Vec::new(),
        zones: vec![".".to_owned(), "corp.example.".to_owned()],
    }
}

/// Probes, with a recorder beside it, and compares the two.
fn probe(targets: &[Target], limit: Duration) -> Result<(ProbeResult, Record), String> {
    let recorder = Recorder::default();
    recorder.watch(None)?;
    for target in targets {
        if let Network::Pod(pod) = &target.network {
            recorder.watch(Some(pod))?;
        }
    }
    let record = probe::run(Path::new("/"), targets, limit);
    let seen = seen::judge(targets, &record);
    thread::sleep(Duration::from_millis(100));
    for (number, (target, server)) in targets.iter().zip(&seen.servers).enumerate() {
        let pod = match &target.network {
            Network::Pod(pod) => Some(pod.as_str()),
            Network::Node => None,
        };
        let is_back = recorder.arrivals().into_iter().any(|it| {
            let asked = record
                .questions
                .iter()
                .find(|q| q.target == number && q.name == it.name);
            let at_server = SocketAddr::V4(it.to) == target.server || target.takes_any;
            let foreign = asked.is_some_and(|q| q.from != SocketAddr::V4(it.from));
            it.pod.as_deref() == pod && at_server && foreign
        });
        if is_back != (server.sight == Sight::Loops) {
            let all = recorder.arrivals();
            return Err(format!(
                "recorded {all:#?}, but seen {seen:#?} by {record:#?}"
            ));
        }
    }
    Ok((seen, record))
}

fn expect(targets: &[Target], limit: Duration, sights: &[Sight]) -> Outcome {
    let (seen, record) = probe(targets, limit)?;
    let found: Vec<Sight> = seen.servers.iter().map(|it| it.sight).collect();
    if found == sights {
        return Ok(());
    }
    let logs = lab::logs();
    Err(format!(
        "{sights:?} expected: {seen:#?} by {record:#?}\n{logs}"
    ))
}

/// Starts servers of which each forwards to the next, the last to the first,
/// or out.
pub(crate) fn start_circle(lab: &mut Lab, argument: &str) -> Result<Vec<Target>, String> {
    upstream(None, UPSTREAM, Upstream::NoSuchName)?;
    let words: Vec<&str> = argument.split(' ').collect();
    let programs: Vec<&str> = words.iter().copied().filter(|it| *it != "-").collect();
    let is_open = programs.len() < words.len();
    let address = |number: usize| format!("127.0.1.{}", number + 1);
    let mut targets = Vec::new();
    for (number, program) in programs.iter().enumerate() {
        let is_last = number + 1 == programs.len();
        let next = match (is_last, is_open) {
            (true, true) => UPSTREAM.to_owned(),
            (true, false) => address(0),
            (false, _) => address(number + 1),
        };
        lab.server(program, None, &address(number), &[&next])?;
        targets.push(target(&address(number), None));
    }
    Ok(targets)
}

fn circle_of_servers(lab: &mut Lab, argument: &str) -> Outcome {
    let targets = start_circle(lab, argument)?;
    let is_open = argument.ends_with(" -");
    let sight = if is_open {
        Sight::NotSeen
    } else {
        Sight::Loops
    };
    if argument == "dnsmasq unbound-tcp" {
        // Over TCP dnsmasq asks with one connection at a time, so that a
        // query may not get round in time: nothing is said of that one.
        let (seen, record) = probe(&targets, probe::LIMIT)?;
        return match seen.sight {
            Sight::Loops => Ok(()),
            _ => Err(format!("{seen:#?} by {record:#?}")),
        };
    }
    let sights = vec![sight; targets.len()];
    let first = expect(&targets, probe::LIMIT, &sights);
    // On a busy machine unbound gives up a connection that is not there at once, and says SERVFAIL:
    // nothing is known then.
    match first {
        Err(said) if is_open && said.contains("with SERVFAIL") => {
            expect(&targets, probe::LIMIT, &sights)
        }
        first => first,
    }
}

/// A server between the prober and the upstream server, or none.
fn ask_upstream(lab: &mut Lab, program: &str, how: Upstream) -> Result<Target, String> {
    upstream(None, UPSTREAM, how)?;
    if program == "itself" {
        return Ok(target(UPSTREAM, None));
    }
    lab.server(program, None, "127.0.1.1", &[UPSTREAM])?;
    Ok(target("127.0.1.1", None))
}

fn silent(lab: &mut Lab, program: &str) -> Outcome {
    let target = ask_upstream(lab, program, Upstream::Silent)?;
    let begun = Instant::now();
    expect(&[target], Duration::from_secs(6), &[Sight::Unknown])?;
    if begun.elapsed() > Duration::from_secs(7) {
        return Err(format!("took {:?}", begun.elapsed()));
    }
    Ok(())
}

fn late(lab: &mut Lab, program: &str) -> Outcome {
    let delay = Duration::from_secs(3);
    let target = ask_upstream(lab, program, Upstream::Late(delay))?;
    // unbound does not wait so long, and asks again.
    let sight = match program {
        "unbound" => Sight::Unknown,
        _ => Sight::NotSeen,
    };
    expect(&[target], probe::LIMIT, &[sight])
}

fn six(lab: &mut Lab, next: &str) -> Outcome {
    upstream(None, UPSTREAM, Upstream::NoSuchName)?;
    // dnsmasq leaves out a server with an address of its own.
    lab.server("unbound", None, "::1", &[next])?;
    let targets = [target("::1", None)];
    // The recorder reads IPv4 only.
    let record = probe::run(Path::new("/"), &targets, probe::LIMIT);
    let seen = seen::judge(&targets, &record);
    match (next, seen.sight) {
        ("::1", Sight::Loops) | (UPSTREAM, Sight::NotSeen) => Ok(()),
        _ => Err(format!("{seen:#?} by {record:#?}")),
    }
}

fn nobody(_: &mut Lab, _: &str) -> Outcome {
    let target = target("127.0.1.1", None);
    let (seen, _) = probe(&[target], probe::LIMIT)?;
    let reason = seen.servers.first().and_then(|it| it.reason.as_ref());
    match reason {
        Some(Unseen::NobodyListens) => Ok(()),
        _ => Err(format!("{seen:#?}")),
    }
}

/// A pod with a server on every address that forwards to `upstream`: to a
/// loopback address, which is its own, or to the node, which asks the pod.
fn pod(lab: &mut Lab, upstream: &str) -> Outcome {
    lab::make_pod("cni-1", "10.244.0.5")?;
    let pid = lab.server("dnsmasq", Some("cni-1"), "0.0.0.0", &[upstream])?;
    let in_pod = |path: String| target("127.0.0.1", Some(("cni-1", path)));
    let by_file = in_pod("/run/netns/cni-1".to_owned());
    let by_process = in_pod(format!("/proc/{pid}/ns/net"));
    if upstream.starts_with("127.") {
        expect(&[by_file], probe::LIMIT, &[Sight::Loops])?;
        return expect(&[by_process], probe::LIMIT, &[Sight::Loops]);
    }
    lab.server("unbound", None, upstream, &["10.244.0.5"])?;
    let both = [by_file, target(upstream, None)];
    expect(&both, probe::LIMIT, &[Sight::Loops, Sight::Loops])
}

/// The others are asked all the same.
fn gone(lab: &mut Lab, _: &str) -> Outcome {
    lab.server("dnsmasq", None, "127.0.1.1", &["127.0.1.1"])?;
    let mut replaced = target("127.0.0.1", Some(("other", "/proc/1/ns/net".to_owned())));
    replaced.namespace = Some(NamespaceFile {
        path: "/proc/1/ns/net".to_owned(),
        number: Some(1),
    });
    let missing = target("127.0.0.1", Some(("gone", "/run/netns/gone".to_owned())));
    let targets = [missing, replaced, target("127.0.1.1", None)];
    let record = probe::run(Path::new("/"), &targets, probe::LIMIT);
    let seen = seen::judge(&targets, &record);
    let reasons = seen.servers.iter().filter_map(|it| it.reason.as_ref());
    let expected = [
        "cannot open the network namespace /run/netns/gone: no such file or directory",
        "/proc/1/ns/net keeps another network namespace by now",
    ];
    let expected = expected.map(|it| Unseen::Trouble(it.to_owned()));
    if seen.sight == Sight::Loops && reasons.eq(&expected) {
        return Ok(());
    }
    Err(format!("{seen:#?}"))
}

fn without_capabilities(_: &mut Lab, _: &str) -> Outcome {
    let targets = [target("127.0.0.1", Some(("x", "/run/netns/x".to_owned())))];
    for set in [caps::CapSet::Effective, caps::CapSet::Permitted] {
        caps::clear(None, set).map_err(|e| e.to_string())?;
    }
    let record = probe::run(Path::new("/"), &targets, probe::LIMIT);
    let seen = seen::judge(&targets, &record);
    let reason = seen.servers.first().and_then(|it| it.reason.as_ref());
    let names = "the probe needs CAP_NET_RAW and CAP_SYS_ADMIN; ";
    match reason {
        Some(Unseen::Trouble(reason))
            if reason.starts_with(names) && seen.sight == Sight::Unknown =>
        {
            Ok(())
        }
        _ => Err(format!("{seen:#?}")),
    }
}
