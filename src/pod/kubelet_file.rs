//! How the kubelet reads the file that its `resolvConf` names.
//!
//! It is no resolver: it knows three keywords, checks no address, and hands
//! the words on.
//!
//! Source: kubernetes `pkg/kubelet/network/dns/dns.go: parseResolvConf`.

use crate::config::resolv_conf::ResolvConf;
use crate::pod::options::last_of_each;
use crate::pod::rules::{FinalDots, Rules};
use crate::pod::{Word, WordOrigin};
use crate::text::{Place, Placed, Span};

/// What the kubelet takes from its file.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct HostDns {
    /// Second words of all `nameserver` lines, whatever they are.
    pub servers: Vec<Word>,
    /// Words of the last `search` line.
    pub searches: Vec<Word>,
    /// Options.
    pub options: Vec<Word>,
    /// Whether the kubelet draws the order of the options.
    pub draws_options: bool,
    /// Lines with a keyword of `resolv.conf(5)` that it passes over: `domain`
    /// and `sortlist`, as the keyword and its place. At most one of each.
    pub ignored: Vec<Placed<&'static str>>,
}

/// Why the kubelet takes the whole file for an error.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
pub enum FileError {
    /// A `nameserver` without a value.
    #[error("nameserver list is empty")]
    EmptyNameserver(Place),
    /// More than it reads.
    #[error("the read limit is reached")]
    TooLong,
}

/// What is as long as this or longer is refused. Source: `maxResolvConfLength`.
const MAX_FILE_BYTES: usize = 10 << 20;

/// Reads the file as the kubelet does.
///
/// # Errors
///
/// The kubelet does not take the file, and no pod starts.
pub fn read_kubelet_file(conf: &ResolvConf, rules: &Rules) -> Result<HostDns, FileError> {
    if conf.source.bytes.len() >= MAX_FILE_BYTES {
        return Err(FileError::TooLong);
    }
    let mut host = HostDns::default();
    for line in conf.lines() {
        let words = fields(line.bytes(), line.span().start as usize);
        let Some((keyword, values)) = words.split_first() else {
            continue;
        };
        match keyword.slice(&conf.source.bytes) {
            b"nameserver" => match values.first() {
                Some(&server) => host.servers.push(word(conf, server)),
                None => return Err(FileError::EmptyNameserver(conf.place_of(keyword.start))),
            },
            b"search" => {
                let searches = values.iter().map(|&span| word(conf, span));
                host.searches = searches.filter_map(|it| without_dot(it, rules)).collect();
            }
            b"options" => {
                if !rules.merges_options {
                    host.options.clear();
                }
                host.options
                    .extend(values.iter().map(|&span| word(conf, span)));
            }
            b"domain" => ignore("domain", conf.place_of(keyword.start), &mut host.ignored),
            b"sortlist" => ignore("sortlist", conf.place_of(keyword.start), &mut host.ignored),
            _ => {}
        }
    }
    if rules.merges_options {
        // As it is written. Source: `appendOptions`.
        host.options = last_of_each(host.options, |it| {
            let name = it.text.split(|&byte| byte == b':').next();
            name.unwrap_or_default().to_vec()
        });
        host.draws_options = host.options.len() > 1;
    }
    Ok(host)
}

/// The words of a line as Go's `strings.Fields` finds them: any white space
/// of Unicode is between them. Nothing for an empty line and for a comment.
/// `offset` is where the line begins.
pub fn fields(line: &[u8], offset: usize) -> Vec<Span> {
    let mut words = Vec::new();
    let mut start = None;
    let mut at = offset;
    for chunk in line.utf8_chunks() {
        for character in chunk.valid().chars() {
            if !character.is_whitespace() {
                start.get_or_insert(at);
            } else if let Some(start) = start.take() {
                words.push(Span::new(start, at));
            }
            at += character.len_utf8();
        }
        if !chunk.invalid().is_empty() {
            start.get_or_insert(at);
            at += chunk.invalid().len();
        }
    }
    words.extend(start.map(|start| Span::new(start, at)));
    let first = words.first().map(|it| it.start as usize - offset);
    if first.and_then(|at| line.get(at)) == Some(&b'#') {
        words.clear();
    }
    words
}

fn word(conf: &ResolvConf, span: Span) -> Word {
    let origin = WordOrigin::KubeletFile(conf.place_of(span.start));
    Word::new(conf.bytes(span), origin)
}

