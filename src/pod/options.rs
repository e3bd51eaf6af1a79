//! How the options of `dnsConfig` join those that are there.

use std::collections::HashMap;

use crate::config::manifest::DnsOption;
use crate::pod::{Word, WordOrigin};

/// Options by name; the last value of a name counts, an empty one is none.
/// The kubelet draws the order; here a name stands where it came first.
///
/// Source: kubernetes `mergeDNSOptions`.
pub(super) fn merged(base: Vec<Word>, added: &[DnsOption]) -> Vec<Word> {
    let base = base.into_iter().map(|word| {
        let mut parts = word.text.splitn(2, |&byte| byte == b':');
        let name = parts.next().unwrap_or_default().to_vec();
        let value = parts.next().unwrap_or_default().to_vec();
        (name, value, word.origin)
    });
    let added = added.iter().map(|option| {
        let value = option.value.clone().unwrap_or_default();
        let name = option.name.clone().into_bytes();
        (name, value.into_bytes(), WordOrigin::DnsConfig)
    });
    let options = last_of_each(base.chain(added), |it| it.0.clone());
    let word = |(name, value, origin): (Vec<u8>, Vec<u8>, WordOrigin)| match value.as_slice() {
        [] => Word::new(name, origin),
        value => Word::new([name.as_slice(), b":", value].concat(), origin),
    };
    options.into_iter().map(word).collect()
}

/// Of those with one name the last counts, where the first one stands.
pub(super) fn last_of_each<T>(
    options: impl IntoIterator<Item = T>,
    name: impl Fn(&T) -> Vec<u8>,
) -> Vec<T> {
    let mut kept: Vec<T> = Vec::new();
    let mut known: HashMap<Vec<u8>, usize> = HashMap::new();
    for option in options {
        let next = kept.len();
        let at = *known.entry(name(&option)).or_insert(next);
        match kept.get_mut(at) {
            Some(earlier) => *earlier = option,
            None => kept.push(option),
        }
    }
    kept
}
