#![doc = include_str!("cluster_domain_mismatch.md")]

use crate::finding::Severity;
use crate::lint::context::Context;
use crate::lint::facts::Text;
use crate::lint::report::Report;
use crate::lint::rules::kubelet::common::is_placeholder;
use crate::lint::subject::CorefileText;
use crate::lint::{Check, Rule};
use crate::text::Span;

/// KK015.
pub static RULE: Rule = Rule {
    code: "KK015",
    name: "cluster-domain-mismatch",
    severity: Severity::Error,
    summary: "clusterDomain is no zone of CoreDNS's kubernetes plugin",
    page: include_str!("cluster_domain_mismatch.md"),
    check: Check::Corefile(check),
};

fn check(file: &CorefileText<'_>, context: &Context<'_>, report: &mut Report) {
    let document = file.document;
    let at = document.at(Span::default());
    let facts = context.workspace().facts(document.file);
    let mut corefiles = facts.iter().flat_map(|it| &it.corefiles);
    let zones = corefiles
        .find(|it| it.at == at)
        .map(|it| it.cluster_zones.as_slice());
    let zones: &[Text] = zones.unwrap_or_default();
    let (Some(zone), Some(domain)) = (zones.first(), context.cluster_domain(document.file)) else {
        return;
    };
    let is_it = |zone: &Text| {
        zone.text
            .trim_end_matches('.')
            .eq_ignore_ascii_case(&domain.value)
    };
    let is_open = is_placeholder(&domain.value) || zones.iter().any(|it| is_placeholder(&it.text));
    // The Corefile can rewrite the domain into its zone.
    if zones.iter().any(is_it) || is_open || mentions(&document.source.bytes, &domain.value) {
        return;
    }
    let shown = zone.text.trim_end_matches('.');
    let finding = report
        .add(
            zone.at,
            format!(
                "the zone here is {shown}, and the kubelets' clusterDomain is {}",
                domain.value
            ),
        )
        .help(format!(
            "write {} here, or clusterDomain: {shown} for the kubelets",
            domain.value
        ))
        .note(format!(
            "short names of Services do not resolve: pods search in svc.{}",
            domain.value
        ));
    if let Some(at) = domain.at {
        finding.also(at, "the domain in which pods search");
    }
}

fn mentions(bytes: &[u8], domain: &str) -> bool {
    let bytes = bytes.to_ascii_lowercase();
    memchr::memmem::find(&bytes, domain.to_ascii_lowercase().as_bytes()).is_some()
}
