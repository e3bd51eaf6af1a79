//! A manual page, as `build.rs` and `tests/generated.rs` read it.
//!
//! Below the command are the forms of calling it, indented, and what it does.
//! A section without text is that of the same title in `about.md`.

/// The page of a command.
pub(crate) struct Page {
    /// The page itself.
    pub(crate) text: String,
    /// What several have in common.
    pub(crate) about: String,
}

impl Page {
    /// The command; `""` is kdns itself.
    pub(crate) fn command(&self) -> &str {
        let first = self.text.lines().next().unwrap_or_default();
        first.trim_start_matches("# kdns").trim_start()
    }

    /// The text of the section whose title begins so; `""`: it has none.
    pub(crate) fn section(&self, title: &str) -> &str {
        let Some((title, body)) = section(&self.text, title) else {
            return "";
        };
        match body {
            "" => section(&self.about, title).unwrap_or_default().1,
            body => body,
        }
    }

    /// What to try: what for, and its lines, which begin with `$ ` where the page
    /// shows what they print; its files are then those of `testdata/manual`.
    pub(crate) fn examples(&self) -> Vec<(&str, Vec<&str>)> {
        let text = self.section("Examples").split("\n\n");
        let texts = text.clone().step_by(2);
        let lines = text.skip(1).step_by(2);
        let lines = lines.map(|it| it.lines().map(str::trim_start).collect());
        texts.zip(lines).collect()
    }

    /// The rows of a table: of what it says something, and what.
    pub(crate) fn rows(&self, title: &str) -> Vec<(&str, &str)> {
        let lines = self.section(title).lines();
        lines
            .filter_map(|it| it.strip_prefix("- `")?.split_once("`: "))
            .collect()
    }
}

fn section<'p>(page: &'p str, title: &str) -> Option<(&'p str, &'p str)> {
    let mut sections = page.split("\n## ").skip(1);
    let found = sections.find(|it| it.starts_with(title))?;
    let (title, body) = found.split_once('\n')?;
    Some((title, body.trim()))
}
