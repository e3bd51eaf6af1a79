//! Shapes that a stranger can give a file: every line and every word of an
//! ordinary one, again and again.

/// What a file is made of: what stands before the part that is repeated, how
/// its n-th copy reads, and what stands behind.
pub(crate) struct Shape {
    /// For people.
    pub(crate) name: String,
    is_plain: bool,
    before: Vec<u8>,
    piece: Box<dyn Fn(usize) -> Vec<u8>>,
    after: Vec<u8>,
}

impl Shape {
    fn new(
        name: impl Into<String>,
        before: &[u8],
        piece: impl Fn(usize) -> Vec<u8> + 'static,
        after: &[u8],
    ) -> Self {
        Self {
            name: name.into(),
            is_plain: false,
            before: before.to_vec(),
            piece: Box::new(piece),
            after: after.to_vec(),
        }
    }

    /// These bytes again and again.
    pub(crate) fn repeated(name: &str, piece: &str) -> Self {
        let piece = piece.as_bytes().to_vec();
        Self::new(name, b"", move |_| piece.clone(), b"")
    }

    /// Behind this text these bytes again and again.
    pub(crate) fn behind(before: &str, piece: &str) -> Self {
        let again = piece.as_bytes().to_vec();
        let name = format!("behind it {}", piece.escape_debug());
        Self::new(name, before.as_bytes(), move |_| again.clone(), b"\n")
    }

    /// Whether it is one of lines or words alone, without odd bytes between.
    pub(crate) fn is_plain(&self) -> bool {
        self.is_plain
    }

    /// The file of this shape with about so many bytes.
    pub(crate) fn of(&self, length: usize) -> Vec<u8> {
        let mut text = self.before.clone();
        let mut number = 0;
        while text.len() + self.after.len() < length {
            text.extend((self.piece)(number));
            number += 1;
        }
        text.extend(&self.after);
        text
    }
}

/// Bytes that are no words of any file, and words of every file's syntax.
const PIECES: &[&[u8]] = &[
    b"\n",
    b" ",
    b"#",
    b"#\n",
    b";\n",
    b"\0",
    b"\0\n",
    b"\r",
    b"\r\n",
    b"\\",
    b"\\\n",
    b"a\\\n",
    b"a",
    b"a\n",
    b".",
    b"a ",
    b"a,",
    b"\"",
    b"\"a\n",
    b"'a ",
    b"{",
    b"{\n",
    b"}\n",
    b"[",
    b"[\n",
    b"]\n",
    b"(a) {\n}\n",
    b"- ",
    b"- a\n",
    b": ",
    b"a: ",
    b"a: b\n",
    b"&a *a ",
    b"/*",
    b"//a\n",
    b"{\"a\":",
    b"{$A} ",
    b"%",
    b"\xff",
    b"\xc3\xa9 ",
    b"\x1b",
];

/// The shapes of a file that ordinarily reads as `seed`: its lines, its words,
/// as they are and with numbers in them; and odd bytes in its place and
/// behind it.
pub(crate) fn shapes(seed: &[u8]) -> Vec<Shape> {
    let mut shapes = Vec::new();
    for piece in PIECES {
        let shown = piece.escape_ascii();
        let again = |_: usize| piece.to_vec();
        shapes.push(Shape::new(format!("only {shown}"), b"", again, b""));
        shapes.push(Shape::new(format!("then {shown}"), seed, again, b""));
    }
    let mut start = 0;
    for line in seed.split(|&byte| byte == b'\n') {
        let end = start + line.len();
        let (before, after) = (&seed[..start], &seed[end..]);
        start = end + 1;
        if !line.is_empty() {
            of_line(before, line, after, &mut shapes);
        }
    }
    shapes
}

fn of_line(before: &[u8], line: &[u8], after: &[u8], shapes: &mut Vec<Shape>) {
    let shown = line.escape_ascii();
    for end in ["\n", "\r\n", "\n#\n", "\0\n", "\\\n"] {
        let (line, name) = (
            line.to_vec(),
            format!("lines {shown}{}", end.escape_debug()),
        );
        let piece = move |number| [&numbered(&line, number), end.as_bytes()].concat();
        let is_plain = end == "\n";
        shapes.push(Shape {
            is_plain,
            ..Shape::new(name, before, piece, after)
        });
    }
    let same = [line, b"\n"].concat();
    let name = format!("one line {shown}");
    shapes.push(Shape::new(name, before, move |_| same.clone(), after));
    let words = words(line);
    for (index, (from, to)) in words.iter().enumerate() {
        // The first and the last stand for those between them.
        if index > 0 && index + 1 < words.len() {
            continue;
        }
        let before = [before, &line[..*from]].concat();
        let after = [&line[*to..], after].concat();
        for separator in [" ", ",", "", "\\\n "] {
            let word = line[*from..*to].to_vec();
            let name = format!(
                "words {}{} in {shown}",
                word.escape_ascii(),
                separator.escape_debug()
            );
            let piece = move |number| [&numbered(&word, number), separator.as_bytes()].concat();
            let is_plain = separator == " ";
            shapes.push(Shape {
                is_plain,
                ..Shape::new(name, &before, piece, &after)
            });
        }
    }
}

/// Where the words of a line stand.
fn words(line: &[u8]) -> Vec<(usize, usize)> {
    let is_of_word = |byte: u8| byte.is_ascii_alphanumeric() || b"./:@%_-".contains(&byte);
    let mut words = Vec::new();
    let mut begun = None;
    for at in 0..=line.len() {
        let inside = line.get(at).copied().is_some_and(is_of_word);
        match (begun, inside) {
            (None, true) => begun = Some(at),
            (Some(from), false) => {
                words.push((from, at));
                begun = None;
            }
            _ => {}
        }
    }
    words
}

/// The text with its last number replaced, or with one behind it. Numbers
/// stay those of an address.
fn numbered(text: &[u8], number: usize) -> Vec<u8> {
    let digits = text.iter().rposition(u8::is_ascii_digit);
    let Some(last) = digits else {
        return [text, number.to_string().as_bytes()].concat();
    };
    let before = text[..last].iter().rposition(|byte| !byte.is_ascii_digit());
    let first = before.map_or(0, |at| at + 1);
    let is_address = text[..first].ends_with(b".");
    let new = if is_address {
        format!(
            "{}.{}.{}",
            number >> 16 & 255,
            number >> 8 & 255,
            number & 255
        )
    } else {
        number.to_string()
    };
    // `10.96.0.10` becomes `10.N.N.N`: what stands between is left out.
    let kept = match (is_address, text.iter().position(|&byte| byte == b'.')) {
        (true, Some(dot)) => text[..=dot].to_vec(),
        _ => text[..first].to_vec(),
    };
    [&kept, new.as_bytes(), &text[last + 1..]].concat()
}
