//! The reports of many nodes in one, for people.

mod brief;
pub mod json;
mod logs;

use std::io::{self, Write};

use colored::{Color, Colorize as _};

use super::paragraph;
use crate::check_loop::Verdict;
use crate::render::Style;
use crate::render::style::painted;
use crate::report::{Attribute, Group, Summary};
use crate::text::counted;
use crate::text::escaped;

/// Groups that are shown.
const MAX_SHOWN: usize = 20;
/// Values of something that differs, of which each gets a line.
const MAX_VALUES: usize = 8;
/// Names of a group that are shown.
const MAX_NAMES: usize = 3;
/// Things that could not be read that are shown.
const MAX_ERRORS: usize = 20;

/// Writes `summary`.
///
/// # Errors
///
/// Any error of `out`.
pub fn write(summary: &Summary, style: Style, out: &mut dyn Write) -> io::Result<()> {
    let mut page = Page { style, out };
    page.logs(&summary.logs)?;
    if summary.nodes == 0 && summary.logs.reports > 0 {
        return page.errors(summary);
    }
    if summary.logs.reports > 0 {
        writeln!(page.out)?;
    }
    page.headline(summary)?;
    page.conflicts(summary)?;
    if !style.verbose {
        return page.brief(summary);
    }
    for (index, group) in summary.groups.iter().enumerate().take(MAX_SHOWN) {
        page.group(index, group)?;
    }
    page.left_out(summary.groups.len(), MAX_SHOWN, "\n")?;
    page.differences(summary)?;
    page.odd_ones(summary)?;
    page.errors(summary)?;
    page.remarks(summary)
}

/// What a part of a node's setup is called.
pub(in crate::render) fn title(attribute: Attribute) -> &'static str {
    match attribute {
        Attribute::ResolvConf => "The kubelet's resolvConf",
        Attribute::ResolvConfFrom => "Where it is set",
        Attribute::LeadsTo => "The file it leads to",
        Attribute::NameServers => "Name servers in that file",
        Attribute::OnNode => "DNS servers on the node",
        Attribute::Forwards => "What the cluster's DNS forwards",
    }
}

/// Where the text goes.
pub(super) struct Page<'p> {
    style: Style,
    out: &'p mut dyn Write,
}

