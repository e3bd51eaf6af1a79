//! The syntax of the `hosts` line of `nsswitch.conf(5)`.

use crate::config::resolv_conf::{ResolvConf, Word};
use crate::text::Span;

/// A service of the `hosts` line with the actions behind it.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Service {
    /// `files`, `dns`, `resolve`, `mdns4_minimal`…
    pub name: String,
    /// Where the name stands.
    pub span: Span,
    /// `[NOTFOUND=return]` and the like, in order.
    pub actions: Vec<Action>,
}

/// One `STATUS=ACTION` between brackets.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Action {
    /// Whether a `!` stands before it: every status but this one.
    pub negated: bool,
    /// What the service said.
    pub status: Status,
    /// What then happens.
    pub reaction: Reaction,
}

/// What a service can say.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[expect(missing_docs, reason = "the names of nsswitch.conf(5)")]
pub enum Status {
    Success,
    NotFound,
    Unavail,
    TryAgain,
}

/// What happens after a service has spoken.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[expect(missing_docs, reason = "the names of nsswitch.conf(5)")]
pub enum Reaction {
    Return,
    Continue,
    Merge,
}

/// The services of the first `hosts` line, in order; `None` if there is no
/// such line, or if glibc could not read it (it then acts as if there were none).
pub fn hosts_services(file: &ResolvConf) -> Option<Vec<Service>> {
    file.lines().find_map(|line| {
        let text = line.after(0);
        let text = cut_comment(text);
        let colon = text.bytes.iter().position(|&byte| byte == b':')?;
        let key = text.bytes.get(..colon)?;
        if key.trim_ascii() != b"hosts" {
            return None;
        }
        services(line.after(colon + 1), text.span.end)
    })
}

fn cut_comment(text: Word<'_>) -> Word<'_> {
    let end = text.bytes.iter().position(|&byte| byte == b'#');
    let bytes = end
        .and_then(|end| text.bytes.get(..end))
        .unwrap_or(text.bytes);
    let span = Span::new(
        text.span.start as usize,
        text.span.start as usize + bytes.len(),
    );
    Word { bytes, span }
}

fn services(list: Word<'_>, end: u32) -> Option<Vec<Service>> {
    let mut services: Vec<Service> = Vec::new();
    let mut bracketed = false;
    // `[A=x B=y]` and `a[A=x]b` need no blanks: brackets separate words too.
    let kept = list
        .bytes
        .get(..end.saturating_sub(list.span.start) as usize)?;
    let mut start = 0;
    for at in 0..=kept.len() {
        let byte = kept.get(at).copied().unwrap_or(b' ');
        if !matches!(byte, b'[' | b']' | b' ' | b'\t' | b'\r' | 0x0b | 0x0c) {
            continue;
        }
        let word = kept.get(start..at).unwrap_or_default();
        if !word.is_empty() && bracketed {
            services.last_mut()?.actions.push(action(word)?);
        } else if !word.is_empty() {
            services.push(Service {
                name: String::from_utf8_lossy(word).into_owned(),
                span: Span::new(
                    list.span.start as usize + start,
                    list.span.start as usize + at,
                ),
                actions: Vec::new(),
            });
        }
        match byte {
            b'[' => bracketed = true,
            b']' => bracketed = false,
            _ => {}
        }
        start = at + 1;
    }
    Some(services)
}

fn action(word: &[u8]) -> Option<Action> {
    let (negated, word) = match word.strip_prefix(b"!") {
        Some(rest) => (true, rest),
        None => (false, word),
    };
    let equals = word.iter().position(|&byte| byte == b'=')?;
    let (status, reaction) = word.split_at_checked(equals)?;
    let status = match status.to_ascii_lowercase().as_slice() {
        b"success" => Status::Success,
        b"notfound" => Status::NotFound,
        b"unavail" => Status::Unavail,
        b"tryagain" => Status::TryAgain,
        _ => return None,
    };
    let reaction = match reaction.get(1..)?.to_ascii_lowercase().as_slice() {
        b"return" => Reaction::Return,
        b"continue" => Reaction::Continue,
        b"merge" => Reaction::Merge,
        _ => return None,
    };
    Some(Action {
        negated,
        status,
        reaction,
    })
}

impl Service {
    /// Whether the lookup ends after this service has said `status`.
    /// Without an action a success ends it and everything else goes on.
    pub fn ends_with(&self, status: Status) -> bool {
        let mut ends = status == Status::Success;
        for action in &self.actions {
            if (action.status == status) != action.negated {
                ends = action.reaction == Reaction::Return;
            }
        }
        ends
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::Source;

    fn check(text: &str, expected: Option<&[(&str, &[Status])]>) {
        let file = ResolvConf::parse(Source {
            name: "nsswitch.conf".to_owned(),
            bytes: text.as_bytes().to_vec(),
        });
        let all = [
            Status::Success,
            Status::NotFound,
            Status::Unavail,
            Status::TryAgain,
        ];
        let found = hosts_services(&file).map(|services| {
            services
                .iter()
                .map(|service| {
                    let ends: Vec<Status> = all
                        .into_iter()
                        .filter(|&it| service.ends_with(it))
                        .collect();
                    (service.name.clone(), ends)
                })
                .collect::<Vec<_>>()
        });
        let expected = expected.map(|list| {
            list.iter()
                .map(|(name, ends)| ((*name).to_owned(), ends.to_vec()))
                .collect::<Vec<_>>()
        });
        assert_eq!(found, expected, "{text:?}");
    }

    #[test]
    fn the_hosts_line_has_services_with_actions() {
        use Status::{NotFound, Success, TryAgain, Unavail};
        check(
            "passwd: files\nhosts: files dns # x y\n",
            Some(&[("files", &[Success]), ("dns", &[Success])]),
        );
        check(
            "hosts:\tfiles mdns4_minimal [NOTFOUND=return] dns",
            Some(&[
                ("files", &[Success]),
                ("mdns4_minimal", &[Success, NotFound]),
                ("dns", &[Success]),
            ]),
        );
        check(
            "hosts: resolve[!UNAVAIL=return]files",
            Some(&[
                ("resolve", &[Success, NotFound, TryAgain]),
                ("files", &[Success]),
            ]),
        );
        check(
            "hosts: files [SUCCESS=continue UNAVAIL=return] dns",
            Some(&[("files", &[Unavail]), ("dns", &[Success])]),
        );
        check("hosts: files [NOTFOUND=maybe] dns", None);
        check("", None);
        check("hosts:\n", Some(&[]));
    }
}
