//! Erlang's `inet_res`, as in OTP 25: DNS without a hosts file, one type at a
//! time, A unless another is wanted.
//!
//! `read` is what it takes from `resolv.conf`, `query` asks the servers for one
//! name. There are no options of the file, no EDNS and no environment variable.

mod query;
mod read;

use std::rc::Rc;

use hickory_proto::rr::RecordType;

use crate::address::Address;
use crate::engine::io::Io;
use crate::engine::machine::Outcome;
use crate::engine::message::{Because, Data, Reply};
use crate::name::{Name, reverse_name};
use crate::resolver::erlang::query::res_query;
use crate::resolver::erlang::read::{Configuration, address};
use crate::resolver::reading::Reading;
use crate::scenario::{Family, Lookup, Scenario};

/// How it is asked.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Call {
    /// `inet_res:getbyname`, `inet_res:gethostbyname`
    GetByName,
    /// `inet_res:resolve`, `inet_res:lookup`
    Resolve,
}

/// Why it ends: the atom.
type Error = &'static str;

const NXDOMAIN: Error = "nxdomain";
/// The name is no name.
const FORMERR: Error = "formerr";
/// The caller gets an exception.
const CRASH: Error = "crash";
/// A reply without the record that was asked for, which `resolve` hands on.
const NO_ADDRESS: Error = "no address";

/// When it is asked, as a sentence without a full stop.
pub const CONDITION: &str = "inet_res, which is asked for SRV records, and for all names with `{lookup, [file, dns]}` in the inetrc file; what else connects in Erlang and Elixir asks the C library, in a program of its own, inet_gethost: --resolver glibc, musl";

/// The lookup of `scenario`.
pub async fn lookup(io: Rc<Io>, scenario: &Scenario, call: Call) -> Outcome {
    let record_type = match scenario.lookup {
        Lookup::Addresses(Family::Both | Family::Inet) => RecordType::A,
        Lookup::Addresses(Family::Inet6) => RecordType::AAAA,
        Lookup::Records(record_type) => record_type,
    };
    let is_visible = |byte: u8| (0x21..=0x7e).contains(&byte);
    let name = scenario.name.as_bytes();
    if name.is_empty() || !name.iter().copied().all(is_visible) {
        return Outcome::Failed(FORMERR);
    }
    let configuration = Configuration::from_scenario(scenario);
    let resolver = Resolver {
        io: &io,
        configuration: &configuration,
        record_type,
    };
    let found = match call {
        Call::GetByName => resolver.getbyname(name).await,
        Call::Resolve => resolver.resolve(name).await,
    };
    match found {
        Ok(found) => Outcome::Found(found),
        Err(error) => Outcome::Failed(error),
    }
}

/// What it takes from the configuration.
pub fn reading(scenario: &Scenario) -> Reading<'_> {
    Configuration::from_scenario(scenario).reading
}

struct Resolver<'r> {
    io: &'r Io,
    configuration: &'r Configuration<'r>,
    record_type: RecordType,
}

