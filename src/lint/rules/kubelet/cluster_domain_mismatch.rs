#![doc = include_str!("cluster_domain_mismatch.md")]

use crate::lint::facts::Text;
use crate::lint::rules::prelude::*;
use crate::text::Span;

pub(super) fn check(file: &CorefileText<'_>, context: &Context<'_>, report: &mut Report) {
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
    let is_open =
        has_placeholder(&domain.value) || zones.iter().any(|it| has_placeholder(&it.text));
    // The Corefile can rewrite the domain into its zone.
    if zones.iter().any(is_it) || is_open || mentions(&document.source.bytes, &domain.value) {
        return;
    }
    let shown = zone.text.trim_end_matches('.');
    report
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
        ))
        .also_each(domain.at, "the domain in which pods search");
}

fn mentions(bytes: &[u8], domain: &str) -> bool {
    let bytes = bytes.to_ascii_lowercase();
    memchr::memmem::find(&bytes, domain.to_ascii_lowercase().as_bytes()).is_some()
}