impl Page<'_> {
    fn headline(&mut self, summary: &Summary) -> io::Result<()> {
        let mut counts = Vec::new();
        for verdict in Verdict::ALL {
            let count = summary.with(verdict);
            if count > 0 {
                counts.push(self.tinted(verdict, &format!("{count} {}", verdict.word())));
            }
        }
        if counts.is_empty() {
            return writeln!(self.out, "No report of a node was found.");
        }
        let total = nodes(summary.nodes);
        writeln!(self.out, "{total}: {}.", counts.join(", "))
    }

    fn tinted(&self, verdict: Verdict, text: &str) -> String {
        let color = match verdict {
            Verdict::NoLoop => Color::Green,
            Verdict::Unknown => Color::Yellow,
            Verdict::Loop | Verdict::Mixed | Verdict::Refused | Verdict::WillLoop => Color::Red,
        };
        painted(self.style.colors, text, |it| it.color(color).bold())
    }

    fn head(&self, index: usize, group: &Group) -> String {
        let verdict = self.tinted(group.kind.verdict, group.kind.verdict.word());
        let odd = if group.is_odd {
            ", the odd one out"
        } else {
            ""
        };
        format!(
            "Group {}: {verdict}, {}{odd}",
            index + 1,
            nodes(group.nodes)
        )
    }

    fn group(&mut self, index: usize, group: &Group) -> io::Result<()> {
        let kind = &group.kind;
        writeln!(self.out, "\n{}", self.head(index, group))?;
        self.item("  ", &names(group))?;
        if kind.is_rest {
            return self.item("  ", "Nodes of many further kinds");
        }
        if kind.now != kind.next_start {
            let now = kind.now.word();
            let next = kind.next_start.word();
            let line = format!("Now: {now}. At the next start of the DNS pods: {next}");
            self.item("  ", &line)?;
        }
        if let Some(why) = &kind.why {
            self.item("  ", &format!("Not known because: {why}"))?;
        }
        if !kind.query_path.is_empty() {
            self.item("  ", &format!("The query path: {}", kind.query_path))?;
        }
        if let Some((file, new)) = &kind.fix {
            self.item("  ", &format!("The fix: in {file}: {new}"))?;
        }
        if let Some(setup) = &kind.setup {
            for attribute in Attribute::ALL {
                let line = format!("{}: {}", title(attribute), attribute.value_in(setup));
                self.item("  ", &line)?;
            }
        }
        Ok(())
    }

    fn differences(&mut self, summary: &Summary) -> io::Result<()> {
        if summary.differences.is_empty() {
            return Ok(());
        }
        self.title("What differs between the groups")?;
        for difference in &summary.differences {
            writeln!(self.out, "  {}", title(difference.attribute))?;
            for entry in difference.values.iter().take(MAX_VALUES) {
                let groups = numbers(&entry.groups);
                let line = format!("{} ({groups}): {}", nodes(entry.nodes), entry.value);
                self.item("    ", &line)?;
            }
            self.left_out(difference.values.len(), MAX_VALUES, "    ")?;
        }
        Ok(())
    }

    /// In what they differ from most of the nodes.
    fn odd_ones(&mut self, summary: &Summary) -> io::Result<()> {
        let odd: Vec<(usize, &Group)> = summary
            .groups
            .iter()
            .enumerate()
            .filter(|(_, it)| it.is_odd)
            .collect();
        let Some(usual) = summary.largest().filter(|_| !odd.is_empty()) else {
            return Ok(());
        };
        let count = nodes(usual.nodes);
        self.title(&format!("The odd ones out, beside {count} that are alike"))?;
        for (index, group) in odd.iter().take(MAX_SHOWN) {
            let (number, names) = (index + 1, names(group));
            let line = format!("Group {number}, {}: {names}", nodes(group.nodes));
            self.item("  ", &line)?;
            let (own, others) = (group.kind.verdict, usual.kind.verdict);
            if own != others {
                let (own, others) = (own.word(), others.word());
                self.item("    ", &format!("Verdict: {own}; the others: {others}"))?;
            }
            for (attribute, value) in summary.from_the_usual(group) {
                let others = usual.kind.setup.as_ref().map(|it| attribute.value_in(it));
                let others = others.unwrap_or_default();
                let line = format!("{}: {value}; the others: {others}", title(attribute));
                self.item("    ", &line)?;
            }
        }
        self.left_out(odd.len(), MAX_SHOWN, "  ")
    }

    fn first_errors(&mut self, summary: &Summary, most: usize) -> io::Result<()> {
        self.title("Could not be read")?;
        for error in summary.errors.iter().take(most) {
            let text = match error.at.line {
                Some(_) => format!("{}: {}.", error.at, error.message),
                // The sentence has the file's name.
                None => format!("{}.", error.message),
            };
            self.item("  - ", &text)?;
        }
        Ok(())
    }

    fn errors(&mut self, summary: &Summary) -> io::Result<()> {
        if summary.errors.is_empty() {
            return Ok(());
        }
        self.first_errors(summary, MAX_ERRORS)?;
        let shown = u64::try_from(summary.errors.len().min(MAX_ERRORS)).unwrap_or(u64::MAX);
        match summary.error_count.saturating_sub(shown) {
            0 => Ok(()),
            more => writeln!(self.out, "  and {more} more"),
        }
    }

    fn remarks(&mut self, summary: &Summary) -> io::Result<()> {
        let mut remarks = Vec::new();
        if summary.repeated > 0 {
            remarks.push(format!(
                "{} not count, as the node reported again later.",
                counted(summary.repeated, "report does", "reports do")
            ));
        }
        if let Some(first) = &summary.first_passed_over {
            let count = counted(summary.passed_over, "line is", "lines are");
            remarks.push(format!(
                "{count} no report of kdns; the first one is {first}."
            ));
        }
        if remarks.is_empty() {
            return Ok(());
        }
        self.title("Worth knowing")?;
        remarks.iter().try_for_each(|it| self.item("  - ", it))
    }

    fn left_out(&mut self, all: usize, shown: usize, indent: &str) -> io::Result<()> {
        match all.saturating_sub(shown) {
            0 => Ok(()),
            more => writeln!(self.out, "{indent}and {more} more: --format json has them"),
        }
    }

    fn title(&mut self, title: &str) -> io::Result<()> {
        paragraph::title(self.style.colors, self.out, title)
    }

    /// A paragraph; its lines after the first are indented further.
    fn item(&mut self, mark: &str, text: &str) -> io::Result<()> {
        let hanging = format!("{}  ", " ".repeat(mark.chars().count()));
        let text = escaped(text.as_bytes());
        paragraph::write_within(self.style.columns, self.out, mark, &hanging, &text)
    }
}

/// `node-a, node-b, node-c and 9 more`.
fn names(group: &Group) -> String {
    let shown: Vec<&str> = group
        .examples
        .iter()
        .map(String::as_str)
        .take(MAX_NAMES)
        .collect();
    let count = u64::try_from(shown.len()).unwrap_or(u64::MAX);
    let more = group.nodes.saturating_sub(count);
    match (shown.is_empty(), more) {
        // All whose names were kept have reported again, and differently.
        (true, _) => "names were not kept".to_owned(),
        (false, 0) => shown.join(", "),
        (false, more) => format!("{} and {more} more", shown.join(", ")),
    }
}

fn numbers(groups: &[usize]) -> String {
    let numbers: Vec<String> = groups.iter().map(|it| (it + 1).to_string()).collect();
    let word = if numbers.len() == 1 {
        "group"
    } else {
        "groups"
    };
    let shown = numbers.get(..MAX_VALUES).unwrap_or(&numbers);
    let more = if shown.len() < numbers.len() {
        " …"
    } else {
        ""
    };
    format!("{word} {}{more}", shown.join(", "))
}

fn nodes(count: u64) -> String {
    counted(count, "node", "nodes")
}
