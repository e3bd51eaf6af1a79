//! openresolv's `/etc/resolvconf.conf`: a shell script that sets variables.
//!
//! Read as far as it is `NAME=VALUE`; what a shell would work out (`$x`,
//! commands, `if`) is passed over.
//!
//! Source: openresolv 3.12 `resolvconf.conf(5)`, `resolvconf.in`.

use std::net::IpAddr;

use crate::text::{Place, Placed, Source};

/// The settings that tell where name servers are written.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct OpenresolvConf {
    /// `name_servers`: the servers that go before all others into the file.
    pub name_servers: Vec<Placed<IpAddr>>,
    /// `resolv_conf`: the file that openresolv writes, if not
    /// `/etc/resolv.conf`.
    pub resolv_conf: Option<Placed<String>>,
    /// `dnsmasq_resolv`: dnsmasq's servers, in the syntax of resolv.conf.
    pub dnsmasq_resolv: Option<Placed<String>>,
    /// `dnsmasq_conf`: dnsmasq's servers of single domains, in its own syntax.
    pub dnsmasq_conf: Option<Placed<String>>,
    /// `unbound_conf`: unbound's servers, in its own syntax.
    pub unbound_conf: Option<Placed<String>>,
    /// `named_options`, `named_zones`: named's, in its own syntax.
    pub named: Vec<Placed<String>>,
    /// `pdnsd_conf`, `pdns_zones`: those of other servers.
    pub others: Vec<Placed<String>>,
}

impl OpenresolvConf {
    /// Reads the file. Total: any bytes give a result.
    pub fn parse(source: &Source) -> Self {
        let mut found = Self::default();
        for (number, line) in source.bytes.split(|&byte| byte == b'\n').enumerate() {
            let Some((name, value, column)) = assignment(line) else {
                continue;
            };
            let place = Place::new(source.name.clone(), number + 1, column);
            found.set(name, value, &place);
        }
        found
    }

    /// The files that its settings name for a local server, in the order of
    /// the fields.
    pub fn files(&self) -> impl Iterator<Item = &Placed<String>> {
        let single = [&self.dnsmasq_resolv, &self.dnsmasq_conf, &self.unbound_conf];
        let lists = self.named.iter().chain(&self.others);
        single.into_iter().flatten().chain(lists)
    }

    fn set(&mut self, name: &str, value: &str, place: &Place) {
        let path = || {
            let is_path = value.starts_with('/') && !value.contains('$');
            is_path.then(|| Placed::new(value.to_owned(), place.clone()))
        };
        match name {
            "name_servers" => {
                let servers = value.split_ascii_whitespace().filter_map(|word| {
                    let (address, _scope) = word.split_once('%').unwrap_or((word, ""));
                    Some(Placed::new(address.parse().ok()?, place.clone()))
                });
                self.name_servers = servers.collect();
            }
            "resolv_conf" => self.resolv_conf = path(),
            "dnsmasq_resolv" => self.dnsmasq_resolv = path(),
            "dnsmasq_conf" => self.dnsmasq_conf = path(),
            "unbound_conf" => self.unbound_conf = path(),
            "named_options" | "named_zones" => self.named.extend(path()),
            "pdnsd_conf" | "pdns_zones" => self.others.extend(path()),
            _ => {}
        }
    }
}

/// Name, value without quotes, and the value's column, of a line that only
/// sets a variable.
fn assignment(line: &[u8]) -> Option<(&str, &str, usize)> {
    let line = std::str::from_utf8(line).ok()?;
    let start = line.len() - line.trim_start().len();
    let (name, value) = line.trim().split_once('=')?;
    let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
    if name.is_empty() || !name.chars().all(is_name) {
        return None;
    }
    let column = start + name.len() + 2;
    for quote in ['"', '\''] {
        if let Some(rest) = value.strip_prefix(quote) {
            let (inner, behind) = rest.split_once(quote)?;
            let is_end = behind.trim_start().is_empty() || behind.trim_start().starts_with('#');
            return is_end.then_some((name, inner, column));
        }
    }
    let word = value.split_ascii_whitespace().next().unwrap_or_default();
    Some((name, word, column))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &[u8]) -> OpenresolvConf {
        OpenresolvConf::parse(&Source::new("r", text))
    }

    #[test]
    fn settings_are_those_of_a_shell() {
        let conf = parse(
            b"# comment\nresolv_conf=/etc/resolv.conf\r\nname_servers=\"127.0.0.1 ::1 x\" # y\n\
              dnsmasq_resolv='/var/run/dnsmasq/resolv.conf'\n dnsmasq_conf=/a\ndnsmasq_conf=/b\n\
              unbound_conf=$DIR/x\nnamed_zones=/z\nif x=1; then\nfi\n\xff=1\n",
        );
        let servers: Vec<String> = conf
            .name_servers
            .iter()
            .map(|it| it.value.to_string())
            .collect();
        assert_eq!(servers, ["127.0.0.1", "::1"]);
        assert_eq!(
            conf.name_servers.first().unwrap().place.to_string(),
            "r:3:14"
        );
        assert_eq!(conf.resolv_conf.as_ref().unwrap().value, "/etc/resolv.conf");
        let files: Vec<&str> = conf.files().map(|it| it.value.as_str()).collect();
        assert_eq!(files, ["/var/run/dnsmasq/resolv.conf", "/b", "/z"]);
    }

    #[test]
    fn other_lines_are_passed_over() {
        for text in [
            &b""[..],
            b"=",
            b"a b=1",
            b"name_servers",
            b"name_servers=\"127.0.0.1",
            b"name_servers='127.0.0.1' command",
            b"name_servers=",
            b"\0\n\n",
        ] {
            assert_eq!(parse(text), OpenresolvConf::default(), "{text:?}");
        }
    }
}