/// The search domain as it counts, if it does.
fn without_dot(mut search: Word, rules: &Rules) -> Option<Word> {
    match (rules.final_dots, search.text.as_slice()) {
        (FinalDots::Kept, _) | (FinalDots::RootKept, b".") => {}
        (FinalDots::RootDropped, b".") => return None,
        (_, [.., b'.']) => {
            search.text.pop();
        }
        _ => {}
    }
    Some(search)
}

fn ignore(keyword: &'static str, place: Place, ignored: &mut Vec<Placed<&'static str>>) {
    if !ignored.iter().any(|known| known.value == keyword) {
        ignored.push(Placed::new(keyword, place));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kubelet::Version;
    use crate::text::Source;

    /// The lists, joined by blanks, of a kubelet 1.MINOR.PATCH.
    fn check(text: &[u8], (minor, patch): (u32, u32), expected: [&str; 3]) {
        let conf = ResolvConf::parse(Source::new("k", text));
        let rules = Rules::of_version(Some(Version::release(1, minor, patch)));
        let host = read_kubelet_file(&conf, &rules).unwrap();
        let joined = |words: &[Word]| {
            let words: Vec<String> = words
                .iter()
                .map(|it| String::from_utf8_lossy(&it.text).into_owned())
                .collect();
            words.join("|")
        };
        let lists = [&host.servers, &host.searches, &host.options].map(|it| joined(it));
        assert_eq!(lists, expected, "1.{minor}.{patch} {text:?}");
    }

    const NEW: (u32, u32) = (30, 0);

    #[test]
    fn lines_are_read_as_the_kubelet_does() {
        check(b"", NEW, ["", "", ""]);
        check(b" \tnameserver\x0b10.0.0.1 x", NEW, ["10.0.0.1", "", ""]);
        check(b"nameserver host.name\r\n", NEW, ["host.name", "", ""]);
        check(b"nameserver\xc2\xa010.0.0.1\n", NEW, ["10.0.0.1", "", ""]);
        check(b"nameserver \xff\xc2\n", NEW, ["\u{fffd}\u{fffd}", "", ""]);
        check(
            b"# nameserver a\n  #search b\n;search c\n",
            NEW,
            ["", "", ""],
        );
        check(b"search a # b\n", NEW, ["", "a|#|b", ""]);
        check(b"search a\nsearch b. c..\n", NEW, ["", "b|c.", ""]);
        check(b"search a\nsearch\n", NEW, ["", "", ""]);
        check(b"domain a\nsortlist b\nNameserver c\n", NEW, ["", "", ""]);
        check(b"nameserverx 1\noptionsx y\n", NEW, ["", "", ""]);
        check(b"nameserver 1\nnameserver 1\n", NEW, ["1|1", "", ""]);
    }

    #[test]
    fn the_root_as_search_domain_differs_by_version() {
        for (version, searches) in [
            ((17, 0), ".|a."),
            ((18, 0), "|a"),
            ((24, 17), "|a"),
            ((25, 0), ".|a"),
            ((25, 1), "a"),
            ((36, 0), "a"),
        ] {
            check(b"search . a.\n", version, ["", searches, ""]);
        }
    }

    #[test]
    fn options_of_all_lines_count_since_1_26() {
        let text = b"options ndots:2 rotate\noptions edns0 edns0 ndots:3:4\noptions ndots:\n";
        check(text, (25, 9), ["", "", "ndots:"]);
        check(text, (26, 0), ["", "", "ndots:|rotate|edns0"]);
        let text = b"options rotate rotate ndots:1 ndots:2\n";
        check(text, (25, 9), ["", "", "rotate|rotate|ndots:1|ndots:2"]);
        check(text, (26, 0), ["", "", "rotate|ndots:2"]);
        check(b"options a\noptions\n", (25, 9), ["", "", ""]);
        check(b"options a\noptions\n", (26, 0), ["", "", "a"]);
    }

    #[test]
    fn some_files_are_errors() {
        let rules = Rules::of_version(None);
        let read_text = |text: &[u8]| {
            let conf = ResolvConf::parse(Source::new("k", text));
            read_kubelet_file(&conf, &rules)
        };
        assert!(read_text(b"nameserver 1\n\tnameserver \n").is_err());
        assert!(read_text(b"nameserver #\n").is_ok());
        assert_eq!(read_text(&vec![b'#'; 10 << 20]), Err(FileError::TooLong));
        assert!(read_text(&vec![b'#'; (10 << 20) - 1]).is_ok());
    }
}
