//! The reports of many nodes on one screen.

use std::io;

use super::{Page, names, nodes, numbers, title};
use crate::report::{Conflict, Difference, Group, Summary};
use crate::text::escaped;

/// Groups that are shown.
const GROUPS: usize = 5;
/// Things that differ that are shown, and values of each.
const DIFFERENCES: usize = 3;
const VALUES: usize = 3;
/// Things that could not be read, and conflicts, that are shown.
const WRONG: usize = 3;

impl Page<'_> {
    /// A few lines for each group, and what they differ in.
    pub(super) fn brief(&mut self, summary: &Summary) -> io::Result<()> {
        for (index, group) in summary.groups.iter().enumerate().take(GROUPS) {
            self.brief_group(index, group)?;
        }
        self.more(summary.groups.len(), GROUPS, "group", "groups")?;
        if !summary.differences.is_empty() {
            self.title("What differs between the groups")?;
        }
        for difference in summary.differences.iter().take(DIFFERENCES) {
            self.item("  ", &brief_difference(difference))?;
        }
        self.more(summary.differences.len(), DIFFERENCES, "thing", "things")?;
        self.brief_errors(summary)?;
        self.remarks(summary)
    }

    fn brief_group(&mut self, index: usize, group: &Group) -> io::Result<()> {
        let kind = &group.kind;
        let names = escaped(names(group).as_bytes());
        self.title_line(&format!("{}: {names}", self.head(index, group)))?;
        if kind.is_rest {
            return self.item("  ", "Nodes of many further kinds");
        }
        if let Some(why) = &kind.why {
            self.item("  ", &format!("Not known because: {why}"))?;
        }
        if !kind.query_path.is_empty() {
            self.item("  ", &kind.query_path)?;
        }
        if let Some((file, new)) = &kind.fix {
            self.item("  ", &format!("Fix: in {file}: {new}"))?;
        }
        Ok(())
    }

    fn brief_errors(&mut self, summary: &Summary) -> io::Result<()> {
        if summary.errors.is_empty() {
            return Ok(());
        }
        self.first_errors(summary, WRONG)?;
        let all = usize::try_from(summary.error_count).unwrap_or(usize::MAX);
        self.more(all, WRONG, "place", "places")
    }

    /// Names under which not one node has reported.
    pub(super) fn conflicts(&mut self, summary: &Summary) -> io::Result<()> {
        if summary.conflicts.is_empty() {
            return Ok(());
        }
        self.title("Contradictions")?;
        for conflict in summary.conflicts.iter().take(WRONG) {
            self.item("  - ", &contradiction(conflict))?;
        }
        self.more(summary.conflicts.len(), WRONG, "name", "names")
    }

    fn more(&mut self, all: usize, shown: usize, one: &str, many: &str) -> io::Result<()> {
        match all.saturating_sub(shown) {
            0 => Ok(()),
            1 => writeln!(self.out, "  and 1 more {one} (-v)"),
            more => writeln!(self.out, "  and {more} more {many} (-v)"),
        }
    }

    /// A line that begins a group; it has colours already.
    fn title_line(&mut self, line: &str) -> io::Result<()> {
        writeln!(self.out)?;
        crate::render::paragraph::write_within(self.style.columns, self.out, "", "  ", line)
    }
}

fn contradiction(conflict: &Conflict) -> String {
    let name = &conflict.name;
    if conflict.is_of_machines {
        return format!(
            "{name} is the name of two machines, which count as two nodes: give their reports \
             --cluster NAME."
        );
    }
    format!(
        "{name} reported twice, and differently, without saying of which machine: the last report \
         counts. Reports of this kdns say it."
    )
}

fn brief_difference(difference: &Difference) -> String {
    let values = difference.values.iter().take(VALUES).map(|it| {
        let (count, groups) = (nodes(it.nodes), numbers(&it.groups));
        format!("{} ({count}, {groups})", it.value)
    });
    let values: Vec<String> = values.collect();
    let more = match difference.values.len().saturating_sub(VALUES) {
        0 => String::new(),
        more => format!("; and {more} more"),
    };
    format!(
        "{}: {}{more}",
        title(difference.attribute),
        values.join("; ")
    )
}
