#![doc = include_str!("extra_stub_on_cache_address.md")]

use std::net::IpAddr;

use crate::address::DNS_PORT;
use crate::finding::Severity;
use crate::lint::context::Context;
use crate::lint::facts::Text;
use crate::lint::report::Report;
use crate::lint::subject::SettingsText;
use crate::lint::{Check, Rule};
use crate::topology::resolved::Extra;

/// KN016.
pub static RULE: Rule = Rule {
    code: "KN016",
    name: "extra-stub-on-cache-address",
    severity: Severity::Error,
    summary: "DNSStubListenerExtra takes the address at which the node's DNS cache is to listen",
    page: include_str!("extra_stub_on_cache_address.md"),
    check: Check::Settings(check),
};

fn check(file: &SettingsText<'_>, context: &Context<'_>, report: &mut Report) {
    let document = file.document;
    let is_it = |key: &[u8]| key == b"DNSStubListenerExtra";
    for entry in file
        .entries
        .iter()
        .filter(|it| is_it(document.bytes(it.key)))
    {
        let Some(extra) = Extra::parse(entry.first(&document.source)) else {
            continue;
        };
        // A Corefile's port is 53 where a cache is bound to an address of the link.
        if extra.port != DNS_PORT {
            continue;
        }
        let corefiles = context.corefiles(document.file);
        let mut binds = corefiles.iter().flat_map(|it| &it.binds);
        let Some(bind) = binds.find(|it| is_taken(&extra, it)) else {
            continue;
        };
        let span = entry.value.first().copied().unwrap_or_default();
        report
            .add(
                document.at(span),
                format!("systemd-resolved takes {}, at which the node's DNS cache is to listen", bind.text),
            )
            .also(bind.at, "the cache")
            .help("give the stub an address of its own")
            .note("whichever of the two starts second does not get the address, and systemd-resolved starts first: the cache ends with bind: address already in use");
    }
}

/// Whether a listener has the address that a cache is bound to.
fn is_taken(extra: &Extra, bind: &Text) -> bool {
    let is_of_link = |it: &IpAddr| match it {
        IpAddr::V4(it) => it.is_link_local(),
        IpAddr::V6(it) => it.is_unicast_link_local(),
    };
    let Some(address) = bind.address().filter(is_of_link) else {
        return false;
    };
    extra.ip.is_none_or(|it| it == address)
}
