//! What to do about causes.

use std::net::IpAddr;

use super::rounds::{in_config_map, is_copy, of_check_loop, of_loop};
use super::{address, of_target};
use crate::check_loop::Report as LoopReport;
use crate::check_loop::facts::{Remark, Trouble};
use crate::doctor::{Answer, Asked, Kind, Whom};
use crate::finding::Finding;
use crate::path::{Outcome, Stage, Tree, Verdict};
use crate::render::command::Command;
use crate::render::doctor::step::Step;
use crate::render::live::concluded;
use crate::render::path;
use crate::render::sentence::Sentence;
use crate::render::why::log::words::said;

/// What to do about a cause; empty: nothing is known that was tried.
pub(in crate::render::doctor) fn fix(kind: &Kind<'_>) -> Vec<Step> {
    match kind {
        Kind::Loop(report) => of_loop(report),
        Kind::Trouble(trouble, report) => of_trouble(trouble, report),
        Kind::Dead(step, _) => {
            let text = "Have it run again, or name a server that answers at";
            let place = step.place.iter();
            place.map(|it| Step::new(format!("{text} {it}"))).collect()
        }
        Kind::NoServer(file) => vec![Step::new(format!(
            "{} has to name the servers of the node's network: restart what writes it \
             (systemd-resolved, NetworkManager, a DHCP client), or write them there",
            file.path
        ))],
        Kind::Silent(asked) | Kind::WithoutTcp(asked) => of_silent(asked),
        Kind::Slow(asked) => of_first(asked, |it| {
            let step = Step::new("See what keeps it").typing(dig("kdns dig", it));
            Some(step.typing(Command::new("kdns watch")))
        }),
        Kind::Crashing(pods) => of_first(pods, |it| read_why(it, "logs --previous")),
        Kind::Drifting(pods) => of_first(pods, |it| {
            kubectl(it, "Recreate it, if a controller made it", "delete pod")
        }),
        Kind::Lost(tree) => of_lost(tree),
        Kind::Way(finding) => {
            let steps = path::findings::words(finding).fix;
            steps.into_iter().map(of_path).collect()
        }
        Kind::ShortOfDisk(_) => vec![
            Step::new("See what fills it, and make room; then see whether the DNS pods are back")
                .typing(Command::new(
                    "du -xhd2 $(df --output=target /var/lib/kubelet | tail -1)",
                )),
        ],
        Kind::Dropping(_) => vec![
            who_fills(),
            Step::new("Run NodeLocal DNSCache, whose queries make no connections"),
        ],
        Kind::Logged(advice) => {
            let fix = said(advice).fix;
            let fix = Some(fix).filter(|it| !it.is_empty());
            fix.into_iter().map(Step::new).collect()
        }
        Kind::Failing(lookup) if lookup.elsewhere().is_some() => vec![
            Step::new(
                "See who answers: a DNS pod without its plugin kubernetes, or another server",
            )
            .typing(of_target("kdns path", lookup.target.as_deref())),
        ],
        Kind::Failing(lookup) => {
            let concluded = concluded(&lookup.scenario, &lookup.lived);
            let steps = concluded.why.into_iter().chain(concluded.fix);
            steps.map(Step::new).collect()
        }
        Kind::Unreadable(_) => {
            vec![Step::new(
                "See what its file system waits for, then recreate it",
            )]
        }
        Kind::Setting(finding) => of_setting(finding),
    }
}

fn of_trouble(trouble: &Trouble, report: &LoopReport) -> Vec<Step> {
    if let Trouble::Down {
        pod,
        container,
        ended,
        ..
    } = trouble
    {
        return of_ended(pod, container, ended.reason.as_deref());
    }
    if let Some((namespace, name)) = match trouble {
        Trouble::Waits(pod) => pod.split_once('/'),
        _ => None,
    } {
        let describe = Command::new("kubectl -n").args([namespace, "describe", "pod", name]);
        return vec![Step::new("Read in its events what it waits for").typing(describe)];
    }
    if let Trouble::Paused { id, .. } = trouble {
        let id = id.as_deref().unwrap_or("ID");
        let resume = Command::new("ctr -n k8s.io task resume").arg(id);
        return vec![
            Step::new("See who froze it, then let it go on (with containerd)").typing(resume),
        ];
    }
    if matches!(trouble, Trouble::Files(Remark::Restart(..))) && report.fix.is_some() {
        return of_loop(report);
    }
    let then = report.concern.iter().flat_map(|it| &it.then);
    then.map(of_check_loop).collect()
}

