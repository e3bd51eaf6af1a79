//! What stands where in `nft list ruleset`.

use std::collections::BTreeSet;

use super::rule::{is_of_chain, undressed};
use super::words::{depth, split, unquoted};
use crate::rules::View;
use crate::rules::nft::index::Tables;
use crate::rules::table::{Base, Hook};

/// Reads lines, and keeps where the rules of each chain and each set stand.
#[derive(Debug, Default)]
pub(in crate::rules) struct Indexer {
    found: Tables,
    at: At,
    /// The table that lines are of; `None`: one that no packet of ours meets.
    table: Option<usize>,
    /// Family and name of it.
    head: (String, String),
    /// Whether it is switched off.
    is_dormant: bool,
    /// The chains and sets that are there already.
    names: BTreeSet<(usize, String)>,
    /// Whether a set has an element: `nft --terse` shows none.
    has_elements: bool,
}

/// Where a line stands.
#[derive(Debug, Default)]
enum At {
    #[default]
    Outside,
    Table,
    Chain {
        name: String,
        /// Where its rules begin, and end so far.
        rules: Option<(View, u64)>,
        /// Braces that are open within a rule.
        open: i32,
    },
    Block {
        /// The name of a set or map; `None`: something else.
        set: Option<String>,
        from: View,
        open: i32,
    },
}

impl Indexer {
    /// Whether a table has begun and not ended.
    pub(in crate::rules) fn is_open(&self) -> bool {
        !matches!(self.at, At::Outside)
    }

    /// Takes a line, without its end; `false`: it is none of this format.
    pub(in crate::rules) fn take(&mut self, line: &[u8], view: View) -> bool {
        if !self.is_open() && memchr::memmem::find(line, b"table ").is_none() {
            return false;
        }
        if self.is_open() && is_of_another(line) {
            self.cut(view);
            return false;
        }
        let text = String::from_utf8_lossy(line);
        let words = split(undressed(&text));
        match std::mem::take(&mut self.at) {
            At::Outside => return self.table(&words, view),
            At::Table => self.at = self.member(&words, view),
            At::Chain { name, rules, open } => {
                self.in_chain(&words, (line, view), name, rules, open);
            }
            At::Block { set, from, open } => self.in_block(&words, (line, view), set, from, open),
        }
        true
    }

    /// The tables, and where each set is written.
    pub(in crate::rules) fn finish(mut self, end: View) -> Tables {
        if self.is_open() {
            self.cut(end);
        }
        if !self.has_elements {
            self.found.sets.clear();
        }
        for table in &mut self.found.tables {
            table.sort();
        }
        self.found
    }

    /// `table ip nat {`.
    fn table(&mut self, words: &[&str], view: View) -> bool {
        let (family, name) = match words {
            ["table", family, name, "{"] => (*family, *name),
            ["table", name, "{"] => ("ip", *name),
            _ => return false,
        };
        self.head = (family.to_owned(), name.to_owned());
        self.table = self.found.table(family, name, view);
        (self.is_dormant, self.at) = (false, At::Table);
        true
    }

    /// What begins at a line of a table.
    fn member(&mut self, words: &[&str], view: View) -> At {
        match words {
            ["}", ..] => {
                if let Some(table) = self.table.and_then(|it| self.found.tables.get_mut(it)) {
                    table.is_whole = true;
                    if self.is_dormant {
                        table.bases.clear();
                    }
                }
                At::Outside
            }
            ["flags", flags, ..] => {
                self.is_dormant |= flags.split(',').any(|it| it == "dormant");
                At::Table
            }
            ["chain", name, "{"] => {
                let name = unquoted(name);
                self.name(name, view);
                if let Some(table) = self.table.and_then(|it| self.found.tables.get_mut(it)) {
                    table.add(name.as_bytes(), view.start, view.start, view.line);
                }
                At::Chain {
                    name: name.to_owned(),
                    rules: None,
                    open: 0,
                }
            }
            ["set" | "map", name, "{"] => {
                self.name(name, view);
                At::Block {
                    set: Some((*name).to_owned()),
                    from: view,
                    open: 1,
                }
            }
            [.., "{"] => At::Block {
                set: None,
                from: view,
                open: 1,
            },
            _ => At::Table,
        }
    }

