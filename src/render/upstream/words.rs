//! The words of a report about name servers.

use crate::loopback::owners::Reach;
use crate::render::check_loop::words::remark as loop_remark;
use crate::render::sentence::{Sentence, sentence};
use crate::render::{kubelet, loopback, topology};
use crate::topology::resolved::{Lost as LinksLost, ScopeName};
use crate::upstream::{Confirmed, Lost, Note, Problem, Refused, Remark, Report, Unknown, Who};

/// Why not all is known, as a clause; `None`: it is.
pub(super) fn doubt(report: &Report) -> Option<Sentence> {
    let unread = report.unread().map(|it| Sentence::new("file-unread", it));
    let kubelet = report.kubelet_unseen.as_ref().map(|why| {
        sentence!(
            "processes-unseen",
            "whether a kubelet runs here is not known: {why}"
        )
    });
    unread.or(kubelet)
}

pub(in crate::render) fn problem(problem: &Problem) -> Sentence {
    let stops = |stops_pods: &bool| {
        if *stops_pods {
            "; the kubelet reads it for every pod, so no pod starts without it"
        } else {
            ""
        }
    };
    match problem {
        Problem::Leads { to, stops_pods } => sentence!(
            "file-missing",
            "it leads to {to}, and there is no such file{}",
            stops(stops_pods)
        ),
        Problem::Missing { stops_pods } => sentence!(
            "file-missing",
            "there is no such file: resolvers then ask 127.0.0.1{}",
            stops(stops_pods)
        ),
        Problem::Unread(reason) => Sentence::new("file-unread", reason.clone()),
        Problem::Empty => Sentence::new(
            "file-without-server",
            "it lists no name server: resolvers then ask 127.0.0.1",
        ),
    }
}

pub(super) fn remark(remark: &Remark) -> Sentence {
    match remark {
        Remark::NotRestarted(running) => kubelet::not_restarted(running),
        Remark::OfPod { path, pod } => sentence!(
            "file-of-pod",
            "{path} is what the running kubelet wrote for pod {pod}, from the file that it has"
        ),
        Remark::Loop(remark) => loop_remark(remark).begun(),
    }
}

pub(in crate::render) fn who(who: &Who) -> String {
    match who {
        Who::Server(name) => name.to_string(),
        Who::Process(process) => format!("{} (process {})", process.comm, process.pid),
        Who::Usual(who) => (*who).to_owned(),
        Who::ClusterDns => "the cluster's DNS service".to_owned(),
        Who::Service(Some(name)) => format!("the Service {name}"),
        Who::UsualService => "a usual address of the cluster's DNS service".to_owned(),
        Who::Service(None) => "amid the addresses of the cluster's Services".to_owned(),
        Who::Pod(label) => format!("pod {label}"),
        Who::Node(Some(interface)) => format!(
            "this node's own address on {interface}{}",
            bridge(interface)
        ),
        Who::Node(None) => "this node's own address".to_owned(),
        Who::Outside => "a server outside the node".to_owned(),
        Who::Roots => {
            "the servers of the root zone and those below, one after the other".to_owned()
        }
        Who::ClusterDnsPods => {
            "the cluster's DNS pods, by way of the service kube-dns-upstream".to_owned()
        }
        Who::Other(text) => text.clone(),
        Who::File(path) => format!("the servers of {path}"),
    }
}

pub(super) fn confirmed(confirmed: &Confirmed) -> String {
    match confirmed {
        Confirmed::File(by) => loopback::confirmation(by),
        Confirmed::Socket {
            owner: Some(process),
            file,
        } => format!(
            "the socket of {} (process {}) in {file}",
            process.comm, process.pid
        ),
        Confirmed::Socket { owner: None, file } => format!("the socket in {file}"),
        Confirmed::Setting(place) => format!("the setting at {place}"),
        Confirmed::ClusterDns(it) => format!("the kubelet's clusterDNS, {}", kubelet::origin(it)),
        Confirmed::Said(proof) => format!("{} ({})", proof.text, proof.place),
        Confirmed::Openresolv(place) => format!("openresolv's name_servers at {place}"),
    }
}

pub(super) fn note(note: &Note) -> Sentence {
    match note {
        Note::Guess => Sentence::new("guess", "this is a guess: only the address says so"),
        Note::Reach(reach) => loopback::reach(*reach),
        Note::PodItself => loopback::reach(Reach::Loopback),
        Note::DnsPods => Sentence::new(
            "dns-pods-ask-themselves",
            "a DNS pod that takes its servers from this file sends to itself by way of the service",
        ),
        Note::Openresolv { path, place } => sentence!(
            "openresolv-file",
            "openresolv writes its servers to {path} ({place})"
        ),
        Note::Doubt(doubt) => topology::doubt(doubt),
    }
}

