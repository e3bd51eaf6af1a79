//! What git leaves in a file that it could not merge.

use super::Span;

/// Both versions of some lines, each behind a mark, as git writes them: the first mark of each
/// conflict, in order.
///
/// Source: git, `xdiff/xmerge.c: fill_conflict_hunk`.
pub fn merge_conflicts(bytes: &[u8]) -> impl Iterator<Item = Span> {
    let mut done = 0;
    std::iter::from_fn(move || {
        let begin = line(bytes, done, b"<<<<<<< ")?;
        let middle = line(bytes, begin, b"=======\n");
        let middle = middle.or_else(|| line(bytes, begin, b"=======\r\n"))?;
        done = line(bytes, middle, b">>>>>>> ")?;
        Some(Span::new(begin, begin + 7))
    })
}

/// Where a line begins like this, from the line at `from` on.
fn line(bytes: &[u8], from: usize, mark: &[u8]) -> Option<usize> {
    let rest = bytes.get(from..)?;
    let mut found = memchr::memmem::find_iter(rest, mark).map(|it| from + it);
    found.find(|&at| at == 0 || bytes.get(at - 1) == Some(&b'\n'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn conflicts_have_all_three_marks() {
        let found = |text: &str| merge_conflicts(text.as_bytes()).next();
        let text = "a\n<<<<<<< HEAD\nb\n=======\nc\n>>>>>>> d\n";
        assert_eq!(found(text), Some(Span::new(2, 9)));
        assert_eq!(found(&text.replace('\n', "\r\n")), Some(Span::new(3, 10)));
        assert_eq!(merge_conflicts(text.repeat(3).as_bytes()).count(), 3);
        for other in [
            text.replace("=======\n", ""),
            text.replace("\n>>>>>>>", "\n >>>>>>>"),
            text.replace("\n<<<<<<<", "\nx <<<<<<<"),
        ] {
            assert_eq!(found(&other), None, "{other}");
        }
    }
}
