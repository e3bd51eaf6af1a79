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
    let mut options: Vec<(Vec<u8>, Vec<u8>, WordOrigin)> = Vec::new();
    let mut known: HashMap<Vec<u8>, usize> = HashMap::new();
    for option in base.chain(added) {
        if let Some(earlier) = known.get(&option.0).and_then(|&at| options.get_mut(at)) {
            *earlier = option;
        } else {
            known.insert(option.0.clone(), options.len());
            options.push(option);
        }
    }
    let word = |(name, value, origin): (Vec<u8>, Vec<u8>, WordOrigin)| Word {
        text: match value.as_slice() {
            [] => name,
            value => [name.as_slice(), b":", value].concat(),
        },
        origin,
    };
    options.into_iter().map(word).collect()
}
