//! What the files of whoever asks become: part of a scenario, and sentences.

use crate::config::resolv_conf::ResolvConf;
use crate::explain::{Context, PlacedLead};
use crate::host::situation::Situation;
use crate::host::{FileRead, MAX_BYTES};
use crate::loopback::{self, Evidence};
use crate::scenario::{MDNS_ALLOW, Scenario};

/// Variables that change what a resolver asks.
pub(super) const VARIABLES: &[&str] = &["LOCALDOMAIN", "RES_OPTIONS", "HOSTALIASES"];

/// So many loopback servers of a file are named. No file of a system has
/// more than a few, and a stranger's can have 50,000.
const MAX_LEADS: usize = 16;

/// Puts a resolv.conf into the scenario, and into `context` where its servers
/// lead.
pub(super) fn use_resolv_conf(
    read: FileRead,
    evidence: &Evidence,
    scenario: &mut Scenario,
    context: &mut Context,
) {
    context.about.extend(cut(&read));
    let conf = ResolvConf::parse(read.source);
    let mut local = loopback::name_servers(&conf).filter(|it| loopback::is_local(it.0));
    for (address, span) in local.by_ref().take(MAX_LEADS) {
        let lead = loopback::lead(address, &conf, evidence);
        context.leads.extend(lead.map(|lead| PlacedLead {
            place: conf.place(span.start),
            lead,
        }));
    }
    let more = local.count();
    if more > 0 {
        context.about.push(format!(
            "{}: where {more} more loopback and link-local servers lead is not looked at",
            conf.source.name
        ));
    }
    scenario.resolv_conf = Some(conf);
}

/// Puts the files and names of a machine, or of a target on it, into the scenario;
/// `missing` says that there is no resolv.conf.
pub(super) fn use_situation(
    situation: &Situation,
    missing: &str,
    scenario: &mut Scenario,
    context: &mut Context,
) {
    match &situation.resolv_conf {
        Some(read) => use_resolv_conf(read.clone(), &situation.evidence, scenario, context),
        None => context
            .about
            .push(format!("{missing}: each resolver uses its defaults")),
    }
    let others = situation.hosts.iter().chain(&situation.nsswitch);
    context.about.extend(others.filter_map(cut));
    let parse = |read: &FileRead| ResolvConf::parse(read.source.clone());
    scenario.hosts = situation.hosts.as_ref().map(parse);
    scenario.nsswitch = situation.nsswitch.as_ref().map(parse);
    scenario.nss_modules.clone_from(&situation.nss_modules);
    if let Some(read) = &situation.mdns_allow {
        let bytes = read.source.bytes.clone();
        scenario.files.insert(MDNS_ALLOW.to_owned(), bytes);
    }
    if let Some(hostname) = &situation.hostname {
        scenario.hostname.clone_from(hostname);
    }
    if let Some(interfaces) = &situation.interfaces {
        scenario.interfaces.clone_from(interfaces);
    }
}

/// Says that there is more of a file than is read.
pub(super) fn cut(read: &FileRead) -> Option<String> {
    let name = &read.source.name;
    read.is_cut
        .then(|| format!("{name}: only the first {MAX_BYTES} bytes are read"))
}

/// The arguments of a command as if these words were typed behind it.
///
/// # Errors
///
/// They are not such arguments.
pub(super) fn typed<A: clap::Args>(words: &[String]) -> anyhow::Result<A> {
    let command = A::augment_args(clap::Command::new("kdns").no_binary_name(true));
    Ok(A::from_arg_matches(&command.try_get_matches_from(words)?)?)
}
