//! The reports of many nodes as one JSON document. Fields are only added
//! within a format version.

use std::io::{self, Write};

use schemars::JsonSchema;
use serde::Serialize;

use super::logs::{self, LogsForm};
use crate::check_loop::{Setup, Verdict};
use crate::render::json;
use crate::report::{Attribute, Difference, Group, Summary, Trouble};

/// What `kdns report merge --format json` writes.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(title = "Report")]
pub(in crate::render) struct MergedDocument<'s> {
    /// Version of this format.
    format: u32,
    /// How many nodes reported.
    nodes: u64,
    /// How many nodes have which verdict, the worst first; each verdict once.
    verdicts: Vec<VerdictForm>,
    /// Nodes that are alike, the worst first, then the largest group.
    groups: Vec<GroupForm<'s>>,
    /// In what the groups differ.
    differences: Vec<DifferenceForm<'s>>,
    /// Names under which not one node has reported, at most 100.
    conflicts: Vec<ConflictForm<'s>>,
    /// What `kdns why LOG --format json` has written, together; absent: nothing.
    #[serde(skip_serializing_if = "Option::is_none")]
    logs: Option<LogsForm<'s>>,
    /// Reports that do not count, as the node reported again later.
    repeated: u64,
    /// Lines that are no report of kdns.
    passed_over: u64,
    /// What could not be read, in the order of the input; at most 100.
    errors: Vec<ErrorForm<'s>>,
    /// How many there are, with those that were left out.
    error_count: u64,
}

#[derive(Debug, Serialize, JsonSchema)]
struct VerdictForm {
    #[schemars(extend("enum" = ["loop", "mixed", "refused", "will loop", "unknown", "no loop"]))]
    verdict: &'static str,
    nodes: u64,
}

#[derive(Debug, Serialize, JsonSchema)]
struct GroupForm<'s> {
    /// From 1.
    number: usize,
    #[schemars(extend("enum" = ["loop", "mixed", "refused", "will loop", "unknown", "no loop"]))]
    verdict: &'static str,
    /// The running pods with the files they have.
    #[schemars(extend("enum" = ["loop", "mixed", "refused", "no loop", "unknown"]))]
    now: &'static str,
    /// The pods after the next start.
    #[schemars(extend("enum" = ["loop", "mixed", "refused", "no loop", "unknown"]))]
    next_start: &'static str,
    /// How many nodes are in the group.
    nodes: u64,
    /// The first of their names in the order of the alphabet, at most 8.
    examples: &'s [String],
    /// How many of them have remarks or log lines worth a look.
    remarked: u64,
    /// Whether they are far fewer than the largest group.
    is_odd: bool,
    /// Whether these are nodes of many kinds, for which there was no room.
    is_rest: bool,
    /// The query path that decides, without names of pods and addresses that only
    /// one node has.
    #[serde(skip_serializing_if = "str::is_empty")]
    way: &'s str,
    /// Why the verdict is unknown.
    #[serde(skip_serializing_if = "Option::is_none")]
    why: Option<&'s str>,
    /// What fixes it.
    fix: Option<FixForm<'s>>,
    /// How the nodes are set up; null: their reports do not say.
    setup: Option<&'s Setup>,
}

#[derive(Debug, Serialize, JsonSchema)]
struct FixForm<'s> {
    file: &'s str,
    /// What is to stand there.
    new: &'s str,
}

#[derive(Debug, Serialize, JsonSchema)]
struct DifferenceForm<'s> {
    /// The key of `setup`.
    what: &'static str,
    /// The value of the most nodes first.
    values: Vec<ValueForm<'s>>,
}

#[derive(Debug, Serialize, JsonSchema)]
struct ValueForm<'s> {
    /// The value in words.
    value: &'s str,
    nodes: u64,
    /// Numbers of the groups.
    groups: Vec<usize>,
}

/// A name under which not one node has reported.
#[derive(Debug, Serialize, JsonSchema)]
struct ConflictForm<'s> {
    /// The node's name, with its cluster's if that is known.
    node: &'s str,
    /// Whether two machines have the name; else its reports contradict each other and
    /// do not say of which machine they are.
    two_machines: bool,
}

/// Something that could not be read.
#[derive(Debug, Serialize, JsonSchema)]
struct ErrorForm<'s> {
    file: &'s str,
    /// From 1; null: the file itself.
    line: Option<u64>,
    /// From 1, in bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    column: Option<usize>,
    /// One sentence.
    message: &'s str,
}

/// Writes the document of `summary`.
///
/// # Errors
///
/// Any error of `out`.
pub fn write(summary: &Summary, out: &mut dyn Write) -> io::Result<()> {
    let verdict = |verdict: Verdict| VerdictForm {
        verdict: verdict.word(),
        nodes: summary.with(verdict),
    };
    let document = MergedDocument {
        format: 1,
        nodes: summary.nodes,
        verdicts: Verdict::ALL.into_iter().map(verdict).collect(),
        groups: summary.groups.iter().enumerate().map(group).collect(),
        differences: summary.differences.iter().map(difference).collect(),
        conflicts: summary
            .conflicts
            .iter()
            .map(|it| ConflictForm {
                node: &it.name,
                two_machines: it.is_of_machines,
            })
            .collect(),
        logs: logs::form(&summary.logs),
        repeated: summary.repeated,
        passed_over: summary.passed_over,
        errors: summary.errors.iter().map(error).collect(),
        error_count: summary.error_count,
    };
    json::document(&document, out)
}

fn group((index, group): (usize, &Group)) -> GroupForm<'_> {
    let kind = &group.kind;
    GroupForm {
        number: index + 1,
        verdict: kind.verdict.word(),
        now: kind.now.word(),
        next_start: kind.next_start.word(),
        nodes: group.nodes,
        examples: &group.examples,
        remarked: group.remarked,
        is_odd: group.is_odd,
        is_rest: kind.is_rest,
        way: &kind.query_path,
        why: kind.why.as_deref(),
        fix: kind.fix.as_ref().map(|(file, new)| FixForm { file, new }),
        setup: kind.setup.as_ref(),
    }
}

fn difference(difference: &Difference) -> DifferenceForm<'_> {
    let values = difference.values.iter().map(|entry| ValueForm {
        value: &entry.value,
        nodes: entry.nodes,
        groups: entry.groups.iter().map(|it| it + 1).collect(),
    });
    DifferenceForm {
        what: key(difference.attribute),
        values: values.collect(),
    }
}

/// The key of `setup` that has it.
pub(in crate::render) fn key(attribute: Attribute) -> &'static str {
    match attribute {
        Attribute::ResolvConf => "resolv_conf",
        Attribute::ResolvConfFrom => "resolv_conf_from",
        Attribute::LeadsTo => "leads_to",
        Attribute::NameServers => "name_servers",
        Attribute::OnNode => "on_node",
        Attribute::Forwards => "forwards",
    }
}

fn error(trouble: &Trouble) -> ErrorForm<'_> {
    ErrorForm {
        file: &trouble.at.file,
        line: trouble.at.line,
        column: trouble.at.column,
        message: &trouble.message,
    }
}
