//! What the JSON of a scenario has, read and written.

use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::time::Duration;

use hickory_proto::rr::RecordType;
use serde::de::IgnoredAny;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::own::form::{OwnForm, is_default, yes};
use super::record_type::{self, Shown};
use super::{
    Family, Lookup, NssModule, Scenario, default_hosts, default_interfaces, default_nsswitch, file,
};
use crate::config::resolv_conf::ResolvConf;
use crate::engine::io::Wrong;
use crate::engine::message::{Rcode, Transport};
use crate::name::Name;
use crate::world::{Effect, Rule};

/// [`Scenario`] as JSON has it.
#[derive(Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Form {
    id: Option<String>,
    resolv_conf: Option<String>,
    name: String,
    #[serde(default)]
    env: BTreeMap<String, String>,
    hostname: Option<String>,
    #[serde(default)]
    hosts: FileForm,
    #[serde(default)]
    nsswitch: FileForm,
    #[serde(default)]
    files: BTreeMap<String, String>,
    #[serde(default, skip_serializing_if = "is_default")]
    family: Family,
    #[serde(default, skip_serializing_if = "is_default")]
    flags: u32,
    /// Records of this type are looked up, not addresses. Not in the vectors.
    #[serde(
        rename = "type",
        default,
        deserialize_with = "some_record_type",
        serialize_with = "record_type_text",
        skip_serializing_if = "Option::is_none"
    )]
    record_type: Option<RecordType>,
    /// What is known of modules that are not part of glibc.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    nss_modules: BTreeMap<String, NssModule>,
    /// Network interfaces, else those of a pod. Not in the vectors.
    #[serde(skip_serializing_if = "Option::is_none")]
    interfaces: Option<Vec<String>>,
    /// A daemon's own resolver. Not in the vectors.
    #[serde(skip_serializing_if = "Option::is_none")]
    own: Option<OwnForm>,
    #[serde(default)]
    answers: Vec<RuleForm>,
    #[serde(default, rename = "observed", skip_serializing)]
    _observed: IgnoredAny,
    #[serde(default, rename = "theme", skip_serializing)]
    _theme: IgnoredAny,
    #[serde(default, rename = "about", skip_serializing)]
    _about: IgnoredAny,
    #[serde(default, rename = "runs", skip_serializing)]
    _runs: IgnoredAny,
    #[serde(default, rename = "limit_s", skip_serializing)]
    _limit_s: IgnoredAny,
    #[serde(default, rename = "limits", skip_serializing)]
    _limits: IgnoredAny,
}

#[derive(Deserialize, Serialize)]
#[serde(deny_unknown_fields, expecting = "a rule as an object")]
struct RuleForm {
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<String>,
    #[serde(
        rename = "type",
        default,
        deserialize_with = "some_record_type",
        serialize_with = "record_type_text",
        skip_serializing_if = "Option::is_none"
    )]
    record_type: Option<RecordType>,
    #[serde(skip_serializing_if = "Option::is_none")]
    server: Option<IpAddr>,
    #[serde(skip_serializing_if = "Option::is_none")]
    proto: Option<Transport>,
    #[serde(skip_serializing_if = "Option::is_none")]
    edns: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    nth: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    upto: Option<usize>,
    reply: ReplyForm,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    a: Vec<Ipv4Addr>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    aaaa: Vec<Ipv6Addr>,
    #[serde(
        default,
        deserialize_with = "name",
        serialize_with = "name_text",
        skip_serializing_if = "Option::is_none"
    )]
    cname: Option<Name>,
    #[serde(default)]
    delay_ms: u64,
    #[serde(default = "yes")]
    soa: bool,
    #[serde(default = "yes")]
    ra: bool,
    #[serde(default = "yes")]
    opt: bool,
    #[serde(default)]
    ad: bool,
    #[serde(default, skip_serializing_if = "is_default")]
    dup: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    wrong: Option<Wrong>,
}

#[derive(Clone, Copy, Deserialize, Serialize)]
#[serde(rename_all = "UPPERCASE")]
enum ReplyForm {
    Answer,
    Nxdomain,
    Nodata,
    Servfail,
    Refused,
    Formerr,
    Notimp,
    Timeout,
    Tc,
    Fin,
    #[serde(alias = "CLOSE")]
    Rst,
    Icmp,
    Unreachable,
}

/// A file whose key may be absent.
#[derive(Default, Deserialize, Serialize)]
#[serde(from = "Option<String>", untagged)]
enum FileForm {
    /// No key: the usual file.
    #[default]
    Usual,
    /// This text, or `null`: no such file.
    Given(Option<String>),
}

