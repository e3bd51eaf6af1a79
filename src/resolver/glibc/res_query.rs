//! Which names are asked for, and which replies end that.

use hickory_proto::rr::RecordType;

use crate::engine::message::{Because, Rcode, Reply};
use crate::name::Name;
use crate::resolver::glibc::name::{isspace, ns_name_pton};
use crate::resolver::glibc::res_send::{Packets, context_send};
use crate::resolver::glibc::thread::{Errno, HostError, Thread};

/// `NS_MAXDNAME` of `resolv/arpa/nameser.h`: longest text of a name, its
/// final NUL included.
const MAX_NAME_TEXT: usize = 1025;

/// What a query is for.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Kind {
    /// `T_QUERY_A_AND_AAAA`
    AAndAaaa,
    /// One record type.
    One(RecordType),
}

/// The replies in the order in which they came.
///
/// `first` is the caller's buffer, `None` if only an error came there; then
/// `second` is the reply to use.
#[derive(Clone, Debug)]
pub(super) struct Answers {
    pub(super) first: Option<Message>,
    pub(super) second: Option<Message>,
}

/// A reply with its question.
#[derive(Clone, Debug)]
pub(super) struct Message {
    pub(super) name: Name,
    pub(super) record_type: RecordType,
    pub(super) reply: Reply,
}

/// Asks for `name` along the search list. `None`: see [`Thread::h_errno`].
/// `because` is said of the name as it is.
///
/// Source: glibc `resolv/res_query.c: __res_context_search` (2.36).
pub(super) async fn context_search(
    thread: &mut Thread<'_>,
    name: &[u8],
    kind: Kind,
    because: Because,
) -> Option<Answers> {
    thread.errno = Errno::Clear;
    thread.h_errno = HostError::NotFound;
    let dots = name.iter().filter(|&&byte| byte == b'.').count();
    let trailing_dot = name.ends_with(b".");
    if dots == 0
        && let Some(alias) = context_hostalias(thread, name)
    {
        return context_query(thread, alias, kind, Because::HostAlias).await;
    }
    let ndots = thread.conf.ndots.map_or(0, |ndots| ndots.value);
    let mut saved_h_errno = None;
    if dots >= usize::try_from(ndots).unwrap_or(usize::MAX) || trailing_dot {
        let answers = querydomain(thread, name, None, kind, because.clone()).await;
        if answers.is_some() || trailing_dot {
            return answers;
        }
        saved_h_errno = Some(thread.h_errno);
    }
    let mut seen = SearchState::default();
    match search_list(thread, name, kind, &mut seen).await {
        Searched::Found(answers) => return Some(answers),
        Searched::Refused => return None,
        Searched::Through => {}
    }
    let tried_as_is = saved_h_errno.is_some() || seen.root_on_list;
    if (dots > 0 || !seen.searched || !thread.option("no-tld-query")) && !tried_as_is {
        let answers = querydomain(thread, name, None, kind, because).await;
        if answers.is_some() {
            return answers;
        }
    }
    // The error of the name as it is wins if that was asked first; else the
    // one that says most.
    if let Some(saved) = saved_h_errno {
        thread.h_errno = saved;
    } else if seen.nodata {
        thread.h_errno = HostError::NoData;
    } else if seen.servfail {
        thread.h_errno = HostError::TryAgain;
    }
    None
}

/// What was met along the search list.
#[derive(Debug, Default)]
struct SearchState {
    searched: bool,
    root_on_list: bool,
    nodata: bool,
    servfail: bool,
}

enum Searched {
    Found(Answers),
    /// No server is there.
    Refused,
    /// Through with the list, or no point in going on with it.
    Through,
}

/// The loop over the search list in `__res_context_search`.
async fn search_list(
    thread: &mut Thread<'_>,
    name: &[u8],
    kind: Kind,
    seen: &mut SearchState,
) -> Searched {
    for index in 0..thread.conf.search.len() {
        let Some(domain) = thread.conf.search.get(index) else {
            break;
        };
        seen.searched = true;
        let domain = domain.value.clone();
        // One dot in front is taken away, so that `.` is the root.
        let domain = domain.strip_prefix(b".").unwrap_or(&domain);
        seen.root_on_list |= domain.is_empty();
        let because = Because::Search(index);
        if let Some(answers) = querydomain(thread, name, Some(domain), kind, because).await {
            return Searched::Found(answers);
        }
        // It can be the `errno` of an earlier name.
        if thread.errno == Errno::Refused {
            thread.h_errno = HostError::TryAgain;
            return Searched::Refused;
        }
        match thread.h_errno {
            HostError::NoData => seen.nodata = true,
            HostError::NotFound => {}
            HostError::TryAgain if thread.buffer_rcode == Rcode::ServFail => seen.servfail = true,
            _ => break,
        }
    }
    Searched::Through
}

