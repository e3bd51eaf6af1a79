//! What does not fit a pod's file, and the events that say so.
//!
//! Source: kubernetes `formDNSNameserversFitsLimits`, `formDNSSearchFitsLimits`
//! and `CheckLimitsForResolvConf`.

use crate::pod::rules::Limits;
use crate::pod::{Event, Object, PodFile, Word};
use crate::text::escaped;

/// A word that did not fit the file.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Dropped {
    /// The word.
    pub word: Word,
    /// The limit that it broke.
    pub limit: Limit,
}

/// A limit of a pod's file.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Limit {
    /// So many name servers.
    Servers(usize),
    /// So many search domains.
    Searches(usize),
    /// So many characters of the search list.
    SearchChars(usize),
    /// So many characters of one search domain.
    DomainChars(usize),
}

impl Limit {
    /// Whether it is a name server that broke it, not a search domain.
    pub fn is_of_servers(self) -> bool {
        matches!(self, Self::Servers(_))
    }
}

/// Takes out of `file` what does not fit, from the end, and adds the events.
pub(super) fn cut(file: &mut PodFile, limits: Limits) {
    let servers = split_after(&mut file.servers, limits.servers);
    drop_as(servers, Limit::Servers(limits.servers), file);
    if file.dropped.iter().any(|it| it.limit.is_of_servers()) {
        let message = format!(
            "Nameserver limits were exceeded, some nameservers have been omitted, the applied \
             nameserver line is: {}",
            joined(&file.servers)
        );
        file.events.push(forming(message));
    }
    let before = file.dropped.len();
    cut_searches(file, limits);
    if file.dropped.len() > before {
        let message = format!(
            "Search Line limits were exceeded, some search paths have been omitted, the applied \
             search line is: {}",
            joined(&file.searches)
        );
        file.events.push(forming(message));
    }
}

/// First the count, then domains that are too long, then the whole line.
fn cut_searches(file: &mut PodFile, limits: Limits) {
    let beyond = split_after(&mut file.searches, limits.searches);
    if let Some(most) = limits.domain_chars {
        let (fitting, long) = std::mem::take(&mut file.searches)
            .into_iter()
            .partition(|search| search.text.len() <= most);
        file.searches = fitting;
        drop_as(long, Limit::DomainChars(most), file);
    }
    let mut length = 0;
    let kept = file
        .searches
        .iter()
        .take_while(|search| {
            length += search.text.len() + 1;
            length - 1 <= limits.search_chars
        })
        .count();
    let tail = split_after(&mut file.searches, kept);
    drop_as(tail, Limit::SearchChars(limits.search_chars), file);
    drop_as(beyond, Limit::Searches(limits.searches), file);
}

/// The event on the node that the kubelet records when its own file leaves
/// no room.
pub fn check_host(
    path: &str,
    searches: &[Word],
    has_domain: bool,
    limits: Limits,
) -> Option<Event> {
    let path = escaped(path.as_bytes());
    let most = limits.searches - if has_domain { 3 } else { 0 };
    let is_long = |most: usize| searches.iter().any(|it| it.text.len() > most);
    let chars = searches.iter().map(|it| it.text.len() + 1).sum::<usize>();
    let message = match limits.domain_chars {
        _ if searches.len() > most => format!(
            "Resolv.conf file '{path}' contains search line consisting of more than {most} domains!"
        ),
        Some(most) if is_long(most) => format!(
            "Resolv.conf file \"{path}\" contains a search path which length is more than allowed \
             {most} chars!"
        ),
        _ if chars > limits.search_chars + 1 => format!(
            "Resolv.conf file '{path}' contains search line which length is more than allowed {} \
             chars!",
            limits.search_chars
        ),
        _ => return None,
    };
    Some(Event {
        object: Object::Node,
        reason: "CheckLimitsForResolvConf",
        message,
    })
}

fn forming(message: String) -> Event {
    Event {
        object: Object::Pod,
        reason: "DNSConfigForming",
        message,
    }
}

fn drop_as(words: Vec<Word>, limit: Limit, file: &mut PodFile) {
    let dropped = words.into_iter().map(|word| Dropped { word, limit });
    file.dropped.extend(dropped);
}

/// What stands after the first so many.
fn split_after(list: &mut Vec<Word>, most: usize) -> Vec<Word> {
    list.split_off(most.min(list.len()))
}

fn joined(words: &[Word]) -> String {
    let words: Vec<String> = words.iter().map(|it| escaped(&it.text)).collect();
    words.join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pod::WordOrigin;

    fn words(texts: &[String]) -> Vec<Word> {
        let word = |text: &String| Word {
            text: text.clone().into_bytes(),
            origin: WordOrigin::DnsConfig,
        };
        texts.iter().map(word).collect()
    }

    fn check(searches: &[String], limits: Limits, kept: usize, dropped: usize) {
        let mut file = PodFile {
            searches: words(searches),
            ..PodFile::default()
        };
        cut(&mut file, limits);
        assert_eq!((file.searches.len(), file.dropped.len()), (kept, dropped));
        assert_eq!(file.events.len(), usize::from(dropped > 0));
    }

    fn domains(count: usize, chars: usize) -> Vec<String> {
        vec!["x".repeat(chars); count]
    }

    #[test]
    fn a_search_list_is_cut_at_its_count_then_long_domains_then_characters() {
        let expanded = Limits::EXPANDED;
        check(&domains(33, 10), expanded, 32, 1);
        // The long ones have taken places of the 32.
        check(&[domains(1, 254), domains(33, 5)].concat(), expanded, 31, 3);
        check(&domains(32, 63), expanded, 32, 0);
        check(&[domains(31, 63), domains(1, 64)].concat(), expanded, 32, 0);
        check(&[domains(31, 63), domains(1, 65)].concat(), expanded, 31, 1);
        check(&domains(9, 253), expanded, 8, 1);
        let legacy = Limits::LEGACY;
        check(&domains(7, 10), legacy, 6, 1);
        check(&[domains(3, 63), domains(1, 64)].concat(), legacy, 4, 0);
        check(&[domains(3, 63), domains(1, 65)].concat(), legacy, 3, 1);
        // Up to 1.21 a long domain takes all behind it with it.
        let old = Limits {
            domain_chars: None,
            ..legacy
        };
        let around = [domains(2, 5), domains(1, 256), domains(1, 3)].concat();
        check(&around, legacy, 3, 1);
        check(&around, old, 2, 2);
        check(&domains(1, 257), old, 0, 1);
    }

    #[test]
    fn the_node_is_told_when_its_file_leaves_no_room() {
        let check = |searches: &[String], has_domain: bool, expected: Option<&str>| {
            let event = check_host("/r", &words(searches), has_domain, Limits::LEGACY);
            assert_eq!(event.map(|it| it.message).as_deref(), expected);
        };
        check(&domains(3, 5), true, None);
        check(
            &domains(4, 5),
            true,
            Some("Resolv.conf file '/r' contains search line consisting of more than 3 domains!"),
        );
        check(&domains(6, 5), false, None);
        check(
            &domains(1, 254),
            true,
            Some(
                "Resolv.conf file \"/r\" contains a search path which length is more than allowed \
                 253 chars!",
            ),
        );
        check(
            &domains(2, 128),
            true,
            Some(
                "Resolv.conf file '/r' contains search line which length is more than allowed 256 \
                 chars!",
            ),
        );
    }
}