impl From<Option<String>> for FileForm {
    fn from(text: Option<String>) -> Self {
        Self::Given(text)
    }
}

fn some_record_type<'de, D: Deserializer<'de>>(value: D) -> Result<Option<RecordType>, D::Error> {
    let text = String::deserialize(value)?;
    record_type::parse(&text).map(Some).ok_or_else(|| {
        serde::de::Error::custom(format_args!(
            "`{}` is no record type",
            text.escape_default()
        ))
    })
}

#[expect(
    clippy::ref_option,
    clippy::trivially_copy_pass_by_ref,
    reason = "serde gives it so"
)]
fn record_type_text<S: Serializer>(value: &Option<RecordType>, out: S) -> Result<S::Ok, S::Error> {
    value.map(|it| Shown(it).to_string()).serialize(out)
}

fn name<'de, D: Deserializer<'de>>(value: D) -> Result<Option<Name>, D::Error> {
    let text = String::deserialize(value)?;
    Name::from_master_file(text.as_bytes())
        .map(Some)
        .map_err(|error| {
            serde::de::Error::custom(format_args!("`{}`: {error}", text.escape_default()))
        })
}

#[expect(clippy::ref_option, reason = "serde gives it so")]
fn name_text<S: Serializer>(value: &Option<Name>, out: S) -> Result<S::Ok, S::Error> {
    value.as_ref().map(ToString::to_string).serialize(out)
}

/// Code points up to 255 are bytes; others, which no byte can be, their UTF-8.
fn bytes(text: String) -> Vec<u8> {
    if text.is_ascii() {
        return text.into_bytes();
    }
    let mut bytes = Vec::with_capacity(text.len());
    for character in text.chars() {
        match u8::try_from(u32::from(character)) {
            Ok(byte) => bytes.push(byte),
            Err(_) => bytes.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes()),
        }
    }
    bytes
}

/// Bytes as the code points up to 255 that stand for them.
fn latin1(bytes: &[u8]) -> String {
    bytes.iter().map(|&byte| char::from(byte)).collect()
}

impl Form {
    pub(super) fn into_scenario(self, id: &str) -> Scenario {
        let hostname = self.hostname.unwrap_or_else(|| "pod-1".to_owned());
        Scenario {
            id: self.id.unwrap_or_else(|| id.to_owned()),
            resolv_conf: self
                .resolv_conf
                .map(|text| file("/etc/resolv.conf", bytes(text))),
            name: self.name,
            lookup: match self.record_type {
                Some(record_type) => Lookup::Records(record_type),
                None => Lookup::Addresses(self.family),
            },
            flags: self.flags,
            env: self.env,
            hosts: match self.hosts {
                FileForm::Usual => Some(default_hosts(&hostname)),
                FileForm::Given(text) => text.map(|text| file("/etc/hosts", bytes(text))),
            },
            nsswitch: match self.nsswitch {
                FileForm::Usual => Some(default_nsswitch()),
                FileForm::Given(text) => text.map(|text| file("/etc/nsswitch.conf", bytes(text))),
            },
            files: self
                .files
                .into_iter()
                .map(|(path, text)| (format!("/etc/{path}"), bytes(text)))
                .collect(),
            nss_modules: self.nss_modules,
            own: self.own.map(Into::into),
            interfaces: self.interfaces.unwrap_or_else(default_interfaces),
            answers: self.answers.into_iter().map(RuleForm::into_rule).collect(),
            hostname,
        }
    }
}

impl RuleForm {
    fn into_rule(self) -> Rule {
        let effect = match self.reply {
            ReplyForm::Answer => Effect::Answer {
                a: self.a,
                aaaa: self.aaaa,
                cname: self.cname,
            },
            ReplyForm::Nxdomain => Effect::Status(Rcode::NxDomain),
            ReplyForm::Nodata => Effect::Status(Rcode::NoError),
            ReplyForm::Servfail => Effect::Status(Rcode::ServFail),
            ReplyForm::Refused => Effect::Status(Rcode::Refused),
            ReplyForm::Formerr => Effect::Status(Rcode::FormErr),
            ReplyForm::Notimp => Effect::Status(Rcode::NotImp),
            ReplyForm::Timeout => Effect::Timeout,
            ReplyForm::Tc => Effect::Truncated,
            ReplyForm::Fin => Effect::Fin,
            ReplyForm::Rst => Effect::Reset,
            ReplyForm::Icmp => Effect::Icmp,
            ReplyForm::Unreachable => Effect::Unreachable,
        };
        Rule {
            name: self.name,
            record_type: self.record_type,
            server: self.server,
            transport: self.proto,
            edns: self.edns,
            nth: self.nth,
            up_to: self.upto,
            effect,
            delay: Duration::from_millis(self.delay_ms),
            soa: self.soa,
            recursion_available: self.ra,
            opt: self.opt,
            authentic_data: self.ad,
            is_doubled: self.dup,
            wrong: self.wrong,
        }
    }
}