/// What to do about servers that do not answer, over UDP, TCP or both.
fn of_silent(asked: &[&Asked]) -> Vec<Step> {
    if asked.iter().all(|it| it.is_not_sent()) {
        return of_first(asked, |it| {
            let step = Step::new("See which of them it is")
                .typing(Command::new("kdns path").arg(address(it.server)));
            Some(step.typing(Command::new("conntrack -S")))
        });
    }
    if asked.iter().all(|it| it.udp == Answer::NoRoute) {
        let text = "Give this node and its pods a route to it, or name a server that they reach";
        let get = |it: &Asked| Command::new("ip route get").arg(it.server.ip());
        return of_first(asked, |it| Some(Step::new(text).typing(get(it))));
    }
    if asked.iter().all(|it| it.is_without_udp()) {
        return of_first(asked, |it| {
            let text = "See whether a firewall lets UDP from and to its port 53 through; until it \
                        does, CoreDNS can ask it over TCP alone (force_tcp in forward)";
            Some(Step::new(text).typing(dig("kdns dig", it)))
        });
    }
    if asked.iter().all(|it| it.is_left_out) {
        return of_first(asked, |it| match &it.whom {
            Whom::Pod(pod) => kubectl(pod, "See whether it is ready, or being ended", "get pod"),
            Whom::Upstream | Whom::Target => None,
        });
    }
    of_first(asked, |it| {
        let text = "See whether it runs and a firewall lets port 53 through, UDP and TCP";
        let step = Step::new(text).typing(dig("kdns dig", it));
        Some(step.typing(dig("kdns dig +tcp", it)))
    })
}

/// What to do about a container that has ended, and why.
fn of_ended(pod: &str, container: &str, reason: Option<&str>) -> Vec<Step> {
    if reason == Some("OOMKilled") {
        let text = format!(
            "Give it more memory: limits.memory of the container {container}, where its pods are \
             made"
        );
        return vec![Step::new(text)];
    }
    let verb = format!("logs --previous --container {container}");
    read_why(pod, &verb).into_iter().collect()
}

/// Its log does not tell of a probe that fails, its events do.
fn read_why(pod: &str, logs: &str) -> Option<Step> {
    let read = kubectl(
        pod,
        "Read why, also a probe that fails or an image that is not there",
        logs,
    )?;
    let (namespace, name) = pod.split_once('/')?;
    let command = Command::new("kubectl -n").args([namespace, "describe", "pod", name]);
    Some(read.typing(command))
}

/// What to do where packets to a Service are lost.
fn of_lost(tree: &Tree) -> Vec<Step> {
    match tree.verdict {
        Verdict::NoEndpoints => without_endpoints(),
        Verdict::NoRule => vec![
            Step::new("See whether kube-proxy runs on this node, and what it logs")
                .typing(Command::new("pgrep -a kube-proxy"))
                .typing(Command::new(
                    "kubectl -n kube-system get pods -l k8s-app=kube-proxy -o wide",
                )),
            of_system(
                "Have it write its rules again",
                "rollout restart daemonset kube-proxy",
            ),
        ],
        _ => tree.lost().map_or_else(Vec::new, of_end),
    }
}

/// What to do where nobody stands behind the Service.
fn without_endpoints() -> Vec<Step> {
    vec![
        of_system(
            "See whether DNS pods run and are ready",
            "get deployments,pods -l k8s-app=kube-dns -o wide",
        ),
        of_system(
            "See whether the Service selects them: its selector has to be among their labels",
            "describe service kube-dns",
        ),
    ]
}

/// What to do where the Service leads to pods of the same node alone, and there are none.
fn of_local_policy() -> Vec<Step> {
    vec![of_system(
        "Run a DNS pod that is ready on this node, or have the Service lead to those of all nodes \
         (internalTrafficPolicy: Cluster)",
        "edit service kube-dns",
    )]
}

/// A command of `kubectl` about the namespace of the cluster's DNS.
fn of_system(text: &str, what: &str) -> Step {
    Step::new(text).typing(Command::new("kubectl -n kube-system").args(what.split(' ')))
}

/// What to do about a full table of connections.
fn who_fills() -> Step {
    Step::new("See who fills the table")
        .typing(Command::new("conntrack -S"))
        .typing(Command::new("kdns path"))
}

