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

/// `10.0.0.3 (name server, more than 3)`.
impl std::fmt::Display for Dropped {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} ({})", escaped(&self.word.text), self.limit)
    }
}

/// `search domain, more than 32`.
impl std::fmt::Display for Limit {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Servers(most) => write!(f, "name server, more than {most}"),
            Self::Searches(most) => write!(f, "search domain, more than {most}"),
            Self::SearchChars(most) => write!(
                f,
                "search domain, the list has more than {most} characters"
            ),
            Self::DomainChars(most) => write!(f, "search domain of more than {most} characters"),
        }
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
pub(super) fn check_host(
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