/// Asks for `name`, with `domain` behind it if there is one.
///
/// Source: glibc `resolv/res_query.c: __res_context_querydomain` (2.36).
async fn querydomain(
    thread: &mut Thread<'_>,
    name: &[u8],
    domain: Option<&[u8]>,
    kind: Kind,
    because: Because,
) -> Option<Answers> {
    match domain {
        // An empty name is too long: its length minus one wraps around.
        None if name.is_empty() || name.len() >= MAX_NAME_TEXT => {
            thread.h_errno = HostError::NoRecovery;
            None
        }
        None => context_query(thread, name, kind, because).await,
        Some(domain) if name.len() + domain.len() + 1 >= MAX_NAME_TEXT => {
            thread.h_errno = HostError::NoRecovery;
            None
        }
        Some(domain) => {
            let long_name = [name, domain].join(&b'.');
            context_query(thread, &long_name, kind, because).await
        }
    }
}

/// Asks for `name` and judges the replies: a success is NOERROR with records.
///
/// Source: glibc `resolv/res_query.c: __res_context_query` (2.36).
pub(super) async fn context_query(
    thread: &mut Thread<'_>,
    name: &[u8],
    kind: Kind,
    because: Because,
) -> Option<Answers> {
    thread.buffer_rcode = Rcode::NoError;
    let Some(name) = ns_name_pton(name) else {
        thread.errno = Errno::MessageSize;
        thread.h_errno = HostError::NoRecovery;
        return None;
    };
    let (first, second) = match kind {
        Kind::AAndAaaa => (RecordType::A, Some(RecordType::AAAA)),
        Kind::One(record_type) => (record_type, None),
    };
    let packets = Packets {
        name: &name,
        first,
        second,
        edns: thread.option("edns0"),
        authentic_data: thread.option("trust-ad"),
        because: &because,
    };
    let answers = if first == RecordType::AAAA && thread.option("no-aaaa") {
        handle_no_aaaa(thread, packets).await
    } else {
        context_send(thread, packets).await
    };
    let Some(answers) = answers else {
        thread.h_errno = HostError::TryAgain;
        return None;
    };
    match judge(&answers) {
        Ok(()) => Some(answers),
        Err(error) => {
            thread.h_errno = error;
            None
        }
    }
}

/// The end of `__res_context_query`. No reply at all counts as an empty one.
fn judge(answers: &Answers) -> Result<(), HostError> {
    let state = |message: Option<&Message>| match message {
        Some(message) => (message.reply.rcode, !message.reply.answers.is_empty()),
        None => (Rcode::NoError, false),
    };
    let (first, second) = (answers.first.as_ref(), answers.second.as_ref());
    let hp = state(first.or(second));
    let hp2 = state(second.or(first));
    let good = (Rcode::NoError, true);
    if hp == good || hp2 == good {
        return Ok(());
    }
    let rcode = if hp.0 == Rcode::NoError { hp2.0 } else { hp.0 };
    Err(match rcode {
        Rcode::NxDomain => HostError::NotFound,
        Rcode::ServFail => HostError::TryAgain,
        Rcode::NoError => HostError::NoData,
        Rcode::FormErr | Rcode::NotImp | Rcode::Refused => HostError::NoRecovery,
    })
}

/// Asks for A in place of AAAA, and takes the records out of the reply.
///
/// Source: glibc `resolv/res-noaaaa.c: __res_handle_no_aaaa` (2.36).
async fn handle_no_aaaa(thread: &mut Thread<'_>, packets: Packets<'_>) -> Option<Answers> {
    thread.buffer_filled = false;
    let replaced = Packets {
        first: RecordType::A,
        edns: false,
        ..packets
    };
    let answers = context_send(thread, replaced).await;
    // Where no reply came, the C code forgets to say that it failed, and the
    // cleared buffer passes for an empty reply.
    if answers.is_none() && thread.buffer_filled {
        return None;
    }
    let mut first = answers.and_then(|answers| answers.first);
    if let Some(message) = &mut first {
        message.record_type = RecordType::AAAA;
        message.reply.answers.clear();
    }
    Some(Answers {
        first,
        second: None,
    })
}

/// The name that the file of `HOSTALIASES` has for `name`.
///
/// Source: glibc `resolv/res_context_hostalias.c` (2.36).
pub(super) fn context_hostalias<'a>(thread: &Thread<'a>, name: &[u8]) -> Option<&'a [u8]> {
    let scenario = thread.scenario;
    let file = scenario.files.get(scenario.env("HOSTALIASES")?)?;
    for line in file.split_inclusive(|&byte| byte == b'\n') {
        // A line without white space ends the search.
        let blank = line.iter().position(|&byte| isspace(byte))?;
        let (alias, rest) = line.split_at_checked(blank)?;
        if !ns_samename(alias, name) {
            continue;
        }
        let target = rest.split(|&byte| isspace(byte));
        return target.into_iter().find(|word| !word.is_empty());
    }
    None
}

/// Whether two names are the same, with or without a final dot.
fn ns_samename(one: &[u8], other: &[u8]) -> bool {
    let bare = |name: &[u8]| name.strip_suffix(b".").unwrap_or(name).to_ascii_lowercase();
    bare(one) == bare(other)
}
