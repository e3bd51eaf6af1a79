//! Text with colours as a terminal has it: a character and how it looks.

/// How a character looks: what its colours and weight are selected by (ECMA-48, SGR).
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub(crate) struct Look {
    is_bold: bool,
    is_dim: bool,
    is_underlined: bool,
    color: Option<u16>,
}

impl Look {
    fn select(&mut self, number: u16) {
        match number {
            0 => *self = Self::default(),
            1 => self.is_bold = true,
            2 => self.is_dim = true,
            4 => self.is_underlined = true,
            22 => (self.is_bold, self.is_dim) = (false, false),
            24 => self.is_underlined = false,
            39 => self.color = None,
            // No background is ever selected.
            49 => {}
            30..=37 | 90..=97 => self.color = Some(number),
            other => panic!("SGR {other}"),
        }
    }
}

/// The characters of each line, without blanks at its end and empty lines at the end.
pub(crate) fn cells(text: &str) -> Vec<Vec<(char, Look)>> {
    let mut look = Look::default();
    let mut lines: Vec<Vec<(char, Look)>> = text
        .lines()
        .map(|line| {
            let mut cells = Vec::new();
            let mut rest = line.chars();
            while let Some(character) = rest.next() {
                match character {
                    '\u{1b}' => {
                        assert_eq!(rest.next(), Some('['), "{line}");
                        let sequence: String = rest.by_ref().take_while(|it| *it != 'm').collect();
                        let numbers = sequence.split(';');
                        numbers.for_each(|it| look.select(it.parse().unwrap_or(0)));
                    }
                    ' ' => cells.push((' ', Look::default())),
                    other => cells.push((other, look.clone())),
                }
            }
            while cells.last().is_some_and(|(it, _)| *it == ' ') {
                cells.pop();
            }
            cells
        })
        .collect();
    while lines.last().is_some_and(Vec::is_empty) {
        lines.pop();
    }
    lines
}
