//! Servers and names, each with a small bar of times.

use std::io;

use super::{Writer, time};
use crate::text::escaped;
use crate::watch::report::{NameReport, Role, ServerReport};

/// Names and servers in a table.
const LISTED: usize = 5;

/// Eighths of a bar's height.
const BARS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];

impl Writer<'_> {
    /// Writes the table of servers.
    pub(super) fn servers(&mut self, servers: &[ServerReport]) -> io::Result<()> {
        if servers.is_empty() {
            return Ok(());
        }
        self.head("Servers", "queries", "lost")?;
        for server in servers.iter().take(LISTED) {
            let name = self.style.shown.server(server.server);
            self.row(
                &name,
                server.queries,
                server.unanswered,
                &server.times,
                &server.bars,
            )?;
            let role = match server.role {
                None => continue,
                Some(Role::IstioProxy) => {
                    "Istio's agent in the pod, to which queries are redirected: no fault"
                }
                Some(Role::NotInFile) => {
                    "not in the file: sockets are balanced (Cilium), or the program asks whom it likes; no fault"
                }
            };
            self.paragraph("    ", "    ", role)?;
        }
        Ok(())
    }

    /// Writes the table of names.
    pub(super) fn names(&mut self, names: &[NameReport]) -> io::Result<()> {
        if names.is_empty() {
            return Ok(());
        }
        self.head("Names", "queries", "lookups")?;
        for name in names.iter().take(LISTED) {
            let shown = self.style.shown.name(&name.name);
            self.row(&shown, name.queries, name.lookups, &name.times, &name.bars)?;
        }
        Ok(())
    }

    fn head(&mut self, what: &str, first: &str, second: &str) -> io::Result<()> {
        let what = self.style.bold(&format!("{what:<30}"));
        let rest = format!(" {first:>8} {second:>8}  10 µs … 10 s   median");
        writeln!(self.out, "\n{what}{}", self.style.dim(&rest))
    }

    fn row(
        &mut self,
        name: &str,
        first: u64,
        second: u64,
        times: &crate::watch::findings::Times,
        bars: &[u64],
    ) -> io::Result<()> {
        let name = escaped(name.as_bytes());
        let median = if times.count == 0 {
            "-".to_owned()
        } else {
            time(times.median)
        };
        let bar = bar(bars);
        if name.chars().count() > 28 {
            writeln!(self.out, "  {name}")?;
            return writeln!(
                self.out,
                "{:<30} {first:>8} {second:>8}  {bar} {median:>9}",
                ""
            );
        }
        writeln!(
            self.out,
            "  {name:<28} {first:>8} {second:>8}  {bar} {median:>9}"
        )
    }
}

/// Counts as a bar of blocks.
fn bar(counts: &[u64]) -> String {
    let most = counts.iter().copied().max().unwrap_or_default().max(1);
    let block = |count: &u64| {
        if *count == 0 {
            return ' ';
        }
        let step = (count * 8).div_ceil(most).clamp(1, 8);
        let index = usize::try_from(step - 1).unwrap_or_default();
        BARS.get(index).copied().unwrap_or('█')
    };
    counts.iter().map(block).collect()
}
