#![doc = include_str!("drop_in_list_replaced.md")]

use crate::kubelet::flags::Name;
use crate::lint::facts::{KubeletForm, Setting};
use crate::lint::rules::kubelet::common::{has_form, listed};
use crate::lint::rules::prelude::*;

/// Whether it was meant so cannot be told.
pub(super) fn check(kubelet: &Kubelet<'_>, context: &Context<'_>, report: &mut Report) {
    let of_key = || kubelet.settings(Name::ClusterDns);
    // A flag replaces all of them.
    if of_key().any(|it| it.is_flag) {
        return;
    }
    let has = |list: &Setting, text: &str| list.values.iter().any(|it| it.text == text);
    for (before, drop_in) in of_key().zip(of_key().skip(1)) {
        let is_drop_in = has_form(drop_in.at.file, KubeletForm::DropIn, context);
        let is_shorter = drop_in.values.len() < before.values.len();
        if !is_drop_in || !is_shorter {
            continue;
        }
        let adds = drop_in.values.iter().any(|it| !has(before, &it.text));
        let texts = |list: &Setting| -> Vec<String> {
            list.values.iter().map(|it| it.text.clone()).collect()
        };
        let lost: Vec<String> = texts(before)
            .into_iter()
            .filter(|it| !has(drop_in, it))
            .collect();
        let mut whole = texts(before);
        whole.extend(texts(drop_in).into_iter().filter(|it| !has(before, it)));
        let lost = listed(lost.iter().map(String::as_str));
        report
            .add(
                drop_in.at,
                format!("this list replaces the one before: {lost} no longer counts"),
            )
            .also(before.at, "this list does not count")
            .help(format!(
                "if {}, repeat the whole list: clusterDNS: [{}]",
                if adds {
                    "it was to be added"
                } else {
                    "all of them are to be asked"
                },
                whole.join(", ")
            ))
            .note("drop-ins are merged key by key, and a list is one value");
    }
}
