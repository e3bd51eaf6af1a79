#![doc = include_str!("internal_key.md")]

use crate::kubelet::flags::Name;
use crate::lint::facts::KubeletForm;
use crate::lint::rules::kubelet::common::write_instead;
use crate::lint::rules::prelude::*;

pub(super) fn check(text: &KubeletText<'_>, context: &Context<'_>, report: &mut Report) {
    if text.form != KubeletForm::Configuration {
        return;
    }
    let is_it = |key: &str| {
        let of_key = text.settings.iter().filter(|it| it.key == Name::ResolvConf);
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
        let flag = context.flag_over(text.document.file, Name::ResolvConf);
        write_instead(finding, "resolvConf", right.first().map(|it| it.at), flag);
    }
}
