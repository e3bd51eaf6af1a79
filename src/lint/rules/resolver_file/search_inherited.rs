#![doc = include_str!("search_inherited.md")]

use crate::lint::rules::prelude::*;
use crate::lint::rules::resolver_file::common::{is_made_for_kubelet, point_to_setting};

pub(super) fn check(file: &ResolverFile<'_>, _: &Context<'_>, report: &mut Report) {
    let domains = file.read.searches.iter().filter(|it| it.text != ".");
    let count = domains.clone().count();
    let Some(first) = domains
        .into_iter()
        .next()
        .filter(|_| is_made_for_kubelet(file))
    else {
        return;
    };
    let message = match count {
        1 => format!(
            "pods with the policy ClusterFirst get the search domain {}, too",
            first.text
        ),
        _ => format!("pods with the policy ClusterFirst get these {count} search domains, too"),
    };
    let finding = report
        .add(first.at, message)
        .help("remove the search line, unless pods are to find short names in it")
        .note(format!(
            "with ndots 5 a pod asks for nearly every name outside {} times more, and these servers see all names of the cluster that do not exist",
            2 * count
        ));
    point_to_setting(finding, file);
}
