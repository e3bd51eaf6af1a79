//! Scenarios and observations, in the JSON form of the vectors.

use std::collections::BTreeMap;
use std::time::Duration;

use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Map, Value};

use super::rules::Rule;

/// How long a run is let go on where the scenario does not say.
const DEFAULT_LIMIT_S: u64 = 45;

/// A scenario: what a resolver finds, what it is asked, and how its servers answer.
#[expect(
    clippy::option_option,
    reason = "absent, null and text are three things"
)]
#[derive(Clone, Debug, Deserialize, Serialize)]
pub(crate) struct Scenario {
    /// The case's name.
    #[serde(default)]
    pub(crate) id: String,
    /// The text of /etc/resolv.conf; `None`: no such file.
    pub(crate) resolv_conf: Option<String>,
    /// The name that is looked up.
    pub(crate) name: String,
    /// Additional environment variables.
    #[serde(default)]
    pub(crate) env: BTreeMap<String, String>,
    /// The host name.
    #[serde(default = "pod_1")]
    pub(crate) hostname: String,
    /// The text of /etc/hosts; `Some(None)`: no such file; `None`: the default.
    #[serde(
        default,
        deserialize_with = "present",
        skip_serializing_if = "Option::is_none"
    )]
    pub(crate) hosts: Option<Option<String>>,
    /// The text of /etc/nsswitch.conf, as with `hosts`.
    #[serde(
        default,
        deserialize_with = "present",
        skip_serializing_if = "Option::is_none"
    )]
    pub(crate) nsswitch: Option<Option<String>>,
    /// Other files below /etc.
    #[serde(default)]
    pub(crate) files: BTreeMap<String, String>,
    /// Modules of nsswitch.conf that are not glibc's: `installed`, else they are not there.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) nss_modules: BTreeMap<String, String>,
    /// `inet` or `inet6`, else unspecified.
    pub(crate) family: Option<String>,
    /// `getaddrinfo`'s flags.
    #[serde(default)]
    pub(crate) flags: i32,
    /// The servers' rules.
    #[serde(default)]
    pub(crate) answers: Vec<Rule>,
    /// Seconds that a run may take.
    pub(crate) limit_s: Option<u64>,
    /// The same, by resolver.
    #[serde(default)]
    pub(crate) limits: BTreeMap<String, u64>,
}

/// A key that is there, `null` or not.
#[expect(
    clippy::option_option,
    reason = "absent, null and text are three things"
)]
fn present<'de, D: Deserializer<'de>>(value: D) -> Result<Option<Option<String>>, D::Error> {
    Option::deserialize(value).map(Some)
}

fn pod_1() -> String {
    "pod-1".to_owned()
}

impl Scenario {
    /// How long a run of this resolver is let go on.
    pub(crate) fn limit(&self, resolver: &str) -> Duration {
        let seconds = self.limits.get(resolver).copied().or(self.limit_s);
        Duration::from_secs(seconds.unwrap_or(DEFAULT_LIMIT_S))
    }

    /// The bytes of /etc/resolv.conf.
    pub(crate) fn resolv_conf_bytes(&self) -> Option<Vec<u8>> {
        Some(bytes(self.resolv_conf.as_ref()?))
    }
}

/// The bytes that a text of resolv.conf means: code points up to 255 are bytes.
pub(crate) fn bytes(text: &str) -> Vec<u8> {
    let bytes: Result<Vec<u8>, _> = text.chars().map(|c| u8::try_from(u32::from(c))).collect();
    bytes.unwrap_or_else(|_| text.to_owned().into_bytes())
}

/// What EDNS said in a query.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub(crate) struct EdnsSeen {
    /// The UDP payload size.
    pub(crate) size: u16,
    /// The DO bit.
    #[serde(rename = "do", default, skip_serializing_if = "Option::is_none")]
    pub(crate) dnssec_ok: Option<bool>,
    /// The codes of the options.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) options: Vec<u16>,
}

/// One query that reached the server.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub(crate) struct Query {
    /// `udp` or `tcp`.
    pub(crate) proto: String,
    /// The address that was asked.
    pub(crate) server: String,
    /// The name, without the final dot; `None` in a malformed message.
    pub(crate) qname: Option<String>,
    /// The type.
    pub(crate) qtype: Option<String>,
    /// A malformed message in hex, without its id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) bad: Option<String>,
    /// EDNS, where the query had it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) edns: Option<EdnsSeen>,
    /// The AD bit, where it is set.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) ad: Option<bool>,
    /// The CD bit, where it is set.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) cd: Option<bool>,
    /// The RD bit, where it is not set.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) rd: Option<bool>,
    /// What it got.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) reply: Option<String>,
    /// The number of its source socket, by first use.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) sock: Option<u32>,
}

/// How a lookup ended.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
pub(crate) struct Outcome {
    /// `ok` or `error`; `lab` when the lab itself failed.
    pub(crate) status: String,
    /// The error's code.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) code: Option<String>,
    /// The addresses.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) addrs: Option<Vec<String>>,
    /// Everything else that the program told.
    #[serde(flatten)]
    pub(crate) more: Map<String, Value>,
}

impl Outcome {
    /// An error with its code.
    pub(crate) fn error(code: &str) -> Self {
        Self {
            status: "error".to_owned(),
            code: Some(code.to_owned()),
            ..Self::default()
        }
    }

    /// Addresses.
    pub(crate) fn ok(addrs: Vec<String>) -> Self {
        Self {
            status: "ok".to_owned(),
            addrs: Some(addrs),
            ..Self::default()
        }
    }

    /// The lab itself failed, for this reason.
    pub(crate) fn lab(reason: &str) -> Self {
        Self {
            status: "lab".to_owned(),
            code: Some("LAB".to_owned()),
            ..Self::default()
        }
        .with("text", reason)
    }

    /// The same with one more fact.
    #[must_use]
    pub(crate) fn with(mut self, key: &str, value: impl Into<Value>) -> Self {
        self.more.insert(key.to_owned(), value.into());
        self
    }
}

/// When things happened.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
pub(crate) struct Timing {
    /// Milliseconds of the fastest run.
    #[serde(default)]
    pub(crate) ms_min: u64,
    /// Milliseconds of the slowest run.
    #[serde(default)]
    pub(crate) ms_max: u64,
    /// Milliseconds of each query after the first.
    #[serde(default)]
    pub(crate) t_ms: Vec<u64>,
}

/// What one resolver did in one scenario.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub(crate) struct Observation {
    /// The case's name.
    #[serde(default)]
    pub(crate) case: String,
    /// The resolver's id.
    #[serde(default)]
    pub(crate) resolver: String,
    /// The queries in order of arrival.
    pub(crate) queries: Vec<Query>,
    /// How it ended.
    pub(crate) outcome: Outcome,
    /// When.
    #[serde(default)]
    pub(crate) timing: Timing,
    /// The /etc/resolv.conf that glibc saw, where systemd-resolved had the case's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) stub_resolv_conf: Option<String>,
    /// `true`, `"order"` or `false`, where several runs were made.
    #[serde(default, skip_serializing_if = "Value::is_null")]
    pub(crate) stable: Value,
    /// What other runs did.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) variants: Vec<Self>,
}

impl Observation {
    /// What is reported when the lab itself failed.
    pub(crate) fn failed(case: &str, resolver: &str, reason: &str) -> Self {
        Self {
            case: case.to_owned(),
            resolver: resolver.to_owned(),
            queries: Vec::new(),
            outcome: Outcome::lab(reason),
            timing: Timing::default(),
            stub_resolv_conf: None,
            stable: Value::Null,
            variants: Vec::new(),
        }
    }
}