pub(super) fn lost(lost: &Lost) -> Sentence {
    match lost {
        Lost::Links(lost) => links(lost),
        Lost::Shown { count, most } => sentence!(
            "servers-not-shown",
            "it lists {count} servers, of which only the first {most} are shown"
        ),
        Lost::Taken { count, most } => sentence!(
            "servers-not-taken",
            "it lists {count} servers, of which resolvers and pods get the first {most}"
        ),
    }
}

fn links(lost: &LinksLost) -> Sentence {
    let scope = |scope: &ScopeName| match scope {
        ScopeName::Global => "global".to_owned(),
        ScopeName::Link(index) => format!("link {index}"),
        ScopeName::Delegate(name) => format!("delegated zone {name}"),
    };
    match lost {
        LinksLost::Unread(server) => sentence!(
            "server-not-asked",
            "{} ({}) is not asked: it was set after systemd-resolved was started, and counts \
                 from systemctl restart systemd-resolved on",
            server.value,
            server.place
        ),
        LinksLost::Route {
            names,
            servers,
            scope: own,
        } => {
            let names: Vec<&str> = names.iter().map(|it| it.trim_end_matches('.')).collect();
            let words: Vec<String> = servers.iter().map(|it| it.value.to_string()).collect();
            let place = servers.first().map(|it| it.place.to_string());
            sentence!(
                "servers-of-domain",
                "names below {} go to {} only ({}, {})",
                names.join(", "),
                words.join(" and "),
                scope(own),
                place.unwrap_or_default()
            )
        }
        LinksLost::Tls { mode, scope: own } => {
            // The global setting is for links without one of their own, too.
            let of = match own {
                ScopeName::Global => "all links that do not say otherwise".to_owned(),
                own => scope(own),
            };
            sentence!(
                "dns-over-tls",
                "DNS over TLS is {mode} for the servers of {of}"
            )
        }
        LinksLost::Port(server) => sentence!(
            "server-with-port",
            "{} ({}) is left out, as resolv.conf knows no ports",
            server.value,
            server.place
        ),
    }
}

pub(super) fn refused(refused: &Refused) -> Sentence {
    let at = |place: &Option<_>| {
        let place: Option<&crate::text::Place> = place.as_ref();
        place.map_or_else(String::new, |it| format!(" ({it})"))
    };
    match refused {
        Refused::StubOff(place) => sentence!(
            "stub-off",
            "the stub is switched off by DNSStubListener={}",
            at(place)
        ),
        Refused::StubTcp(place) => sentence!(
            "stub-tcp",
            "the stub listens on TCP only by DNSStubListener={}, and resolvers ask over UDP",
            at(place)
        ),
        Refused::Nobody => Sentence::new("nobody-listens", "nobody listens there on port 53"),
        Refused::OnlyTcp => Sentence::new(
            "tcp-only",
            "only TCP is listened to there, and resolvers ask over UDP",
        ),
    }
}

pub(super) fn unknown(unknown: &Unknown) -> Sentence {
    match unknown {
        Unknown::TooLong => Sentence::new("path-too-long", "the query path is too long"),
        Unknown::Doubt(doubt) => topology::doubt(doubt),
        Unknown::Nobody => Sentence::new("forwards-to-nobody", "it forwards to nobody"),
        Unknown::DnsPods => Sentence::new(
            "dns-pods-elsewhere",
            "it leads to the cluster's DNS pods, and none of them is known on this node",
        ),
        Unknown::Rules => Sentence::new(
            "see-path",
            "rules of this node say where its packets go, and `kdns path` shows them",
        ),
        Unknown::Target => Sentence::new("target-not-followed", "it is not followed"),
        Unknown::File => Sentence::new("file-unread", "it is not there or was not read"),
        Unknown::Usual(place) => loopback::elsewhere(*place),
        Unknown::Forwards => Sentence::new("forwards-unknown", "where it forwards to is not known"),
    }
}

/// Whose bridge an interface is by its usual name.
fn bridge(interface: &str) -> &'static str {
    match interface {
        "docker0" => ", Docker's bridge",
        "lxdbr0" => ", LXD's bridge",
        "incusbr0" => ", Incus's bridge",
        "lxcbr0" => ", LXC's bridge",
        "cni0" | "cbr0" => ", the bridge of the pods",
        "nodelocaldns" => ", NodeLocal DNSCache's interface",
        _ if interface.starts_with("virbr") => ", libvirt's bridge",
        _ if interface.starts_with("podman") => ", Podman's bridge",
        _ if interface.starts_with("tailscale") => ", Tailscale's interface",
        _ => "",
    }
}
