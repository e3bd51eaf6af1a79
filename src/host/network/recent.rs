//! The lists of `xt_recent`, by which rules keep a client at its endpoint.

use std::collections::BTreeMap;
use std::fs;
use std::net::IpAddr;
use std::path::Path;

use super::{NET, table};

/// Where there is a file for each list that a rule names.
const LISTS: &str = "xt_recent";

/// The addresses on each list of this thread's network namespace.
pub(super) fn lists() -> BTreeMap<Box<str>, Vec<IpAddr>> {
    let Ok(entries) = fs::read_dir(Path::new(NET).join(LISTS)) else {
        return BTreeMap::new();
    };
    let list = |name: &str| {
        let text = table(&format!("{LISTS}/{name}"))?;
        let addresses = String::from_utf8_lossy(&text.bytes)
            .lines()
            .filter_map(address)
            .collect();
        Some((name.into(), addresses))
    };
    let names = entries.filter_map(|it| it.ok()?.file_name().into_string().ok());
    names.filter_map(|it| list(&it)).collect()
}

/// `src=10.244.0.7 ttl: 64 last_seen: 4295050123 oldest_pkt: 1 4295050123`.
fn address(line: &str) -> Option<IpAddr> {
    line.strip_prefix("src=")?.split(' ').next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::address;

    #[test]
    fn a_line_begins_with_its_address() {
        let line = "src=10.244.0.7 ttl: 64 last_seen: 4295050123 oldest_pkt: 1 4295050123";
        assert_eq!(address(line), "10.244.0.7".parse().ok());
        assert_eq!(address("src="), None);
    }
}
