#![doc = include_str!("extra_stub_on_cache_address.md")]

use crate::address::{DNS_PORT, is_link_local};
use crate::lint::facts::Text;
use crate::lint::rules::prelude::*;
use crate::topology::resolved::Extra;

pub(super) fn check(file: &SettingsText<'_>, context: &Context<'_>, report: &mut Report) {
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
    let address = bind.address().filter(|it| is_link_local(*it));
    address.is_some_and(|own| extra.ip.is_none_or(|it| it == own))
}
