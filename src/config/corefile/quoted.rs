//! Whether lines without a file name are a Corefile.

use crate::text::WordList;

/// Words that only a Corefile has at the beginning of a line.
const PLUGINS: WordList = WordList("forward kubernetes proxy errors loop prometheus");

/// So many of these lines, from the first on, are server blocks, up to the last brace; 0:
/// they are no Corefile, or could be another file.
pub fn quoted(lines: &[&str]) -> usize {
    let is_key = |word: &str| {
        let is_snippet = word.starts_with('(') && word.ends_with(')');
        is_snippet || word.contains(['.', ':']) && !word.contains(['"', '=', ';', '(', '/'])
    };
    let opens = |line: &str| {
        let keys = line.trim().strip_suffix('{').map(str::trim);
        keys.is_some_and(|it| !it.is_empty() && it.split_whitespace().all(is_key))
    };
    let (mut depth, mut end, mut has_plugin) = (0_usize, 0, false);
    for (index, line) in lines.iter().enumerate() {
        let line = line.trim();
        if depth == 0 && !line.is_empty() && !line.starts_with('#') && !opens(line) {
            break;
        }
        let first = line.split_whitespace().next().unwrap_or_default();
        has_plugin |= depth == 1 && PLUGINS.has(first);
        if line.ends_with('{') {
            depth += 1;
        } else if line == "}" {
            depth = depth.saturating_sub(1);
            if depth == 0 {
                end = index + 1;
            }
        }
    }
    if has_plugin { end } else { 0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_behind_the_last_brace_are_no_part() {
        let lines = [
            ".:53 {", " cache {", " }", " loop", "}", "", "a.b {", " errors", "}", "so",
        ];
        assert_eq!(quoted(&lines), 9);
        assert_eq!(quoted(&[]), 0);
    }
}