    /// A name that is there already is of another listing of the same table.
    fn name(&mut self, name: &str, view: View) {
        let Some(table) = self.table else { return };
        if !self.names.insert((table, name.to_owned())) {
            self.table = self.found.another(&self.head.0, &self.head.1, view);
            let table = self.table.unwrap_or(table);
            self.names.insert((table, name.to_owned()));
        }
    }

    fn in_chain(
        &mut self,
        words: &[&str],
        (line, view): (&[u8], View),
        name: String,
        mut rules: Option<(View, u64)>,
        open: i32,
    ) {
        if open == 0 && words.first() == Some(&"}") {
            self.flush(&name, rules);
            self.at = At::Table;
            return;
        }
        if open == 0 && words.first() == Some(&"type") {
            self.base(&name, words, view);
        } else if rules.is_some() || !is_of_chain(words) {
            rules = Some((rules.map_or(view, |it| it.0), view.end));
        }
        let open = open + depth(&String::from_utf8_lossy(line));
        self.at = At::Chain { name, rules, open };
    }

    fn flush(&mut self, chain: &str, rules: Option<(View, u64)>) {
        if let Some((first, end)) = rules
            && let Some(table) = self.table.and_then(|it| self.found.tables.get_mut(it))
        {
            table.add(chain.as_bytes(), first.start, end, first.line);
        }
    }

    fn in_block(
        &mut self,
        words: &[&str],
        (line, view): (&[u8], View),
        set: Option<String>,
        from: View,
        open: i32,
    ) {
        self.has_elements |= set.is_some() && words.first() == Some(&"elements");
        let open = open + depth(&String::from_utf8_lossy(line));
        if open > 0 {
            self.at = At::Block { set, from, open };
            return;
        }
        if let (Some(name), Some(table)) = (set, self.table) {
            let end = view.end;
            let whole = View { end, ..from };
            self.found.sets.insert((table, name.into()), whole);
        }
        self.at = At::Table;
    }

    /// `type filter hook forward priority filter - 10; policy drop;`.
    fn base(&mut self, chain: &str, words: &[&str], view: View) {
        let behind = |word: &str| {
            let at = words.iter().position(|it| *it == word)?;
            words.get(at + 1..)
        };
        let first = |word: &str| behind(word)?.first().copied();
        let hook = first("hook").and_then(|it| Hook::of_chain(&it.to_ascii_uppercase()));
        let (Some(table), Some(hook)) = (self.table, hook) else {
            return;
        };
        let base = Base {
            chain: chain.into(),
            hook,
            priority: behind("priority").and_then(priority).unwrap_or(0),
            is_nat: first("type") == Some("nat"),
            accepts: Some(first("policy") != Some("drop")),
            view,
            packets: None,
        };
        self.found.base(table, base);
    }

    /// The text ends within a table.
    fn cut(&mut self, view: View) {
        let within = match std::mem::take(&mut self.at) {
            At::Chain { name, rules, .. } => {
                self.flush(&name, rules);
                name
            }
            _ => String::new(),
        };
        if let Some(table) = self.table.and_then(|it| self.found.tables.get_mut(it)) {
            table.cut_in = Some(within.into());
        }
        self.found.cut = Some(view);
    }
}

/// Whether a line can be none of a table: it is of iptables-save, or ends a
/// block of Markdown.
fn is_of_another(line: &[u8]) -> bool {
    let begins: [&[u8]; 5] = [b"*", b"-A ", b":", b"# Generated", b"```"];
    begins.iter().any(|it| line.starts_with(it))
        || memchr::memmem::find(line, b"\"nftables\"").is_some()
}

/// `-100`, `dstnat`, `filter - 10`.
fn priority(words: &[&str]) -> Option<i32> {
    let named = |word: &str| {
        Some(match word {
            "raw" => -300,
            "mangle" => -150,
            "dstnat" => -100,
            "filter" => 0,
            "security" => 50,
            "srcnat" => 100,
            number => number.parse().ok()?,
        })
    };
    match words {
        [base, "+", more, ..] => Some(named(base)? + more.parse::<i32>().ok()?),
        [base, "-", less, ..] => Some(named(base)? - less.parse::<i32>().ok()?),
        [base, ..] => named(base),
        [] => None,
    }
}