impl From<&Scenario> for Form {
    fn from(scenario: &Scenario) -> Self {
        let text = |file: &Option<ResolvConf>| file.as_ref().map(|it| latin1(&it.source.bytes));
        let (env, files) = environment(scenario);
        Self {
            id: Some(scenario.id.clone()),
            resolv_conf: text(&scenario.resolv_conf),
            name: scenario.name.clone(),
            env,
            hostname: Some(scenario.hostname.clone()),
            hosts: FileForm::Given(text(&scenario.hosts)),
            nsswitch: FileForm::Given(text(&scenario.nsswitch)),
            files,
            family: scenario.family(),
            flags: scenario.flags,
            record_type: match scenario.lookup {
                Lookup::Records(record_type) => Some(record_type),
                Lookup::Addresses(_) => None,
            },
            nss_modules: scenario.nss_modules.clone(),
            interfaces: Some(scenario.interfaces.clone()).filter(|it| *it != default_interfaces()),
            own: scenario.own.as_ref().map(Into::into),
            answers: scenario.answers.iter().map(Into::into).collect(),
            _observed: IgnoredAny,
            _theme: IgnoredAny,
            _about: IgnoredAny,
            _runs: IgnoredAny,
            _limit_s: IgnoredAny,
            _limits: IgnoredAny,
        }
    }
}

/// The environment and the other files. A scenario has files below `/etc`
/// only: aliases from elsewhere move there.
fn environment(scenario: &Scenario) -> (BTreeMap<String, String>, BTreeMap<String, String>) {
    const ALIASES: &str = "host.aliases";
    let mut env = scenario.env.clone();
    let mut files = BTreeMap::new();
    for (path, bytes) in &scenario.files {
        match path.strip_prefix("/etc/") {
            Some(name) => {
                files.insert(name.to_owned(), latin1(bytes));
            }
            None if scenario.env("HOSTALIASES") == Some(path) => {
                files.insert(ALIASES.to_owned(), latin1(bytes));
                env.insert("HOSTALIASES".to_owned(), format!("/etc/{ALIASES}"));
            }
            None => {}
        }
    }
    (env, files)
}

impl From<&Rule> for RuleForm {
    fn from(rule: &Rule) -> Self {
        let (a, aaaa, cname) = match &rule.effect {
            Effect::Answer { a, aaaa, cname } => (a.clone(), aaaa.clone(), cname.clone()),
            _ => (Vec::new(), Vec::new(), None),
        };
        Self {
            name: rule.name.clone(),
            record_type: rule.record_type,
            server: rule.server,
            proto: rule.transport,
            edns: rule.edns,
            nth: rule.nth,
            upto: rule.up_to,
            reply: (&rule.effect).into(),
            a,
            aaaa,
            cname,
            delay_ms: u64::try_from(rule.delay.as_millis()).unwrap_or(u64::MAX),
            soa: rule.soa,
            ra: rule.recursion_available,
            opt: rule.opt,
            ad: rule.authentic_data,
            dup: rule.is_doubled,
            wrong: rule.wrong,
        }
    }
}

impl From<&Effect> for ReplyForm {
    fn from(effect: &Effect) -> Self {
        match effect {
            Effect::Answer { .. } => Self::Answer,
            Effect::Status(Rcode::NoError) => Self::Nodata,
            Effect::Status(Rcode::FormErr) => Self::Formerr,
            Effect::Status(Rcode::ServFail) => Self::Servfail,
            Effect::Status(Rcode::NxDomain) => Self::Nxdomain,
            Effect::Status(Rcode::NotImp) => Self::Notimp,
            Effect::Status(Rcode::Refused) => Self::Refused,
            Effect::Timeout => Self::Timeout,
            Effect::Truncated => Self::Tc,
            Effect::Fin => Self::Fin,
            Effect::Reset => Self::Rst,
            Effect::Icmp => Self::Icmp,
            Effect::Unreachable => Self::Unreachable,
        }
    }
}
