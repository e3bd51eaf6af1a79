//! The names that are tried, once for all resolvers, with what differs.

use std::collections::BTreeMap;
use std::io;

use super::answers::{Answers, answers, said};
use super::group::{fqdn, heading};
use super::{Text, members};
use crate::engine::message::Because;
use crate::explain::cluster::Meaning;
use crate::explain::{Explanation, Group, Row, plan};
use crate::name::Name;
use crate::render::words;
use crate::resolver::reading::Origin;
use crate::scenario::record_type::Shown;
use crate::text::counted;

/// So many names are shown without `--verbose`.
const SHOWN: usize = 9;
/// What becomes of a name takes at most so much.
const FATE: usize = "  what you mean".len();

/// A name, and how each group asks for it.
struct Line<'e> {
    row: &'e Row,
    /// Queries of each group; `None`: not asked.
    counts: Vec<Option<usize>>,
    /// What becomes of it.
    fate: String,
    /// Where the file says so.
    origin: Option<Origin>,
    /// What is odd about the name.
    details: Vec<String>,
    /// What the servers answer, and to which groups.
    answers: Vec<(String, String)>,
}

impl Text<'_> {
    #[expect(clippy::format_collect, reason = "a few short pieces")]
    pub(super) fn table(&mut self, explanation: &Explanation<'_>) -> io::Result<()> {
        writeln!(self.out)?;
        let is_one = explanation.groups.len() == 1;
        for (letter, group) in ('A'..).zip(&explanation.groups) {
            let (names, rest) = heading(explanation, group, self.style.verbose);
            let names = self.bold(&names);
            let head = if is_one {
                names
            } else {
                format!("{letter}  {names}")
            };
            self.headed(0, &head, &rest)?;
        }
        let lines = lines(explanation);
        if lines.is_empty() {
            return Ok(());
        }
        let widths = lines
            .iter()
            .map(|it| fqdn(&it.row.candidate).chars().count());
        let cells = if is_one {
            8
        } else {
            4 * explanation.groups.len()
        };
        // A longer name keeps a line of its own.
        let longest = self.style.columns.saturating_sub(6 + cells + FATE);
        let width = widths.max().unwrap_or(0).min(longest);
        if !is_one {
            let letters = ('A'..).take(explanation.groups.len());
            let letters: String = letters.map(|it| format!("  {it:>2}")).collect();
            writeln!(self.out, "{}{letters}", " ".repeat(4 + 2 + width))?;
        }
        let room = self.style.columns.saturating_sub(6 + width + cells + 2);
        let place = Place::fitting(explanation, &lines, room);
        let useful = lines.iter().position(|it| it.row.is_useful);
        let mut folded = 0;
        for (index, line) in lines.iter().enumerate() {
            let is_last = index + 1 == lines.len();
            let is_shown = index + 1 < SHOWN || is_last || Some(index) == useful;
            if !is_shown && !self.style.verbose && lines.len() > SHOWN {
                folded += 1;
                continue;
            }
            if folded > 0 {
                let more = counted(folded, "more name", "more names");
                writeln!(self.out, "      … {more}")?;
                folded = 0;
            }
            self.table_line(explanation, (index, line), (width, is_one), place)?;
        }
        self.orders(explanation, &lines)
    }

    fn table_line(
        &mut self,
        explanation: &Explanation<'_>,
        (index, line): (usize, &Line<'_>),
        (width, is_one): (usize, bool),
        place: Place,
    ) -> io::Result<()> {
        let name = fqdn(&line.row.candidate);
        let number = format!("{:>4}", index + 1);
        let is_asked = line.counts.iter().any(Option::is_some);
        let shown = match () {
            () if line.row.is_useful && is_asked => self.green(&name),
            () if is_asked => self.bold(&name),
            () => self.dim(&name),
        };
        let cells: String = if is_one {
            let types = line.row.candidate.record_types();
            let types = types.into_iter().map(|it| Shown(it).to_string());
            format!("  {}", types.collect::<Vec<_>>().join(" "))
        } else {
            let cell = |it: &Option<usize>| match it {
                Some(count) => format!("  {count:>2}"),
                None => "   -".to_owned(),
            };
            line.counts.iter().map(cell).collect()
        };
        let taken = name.chars().count();
        let used = 6 + width;
        let gap = if taken > width {
            format!("\n{}", " ".repeat(used))
        } else {
            " ".repeat(width - taken)
        };
        let meaning = line.row.meaning.as_ref().filter(|it| {
            let says_much = !matches!(it, Meaning::External | Meaning::Nothing);
            self.style.verbose || line.row.is_useful && says_much
        });
        let details = meaning.map(words::meaning).into_iter();
        let mut details = details
            .chain(answered(&line.answers))
            .chain(line.details.clone())
            .collect::<Vec<_>>()
            .join("; ");
        let mut fate = format!("{cells}  {}{}", line.fate, place.shown(explanation, line));
        let fits = used + fate.chars().count() + 2 + details.chars().count() <= self.style.columns;
        if fits && !details.is_empty() {
            fate.extend([": ", &details]);
            details.clear();
        }
        let fate = self.dim(&fate);
        let text = format!("{number}  {shown}{gap}{fate}");
        writeln!(self.out, "{}", text.trim_end())?;
        if !details.is_empty() {
            self.paragraph(6, &details)?;
        }
        let verbose = explanation.cluster.as_ref().filter(|_| self.style.verbose);
        let name = line.row.candidate.name.as_ref();
        if let Some((cluster, name)) = verbose.zip(name)
            && let Some(key) = cluster.skydns_key(name)
        {
            return self.paragraph(6, &format!("kube-dns: {key}"));
        }
        Ok(())
    }

    /// Who asks in another order than that of the table.
    fn orders(&mut self, explanation: &Explanation<'_>, lines: &[Line<'_>]) -> io::Result<()> {
        let places: BTreeMap<_, _> = lines
            .iter()
            .map(|it| it.row.candidate.key())
            .zip(1..)
            .collect();
        for (letter, group) in ('A'..).zip(&explanation.groups) {
            let keys = group.candidates.iter().map(|it| it.candidate.key());
            let order: Vec<usize> = keys.filter_map(|it| places.get(&it).copied()).collect();
            if !order.is_sorted() {
                let order: Vec<String> =
                    order.iter().take(SHOWN).map(ToString::to_string).collect();
                self.paragraph(
                    4,
                    &format!("{letter} asks in the order {}", order.join(", ")),
                )?;
            }
        }
        Ok(())
    }
}

