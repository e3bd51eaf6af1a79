//! What was given of network policies, pods and their Services.

use std::collections::BTreeSet;

use crate::lint::context::Context;
use crate::lint::egress::{LetOut, Pods};
use crate::lint::workspace::Workspace;
use crate::text::ordered;

/// More kinds of policies are not compared.
const MAX_LET_OUT: usize = 1000;

/// What they let out to DNS, each once.
pub(super) fn let_out<'w>(workspace: &'w Workspace<'w>) -> Option<BTreeSet<&'w LetOut>> {
    let all = workspace.all_facts().flat_map(|(_, it)| &it.let_out);
    let all: BTreeSet<&LetOut> = ordered(all);
    (all.len() <= MAX_LET_OUT).then_some(all)
}

impl Context<'_> {
    /// Whether a pod that was given, or one that something makes which was given, is
    /// among these.
    pub fn some_pod(&self, pods: &Pods) -> bool {
        let mut all = self.workspace.all_facts();
        all.any(|(_, it)| it.pods.iter().any(|it| pods.choose(it)))
    }

    /// Whether a headless Service of that name was given, whose pods have names when they
    /// are ready only: in this namespace, as far as both are written.
    pub fn has_headless(&self, namespace: Option<&str>, name: &str) -> bool {
        let is_it = |it: &(Option<String>, String)| {
            let is_other =
                it.0.as_deref()
                    .zip(namespace)
                    .is_some_and(|it| it.0 != it.1);
            it.1 == name && !is_other
        };
        let mut all = self.workspace.all_facts();
        all.any(|(_, facts)| facts.headless.iter().any(is_it))
    }

    /// Whether a policy that was given lets some of these pods do something; also where so
    /// many were given that nobody compares them. Policies add up, wherever they
    /// are written.
    pub fn some_policy(&self, pods: &Pods, lets: impl Fn(&LetOut) -> bool) -> bool {
        let all = self.let_out.as_ref();
        all.is_none_or(|all| all.iter().any(|it| it.pods.can_meet(pods) && lets(it)))
    }
}
