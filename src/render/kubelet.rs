//! What is said of the kubelet, in words.

use super::sentence::{Sentence, sentence};
use crate::kubelet::{KeyRemark, Origin, Remark, Running};

/// That the files of a kubelet count from its restart on. A sentence without a
/// full stop.
pub(super) fn not_restarted(running: &Running) -> Sentence {
    const CODE: &str = "kubelet-not-restarted";
    let changed = match running.changed.as_slice() {
        [] if running.is_unit_changed => {
            return Sentence::new(
                CODE,
                "The kubelet runs with other flags than its unit's files have: systemd has not read \
                 them again",
            );
        }
        [] => "What sets resolvConf was changed".to_owned(),
        [one] => format!("{one} was changed"),
        [first, rest @ ..] => format!("{first} was changed (and {} more)", rest.len()),
    };
    if running.is_unsure {
        return sentence!(
            CODE,
            "{changed} before the kubelet was started, or after: that is not known, as the time \
             lies between those that systemd and the kernel give for that start, or is yet to \
             come; kubectl get --raw /api/v1/nodes/NODE/proxy/configz shows what it has"
        );
    }
    sentence!(
        CODE,
        "{changed} after the kubelet was started, which has what stood there before until it is \
         restarted"
    )
}

/// The remark as a clause.
#[expect(clippy::too_many_lines, reason = "a table: one arm a fact")]
pub(super) fn remark(remark: &Remark) -> Sentence {
    match remark {
        Remark::Refused(refusal) => Sentence::new("kubelet-does-not-start", refusal.to_string()),
        Remark::Key { place, what } => {
            let Sentence { code, text } = of_key(what);
            sentence!(code, "{place}: {text}")
        }
        Remark::NoAddress { at, text } => sentence!(
            "cluster-dns-no-address",
            "{at}: the kubelet leaves out \"{text}\", which is no IP address"
        ),
        Remark::RelativePath(path) => sentence!(
            "resolv-conf-relative",
            "resolvConf {path} is no absolute path: it depends on the kubelet's working \
                 directory"
        ),
        Remark::Swallowed { flag, value } => sentence!(
            "flag-takes-next",
            "{flag} has no value of its own and takes the next argument {value} for it; an \
                 empty value is {flag}="
        ),
        Remark::OwnRoot(pid) => sentence!(
            "kubelet-own-root",
            "the kubelet has a file system of its own: its files are those below \
                 /proc/{pid}/root"
        ),
        Remark::Newer { file, pid } => sentence!(
            "file-newer-than-kubelet",
            "{file} is newer than process {pid}, which still has what stood there when it was \
                 started"
        ),
        Remark::AllNewer => Sentence::new(
            "times-unknown",
            "all files here are newer than the kubelet, as in a copy without their times: whether \
             its settings were changed since it was started is not known",
        ),
        Remark::Process(process) => Sentence::new("other-kubelet", process.to_string()),
        Remark::DropInsLink(path) => sentence!(
            "drop-ins-link",
            "--config-dir {path} is a link, which the kubelet does not follow: it reads no \
                 drop-ins (with a / at its end it would)"
        ),
        Remark::DropInSkipped(path) => sentence!(
            "drop-in-skipped",
            "{path} is skipped by the kubelet: only drop-ins whose names end in .conf count"
        ),
        Remark::OtherFlags(unit) => sentence!(
            "flags-changed",
            "{unit} and its files would give the kubelet other flags than the running process \
                 has"
        ),
        Remark::NoUnit => Sentence::new(
            "no-unit",
            "no unit of a kubelet was found: its files are those in the usual places",
        ),
        Remark::K0sChooses => Sentence::new(
            "resolv-conf-chosen",
            "k0s itself chooses resolvConf at its start",
        ),
        Remark::MicroK8sChooses(path) => sentence!(
            "resolv-conf-chosen",
            "MicroK8s chooses resolvConf at its next start and writes it into {path}: it has no \
                 --resolv-conf yet"
        ),
        Remark::RancherChooses { name, path } => sentence!(
            "resolv-conf-chosen",
            "{name} itself chooses resolvConf {path}: no setting names a file"
        ),
        Remark::RancherWrites {
            name,
            file,
            configuration,
        } => sentence!(
            "resolv-conf-chosen",
            "{name} itself chose resolvConf at its start and writes {file} again each time: \
                 resolv-conf in {configuration} names another file"
        ),
        Remark::RancherNotRestarted {
            name,
            at,
            value,
            file,
        } => {
            let at = at.as_ref();
            let at = at.map_or_else(|| "its environment".to_owned(), ToString::to_string);
            sentence!(
                "resolv-conf-chosen",
                "{at} sets resolv-conf {value}, and {name} has not been started since: {file} has \
                 another value"
            )
        }
    }
}

fn of_key(remark: &KeyRemark) -> Sentence {
    match remark {
        KeyRemark::Repeated(key) => sentence!(
            "key-repeated",
            "{key} stands here once more, and the last one counts"
        ),
        KeyRemark::InDoubt { key, is_documented } => {
            let versions = if *is_documented {
                "from 1.28 to 1.31"
            } else {
                "since 1.32"
            };
            sentence!(
                "drop-in-key-doubtful",
                "kubelets {versions} ignore {key} in a drop-in; the version of this one is \
                     not known"
            )
        }
        KeyRemark::OldDropIn => Sentence::new(
            "drop-in-key-ignored",
            "resolvConf is ignored here: kubelets from 1.28 to 1.31 do not take it from a drop-in",
        ),
        KeyRemark::OtherKey { key, meant } => {
            sentence!("key-ignored", "{key} is ignored: the key is {meant}")
        }
        KeyRemark::Empty => Sentence::new(
            "empty-ignored",
            "resolvConf \"\" means the default here: it is honoured since 1.23",
        ),
    }
}

/// Where a setting was made: `the built-in default`, `/var/lib/kubelet/config.yaml:31:13`.
pub fn origin(origin: &Origin) -> String {
    match origin {
        Origin::BuiltIn => "the built-in default".to_owned(),
        Origin::File(place) => place.to_string(),
        Origin::Argument { pid, argument } => format!("{argument} (argument of process {pid})"),
        Origin::Option(option) => (*option).to_owned(),
        Origin::Pod(pod) => format!("what the kubelet gave to pod {pod}"),
        Origin::Unread(reason) => reason.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kubelet::Setting;

    /// A restart can be what makes DNS loop.
    #[test]
    fn nothing_is_advised_that_was_not_tried() {
        let running = Running {
            resolv_conf: Setting::made(String::new(), Origin::BuiltIn),
            changed: vec!["/a".to_owned(), "/b".to_owned()],
            is_unsure: true,
            is_unit_changed: false,
            started: None,
        };
        let Sentence { text, .. } = not_restarted(&running);
        assert!(
            !text.contains("restart") && !text.contains("touch"),
            "{text}"
        );
        assert!(text.contains("/configz"), "{text}");
    }
}