/// The names of all groups, in the order of the first one that has them.
fn lines<'e>(explanation: &'e Explanation<'_>) -> Vec<Line<'e>> {
    let mut lines: Vec<Line<'e>> = Vec::new();
    let mut known: BTreeMap<(Option<&Name>, &Because), usize> = BTreeMap::new();
    for (number, group) in explanation.groups.iter().enumerate() {
        let Some(member) = group.members.first() else {
            continue;
        };
        let asked = plan::candidates(&member.run);
        let counts: BTreeMap<_, _> = asked
            .iter()
            .map(|it| (it.key(), it.queries.len()))
            .collect();
        let answers = answers(explanation, group);
        for row in &group.candidates {
            let key = row.candidate.key();
            let index = *known.entry(key).or_insert(lines.len());
            if index == lines.len() {
                lines.push(line(explanation, group, row));
            }
            let Some(line) = lines.get_mut(index) else {
                continue;
            };
            line.counts.resize(number, None);
            line.counts.push(counts.get(&key).copied());
            let letter = (explanation.groups.len() > 1).then(|| {
                char::from(b'A'.saturating_add(u8::try_from(number).unwrap_or(25).min(25)))
            });
            say_answers(line, &answers, letter);
        }
    }
    let useful = lines.iter().position(|it| it.row.is_useful);
    let elsewhere = members(explanation).filter_map(|it| it.elsewhere.as_ref());
    let entries: Vec<_> = elsewhere
        .map(|it| (&it.name, Because::Search(it.entry)))
        .collect();
    let elsewhere: Vec<_> = entries
        .iter()
        .map(|(name, entry)| (Some(*name), entry))
        .collect();
    for (index, line) in lines.iter_mut().enumerate() {
        line.counts.resize(explanation.groups.len(), None);
        line.fate = fate(line, useful, index);
        if elsewhere.contains(&line.row.candidate.key()) {
            "answered here".clone_into(&mut line.fate);
        }
    }
    lines
}

