//! Files of a node of which not all were given to `lint`.

use std::sync::Arc;

use kdns::lint::context::Context;
use kdns::lint::document::FileId;
use kdns::lint::workspace::{File, Workspace};
use kdns::lint::{Given, extract, reading};
use kdns::text::Source;

const UNIT: &str = "lib/systemd/system/kubelet.service";
const DROP_IN: &str = "etc/systemd/system/kubelet.service.d/10-kubeadm.conf";
const COMMAND: &str = "[Service]\nEnvironmentFile=-/var/lib/kubelet/kubeadm-flags.env\nEnvironmentFile=-/etc/default/kubelet\nExecStart=\nExecStart=/usr/bin/kubelet $KUBELET_KUBEADM_ARGS $KUBELET_EXTRA_ARGS\n";

/// The file that counts, and how many flags do not.
fn check(files: &[(&str, &str)], expected: (Option<&str>, usize)) {
    let mut files = files.to_vec();
    files.sort_unstable();
    let facts = |(index, (path, text)): (usize, &(&str, &str))| {
        let source = Source::new((*path).to_owned(), *text);
        let file = FileId(u32::try_from(index).unwrap());
        let found = reading::documents(file, &Arc::new(source), None);
        File {
            path: (*path).into(),
            facts: extract::facts(&found).kept(),
        }
    };
    let given = Given::default();
    let workspace = Workspace::new(&given, files.iter().enumerate().map(facts).collect());
    let context = Context::new(&workspace);
    let [kubelet] = context.kubelets() else {
        panic!("{:?}", context.kubelets());
    };
    let found = kubelet.resolv_conf().map(|it| it.text.as_str());
    assert_eq!((found, kubelet.ignored.len()), expected, "{files:?}");
}

#[test]
fn flags_count_in_the_order_of_the_command() {
    let kubeadm = (
        "var/lib/kubelet/kubeadm-flags.env",
        "KUBELET_KUBEADM_ARGS=--resolv-conf=/a\n",
    );
    let extra = (
        "etc/default/kubelet",
        "KUBELET_EXTRA_ARGS=--resolv-conf=/b\n",
    );
    let drop_in = (DROP_IN, COMMAND);
    check(&[kubeadm, extra, drop_in], (Some("/b"), 0));
    check(&[kubeadm, drop_in], (Some("/a"), 0));
    let turned = COMMAND.replace(
        "$KUBELET_KUBEADM_ARGS $KUBELET_EXTRA_ARGS",
        "$KUBELET_EXTRA_ARGS ${KUBELET_KUBEADM_ARGS}",
    );
    check(&[kubeadm, extra, (DROP_IN, &turned)], (Some("/a"), 0));
    // A variable that the command does not have says nothing.
    let other = ("etc/default/kubelet", "KUBELET_OTHER=--resolv-conf=/b\n");
    check(&[kubeadm, other, drop_in], (Some("/a"), 1));
    // The command of the unit is taken back by the drop-in.
    let unit = (
        UNIT,
        "[Service]\nExecStart=/usr/bin/kubelet --resolv-conf=/c\n",
    );
    check(&[unit, kubeadm, drop_in], (Some("/a"), 1));
    check(&[unit], (Some("/c"), 0));
    // Of two files that set a variable the later one counts.
    let again = (
        "etc/default/kubelet",
        "KUBELET_KUBEADM_ARGS=--resolv-conf=/b\n",
    );
    check(&[kubeadm, again, drop_in], (Some("/b"), 1));
    // Without a unit every variable counts.
    check(&[extra], (Some("/b"), 0));
}
