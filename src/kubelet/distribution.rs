//! Where distributions keep what starts the kubelet.

use crate::config::traced::Traced;
use crate::config::unit_file::{self, Escapes, MAX_ARGUMENT, Variables};
use crate::kubelet::rancher::{K3S, Program, RKE2};

/// How a distribution starts the kubelet.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Kind {
    /// As a program with flags.
    Program,
    /// As a program, by k0s.
    K0s,
    /// Inside `kubelite` or as a program of a snap, with flags from this file.
    ArgumentsFile(&'static str),
    /// Inside k3s, or as a child of rke2, with their own settings.
    Rancher(&'static Program),
}

/// MicroK8s's file of flags.
pub const MICROK8S_ARGUMENTS: &str = "/var/snap/microk8s/current/args/kubelet";
/// The same of Canonical Kubernetes, and of EKS on Ubuntu.
const K8S_ARGUMENTS: &str = "/var/snap/k8s/common/args/kubelet";
const EKS_ARGUMENTS: &str = "/var/snap/kubelet-eks/current/args";

/// systemd's units that start a kubelet, the most telling first.
#[rustfmt::skip]
pub const UNITS: [(&str, Kind); 12] = [
    ("kubelet.service", Kind::Program),
    ("k3s.service", Kind::Rancher(&K3S)),
    ("k3s-agent.service", Kind::Rancher(&K3S)),
    ("rke2-server.service", Kind::Rancher(&RKE2)),
    ("rke2-agent.service", Kind::Rancher(&RKE2)),
    ("snap.microk8s.daemon-kubelite.service", Kind::ArgumentsFile(MICROK8S_ARGUMENTS)),
    ("snap.microk8s.daemon-kubelet.service", Kind::ArgumentsFile(MICROK8S_ARGUMENTS)),
    ("snap.k8s.kubelet.service", Kind::ArgumentsFile(K8S_ARGUMENTS)),
    ("snap.kubelet-eks.daemon.service", Kind::ArgumentsFile(EKS_ARGUMENTS)),
    ("k0sworker.service", Kind::K0s),
    ("k0scontroller.service", Kind::K0s),
    ("kube-node.service", Kind::Program),
];

/// Where systemd looks for units, the strongest first.
///
/// Source: systemd.unit(5).
pub const UNIT_DIRECTORIES: [&str; 8] = [
    "/etc/systemd/system.control",
    "/run/systemd/system.control",
    "/run/systemd/transient",
    "/etc/systemd/system",
    "/run/systemd/system",
    "/usr/local/lib/systemd/system",
    "/usr/lib/systemd/system",
    "/lib/systemd/system",
];

/// Files that tell of a kubelet where no unit does.
pub const MARKS: [(&str, Kind); 5] = [
    (MICROK8S_ARGUMENTS, Kind::ArgumentsFile(MICROK8S_ARGUMENTS)),
    (K8S_ARGUMENTS, Kind::ArgumentsFile(K8S_ARGUMENTS)),
    (EKS_ARGUMENTS, Kind::ArgumentsFile(EKS_ARGUMENTS)),
    (K3S.configuration, Kind::Rancher(&K3S)),
    (RKE2.configuration, Kind::Rancher(&RKE2)),
];

/// Configuration files, and the kubelets that read them: for a node of which
/// no unit and no process is known. A file counts if it is a
/// KubeletConfiguration: the path of `OpenShift`'s is a kubeconfig for kubeadm.
pub const CONFIGURATIONS: [&str; 13] = [
    // kubeadm, kind, minikube, Flatcar.
    "/var/lib/kubelet/config.yaml",
    // EKS on Amazon Linux 2023, Amazon Linux 2, and Bottlerocket.
    "/etc/kubernetes/kubelet/config.json",
    "/etc/kubernetes/kubelet/kubelet-config.json",
    "/etc/kubernetes/kubelet/config",
    // kubespray.
    "/etc/kubernetes/kubelet-config.yaml",
    // Talos, and nodes made by hand.
    "/etc/kubernetes/kubelet.yaml",
    // OpenShift.
    "/etc/kubernetes/kubelet.conf",
    // GKE.
    "/home/kubernetes/kubelet-config.yaml",
    // AKS.
    "/etc/default/kubeletconfig.json",
    // k0s, new and old.
    "/run/k0s/kubelet/config.yaml",
    "/var/lib/k0s/kubelet-config.yaml",
    // kops.
    "/var/lib/kubelet/kubelet.conf",
    "/var/lib/kubelet/kubeconfig.yaml",
];

/// Drop-ins that belong to a configuration file where no flag can tell.
pub const DROP_INS: [(&str, &str); 1] = [(
    "/etc/kubernetes/kubelet/config.json",
    "/etc/kubernetes/kubelet/config.json.d",
)];

/// Files of variables with flags, in the order in which kubeadm's unit puts
/// them on the command line.
pub const ENVIRONMENT_FILES: [&str; 4] = [
    "/var/lib/kubelet/kubeadm-flags.env",
    "/etc/default/kubelet",
    "/etc/sysconfig/kubelet",
    "/etc/kubernetes/kubelet.env",
];

/// What a process is that has this name and these arguments, the program first.
pub fn of_process(comm: &str, arguments: &[Traced]) -> Option<Kind> {
    // k3s hides its arguments: one text is left, with blanks in it.
    let words: Vec<String> = arguments
        .iter()
        .take(2)
        .map(|it| it.text().into_owned())
        .collect();
    let command = words.iter().flat_map(|word| word.split(' ')).nth(1);
    let is_node = matches!(command, Some("server" | "agent"));
    match comm {
        "kubelet" => Some(Kind::Program),
        "hyperkube" if command == Some("kubelet") => Some(Kind::Program),
        "kubelite" => Some(Kind::ArgumentsFile(MICROK8S_ARGUMENTS)),
        "k3s-server" | "k3s-agent" => Some(Kind::Rancher(&K3S)),
        "k3s" if is_node => Some(Kind::Rancher(&K3S)),
        _ => None,
    }
}

/// Whether processes of this name are looked at more closely.
pub fn can_be_kubelet(comm: &str) -> bool {
    matches!(
        comm,
        "kubelet" | "hyperkube" | "kubelite" | "k3s-server" | "k3s-agent" | "k3s"
    )
}

/// The kubelet's arguments in a command, which can be a wrapper's:
/// `kubenswrapper /usr/bin/kubelet --config=…`, `sh -c "exec kubelet …"`,
/// `k0s worker --kubelet-extra-args=…`, `kubelet-wrapper --config=…`. `None`: it
/// starts no kubelet.
pub fn kubelet_arguments(command: &[Traced]) -> Option<Vec<Traced>> {
    let is_kubelet =
        |word: &Traced| word.bytes().rsplit(|&it| it == b'/').next() == Some(b"kubelet");
    if let Some(at) = command.iter().position(is_kubelet) {
        return Some(command.iter().skip(at + 1).cloned().collect());
    }
    let extra = b"--kubelet-extra-args=";
    for (index, word) in command.iter().enumerate() {
        if word.bytes().starts_with(extra) {
            return Some(unit_file::words(&word.after(extra.len()), Escapes::Plain));
        }
        if word.bytes() == b"--kubelet-extra-args" {
            let value = command.get(index + 1)?;
            return Some(unit_file::words(value, Escapes::Plain));
        }
    }
    let script = command.iter().find_map(|word| {
        let words = unit_file::words(word, Escapes::Plain);
        let at = words.iter().position(is_kubelet)?;
        let is_end = |word: &&Traced| !matches!(word.bytes(), b";" | b"&&" | b"|" | b"||" | b"&");
        let rest = words.iter().skip(at + 1).take_while(is_end);
        (words.len() > 1).then(|| rest.cloned().collect())
    });
    let is_wrapper = || {
        let program = command.first().map(|it| it.text().into_owned());
        let program = program.unwrap_or_default();
        let name = program.rsplit('/').next();
        name.is_some_and(|it| it.contains("kubelet"))
    };
    script.or_else(|| is_wrapper().then(|| command.iter().skip(1).cloned().collect()))
}

/// The flags in a snap's file of arguments.
///
/// Source: canonical/microk8s `build-scripts/patches: kubelite
/// options.ReadArgsFromFile`: quotes are taken away, blanks part arguments,
/// `#` at the beginning of a line is a comment, variables are replaced.
pub fn arguments_file(bytes: &[u8], file: usize, environment: &[(String, Traced)]) -> Vec<Traced> {
    let variables = unit_file::by_name(environment);
    let mut arguments = Vec::new();
    let mut start = 0;
    for line in bytes.split_inclusive(|&byte| byte == b'\n') {
        if !line.trim_ascii_start().starts_with(b"#") {
            for word in unit_file::plain_words(line, file, start) {
                arguments.push(replaced(&word, &variables));
            }
        }
        start += line.len();
    }
    arguments
}

/// A word without quotes, and with `$NAME` and `${NAME}` replaced.
fn replaced(word: &Traced, variables: &Variables<'_>) -> Traced {
    let mut result = Traced::default();
    let mut at = 0;
    while let Some((&byte, after)) = word.bytes().get(at..).and_then(<[u8]>::split_first) {
        at += 1;
        if byte == b'$' {
            let braced = after.strip_prefix(b"{");
            let is_name = |byte: &&u8| byte.is_ascii_alphanumeric() || **byte == b'_';
            let text = braced.unwrap_or(after);
            let length = text.iter().take_while(is_name).count();
            let name = text.get(..length).unwrap_or_default();
            let value = variables.get(name);
            let room = MAX_ARGUMENT.saturating_sub(result.bytes().len());
            if let Some(value) = value.filter(|it| it.bytes().len() <= room) {
                result.append(value);
            }
            at += length + if braced.is_some() { 2 } else { 0 };
        } else if !matches!(byte, b'"' | b'\'') {
            result.push(byte, word.spot(at - 1));
        }
    }
    result
}

/// The variables of a snap, from the path of its file of arguments.
pub fn snap_variables(path: &str) -> Vec<(String, Traced)> {
    let mut parts = path
        .strip_prefix("/var/snap/")
        .unwrap_or_default()
        .split('/');
    let (snap, revision) = (
        parts.next().unwrap_or_default(),
        parts.next().unwrap_or_default(),
    );
    let variable =
        |name: &str, value: String| (name.to_owned(), Traced::untraced(value.as_bytes()));
    vec![
        variable("SNAP", format!("/snap/{snap}/{revision}")),
        variable("SNAP_DATA", format!("/var/snap/{snap}/{revision}")),
        variable("SNAP_COMMON", format!("/var/snap/{snap}/common")),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(words: &[Traced]) -> Vec<String> {
        words.iter().map(|it| it.text().into_owned()).collect()
    }

    fn check(command: &str, expected: Option<&[&str]>) {
        let words = unit_file::words(&Traced::untraced(command.as_bytes()), Escapes::C);
        let found = kubelet_arguments(&words);
        let found = found.as_deref().map(texts);
        let expected = expected.map(|it| it.iter().map(|it| (*it).to_owned()).collect::<Vec<_>>());
        assert_eq!(found, expected, "{command}");
    }

    #[test]
    fn wrappers_are_looked_through() {
        check("/usr/bin/kubelet --a --b c", Some(&["--a", "--b", "c"]));
        check(
            "/usr/local/bin/kubenswrapper /usr/bin/kubelet --a",
            Some(&["--a"]),
        );
        check(
            "/bin/sh -c 'x=1; exec /opt/kubelet --a \"b c\" && true'",
            Some(&["--a", "b c"]),
        );
        check(
            "/usr/bin/k0s worker --kubelet-extra-args='--a --b'",
            Some(&["--a", "--b"]),
        );
        check("/opt/bin/kubelet-wrapper --a", Some(&["--a"]));
        check("/usr/bin/snap run microk8s.daemon-kubelite", None);
    }

    #[test]
    fn a_snaps_file_of_arguments_is_split_at_blanks() {
        let file = b"# c\n--a=${SNAP_DATA}/x\n\n  --b \"c d\" '--e'$NO\n--f=$SNAP_COMMON";
        let path = "/var/snap/microk8s/6089/args/kubelet";
        let found = arguments_file(file, 0, &snap_variables(path));
        let expected = [
            "--a=/var/snap/microk8s/6089/x",
            "--b",
            "c",
            "d",
            "--e",
            "--f=/var/snap/microk8s/common",
        ];
        assert_eq!(texts(&found), expected);
        assert_eq!(found[1].spot(0).unwrap().offset, 26);
    }

    #[test]
    fn processes_are_told_by_name_and_command() {
        let words = |text: &str| unit_file::plain_words(text.as_bytes(), 0, 0);
        for (comm, command, expected) in [
            ("kubelet", "/usr/bin/kubelet --a", Some(Kind::Program)),
            ("hyperkube", "hyperkube kubelet", Some(Kind::Program)),
            ("hyperkube", "hyperkube proxy", None),
            ("k3s-server", "", Some(Kind::Rancher(&K3S))),
            ("k3s", "/usr/local/bin/k3s agent", Some(Kind::Rancher(&K3S))),
            ("k3s", "k3s kubectl get pods", None),
            ("k3s", "k3s", None),
            (
                "kubelite",
                "",
                Some(Kind::ArgumentsFile(MICROK8S_ARGUMENTS)),
            ),
            ("bash", "kubelet", None),
        ] {
            assert_eq!(of_process(comm, &words(command)), expected, "{command}");
            assert!(can_be_kubelet(comm) || expected.is_none());
        }
    }
}