fn line<'e>(explanation: &Explanation<'_>, group: &'e Group<'_>, row: &'e Row) -> Line<'e> {
    let search = match row.candidate.because {
        Because::Search(index) => members(explanation)
            .filter(|it| {
                group
                    .members
                    .iter()
                    .any(|own| own.resolver.id == it.resolver.id)
            })
            .find_map(|it| it.reading.search.get(index)),
        _ => None,
    };
    let name = row.candidate.name.as_ref();
    let has_return = |name: &Name| name.labels().any(|label| label.contains(&b'\r'));
    let mut details = Vec::new();
    if name.is_some_and(has_return) {
        details.push("\\013 is a carriage return: the file has the line ends of Windows".into());
    }
    Line {
        row,
        counts: Vec::new(),
        fate: String::new(),
        origin: search.map(|it| it.origin),
        details,
        answers: Vec::new(),
    }
}

/// What the group with this letter gets; what another one gets, too, is said once.
fn say_answers(line: &mut Line<'_>, answers: &Answers<'_>, letter: Option<char>) {
    if let Some(answers) = answers.get(&line.row.candidate.key()) {
        let said = said(answers);
        match line.answers.iter_mut().find(|(other, _)| *other == said) {
            Some((_, letters)) => letters.extend(letter),
            None => line.answers.push((said, letter.into_iter().collect())),
        }
    }
}

/// The answers with the letters of the groups that get them, where not all get the same.
fn answered(answers: &[(String, String)]) -> Vec<String> {
    let one = |(said, letters): &(String, String)| {
        if answers.len() < 2 || letters.is_empty() {
            said.clone()
        } else {
            format!("{letters}: {said}")
        }
    };
    answers.iter().map(one).collect()
}

/// What the name is asked for.
fn fate(line: &Line<'_>, useful: Option<usize>, index: usize) -> String {
    let is_asked = line.counts.iter().any(Option::is_some);
    match useful {
        _ if line.row.is_useful && !is_asked => "never asked".to_owned(),
        _ if line.row.is_useful => "what you mean".to_owned(),
        _ if !is_asked => "not asked".to_owned(),
        Some(useful) if index < useful => "wasted".to_owned(),
        Some(_) => "not needed".to_owned(),
        None => match line.row.candidate.because {
            Because::Search(_) => "search list".to_owned(),
            ref other => words::because(other),
        },
    }
}

/// How much is said of where the search list has a name.
#[derive(Clone, Copy)]
enum Place {
    Full,
    Line,
    Nothing,
}

impl Place {
    fn shown(self, explanation: &Explanation<'_>, line: &Line<'_>) -> String {
        let scenario = explanation.scenario;
        let full = |origin| format!(" ({})", words::origin(scenario, origin));
        match (self, line.origin, &scenario.resolv_conf) {
            (_, None, _) | (Self::Nothing, ..) => String::new(),
            (Self::Line, Some(Origin::File(span)), Some(conf)) => {
                format!(" (line {})", conf.position(span.start).line)
            }
            (_, Some(origin), _) => full(origin),
        }
    }

    /// The longest that fits on every line of the table.
    fn fitting(explanation: &Explanation<'_>, lines: &[Line<'_>], room: usize) -> Self {
        let fits = |place: &Self| {
            let width =
                |it: &Line<'_>| it.fate.len() + place.shown(explanation, it).chars().count();
            lines.iter().all(|it| width(it) <= room)
        };
        [Self::Full, Self::Line]
            .into_iter()
            .find(fits)
            .unwrap_or(Self::Nothing)
    }
}
