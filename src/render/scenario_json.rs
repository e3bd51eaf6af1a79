//! A scenario in the form that `--scenario` reads: a question that anyone can
//! replay.

use std::collections::BTreeMap;
use std::io::{self, Write};

use serde::Serialize;

use crate::config::resolv_conf::ResolvConf;
use crate::engine::message::{Rcode, Transport};
use crate::render::json;
use crate::scenario::own::form::OwnForm;
use crate::scenario::record_type::Shown;
use crate::scenario::{Family, Lookup, Scenario, default_interfaces};
use crate::text::ordered;
use crate::world::{Effect, Rule};

#[derive(Serialize)]
struct Form<'s> {
    id: &'s str,
    resolv_conf: Option<String>,
    name: &'s str,
    env: Variables<'s>,
    hostname: &'s str,
    hosts: Option<String>,
    nsswitch: Option<String>,
    files: Files<'s>,
    #[serde(skip_serializing_if = "Option::is_none")]
    family: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    flags: Option<u32>,
    #[serde(rename = "type", skip_serializing_if = "Option::is_none")]
    record_type: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    interfaces: Option<&'s [String]>,
    #[serde(skip_serializing_if = "Option::is_none")]
    own: Option<OwnForm>,
    answers: Vec<RuleForm<'s>>,
}

#[derive(Serialize)]
#[expect(clippy::struct_excessive_bools, reason = "the bits of the header")]
struct RuleForm<'s> {
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<&'s str>,
    #[serde(rename = "type", skip_serializing_if = "Option::is_none")]
    record_type: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    server: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    proto: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    edns: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    nth: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    upto: Option<usize>,
    reply: &'static str,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    a: Vec<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    aaaa: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cname: Option<String>,
    delay_ms: u128,
    soa: bool,
    ra: bool,
    opt: bool,
    ad: bool,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    dup: bool,
}

/// Writes `scenario` as one JSON object on one line.
///
/// # Errors
///
/// Any error of `out`.
pub fn write(scenario: &Scenario, out: &mut dyn Write) -> io::Result<()> {
    let text = |file: &Option<ResolvConf>| file.as_ref().map(|file| latin1(&file.source.bytes));
    let (env, files) = environment(scenario);
    let form = Form {
        id: &scenario.id,
        resolv_conf: text(&scenario.resolv_conf),
        name: &scenario.name,
        env,
        hostname: &scenario.hostname,
        hosts: text(&scenario.hosts),
        nsswitch: text(&scenario.nsswitch),
        files,
        family: match scenario.family() {
            Family::Both => None,
            Family::Inet => Some("inet"),
            Family::Inet6 => Some("inet6"),
        },
        flags: Some(scenario.flags).filter(|&flags| flags != 0),
        record_type: match scenario.lookup {
            Lookup::Records(record_type) => Some(Shown(record_type).to_string()),
            Lookup::Addresses(_) => None,
        },
        interfaces: (scenario.interfaces != default_interfaces())
            .then_some(scenario.interfaces.as_slice()),
        own: scenario.own.as_ref().map(Into::into),
        answers: scenario.answers.iter().map(rule).collect(),
    };
    json::line(&form, out)
}

type Variables<'s> = BTreeMap<&'s str, &'s str>;
type Files<'s> = BTreeMap<&'s str, String>;

/// The environment and the other files. A scenario has files below `/etc`
/// only: aliases from elsewhere move there.
fn environment(scenario: &Scenario) -> (Variables<'_>, Files<'_>) {
    const ALIASES: &str = "host.aliases";
    let variables = scenario.env.iter().map(|(key, value)| (&**key, &**value));
    let mut env: Variables<'_> = ordered(variables);
    let mut files = Files::new();
    for (path, bytes) in &scenario.files {
        match path.strip_prefix("/etc/") {
            Some(name) => {
                files.insert(name, latin1(bytes));
            }
            None if scenario.env("HOSTALIASES") == Some(path) => {
                files.insert(ALIASES, latin1(bytes));
                env.insert("HOSTALIASES", "/etc/host.aliases");
            }
            None => {}
        }
    }
    (env, files)
}

/// Bytes as the code points up to 255 that stand for them.
fn latin1(bytes: &[u8]) -> String {
    bytes.iter().map(|&byte| char::from(byte)).collect()
}

fn rule(rule: &Rule) -> RuleForm<'_> {
    let (reply, a, aaaa, cname) = match &rule.effect {
        Effect::Answer { a, aaaa, cname } => {
            let a = a.iter().map(ToString::to_string).collect();
            let aaaa = aaaa.iter().map(ToString::to_string).collect();
            ("ANSWER", a, aaaa, cname.as_ref().map(ToString::to_string))
        }
        other => (reply(other), Vec::new(), Vec::new(), None),
    };
    RuleForm {
        name: rule.name.as_deref(),
        record_type: rule.record_type.map(|it| Shown(it).to_string()),
        server: rule.server.map(|it| it.to_string()),
        proto: rule.transport.map(|transport| match transport {
            Transport::Udp => "udp",
            Transport::Tcp => "tcp",
        }),
        edns: rule.edns,
        nth: rule.nth,
        upto: rule.up_to,
        reply,
        a,
        aaaa,
        cname,
        delay_ms: rule.delay.as_millis(),
        soa: rule.soa,
        ra: rule.recursion_available,
        opt: rule.opt,
        ad: rule.authentic_data,
        dup: rule.is_doubled,
    }
}

fn reply(effect: &Effect) -> &'static str {
    match effect {
        Effect::Answer { .. } => "ANSWER",
        Effect::Status(Rcode::NoError) => "NODATA",
        Effect::Status(rcode) => rcode.as_str(),
        Effect::Timeout => "TIMEOUT",
        Effect::Truncated => "TC",
        Effect::Fin => "FIN",
        Effect::Reset => "RST",
        Effect::Icmp => "ICMP",
        Effect::Unreachable => "UNREACHABLE",
    }
}
