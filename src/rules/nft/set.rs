//! Sets and maps that have names.

use serde_json::Value;

use super::expression::{Atom, Kind, Values};
use super::listing;
use super::value::elements;

/// A set or map of nftables.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Set {
    /// What is in it, in its order.
    pub elements: Vec<Element>,
    /// Whether it has an element that kdns does not know.
    pub is_odd: bool,
}

/// One element of a set or map.
#[derive(Clone, Debug, PartialEq)]
pub struct Element {
    /// The values that it is for.
    pub key: Values,
    /// What a map has for them.
    pub data: Option<Value>,
}

impl Set {
    /// The element that a value is in.
    ///
    /// # Errors
    ///
    /// It is not known whether there is one.
    pub fn find(&self, value: &[Atom]) -> Result<Option<&Element>, Unsure> {
        let mut is_sure = !self.is_odd;
        for element in &self.elements {
            match element.key.have(value) {
                Some(true) => return Ok(Some(element)),
                Some(false) => {}
                None => is_sure = false,
            }
        }
        if is_sure { Ok(None) } else { Err(Unsure) }
    }
}

/// It is not known whether a value is in a set.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Unsure;

/// The set or map of an object, or of a block of a listing.
pub(in crate::rules) fn set(bytes: &[u8]) -> Option<Set> {
    if !bytes.starts_with(b"{") {
        return listing::set(&String::from_utf8_lossy(bytes));
    }
    let value: Value = serde_json::from_slice(bytes).ok()?;
    of_json(value.get("set").or_else(|| value.get("map"))?)
}

/// What the JSON of a set or map says.
pub(super) fn of_json(set: &Value) -> Option<Set> {
    let kinds = match set.get("type")? {
        Value::Array(types) => types.iter().map(of_type).collect(),
        one => vec![of_type(one)],
    };
    let list = set.get("elem").and_then(Value::as_array);
    let mut found = Set::default();
    for element in elements(list.map(Vec::as_slice).unwrap_or_default(), &kinds) {
        match element {
            Some((key, data)) => found.elements.push(Element { key, data }),
            None => found.is_odd = true,
        }
    }
    Some(found)
}

fn of_type(name: &Value) -> Kind {
    match name.as_str().unwrap_or_default() {
        "ipv4_addr" | "ipv6_addr" => Kind::Address,
        "inet_proto" => Kind::Protocol,
        "inet_service" => Kind::Port,
        "ifname" => Kind::Link,
        "ct_state" => Kind::State,
        "fib_addrtype" => Kind::AddressType,
        _ => Kind::Number,
    }
}
