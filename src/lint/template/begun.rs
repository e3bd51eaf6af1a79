//! Blocks that each way of a condition begins.

use super::UNKNOWN;
use crate::text::Span;

/// Whether the last of these lines begins a block, and it alone is not ended. What stands
/// in comments begins and ends none.
pub(super) fn begins_one(text: &[u8]) -> bool {
    let (mut open, mut is_begin) = (0_usize, false);
    for line in text.split(|it| *it == b'\n').map(<[u8]>::trim_ascii) {
        let comment = memchr::memmem::find(line, b" #").unwrap_or(line.len());
        let is_comment = line.starts_with(b"#");
        let line = line.get(..if is_comment { 0 } else { comment });
        let line = line.unwrap_or_default().trim_ascii();
        let Some(left) = open.checked_sub(usize::from(line == b"}")) else {
            return false;
        };
        is_begin = line.ends_with(b" {");
        open = left + usize::from(is_begin);
    }
    is_begin && open == 1
}

/// Writes a line again that begins a block, with a word that is no value before it.
pub(super) fn unknown_line(plain: &mut [u8], bytes: &[u8], line: Span) {
    let text = line.slice(bytes);
    let indent = text.len() - text.trim_ascii_start().len();
    let written = plain.get_mut(line.start as usize..line.end as usize);
    for (index, byte) in written.unwrap_or_default().iter_mut().enumerate() {
        *byte = match index {
            _ if index < indent || index + 2 == text.len() => b' ',
            _ if index + 1 == text.len() => b'{',
            _ if index == indent => UNKNOWN.0,
            _ => UNKNOWN.1,
        };
    }
}
