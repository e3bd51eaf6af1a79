//! What procfs says of a process in one line.

/// `/proc/PID/stat`, as far as it is used.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Stat {
    /// The name, at most 15 bytes of any kind.
    pub comm: Vec<u8>,
    /// Whether it has ended, and only its parent has not asked how.
    pub is_zombie: bool,
    /// The id of the process that started it.
    pub parent: u32,
    /// When it started, in clock ticks since the machine did.
    pub started: u64,
}

/// The place of `starttime` behind the name, from 0.
const STARTED: usize = 19;

/// Reads `/proc/PID/stat`. The name can have spaces and brackets itself.
///
/// procfs's own parser is not asked: it takes it for granted that the text is
/// the kernel's, and here it can be anybody's.
///
/// Source: `proc_pid_stat(5)`; Linux `fs/proc/array.c` `do_task_stat`.
pub fn parse(text: &[u8]) -> Option<Stat> {
    let open = text.iter().position(|&byte| byte == b'(')?;
    let close = text.iter().rposition(|&byte| byte == b')')?;
    let comm = text.get(open + 1..close)?.to_vec();
    let rest = std::str::from_utf8(text.get(close + 1..)?).ok()?;
    let mut fields = rest.split_ascii_whitespace();
    let is_zombie = matches!(fields.next()?, "Z" | "X" | "x");
    let parent = fields.next()?.parse().ok()?;
    let started = fields.nth(STARTED - 2)?.parse().ok()?;
    Some(Stat {
        comm,
        is_zombie,
        parent,
        started,
    })
}

/// The number in what a link below `/proc/PID/ns` says: `net:[4026532345]`.
pub fn namespace(kind: &str, link: &[u8]) -> Option<u64> {
    let number = link.strip_prefix(kind.as_bytes())?.strip_prefix(b":[")?;
    let number = number.strip_suffix(b"]")?;
    std::str::from_utf8(number).ok()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &[u8], expected: Option<(&[u8], u32, u64)>) {
        let stat = parse(text);
        let stat = stat
            .as_ref()
            .map(|it| (it.comm.as_slice(), it.parent, it.started));
        assert_eq!(stat, expected, "{}", text.escape_ascii());
    }

    #[test]
    fn a_name_can_have_anything_in_it() {
        let rest = "S 2173 2672 2672 0 -1 4194560 2209 0 0 0 4 3 0 0 20 0 9 0 90210 768512000 11";
        for name in ["coredns", "a b) (S 1 2", ")", ""] {
            let text = format!("2672 ({name}) {rest}\n");
            check(text.as_bytes(), Some((name.as_bytes(), 2173, 90210)));
        }
        check(b"1 (\xff) S 0 0", None);
        assert!(
            parse(format!("1 (a) Z{}", " 1".repeat(19)).as_bytes())
                .unwrap()
                .is_zombie
        );
    }

    #[test]
    fn other_text_is_no_process() {
        for text in [
            &b""[..],
            b"(",
            b")(",
            b"()",
            b"1 (a)",
            b"1 (a) S x",
            b"1 (a) \xff",
        ] {
            check(text, None);
        }
    }

    #[test]
    fn namespaces_are_numbers() {
        assert_eq!(namespace("net", b"net:[4026532345]"), Some(4_026_532_345));
        for link in [&b"net:[]"[..], b"mnt:[1]", b"net:[1", b"net:1", b"/net:[1]"] {
            assert_eq!(namespace("net", link), None);
        }
    }
}
