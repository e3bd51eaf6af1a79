//! Files, variables and pages that several commands have in common.

type Table = &'static [(&'static str, &'static str)];

/// Where the statuses of most commands stand.
pub(super) const CLEAN: Table = &[
    ("0", "clean"),
    ("1", "findings at or above --fail-on"),
    (
        "2",
        "could not decide: usage, unreadable, no permission, nothing to read",
    ),
];

/// Where colours come from.
pub(super) const COLORS: Table = &[
    (
        "NO_COLOR",
        "If it is set and not empty, there are no colours.",
    ),
    (
        "CLICOLOR_FORCE",
        "If it is set and not 0, there are colours also where standard output is no terminal. --color beats both.",
    ),
];

/// What a lookup depends on.
pub(super) const LOOKUP: Table = &[
    (
        "RES_OPTIONS",
        "Options that resolvers of the glibc family add to those of the file. With --file, --namespace, --pod and --target this program's own value does not count; --env sets one.",
    ),
    (
        "LOCALDOMAIN",
        "The search list of resolvers of the glibc family, instead of the file's. As above.",
    ),
    (
        "HOSTALIASES",
        "A file with aliases for names without dots, which glibc reads. As above.",
    ),
    (
        "NO_COLOR",
        "If it is set and not empty, there are no colours.",
    ),
    (
        "CLICOLOR_FORCE",
        "If it is set and not 0, there are colours also where standard output is no terminal. --color beats both.",
    ),
];

/// The files of a lookup.
pub(super) const LOOKUP_FILES: Table = &[
    (
        "/etc/resolv.conf",
        "Name servers, search list and options, as each resolver reads them.",
    ),
    (
        "/etc/hosts, /etc/nsswitch.conf, /etc/hostname",
        "What resolvers look at before DNS.",
    ),
    (
        "/run/systemd/resolve/, /etc/systemd/resolved.conf",
        "Where a loopback server of the file leads.",
    ),
];

/// The files of a node.
pub(super) const NODE_FILES: Table = &[
    (
        "/proc",
        "The kubelet's command line, processes with their network namespaces, sockets that listen.",
    ),
    (
        "/var/lib/kubelet/config.yaml, /var/lib/kubelet/kubeadm-flags.env, /etc/default/kubelet",
        "The kubelet's settings, unless its command line or unit names other files; those of k3s, rke2, k0s, MicroK8s, Bottlerocket and EKS are known too.",
    ),
    (
        "/etc/resolv.conf, /run/systemd/resolve/",
        "The node's own file, and those that the kubelet's resolvConf can name.",
    ),
    (
        "/var/lib/kubelet/pods, /var/log/pods, /run/containerd, /var/run/crio",
        "The pods, what became of their containers, and the files that they were given.",
    ),
];