/// What to do where a packet, or its answer, ends.
fn of_end(end: &Outcome) -> Vec<Step> {
    let ip = end.address;
    let Some(last) = end.last() else {
        return Vec::new();
    };
    let sysctl = |setting: &str, value| Command::new("sysctl -w").arg(format!("{setting}={value}"));
    match &last.stage {
        Stage::IpForward => {
            let setting = match ip {
                IpAddr::V4(_) => "net.ipv4.ip_forward",
                IpAddr::V6(_) => "net.ipv6.conf.all.forwarding",
            };
            let text = "Have the node forward, and write the same to a file in /etc/sysctl.d";
            vec![Step::new(text).typing(sysctl(setting, 1))]
        }
        Stage::RpFilter => {
            let link = end.links.0.as_deref().unwrap_or("all");
            let text = "Have the way back lead out through the same link, or let any way back do";
            let setting = format!("net.ipv4.conf.{link}.rp_filter");
            vec![Step::new(text).typing(sysctl(&setting, 2))]
        }
        Stage::Link => vec![
            Step::new("Bring it up, or its other end on the node; a pod can be recreated")
                .typing(Command::new("ip link")),
        ],
        Stage::Neighbour => of_neighbour(end),
        Stage::Socket => {
            let pod = end.pod.as_ref();
            let within = |it: &String| Command::new("kdns nsenter").arg(it).arg("--").arg("ss");
            let sockets = pod.map_or_else(|| Command::new("ss"), within).arg("-lntup");
            let text = "See where its DNS server listens (bind and port in a Corefile, targetPort \
                        in the Service), or start it";
            vec![Step::new(text).typing(sockets)]
        }
        Stage::Route if end.is_own => vec![Step::new(format!(
            "Name a server to which the asker has a route, or give its network one to {ip}"
        ))],
        Stage::Route => vec![
            Step::new(format!(
                "Give the node a route to {ip}, which its network plugin writes, and take away what \
                 refuses it"
            ))
            .typing(Command::new("ip route get").arg(ip))
            .typing(Command::new("ip rule")),
        ],
        Stage::Pod => vec![Step::new(format!(
            "Find who wrote it (a firewall, a service mesh), and have it let port 53 through: {}",
            path::what::what(&last.what)
        ))],
        Stage::Conntrack => vec![who_fills()],
        Stage::Ipvs => without_endpoints(),
        // Source: Kubernetes, pkg/proxy/iptables/proxier.go `syncProxyRules`.
        Stage::Table(_) if last.rule().contains("has no local endpoints") => of_local_policy(),
        Stage::Table(_) => of_rule(last.rule(), end.is_own),
    }
}

/// What to do about a rule that lets nothing through, of the node or of the pod itself.
fn of_rule(rule: &str, is_own: bool) -> Vec<Step> {
    let of = if is_own {
        " in the pod's own network namespace"
    } else {
        ""
    };
    vec![Step::new(format!(
        "Find who wrote this rule{of} (a network policy, a firewall, Docker), and have it let port \
         53 through: {rule}"
    ))]
}

/// What to do where nobody has the address.
fn of_neighbour(end: &Outcome) -> Vec<Step> {
    let ip = end.address;
    if !end.is_translated {
        let text = format!("See whether a machine with the address {ip} is there, or name another");
        return vec![Step::new(text)];
    }
    let endpoints = format!("See whether {ip} is still among the endpoints of the Service");
    let rules =
        "If it is not, the rules are old: see whether kube-proxy runs here, and what it logs";
    vec![
        Step::new(endpoints).typing(Command::new("kubectl get endpointslices -A -o wide")),
        Step::new(rules).typing(Command::new("pgrep -a kube-proxy")),
    ]
}

/// What a rule of lint says, and where to do it.
fn of_setting(finding: &Finding) -> Vec<Step> {
    let file = &finding.primary.file;
    let is_copy = is_copy(file);
    let what = "Do so in the ConfigMap of which the file is a copy";
    let source = in_config_map(what.to_owned(), file);
    let help = finding.help.iter().map(|it| Step::new(it.as_str()));
    let source = Some(source).filter(|_| is_copy && finding.help.is_some());
    help.chain(source).collect()
}

/// Asks a server as kdns did.
pub(super) fn dig(said: &str, asked: &Asked) -> Command {
    Command::new(said).args([&format!("@{}", asked.server.ip()), ".", "NS"])
}

/// A command about a pod, `NAMESPACE/NAME`.
fn kubectl(pod: &str, what: &str, verb: &str) -> Option<Step> {
    let (namespace, name) = pod.split_once('/')?;
    let command = Command::new("kubectl -n").arg(namespace);
    Some(Step::new(what).typing(command.args(verb.split(' ')).arg(name)))
}

/// What to do about the first of several.
fn of_first<T>(all: &[T], step: impl Fn(&T) -> Option<Step>) -> Vec<Step> {
    all.first().and_then(step).into_iter().collect()
}

fn of_path(step: path::findings::Step) -> Step {
    match step {
        path::findings::Step::Command(command) => Step::new("").typing(command),
        path::findings::Step::Advice(text) => Step::new(Sentence::new("", text).begun().text),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::path::{Packet, What, unroutable};

    /// Of other parts of the kernel it is not said that somebody wrote their rule.
    #[test]
    fn only_tables_have_rules_that_somebody_wrote() {
        let mut end = unroutable(Packet::query(), "it").outcomes.remove(0);
        let first_of = |end: &mut Outcome, stage: Stage| {
            end.steps[0].stage = stage;
            of_end(end).remove(0).line()
        };
        let rule = first_of(&mut end, Stage::Table("filter".into()));
        assert!(rule.starts_with("Find who wrote this rule"), "{rule}");
        let rule = "-A KUBE-SERVICES … \"… has no local endpoints\" … -j DROP";
        end.steps[0].what = What::Rule(rule.into());
        let local = first_of(&mut end, Stage::Table("filter".into()));
        assert!(local.starts_with("Run a DNS pod"), "{local}");
        let full = first_of(&mut end, Stage::Conntrack);
        assert_eq!(full, "See who fills the table: conntrack -S; kdns path");
        let empty = first_of(&mut end, Stage::Ipvs);
        assert!(empty.starts_with("See whether DNS pods run"), "{empty}");
    }
}
