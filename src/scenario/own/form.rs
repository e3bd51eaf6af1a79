//! The JSON form of a daemon's own resolver in a scenario.

use std::net::IpAddr;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::{Daemon, Given, Order, Own};
use crate::address::{DNS_PORT, Server};
use crate::text::{Place, Placed};

/// [`Own`] as JSON has it.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(
    deny_unknown_fields,
    expecting = "a daemon's own resolver as an object"
)]
pub struct OwnForm {
    daemon: Daemon,
    servers: Vec<GivenForm>,
    #[serde(default = "yes")]
    ipv4: bool,
    #[serde(default = "yes")]
    ipv6: bool,
    #[serde(default, skip_serializing_if = "is_default")]
    order: Order,
    #[serde(default, skip_serializing_if = "is_default")]
    tcp: bool,
    #[serde(default = "yes", skip_serializing_if = "Clone::clone")]
    search: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    timeout_ms: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    retry_ms: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    retries: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    edns_size: Option<u16>,
}

/// An address, a name or what is not understood; without any of them those of
/// `resolv.conf`.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
#[serde(deny_unknown_fields, default)]
struct GivenForm {
    #[serde(skip_serializing_if = "Option::is_none")]
    address: Option<IpAddr>,
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    port: Option<u16>,
    #[serde(skip_serializing_if = "Option::is_none")]
    unknown: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    place: Option<String>,
}

pub(in crate::scenario) fn yes() -> bool {
    true
}

pub(in crate::scenario) fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

impl From<OwnForm> for Own {
    fn from(form: OwnForm) -> Self {
        Self {
            daemon: form.daemon,
            servers: form.servers.into_iter().map(Into::into).collect(),
            has_ipv4: form.ipv4,
            has_ipv6: form.ipv6,
            order: form.order,
            is_tcp: form.tcp,
            has_search: form.search,
            timeout: form.timeout_ms.map(Duration::from_millis),
            retry: form.retry_ms.map(Duration::from_millis),
            retries: form.retries,
            edns_size: form.edns_size,
        }
    }
}

impl From<&Own> for OwnForm {
    fn from(own: &Own) -> Self {
        let millis = |it: Duration| u64::try_from(it.as_millis()).unwrap_or(u64::MAX);
        Self {
            daemon: own.daemon,
            servers: own.servers.iter().map(Into::into).collect(),
            ipv4: own.has_ipv4,
            ipv6: own.has_ipv6,
            order: own.order,
            tcp: own.is_tcp,
            search: own.has_search,
            timeout_ms: own.timeout.map(millis),
            retry_ms: own.retry.map(millis),
            retries: own.retries,
            edns_size: own.edns_size,
        }
    }
}

impl From<GivenForm> for Placed<Given> {
    fn from(form: GivenForm) -> Self {
        let port = form.port.unwrap_or(DNS_PORT);
        let value = match (form.address, form.name, form.unknown) {
            (Some(ip), ..) => Given::Server(Server {
                address: ip.into(),
                port,
            }),
            (None, Some(name), _) => Given::Name(name, port),
            (None, None, Some(word)) => Given::Unknown(word),
            (None, None, None) => Given::ResolvConf,
        };
        let place = form.place.unwrap_or_else(|| "the scenario".to_owned());
        Self {
            value,
            place: Place::nowhere(&place),
        }
    }
}

impl From<&Placed<Given>> for GivenForm {
    fn from(given: &Placed<Given>) -> Self {
        let place = Some(given.place.to_string());
        let form = Self {
            place,
            ..Self::default()
        };
        match &given.value {
            Given::Server(server) => Self {
                address: Some(server.address.ip),
                port: Some(server.port),
                ..form
            },
            Given::Name(name, port) => Self {
                name: Some(name.clone()),
                port: Some(*port),
                ..form
            },
            Given::Unknown(word) => Self {
                unknown: Some(word.clone()),
                ..form
            },
            Given::ResolvConf => form,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_form_comes_back_as_it_was() {
        let text = r#"{"daemon": "haproxy", "servers": [{"address": "10.0.0.1", "port": 5353, "place": "f:1:2"}, {"name": "a", "port": 53, "place": "f:1:3"}, {"unknown": "x", "place": "f"}, {"place": "f:2:1"}], "ipv6": false, "order": "ipv4-first", "tcp": true, "search": false, "retry_ms": 5}"#;
        let form: OwnForm = serde_json::from_str(text).unwrap();
        let own = Own::from(form);
        assert!(own.has_resolv_conf() && own.has_unknown() && !own.has_ipv6 && own.has_ipv4);
        assert!(own.is_tcp && !own.has_search && own.order == Order::Ipv4First);
        let again = serde_json::to_string(&OwnForm::from(&own)).unwrap();
        let form: OwnForm = serde_json::from_str(&again).unwrap();
        assert_eq!(Own::from(form), own);
    }

    #[test]
    fn other_keys_are_errors() {
        for text in [
            r#"{"daemon": "x", "servers": []}"#,
            r#"{"daemon": "nginx", "servers": [], "a": 1}"#,
            r#"{"daemon": "nginx", "servers": [{"a": 1}]}"#,
        ] {
            assert!(serde_json::from_str::<OwnForm>(text).is_err(), "{text}");
        }
    }
}