impl Resolver<'_> {
    /// Without dots only below the search list, never as it is; with dots as it
    /// is first. Whatever fails, the next one is asked.
    ///
    /// Source: OTP `inet_res.erl: res_getbyname, res_getby_search` (25)
    async fn getbyname(&self, name: &[u8]) -> Result<Vec<Address>, Error> {
        let mut error = NXDOMAIN;
        if let Some(absolute) = name.strip_suffix(b".") {
            return self.getby_query(absolute, Because::AsIs).await;
        }
        if name.contains(&b'.') {
            match self.getby_query(name, Because::AsIs).await {
                Err(reason) if reason != CRASH => error = reason,
                ended => return ended,
            }
        }
        for (index, domain) in self.configuration.search.iter().enumerate() {
            let (below, because) = match domain.as_ref() {
                b"" | b"." => (name.to_vec(), Because::AsIs),
                [b'.', ..] => return Err(CRASH),
                domain => ([name, b".", domain].concat(), Because::Search(index)),
            };
            match self.getby_query(&below, because).await {
                Err(reason) if reason != CRASH => error = reason,
                ended => return ended,
            }
        }
        Err(error)
    }

    /// Source: `inet_res.erl: res_getby_query`, `inet_db.erl: res_hostent_by_domain` (25)
    async fn getby_query(&self, text: &[u8], because: Because) -> Result<Vec<Address>, Error> {
        let name = encoded(text).ok_or(CRASH)?;
        let asked = (name.clone(), self.record_type, because);
        let reply = match res_query(self.io, self.configuration, asked).await {
            Err("qfmterror") => return Err("einval"),
            reply => reply?,
        };
        self.at_the_end(name, &reply).ok_or(NXDOMAIN)
    }

    /// The addresses of the name at the end of the aliases.
    ///
    /// Source: `inet_db.erl: resolve_cnames` (25)
    fn at_the_end(&self, mut name: Name, reply: &Reply) -> Option<Vec<Address>> {
        // An alias that comes again is met after as many.
        for _ in 0..=reply.answers.len() {
            let own = || {
                let records = reply.answers.iter();
                records.filter(|it| it.name.eq_ignore_case(&name))
            };
            let wanted = own().filter(|it| it.data.record_type() == self.record_type);
            let found: Vec<&Data> = wanted.map(|it| &it.data).collect();
            if !found.is_empty() {
                return Some(
                    found
                        .into_iter()
                        .filter_map(Data::ip)
                        .map(Into::into)
                        .collect(),
                );
            }
            let mut targets = own().filter_map(|it| match &it.data {
                Data::Cname(target) => Some(target.clone()),
                _ => None,
            });
            let (first, second) = (targets.next(), targets.next());
            if second.is_some() {
                return None;
            }
            drop(targets);
            name = first?;
        }
        None
    }

    /// The name as it is; the name of an address, if it is one.
    ///
    /// Source: `inet_res.erl: nsdname, resolve, lookup_filter` (25)
    async fn resolve(&self, text: &[u8]) -> Result<Vec<Address>, Error> {
        let (name, because) = match address(text) {
            Some(address) => {
                let reverse = reverse_name(address.ip);
                (encoded(reverse.as_bytes()), Because::Reverse)
            }
            None => (encoded(text), Because::AsIs),
        };
        let asked = (name.ok_or(CRASH)?, self.record_type, because);
        let reply = res_query(self.io, self.configuration, asked).await?;
        let wanted = |it: &&Data| it.record_type() == self.record_type;
        let found = reply.answers.iter().map(|it| &it.data).filter(wanted);
        let found: Vec<&Data> = found.collect();
        if found.is_empty() {
            return Err(NO_ADDRESS);
        }
        Ok(found
            .into_iter()
            .filter_map(Data::ip)
            .map(Into::into)
            .collect())
    }
}

/// The name that a text spells; `None`: an empty or long label, a long name.
///
/// Source: OTP `inet_dns.erl: name2labels, encode_labels` (25)
fn encoded(text: &[u8]) -> Option<Name> {
    if matches!(text, b"" | b".") {
        return Some(Name::root());
    }
    let mut labels = vec![Vec::new()];
    let mut bytes = text.iter().copied().peekable();
    while let Some(byte) = bytes.next() {
        let label = labels.last_mut()?;
        match byte {
            b'.' if bytes.peek().is_none() => break,
            b'.' => labels.push(Vec::new()),
            b'\\' => label.push(bytes.next().unwrap_or(byte)),
            byte => label.push(byte),
        }
    }
    Name::from_labels(labels.iter().map(Vec::as_slice)).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_have_escapes() {
        for (text, expected) in [
            ("a.b.", Some("a.b")),
            ("a\\.b", Some("a\\.b")),
            ("a..b", None),
            (".a", None),
            (".", Some(".")),
        ] {
            let name = encoded(text.as_bytes()).map(|it| it.to_string());
            let expected = expected.map(str::to_owned);
            assert_eq!(name.map(|it| trimmed(&it)), expected, "{text}");
        }
    }

    fn trimmed(name: &str) -> String {
        match name.strip_suffix('.') {
            Some(rest) if !rest.is_empty() => rest.to_owned(),
            _ => name.to_owned(),
        }
    }
}
