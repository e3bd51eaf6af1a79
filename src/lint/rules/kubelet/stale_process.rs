#![doc = include_str!("stale_process.md")]

use crate::kubelet::{Found, Refusal, Remark};
use crate::lint::rules::prelude::*;
use crate::text::Place;

/// k3s and rke2 write below it after they have started.
const GENERATED: &str = "/var/lib/rancher/";

pub(super) fn check(node: &Node, _: &Context<'_>, report: &mut Report) {
    let Some(kubelet) = &node.kubelet else {
        return;
    };
    let Found::Process { pid, comm, .. } = &kubelet.found else {
        return;
    };
    for file in kubelet.newer.iter().filter(|it| !it.contains(GENERATED)) {
        let place = Place::new(file.clone(), 1, 1);
        let restart = "restart the kubelet, then delete the pods that are to have the new settings";
        let mut refused = kubelet.remarks.iter().filter_map(|it| refusal(it, file));
        let help = refused.next().map_or_else(
            || restart.to_owned(),
            |why| format!("correct it before the kubelet is restarted: {why}"),
        );
        report
            .add(place, format!("the file is newer than the running kubelet ({comm}, process {pid}): what was changed in it since then does not count yet"))
            .help(help)
            .note("new pods get what stood here when it was started; running ones keep the file that they have");
    }
}

/// Why the kubelet does not start with this file.
fn refusal<'r>(remark: &'r Remark, file: &str) -> Option<&'r Refusal> {
    let Remark::Refused(why) = remark else {
        return None;
    };
    let (Refusal::Broken { place, .. } | Refusal::Type { place, .. } | Refusal::Identity(place)) =
        why
    else {
        return None;
    };
    (place.file == file).then_some(why)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_file_itself_is_to_be_corrected() {
        let place = Place::new("/var/lib/kubelet/config.yaml".to_owned(), 3, 1);
        let error = "it is cut off".to_owned();
        let remark = Remark::Refused(Refusal::Broken { place, error });
        assert!(refusal(&remark, "/var/lib/kubelet/config.yaml").is_some());
        assert_eq!(refusal(&remark, "/var/lib/kubelet/config"), None);
        let other = Remark::Refused(Refusal::DropIns);
        assert_eq!(refusal(&other, "/var/lib/kubelet/config.yaml"), None);
    }
}
