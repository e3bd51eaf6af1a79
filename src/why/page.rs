//! Pages of the catalogue: Markdown of a fixed form.
//!
//! ```text
//! # ID
//!
//! One sentence.
//!
//! ## Heading
//!
//! - an item
//!
//!     text as it stands
//! ```

/// A page.
#[derive(Clone, Debug)]
pub(super) struct Page {
    /// What stands behind `# `.
    pub(super) title: &'static str,
    /// The sentence below it.
    pub(super) lead: String,
    /// What stands below each heading.
    sections: Vec<(&'static str, &'static str)>,
}

impl Page {
    /// Reads a page. What is missing is empty; a test looks for that.
    pub(super) fn parse(text: &'static str) -> Self {
        let mut parts = text.split("\n## ");
        let head = parts.next().unwrap_or_default();
        let (title, lead) = head.split_once('\n').unwrap_or((head, ""));
        let section = |part: &'static str| part.split_once('\n').unwrap_or((part, ""));
        Self {
            title: title.trim_start_matches("# "),
            lead: joined(lead),
            sections: parts.map(section).collect(),
        }
    }

    /// The items below a heading, without `- `.
    pub(super) fn items(&self, heading: &str) -> Vec<&'static str> {
        let lines = self.body(heading).lines();
        lines.filter_map(|line| line.strip_prefix("- ")).collect()
    }

    /// The lines below a heading that stand as they are, behind four blanks.
    pub(super) fn verbatim(&self, heading: &str) -> Vec<&'static str> {
        let lines = self.body(heading).lines();
        lines.filter_map(|line| line.strip_prefix("    ")).collect()
    }

    /// The sentences below a heading.
    pub(super) fn prose(&self, heading: &str) -> String {
        let is_prose = |line: &&str| !line.starts_with("- ") && !line.starts_with("    ");
        let lines: Vec<&str> = self.body(heading).lines().filter(is_prose).collect();
        joined(&lines.join("\n"))
    }

    fn body(&self, heading: &str) -> &'static str {
        let mut sections = self.sections.iter();
        sections.find(|it| it.0 == heading).map_or("", |it| it.1)
    }
}

/// Lines as one.
fn joined(lines: &str) -> String {
    lines.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_has_a_title_a_sentence_and_sections() {
        let page = Page::parse(
            "# a-b\n\nWhat it\nmeans.\n\n## Causes\n\n- one\n- two\n\n## Decide\n\n    dig  x\n\nLook.\n",
        );
        assert_eq!((page.title, page.lead.as_str()), ("a-b", "What it means."));
        assert_eq!(page.items("Causes"), ["one", "two"]);
        assert_eq!(page.verbatim("Decide"), ["dig  x"]);
        assert_eq!(page.prose("Decide"), "Look.");
        assert!(page.items("Fix").is_empty());
    }
}
