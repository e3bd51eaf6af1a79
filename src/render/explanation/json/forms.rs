//! The parts of the document. Fields are only added within a format version.

use schemars::JsonSchema;
use serde::Serialize;

use crate::render::live::json::LookupForm;
use crate::render::path::service::ServiceForm;

/// What `kdns explain NAME --format json` writes. Fields are only added
/// within a format version.
#[derive(Debug, Default, Serialize, JsonSchema)]
pub(in crate::render) struct ExplanationForm {
    /// Version of this format.
    pub(super) format: u32,
    /// The scenario's `id`, or its number among the scenarios, from 1; the
    /// name where there is no scenario file.
    pub(super) case: String,
    /// The name that was explained.
    pub(super) name: String,
    /// The file that was read; absent where there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) file: Option<String>,
    /// What was assumed or could not be read.
    pub(super) about: Vec<String>,
    /// Servers of the file that are not what they seem: loopback addresses
    /// and their relatives.
    pub(super) leads: Vec<LeadForm>,
    /// The Kubernetes search path, if the file has one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) cluster: Option<ClusterForm>,
    /// Resolvers that send the same.
    pub(super) groups: Vec<GroupForm>,
    /// What would save queries, with its trade-off.
    pub(super) advice: Vec<AdviceForm>,
    /// The lookups that were made, in order; absent without `--live`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) live: Option<Vec<LookupForm>>,
    /// Where the Services lead that did not respond, as the node's rules say,
    /// where these were read; absent without `--live`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) services: Option<Vec<ServiceForm>>,
    /// What could not be done; the exit status is then 2.
    pub(super) errors: Vec<ErrorForm>,
}

/// Something that could not be done.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(super) struct ErrorForm {
    /// One sentence.
    pub(super) message: String,
    /// Line of the scenario file, where it is to blame.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) line: Option<usize>,
    /// Column there.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) column: Option<usize>,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct LeadForm {
    pub(super) address: String,
    /// `FILE:LINE:COLUMN`
    pub(super) at: String,
    pub(super) sentence: String,
    /// Whether nothing but the address says so.
    pub(super) guess: bool,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct ClusterForm {
    pub(super) namespace: String,
    pub(super) domain: String,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct GroupForm {
    pub(super) resolvers: Vec<ResolverForm>,
    pub(super) candidates: Vec<CandidateForm>,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct CandidateForm {
    /// From 1.
    pub(super) number: usize,
    /// With its final dot; absent for a malformed message.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) name: Option<String>,
    pub(super) types: Vec<String>,
    pub(super) servers: Vec<String>,
    /// `search N`, `as is`, …
    pub(super) from: String,
    /// Whether it is asked, given the answers that were assumed.
    pub(super) asked: bool,
    /// What the name would be in the cluster.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) meaning: Option<String>,
    /// Whether this is what the user most likely means.
    pub(super) useful: bool,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct ResolverForm {
    pub(super) id: &'static str,
    pub(super) version: &'static str,
    pub(super) decision: DecisionForm,
    /// Queries sent in all.
    pub(super) queries: usize,
    pub(super) outcome: OutcomeForm,
    /// The name of a search entry outside of the cluster that was answered in
    /// place of a name of the world; absent where that is not so.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) answered_as: Option<String>,
    pub(super) silent: SilentForm,
    /// What each answer leads to, by candidate.
    pub(super) transitions: Vec<TransitionForm>,
    pub(super) reading: ReadingForm,
    /// Bugs that were met and choices at random.
    pub(super) notes: Vec<String>,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct DecisionForm {
    pub(super) order: &'static str,
    /// Dots in the name, a final one not counted.
    pub(super) dots: usize,
    pub(super) sentence: String,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct OutcomeForm {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) addresses: Option<Vec<String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) code: Option<&'static str>,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct SilentForm {
    pub(super) queries: usize,
    /// Time until it gives up; absent: never.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) seconds: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) code: Option<&'static str>,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct TransitionForm {
    /// Number of the candidate.
    pub(super) candidate: usize,
    pub(super) reply: &'static str,
    /// Number of the candidate that follows.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) next: Option<usize>,
    /// The error that the lookup ends with.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) code: Option<&'static str>,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct ReadingForm {
    pub(super) servers: Vec<SettingForm>,
    /// The first 1000 entries of its search list.
    pub(super) search: Vec<SettingForm>,
    /// How many more entries it holds; absent: none.
    #[serde(skip_serializing_if = "is_zero")]
    pub(super) search_more: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) ndots: Option<SettingForm>,
    pub(super) timeout_seconds: SettingForm,
    pub(super) attempts: SettingForm,
    pub(super) flags: Vec<SettingForm>,
    /// The first 1000 words of the file that have no effect for this resolver.
    pub(super) unused: Vec<UnusedForm>,
    /// How many more such words there are; absent: none.
    #[serde(skip_serializing_if = "is_zero")]
    pub(super) unused_more: usize,
    /// Why it refuses the whole file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) refused: Option<UnusedForm>,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct SettingForm {
    pub(super) value: String,
    /// `FILE:LINE:COLUMN`, an environment variable, `host name …`, or `default`.
    pub(super) from: String,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct UnusedForm {
    pub(super) line: usize,
    pub(super) column: usize,
    /// The word; of a longer one the first 1000 bytes and an ellipsis.
    pub(super) text: String,
    pub(super) why: String,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct AdviceForm {
    /// `final-dot` or `ndots`.
    pub(super) change: &'static str,
    /// The name to write, or the number to set.
    pub(super) to: String,
    pub(super) sentence: String,
    pub(super) savings: Vec<SavingForm>,
    pub(super) trade_offs: Vec<String>,
    /// What it does to other names.
    pub(super) costs: Vec<CostForm>,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct SavingForm {
    pub(super) resolver: &'static str,
    pub(super) before: usize,
    pub(super) after: usize,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct CostForm {
    pub(super) name: String,
    pub(super) resolver: &'static str,
    /// Whether the name is not found any more.
    pub(super) lost: bool,
    /// Queries that it takes more.
    pub(super) more_queries: usize,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde calls it so")]
fn is_zero(number: &usize) -> bool {
    *number == 0
}
