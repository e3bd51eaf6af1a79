//! resolved's cache.
//!
//! Source: systemd `src/resolve/resolved-dns-cache.c`.

use std::time::Duration;

use hickory_proto::rr::RecordType;

use crate::engine::message::{Data, Rcode, Record};
use crate::name::Name;
use crate::resolver::resolved::Version;
use crate::resolver::resolved::event::DELAY;
use crate::resolver::resolved::transaction::Key;

/// How long SERVFAIL is kept.
///
/// Source: `CACHE_TTL_STRANGE_RCODE_USEC`.
const TTL_STRANGE_RCODE: Duration = Duration::from_secs(10);
const OLD_TTL_STRANGE_RCODE: Duration = Duration::from_secs(30);
/// Time to live of the records of a scenario's servers.
const POSITIVE_TTL: Duration = Duration::from_secs(30);
/// Time to live of their negative answers: the minimum of their SOA record.
const NEGATIVE_TTL: Duration = Duration::from_secs(5);

/// Records of a message, as far as anyone looks at them.
///
/// Source: `DnsAnswer`.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub(super) struct Answer {
    /// The answer section.
    pub records: Vec<Record>,
    /// Whether the authority section has an SOA record.
    pub soa: bool,
    /// Whether it was made up here and not got from a server.
    pub synthetic: bool,
}

/// The answers of servers that are kept for some time.
///
/// Source: `DnsCache`.
#[derive(Clone, Debug, Default)]
pub(super) struct DnsCache {
    items: Vec<Item>,
}

#[derive(Clone, Debug)]
struct Item {
    name: Name,
    what: What,
    answer: Answer,
    until: Duration,
}

/// Source: `DnsCacheItemType`.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum What {
    Positive(RecordType),
    NoData(RecordType),
    /// Good for every type.
    NxDomain,
    Servfail(RecordType),
}

impl Item {
    /// Whether it says something about `key`.
    fn is_about(&self, key: &Key) -> bool {
        let of_type = |it: RecordType| it == key.record_type || it == RecordType::CNAME;
        self.what.record_type().is_none_or(of_type) && self.name.eq_ignore_case(&key.name)
    }
}

impl What {
    fn record_type(self) -> Option<RecordType> {
        match self {
            Self::Positive(it) | Self::NoData(it) | Self::Servfail(it) => Some(it),
            Self::NxDomain => None,
        }
    }
}

impl Answer {
    /// Whether nothing at all is in it.
    fn is_empty(&self) -> bool {
        self.records.is_empty() && !self.soa
    }

    /// Whether a record answers `key`, or is a CNAME for it.
    ///
    /// Source: `resolved-dns-transaction.c: dns_transaction_has_positive_answer`.
    pub(super) fn is_positive_for(&self, key: &Key) -> bool {
        self.records.iter().any(|record| {
            let record_type = record.data.record_type();
            record.name.eq_ignore_case(&key.name)
                && (record_type == key.record_type || record_type == RecordType::CNAME)
        })
    }
}

impl DnsCache {
    /// Source: `dns_cache_flush`.
    pub(super) fn flush(&mut self) {
        self.items.clear();
    }

    /// Source: `dns_cache_prune`.
    pub(super) fn prune(&mut self, now: Duration) {
        self.items.retain(|item| item.until > now);
    }

    /// When what is known about the name of `key` ends, if that is about now.
    pub(super) fn ends_about(&self, key: &Key, now: Duration) -> Option<Duration> {
        let ends = |item: &&Item| item.until.abs_diff(now) <= DELAY && item.is_about(key);
        self.items.iter().find(ends).map(|item| item.until)
    }

    /// What is known about `key`.
    ///
    /// Source: `dns_cache_lookup`, `dns_cache_get_by_key_follow_cname_dname_nsec`.
    pub(super) fn lookup(&self, key: &Key) -> Option<(Rcode, Answer)> {
        let of = |wanted: Option<RecordType>| {
            self.items.iter().find(|item| {
                item.what.record_type() == wanted && item.name.eq_ignore_case(&key.name)
            })
        };
        let alias = || of(Some(RecordType::CNAME)).filter(|_| may_redirect(key.record_type));
        let item = of(Some(key.record_type))
            .or_else(|| of(None))
            .or_else(alias)?;
        let rcode = match item.what {
            What::Positive(_) | What::NoData(_) => Rcode::NoError,
            What::NxDomain => Rcode::NxDomain,
            What::Servfail(_) => Rcode::ServFail,
        };
        Some((rcode, item.answer.clone()))
    }

