//! A scenario in the form that `--scenario` reads: a question that anyone can
//! replay.

use std::collections::BTreeMap;
use std::io::{self, Write};

use serde::Serialize;

use crate::config::resolv_conf::ResolvConf;
use crate::engine::message::{Rcode, Transport};
use crate::scenario::{Family, Scenario};
use crate::world::{Effect, Rule};

#[derive(Serialize)]
struct Form<'s> {
    id: &'s str,
    resolv_conf: Option<String>,
    name: &'s str,
    env: &'s BTreeMap<String, String>,
    hostname: &'s str,
    hosts: Option<String>,
    nsswitch: Option<String>,
    files: BTreeMap<&'s str, String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    family: Option<&'static str>,
    answers: Vec<RuleForm<'s>>,
}

#[derive(Serialize)]
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
}

/// Writes `scenario` as one JSON object on one line.
///
/// # Errors
///
/// Any error of `out`.
pub fn write(scenario: &Scenario, out: &mut dyn Write) -> io::Result<()> {
    let text = |file: &Option<ResolvConf>| file.as_ref().map(|file| latin1(&file.source.bytes));
    let below_etc = |path: &'_ str| path.strip_prefix("/etc/").is_some();
    let form = Form {
        id: &scenario.id,
        resolv_conf: text(&scenario.resolv_conf),
        name: &scenario.name,
        env: &scenario.env,
        hostname: &scenario.hostname,
        hosts: text(&scenario.hosts),
        nsswitch: text(&scenario.nsswitch),
        files: scenario
            .files
            .iter()
            .filter(|(path, _)| below_etc(path))
            .map(|(path, bytes)| (path.trim_start_matches("/etc/"), latin1(bytes)))
            .collect(),
        family: match scenario.family() {
            Family::Both => None,
            Family::Inet => Some("inet"),
            Family::Inet6 => Some("inet6"),
        },
        answers: scenario.answers.iter().map(rule).collect(),
    };
    serde_json::to_writer(&mut *out, &form)?;
    out.write_all(b"\n")
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
        record_type: rule.record_type.map(|it| it.to_string()),
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
    }
}

fn reply(effect: &Effect) -> &'static str {
    match effect {
        Effect::Answer { .. } => "ANSWER",
        Effect::Status(Rcode::NoError) => "NODATA",
        Effect::Status(rcode) => rcode.as_str(),
        Effect::Timeout => "TIMEOUT",
        Effect::Truncated => "TC",
        Effect::Close => "CLOSE",
        Effect::Icmp => "ICMP",
        Effect::Unreachable => "UNREACHABLE",
    }
}
