//! What was given of network policies.

use std::collections::BTreeSet;

use crate::lint::context::Context;
use crate::lint::egress::{LetOut, Pods};
use crate::lint::workspace::Workspace;

/// More kinds of policies are not compared.
const MAX_LET_OUT: usize = 1000;

/// What they let out to DNS, each once.
pub(super) fn let_out<'w>(workspace: &'w Workspace<'w>) -> Option<BTreeSet<&'w LetOut>> {
    let all = workspace.all_facts().flat_map(|(_, it)| &it.let_out);
    let all: BTreeSet<&LetOut> = all.collect();
    (all.len() <= MAX_LET_OUT).then_some(all)
}

impl Context<'_> {
    /// Whether a policy that was given lets some of these pods do something; also where so
    /// many were given that nobody compares them. Policies add up, wherever they
    /// are written.
    pub fn some_policy(&self, pods: &Pods, lets: impl Fn(&LetOut) -> bool) -> bool {
        let all = self.let_out.as_ref();
        all.is_none_or(|all| all.iter().any(|it| it.pods.can_meet(pods) && lets(it)))
    }
}