    /// Keeps what a server said about `key`.
    ///
    /// Source: `dns_cache_put`.
    pub(super) fn put(
        &mut self,
        key: &Key,
        rcode: Rcode,
        answer: &Answer,
        now: Duration,
        version: Version,
    ) {
        self.remove_previous(key, answer);
        let strange = rcode == Rcode::ServFail;
        let good = matches!(rcode, Rcode::NoError | Rcode::NxDomain);
        if !(strange || good && !answer.is_empty()) {
            return;
        }
        for record in &answer.records {
            self.put_positive(key, record, answer, now);
        }
        if answer.is_positive_for(key) || !(answer.soa || strange) {
            return;
        }
        let (what, ttl) = match rcode {
            Rcode::NoError => (What::NoData(key.record_type), NEGATIVE_TTL),
            Rcode::NxDomain => (What::NxDomain, NEGATIVE_TTL),
            _ if version.is_before_247 => (What::Servfail(key.record_type), OLD_TTL_STRANGE_RCODE),
            _ => (What::Servfail(key.record_type), TTL_STRANGE_RCODE),
        };
        self.items.push(Item {
            name: key.name.clone(),
            what,
            answer: answer.clone(),
            until: now + ttl,
        });
    }

    /// That another type of the name does not exist stays known.
    ///
    /// Source: `dns_cache_remove_previous`.
    fn remove_previous(&mut self, key: &Key, answer: &Answer) {
        let old = |item: &Item, name: &Name, record_type: RecordType| {
            item.what.record_type() == Some(record_type) && item.name.eq_ignore_case(name)
        };
        self.items.retain(|item| {
            !old(item, &key.name, key.record_type)
                && !answer
                    .records
                    .iter()
                    .any(|record| old(item, &record.name, record.data.record_type()))
        });
    }

    /// Keeps `record`, together with all of `answer` if it answers `key`.
    ///
    /// Source: `dns_cache_put_positive`.
    fn put_positive(&mut self, key: &Key, record: &Record, answer: &Answer, now: Duration) {
        let record_type = record.data.record_type();
        let what = What::Positive(record_type);
        let primary = record.name.eq_ignore_case(&key.name)
            && (record_type == key.record_type || matches!(record.data, Data::Cname(_)));
        let known = self
            .items
            .iter_mut()
            .find(|item| item.what == what && item.name.eq_ignore_case(&record.name));
        match known {
            Some(_) if primary => {}
            Some(item) => item.answer.records.push(record.clone()),
            None => self.items.push(Item {
                name: record.name.clone(),
                what,
                answer: if primary {
                    answer.clone()
                } else {
                    Answer {
                        records: vec![record.clone()],
                        ..Answer::default()
                    }
                },
                until: now + POSITIVE_TTL,
            }),
        }
    }
}

/// Whether a CNAME record stands for records of this type.
///
/// Source: `dns-type.c: dns_type_may_redirect`.
pub(super) fn may_redirect(record_type: RecordType) -> bool {
    !matches!(
        record_type,
        RecordType::CNAME
            | RecordType::NSEC
            | RecordType::NSEC3
            | RecordType::RRSIG
            | RecordType::SIG
            | RecordType::ANY
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::resolver::resolved::{V245, V247};

    #[test]
    fn servfail_is_kept_for_ten_seconds_and_was_for_thirty() {
        let key = Key {
            name: Name::default(),
            record_type: RecordType::A,
        };
        for (version, seconds) in [(V245, 30), (V247, 10)] {
            let mut cache = DnsCache::default();
            let nothing = Answer::default();
            cache.put(&key, Rcode::ServFail, &nothing, Duration::ZERO, version);
            for (at, is_kept) in [(seconds - 1, true), (seconds, false)] {
                cache.prune(Duration::from_secs(at));
                assert_eq!(cache.lookup(&key).is_some(), is_kept);
            }
        }
    }
}
