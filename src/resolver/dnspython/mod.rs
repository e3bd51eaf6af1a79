//! dnspython, 2.3 and 2.9: `dns.resolver.resolve`, which asks by itself and for one
//! type only, A unless another is wanted.
//!
//! `read` is `BaseResolver.read_resolv_conf`, `resolution` is `_Resolution`
//! with the loop of `Resolver.resolve`. There is no hosts file, no nsswitch
//! and no environment variable.

mod read;
mod resolution;

use std::borrow::Cow;
use std::rc::Rc;

use hickory_proto::rr::RecordType;

use crate::engine::io::{Io, Wrong};
use crate::engine::machine::Outcome;
use crate::engine::message::Because;
use crate::name::{Name, NameError};
use crate::resolver::dnspython::read::{Configuration, from_text, read_resolv_conf};
use crate::resolver::dnspython::resolution::Resolution;
use crate::resolver::reading::Reading;
use crate::scenario::{Family, Lookup, Scenario};

/// How `resolve` is called.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Call {
    /// `resolve(NAME)`
    Resolve,
    /// `resolve(NAME, search=True)`, and `query(NAME)`
    Search,
}

/// The versions that differ.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Version {
    /// 2.3, as in Debian 12.
    V2_3,
    /// Since 2.4 a name server that is no address is an error.
    /// Source: `dns/resolver.py: BaseResolver._enrich_nameservers` (2.4)
    V2_9,
}

/// Why it ends: the class of the exception.
type Exception = &'static str;

/// The lookup of `scenario`.
pub async fn lookup(io: Rc<Io>, scenario: &Scenario, version: Version, call: Call) -> Outcome {
    // dns/query.py: udp ignores them since 2.6.
    if version == Version::V2_3 {
        io.takes(&[Wrong::Id, Wrong::Question, Wrong::Source]);
    }
    let record_type = match scenario.lookup {
        Lookup::Addresses(Family::Both | Family::Inet) => RecordType::A,
        Lookup::Addresses(Family::Inet6) => RecordType::AAAA,
        Lookup::Records(record_type) => record_type,
    };
    let configuration = read_resolv_conf(scenario);
    if let Some(exception) = configuration.exception {
        return Outcome::Failed(exception);
    }
    if version == Version::V2_9 && configuration.servers.contains(&None) {
        return Outcome::Failed("ValueError");
    }
    let Ok(name) = to_ascii(&scenario.name) else {
        return Outcome::Failed("IDNAException");
    };
    let names = match qnames_to_try(&configuration, name.as_bytes(), call) {
        Ok(names) => names,
        Err(exception) => return Outcome::Failed(exception),
    };
    let mut resolution = Resolution::new(&io, &configuration, record_type);
    match resolution.resolve(names).await {
        Ok(addresses) => Outcome::Found(addresses),
        Err(exception) => Outcome::Failed(exception),
    }
}

/// Names with other letters are converted.
///
/// Source: dnspython `dns/name.py: from_text, from_unicode` (2.3)
fn to_ascii(name: &str) -> Result<Cow<'_, str>, ::idna::Errors> {
    if name.is_ascii() {
        return Ok(Cow::Borrowed(name));
    }
    ::idna::domain_to_ascii(name).map(Cow::Owned)
}

/// What it takes from the configuration.
pub fn reading(scenario: &Scenario) -> Reading<'_> {
    read_resolv_conf(scenario).reading
}

/// The names, in order. The search list counts only where it is asked for.
///
/// Source: dnspython `dns/resolver.py: BaseResolver._get_qnames_to_try` (2.3)
fn qnames_to_try(
    configuration: &Configuration<'_>,
    text: &[u8],
    call: Call,
) -> Result<Vec<(Name, Because)>, Exception> {
    let (labels, is_absolute) = from_text(text)?;
    let absolute = (joined(&labels, &[])?, Because::AsIs);
    if is_absolute || call == Call::Resolve {
        return Ok(vec![absolute]);
    }
    let mut names = Vec::with_capacity(configuration.search.len() + 1);
    for (index, suffix) in configuration.search.iter().enumerate() {
        names.push((joined(&labels, suffix)?, Because::Search(index)));
    }
    let is_first = labels.len() > configuration.ndots;
    let at = if is_first { 0 } else { names.len() };
    names.insert(at, absolute);
    Ok(names)
}

/// Source: dnspython `dns/name.py: Name.concatenate, _validate_labels` (2.3)
fn joined(labels: &[Vec<u8>], suffix: &[Vec<u8>]) -> Result<Name, Exception> {
    let all = labels.iter().chain(suffix).map(Vec::as_slice);
    Name::from_labels(all).map_err(|error| match error {
        NameError::EmptyLabel => "EmptyLabel",
        NameError::LongLabel => "LabelTooLong",
        NameError::LongName => "NameTooLong",
    })
}
