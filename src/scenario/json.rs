//! The JSON form of a scenario.

use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::time::Duration;

use hickory_proto::rr::RecordType;
use serde::de::IgnoredAny;
use serde::{Deserialize, Deserializer};

use crate::engine::message::{Rcode, Transport};
use crate::name::Name;
use crate::scenario::own::form::OwnForm;
use crate::scenario::{Family, Lookup, Scenario, record_type};
use crate::scenario::{default_hosts, default_interfaces, default_nsswitch, file};
use crate::world::{Effect, Rule};

/// Why a text is no scenario.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[error("{message}")]
pub struct ScenarioError {
    /// What is wrong, as a sentence without a full stop. Can have text of the
    /// scenario in it.
    pub message: String,
    /// Line in the text, from 1.
    pub line: usize,
    /// Column in bytes, from 1.
    pub column: usize,
}

impl From<serde_json::Error> for ScenarioError {
    fn from(error: serde_json::Error) -> Self {
        let message = error.to_string();
        // serde_json ends with the place.
        let message = message.rsplit_once(" at line ").map(|(start, _)| start);
        Self {
            message: message.unwrap_or("it cannot be read").to_owned(),
            line: error.line().max(1),
            column: error.column().max(1),
        }
    }
}

/// Reads one scenario from JSON text. `id` names it if it has no `id`.
///
/// # Errors
///
/// Malformed JSON, an unknown key, a value of the wrong kind: with line and
/// column in `text`.
pub fn parse(text: &[u8], id: &str) -> Result<Scenario, ScenarioError> {
    // Without this an array would do: its elements in the order of the keys.
    let start = text.iter().position(|byte| !byte.is_ascii_whitespace());
    if start.is_some_and(|at| text.get(at) != Some(&b'{')) {
        let before = text.get(..start.unwrap_or_default()).unwrap_or_default();
        let line_start = before.iter().rposition(|&byte| byte == b'\n');
        return Err(ScenarioError {
            message: "a scenario is a JSON object, and this is none".to_owned(),
            line: before.iter().filter(|&&byte| byte == b'\n').count() + 1,
            column: before.len() - line_start.map_or(0, |at| at + 1) + 1,
        });
    }
    let form: Form = serde_json::from_slice(text)?;
    Ok(form.into_scenario(id))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Form {
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
    #[serde(default)]
    family: FamilyForm,
    #[serde(default)]
    flags: u32,
    /// Records of this type are looked up, not addresses. Not in the vectors.
    #[serde(rename = "type", default, deserialize_with = "some_record_type")]
    record_type: Option<RecordType>,
    /// Network interfaces, else those of a pod. Not in the vectors.
    interfaces: Option<Vec<String>>,
    /// A daemon's own resolver. Not in the vectors.
    own: Option<OwnForm>,
    #[serde(default)]
    answers: Vec<RuleForm>,
    #[serde(default, rename = "observed")]
    _observed: IgnoredAny,
    #[serde(default, rename = "theme")]
    _theme: IgnoredAny,
    #[serde(default, rename = "about")]
    _about: IgnoredAny,
    #[serde(default, rename = "runs")]
    _runs: IgnoredAny,
    #[serde(default, rename = "limit_s")]
    _limit_s: IgnoredAny,
    #[serde(default, rename = "limits")]
    _limits: IgnoredAny,
}

#[derive(Deserialize, Clone, Copy, Default)]
#[serde(rename_all = "lowercase")]
enum FamilyForm {
    #[default]
    Unspec,
    Inet,
    Inet6,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, expecting = "a rule as an object")]
#[expect(clippy::struct_excessive_bools, reason = "the bits of the header")]
struct RuleForm {
    name: Option<String>,
    #[serde(rename = "type", default, deserialize_with = "some_record_type")]
    record_type: Option<RecordType>,
    server: Option<IpAddr>,
    proto: Option<TransportForm>,
    edns: Option<bool>,
    nth: Option<usize>,
    upto: Option<usize>,
    reply: ReplyForm,
    #[serde(default)]
    a: Vec<Ipv4Addr>,
    #[serde(default)]
    aaaa: Vec<Ipv6Addr>,
    #[serde(default, deserialize_with = "name")]
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
    #[serde(default)]
    dup: bool,
}

