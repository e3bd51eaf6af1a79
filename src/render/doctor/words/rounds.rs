//! What to do where queries go round, and where that is to be written.

use crate::check_loop::{Report as LoopReport, Who, facts};
use crate::render::check_loop::words as loops;
use crate::render::command::Command;
use crate::render::doctor::step::Step;

/// What to do about a loop.
pub(super) fn of_loop(report: &LoopReport) -> Vec<Step> {
    let Some(fix) = &report.fix else {
        return of_last_line(report).into_iter().collect();
    };
    let is_there = fix.edit.old.as_ref() == Some(&fix.edit.new);
    let is_source = |it: &&facts::Step| matches!(it, facts::Step::ConfigMap { .. });
    let is_file = |it: &&facts::Step| matches!(it, facts::Step::Write { .. });
    // What the kubelet has is a copy of it.
    let edit = match fix.then.iter().find(is_source) {
        _ if is_there => None,
        Some(source) => Some(of_check_loop(source)),
        None => Some(Step::new(format!("Edit {}", fix.edit.place))),
    };
    let edit = edit.map(|it| it.changing(&fix.edit));
    let before = fix.then.iter().filter(is_file).map(of_check_loop);
    let after = fix.then.iter().filter(|it| !is_file(it));
    let after = after.filter(|it| is_there || !is_source(it));
    before.chain(edit).chain(after.map(of_check_loop)).collect()
}

/// What to do about the line that sends queries round, where no setting is known that
/// makes it.
fn of_last_line(report: &LoopReport) -> Option<Step> {
    let hop = report.chains.first()?.hops.last()?;
    let place = &hop.proof.last()?.place;
    let is_on_node = matches!(&hop.who, Who::Server { is_on_node, .. } if *is_on_node);
    if !is_on_node && place.file.ends_with("/resolv.conf") {
        return Some(Step::new(format!(
            "Name a server outside in what {place} was made from (the file of the kubelet's \
             resolvConf, or dnsConfig in the pod's spec), and recreate the pod"
        )));
    }
    let to = loops::receiver(&hop.sends_to);
    let name = format!("Name a server outside in the place of {to}");
    Some(if is_copy(&place.file) {
        let what = format!("{name} in the ConfigMap of which {place} is a copy");
        in_config_map(what, &place.file)
    } else {
        Step::new(format!("{name} at {place}"))
    })
}

/// A step that check-loop knows.
pub(super) fn of_check_loop(step: &facts::Step) -> Step {
    let loops::Action { text, command, .. } = loops::action(step);
    let step = Step::new(text);
    match command {
        Some(command) => step.typing(command),
        None => step,
    }
}

/// Whether the kubelet makes the file from a `ConfigMap`, and writes it over.
pub(super) fn is_copy(file: &str) -> bool {
    file.contains("/kubernetes.io~configmap/")
}

/// Something to do in the `ConfigMap` of a Corefile, of which the file is a copy.
///
/// Source: kubernetes `cluster/addons/dns/nodelocaldns/nodelocaldns.yaml`, whose volume
/// alone has the name `Corefile.base`.
pub(super) fn in_config_map(what: String, file: &str) -> Step {
    let name = match file.rsplit('/').next() {
        Some("Corefile.base") => "node-local-dns",
        Some("Corefile") => "coredns",
        _ => return Step::new(what),
    };
    let edit = format!("kubectl -n kube-system edit configmap {name}");
    Step::new(format!("{what}, by its usual name")).typing(Command::new(&edit))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_config_map_is_that_of_the_file() {
        const VOLUME: &str = "/var/lib/kubelet/pods/u/volumes/kubernetes.io~configmap/v";
        for (file, expected) in [
            ("Corefile", Some("coredns")),
            ("Corefile.base", Some("node-local-dns")),
            ("custom.server", None),
        ] {
            let step = in_config_map("Do so".to_owned(), &format!("{VOLUME}/{file}"));
            let typed = step.commands.first().map(|it| it.as_str().to_owned());
            let expected = expected.map(|it| format!("kubectl -n kube-system edit configmap {it}"));
            assert_eq!(typed, expected, "{file}");
        }
    }
}
