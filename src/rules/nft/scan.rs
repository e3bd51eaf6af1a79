//! The objects of a JSON array, found without parsing them.

/// An object among the bytes: `[start, end)`, on `line` counted from the first
/// byte's line 0.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) struct Object {
    pub(super) start: usize,
    pub(super) end: usize,
    pub(super) line: u32,
}

/// The objects that stand at the first level of `bytes`, whatever is between
/// them, where one begins that does not end, and where the array ends.
pub(super) fn objects(bytes: &[u8]) -> (Vec<Object>, Option<Object>, usize) {
    let mut found = Vec::new();
    let (mut depth, mut line, mut index) = (0_u32, 0, 0);
    let mut open = Object {
        start: 0,
        end: 0,
        line: 0,
    };
    while let Some(byte) = bytes.get(index) {
        match byte {
            b'\n' => line += 1,
            b'"' => index = string_end(bytes, index),
            b'{' => {
                if depth == 0 {
                    (open.start, open.line) = (index, line);
                }
                depth += 1;
            }
            b'}' if depth > 0 => {
                depth -= 1;
                if depth == 0 {
                    open.end = index + 1;
                    found.push(open);
                }
            }
            b']' if depth == 0 => break,
            _ => {}
        }
        index += 1;
    }
    (found, (depth > 0).then_some(open), index.min(bytes.len()))
}

/// The closing quote of the string that begins at `start`.
fn string_end(bytes: &[u8], start: usize) -> usize {
    let mut index = start + 1;
    while let Some(byte) = bytes.get(index) {
        match byte {
            b'\\' => index += 1,
            b'"' => return index,
            _ => {}
        }
        index += 1;
    }
    bytes.len()
}
