//! The question of a program that runs: its files, its environment, its resolver.

use std::net::IpAddr;
use std::path::Path;

use super::files::{cut, use_situation};
use super::node::node_below;
use crate::address::Address;
use crate::explain::Context;
use crate::host::node::processes::{self, Directory};
use crate::host::node::sockets;
use crate::host::root::Root;
use crate::loopback::name_servers;
use crate::netns::{self, Aim, Namespace};
use crate::node::listening;
use crate::render;
use crate::scenario::{Scenario, default_hosts, default_nsswitch};
use crate::topology::Network;

/// Reads the target's situation into the scenario.
pub(super) fn use_files(
    word: &str,
    root: Option<&Path>,
    scenario: &mut Scenario,
) -> anyhow::Result<(Context, Aim)> {
    let root = node_below(root)?;
    let aim = netns::aim(&root, word)?;
    let mut context = fill(&aim, scenario);
    name_listeners(&root, &aim, scenario, &mut context);
    Ok((context, aim))
}

/// Says who listens on the loopback servers of a target that is not on the
/// node's network: the node's own servers are none of its.
fn name_listeners(root: &Root, aim: &Aim, scenario: &Scenario, context: &mut Context) {
    let number = aim.namespace.as_ref().ok().map(Namespace::number);
    let init = Directory::open(root, 1).ok();
    let of_node = init.and_then(|it| it.namespace("net"));
    let (Some(process), Some(conf)) = (aim.process(), &scenario.resolv_conf) else {
        return;
    };
    let is_loopback = |it: IpAddr| Address::from(it).reached().is_loopback();
    let servers = || name_servers(conf).filter(|(ip, _)| is_loopback(*ip));
    let is_known = number.is_some() && of_node.is_some() && number != of_node;
    if !is_known || servers().next().is_none() {
        return;
    }
    let (mut processes, _) = processes::scan(root);
    processes.retain(|it| it.netns == number);
    let network = Network::Pod(String::new());
    let Some(listeners) = sockets::of_process(root, &processes, &network, process.pid()) else {
        return;
    };
    context.leads.retain(|it| !is_loopback(it.lead.address));
    for (ip, span) in servers() {
        let who = render::pods::listens(listening::listener(&listeners, &network, ip));
        let place = conf.place(span.start);
        context
            .about
            .push(format!("{place}: {ip} is the target's own, and {who}"));
    }
}

/// What of the target was not read, or not to its end, as sentences.
pub(super) fn unread(aim: &Aim) -> impl Iterator<Item = String> {
    let seen = &aim.seen.situation;
    let files = [&seen.resolv_conf, &seen.hosts, &seen.nsswitch];
    let files = files.into_iter().chain([&aim.seen.aliases]);
    let cut = files.flatten().filter_map(cut);
    cut.chain(aim.skipped.iter().cloned())
}

/// Puts what was read of the target into the scenario.
pub(super) fn fill(aim: &Aim, scenario: &mut Scenario) -> Context {
    let seen = &aim.seen;
    let mut context = Context {
        about: about(aim),
        leads: Vec::new(),
    };
    let missing = "the target has no /etc/resolv.conf";
    use_situation(&seen.situation, missing, scenario, &mut context);
    if !seen.is_whole {
        scenario.hosts = Some(default_hosts(&scenario.hostname));
        scenario.nsswitch = Some(default_nsswitch());
        scenario.nss_modules.clear();
    }
    if let Some(program) = &aim.program {
        scenario.env = program.variables();
    }
    if let Some(names) = aim.program.as_ref().and_then(|it| it.daemon.as_ref()) {
        let own = names.counting(&scenario.name).filter(|it| !it.is_libc);
        scenario.own = own.map(|it| it.own.clone());
        context
            .about
            .extend(render::daemon::sentences(names, &scenario.name));
    }
    if let Some(file) = &seen.aliases {
        let path = file.source.name.clone();
        scenario.files.insert(path, file.source.bytes.clone());
    }
    context
}

/// What the target is, which file counts, and what to know before believing it.
fn about(aim: &Aim) -> Vec<String> {
    let mut about = vec![label(aim)];
    if let Some(file) = resolv_conf_path(aim) {
        about.push(format!("its resolv.conf is {file}"));
    }
    about.extend(aim.plan.warnings.iter().map(render::target::warning));
    about.extend(aim.skipped.iter().cloned());
    about
}

/// The target in words, with its process, pod and network namespace.
pub(super) fn label(aim: &Aim) -> String {
    let plan = &aim.plan;
    let program = aim.program.as_ref().map(|it| it.path.as_str());
    let mut target = plan.label.clone();
    if let Some(process) = aim.process().filter(|_| !plan.is_process) {
        target = format!("{target}, process {}", process.pid());
    }
    if let Some(path) = program.filter(|it| !it.is_empty()) {
        target = format!("{target} ({path})");
    }
    if let (Some(pod), true) = (&plan.pod, plan.is_process) {
        target = format!("{target}, of pod {pod}");
        if let Some(container) = &plan.container {
            target = format!("{target}, container {container}");
        }
    }
    if let Ok(namespace) = &aim.namespace {
        target = format!("{target}, network namespace {}", namespace.number());
    }
    target
}

/// The path of the target's resolv.conf, also the one on the node; `None`: it
/// has none.
pub(super) fn resolv_conf_path(aim: &Aim) -> Option<String> {
    let plan = &aim.plan;
    let file = aim.seen.situation.resolv_conf.as_ref()?;
    let name = &file.source.name;
    let kept = plan.kept.as_ref().map(|it| &it.source.name);
    let kept = kept.filter(|it| *it != name && plan.drift(&file.source.bytes).is_none());
    Some(match kept {
        Some(kept) => format!("{name}, which is {kept} on the node"),
        None => name.clone(),
    })
}
