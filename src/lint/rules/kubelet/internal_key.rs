#![doc = include_str!("internal_key.md")]

use crate::finding::Severity;
use crate::lint::context::Context;
use crate::lint::facts::{Key, KubeletForm};
use crate::lint::report::Report;
use crate::lint::subject::KubeletText;
use crate::lint::{Check, Rule};

/// KK003.
pub static RULE: Rule = Rule {
    code: "KK003",
    name: "internal-key",
    severity: Severity::Error,
    summary: "resolverConfig is ignored: the key of the file is resolvConf",
    page: include_str!("internal_key.md"),
    check: Check::KubeletText(check),
};

fn check(text: &KubeletText<'_>, context: &Context<'_>, report: &mut Report) {
    if text.form != KubeletForm::Configuration {
        return;
    }
    let is_it = |key: &str| {
        let of_key = text.settings.iter().filter(|it| it.key == Key::ResolvConf);
        of_key
            .filter(|it| it.written.text == key)
            .collect::<Vec<_>>()
    };
    let right = is_it("resolvConf");
    let wrong = is_it("resolverConfig");
    for setting in &wrong {
        let at = setting.written.at;
        let finding = report
            .add(
                at,
                "the kubelet ignores resolverConfig: the key is resolvConf",
            )
            .note("the kubelet hands out the default, /etc/resolv.conf, as if nothing stood here");
        if let Some(right) = right.first() {
            finding
                .also(right.at, "this counts")
                .help("remove the line");
        } else if let Some(flag) = context.flag_over(text.document.file, Key::ResolvConf) {
            finding
                .also(flag.at, "this flag counts, whatever the file says")
                .help("write resolvConf in its place, and remove the flag");
        } else {
            finding.help("write resolvConf in its place");
        }
    }
}