#[derive(Deserialize, Clone, Copy)]
#[serde(rename_all = "lowercase")]
enum TransportForm {
    Udp,
    Tcp,
}

#[derive(Deserialize, Clone, Copy)]
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
#[derive(Deserialize, Default)]
#[serde(from = "Option<String>")]
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

fn yes() -> bool {
    true
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

fn name<'de, D: Deserializer<'de>>(value: D) -> Result<Option<Name>, D::Error> {
    let text = String::deserialize(value)?;
    Name::from_master_file(text.as_bytes())
        .map(Some)
        .map_err(|error| {
            serde::de::Error::custom(format_args!("`{}`: {error}", text.escape_default()))
        })
}

/// Code points up to 255 are bytes; others, which no byte can be, their UTF-8.
fn bytes(text: &str) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(text.len());
    for character in text.chars() {
        match u8::try_from(u32::from(character)) {
            Ok(byte) => bytes.push(byte),
            Err(_) => bytes.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes()),
        }
    }
    bytes
}

impl Form {
    fn into_scenario(self, id: &str) -> Scenario {
        let hostname = self.hostname.unwrap_or_else(|| "pod-1".to_owned());
        let family = match self.family {
            FamilyForm::Unspec => Family::Both,
            FamilyForm::Inet => Family::Inet,
            FamilyForm::Inet6 => Family::Inet6,
        };
        Scenario {
            id: self.id.unwrap_or_else(|| id.to_owned()),
            resolv_conf: self
                .resolv_conf
                .map(|text| file("/etc/resolv.conf", bytes(&text))),
            name: self.name,
            lookup: match self.record_type {
                Some(record_type) => Lookup::Records(record_type),
                None => Lookup::Addresses(family),
            },
            flags: self.flags,
            env: self.env,
            hosts: match self.hosts {
                FileForm::Usual => Some(default_hosts(&hostname)),
                FileForm::Given(text) => text.map(|text| file("/etc/hosts", bytes(&text))),
            },
            nsswitch: match self.nsswitch {
                FileForm::Usual => Some(default_nsswitch()),
                FileForm::Given(text) => text.map(|text| file("/etc/nsswitch.conf", bytes(&text))),
            },
            files: self
                .files
                .into_iter()
                .map(|(path, text)| (format!("/etc/{path}"), bytes(&text)))
                .collect(),
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
            transport: self.proto.map(|proto| match proto {
                TransportForm::Udp => Transport::Udp,
                TransportForm::Tcp => Transport::Tcp,
            }),
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
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn code_points_up_to_255_are_bytes() {
        let scenario = parse(
            br#"{"name": "b\u00fccher", "resolv_conf": "\u00ff\u0000\u20ac"}"#,
            "1",
        )
        .unwrap();
        assert_eq!(scenario.name, "bücher");
        assert_eq!(
            scenario.resolv_conf.unwrap().source.bytes,
            b"\xff\0\xe2\x82\xac"
        );
        assert_eq!(scenario.id, "1");
    }

    #[test]
    fn an_unknown_key_is_an_error_with_its_place() {
        let error = parse(b"{\"name\": \"a\",\n \"nam\": 1}", "1").unwrap_err();
        assert_eq!((error.line, error.column), (2, 6));
        assert!(error.message.starts_with("unknown field `nam`"), "{error}");
    }

    #[test]
    fn what_is_no_object_is_no_scenario() {
        for (text, place) in [("[1]", (1, 1)), ("\n \"x\"", (2, 2)), ("5", (1, 1))] {
            let error = parse(text.as_bytes(), "1").unwrap_err();
            assert_eq!((error.line, error.column), place, "{text}");
            assert!(error.message.contains("JSON object"), "{error}");
        }
    }

    #[test]
    fn null_is_a_missing_file_and_no_key_the_usual_one() {
        let scenario = parse(br#"{"name": "a", "hosts": null}"#, "1").unwrap();
        assert_eq!(scenario.hosts, None);
        assert_eq!(scenario.nsswitch, Some(default_nsswitch()));
        assert_eq!(scenario.resolv_conf, None);
    }
}
