//! The runs of the gallery, and what they print.

/// A run: its name, what it is for, its words.
pub(crate) type Run = (&'static str, &'static str, &'static str);

/// What someone who has never seen kdns wants to know, the command, and what its
/// first screen has to say.
pub(crate) const TASKS: [(Run, &[&str]); 5] = [
    (
        (
            "task-slow-server",
            "Lookups take five seconds. Which server is slow?",
            "explain db --file testdata/gallery/two-servers.conf --resolver glibc --answer *@10.96.0.99=TIMEOUT --answer db.shop.svc.cluster.local=10.100.0.5",
        ),
        &["db is found after 5 s and 4 DNS queries; 10.96.0.99 never answers."],
    ),
    (
        (
            "task-only-alpine",
            "Why do only the pods of Alpine images not find it?",
            "explain web.other --file testdata/gallery/ndots1.conf --resolver debian,alpine",
        ),
        &[
            "musl-1.2.5 never asks for the name that you mean",
            "ndots:1",
        ],
    ),
    (
        (
            "task-fixed-and-loops",
            "The node is fixed. Why does CoreDNS still loop?",
            "check-loop --root testdata/nodes/drift-fixed",
        ),
        &["DNS loops until the DNS pods are recreated", "delete pod"],
    ),
    (
        (
            "task-wasteful-workload",
            "Which workload wastes queries?",
            "lint testdata/gallery/workloads --select ndots-too-high",
        ),
        &["KP008", "crawler.yaml"],
    ),
    (
        (
            "task-safe-change",
            "Is this pull request safe?",
            "lint testdata/readme/repository",
        ),
        &[
            "1 error, 1 remark in 3 files",
            "KR001",
            "resolvConf: /run/systemd/resolve/resolv.conf",
        ],
    ),
];

const RUNS: &[Run] = &[
    (
        "explain",
        "A name with dots in a pod",
        "explain api.example.com --namespace default",
    ),
    (
        "explain-one",
        "A service by its short name",
        "explain db --namespace shop --resolver glibc",
    ),
    (
        "explain-other",
        "A service of another namespace",
        "explain db.prod --namespace shop --resolver glibc,musl,go",
    ),
    (
        "explain-all",
        "Every resolver",
        "explain db.prod --namespace shop --resolver all",
    ),
    (
        "explain-verbose",
        "With all details",
        "explain db --namespace shop --resolver musl -v",
    ),
    (
        "explain-dot",
        "With its final dot",
        "explain api.example.com. --namespace default --resolver glibc",
    ),
    (
        "explain-address",
        "An address is no question",
        "explain 10.0.0.1 --namespace default",
    ),
    (
        "explain-servfail",
        "A search domain that fails",
        "explain db --namespace shop --resolver glibc,musl --answer db.shop.svc.cluster.local=SERVFAIL",
    ),
    (
        "explain-wildcard",
        "A search domain that answers everything",
        "explain quay.io --file testdata/explain/wildcard-search-domain/resolv.conf --answer *.ocp.example.com=192.0.2.7",
    ),
    (
        "explain-silence",
        "Nobody answers",
        "explain db --namespace shop --answer *=TIMEOUT --resolver glibc,musl",
    ),
    (
        "explain-answers",
        "Two servers that disagree",
        "explain db --file testdata/gallery/two-servers.conf --answer *@10.96.0.99=NXDOMAIN --answer db.shop.svc.cluster.local=10.100.0.5",
    ),
    (
        "explain-target",
        "A pod of a node",
        "explain db --root testdata/nodes/cluster-loop --target coredns",
    ),
    (
        "explain-url",
        "A URL is no name",
        "explain https://api.example.com/v1 --namespace default",
    ),
    (
        "explain-alias",
        "What people call resolvers",
        "explain db --namespace shop --resolver alpine",
    ),
    (
        "explain-windows",
        "A resolver without a model",
        "explain db --namespace shop --resolver windows",
    ),
    (
        "check-loop",
        "A loop",
        "check-loop --root testdata/nodes/cluster-loop",
    ),
    (
        "check-loop-will",
        "A loop at the next start",
        "check-loop --root testdata/nodes/drift-will-loop",
    ),
    (
        "check-loop-clean",
        "No loop",
        "check-loop --root testdata/nodes/coredns-healthy",
    ),
    (
        "check-loop-timeout",
        "No loop, and no answers",
        "check-loop --root testdata/nodes/coredns-upstream-timeout",
    ),
    (
        "check-loop-refused",
        "No loop, and refused",
        "check-loop --root testdata/nodes/coredns-upstream-refused",
    ),
    (
        "check-loop-unknown",
        "Nothing to judge",
        "check-loop --root testdata/nodes/empty-root",
    ),
    (
        "check-loop-dry-run",
        "What a probe would send",
        "check-loop --root testdata/nodes/cluster-loop --probe --dry-run",
    ),
    (
        "check-loop-other-server",
        "A loop through two servers",
        "check-loop --root testdata/nodes/row11-coredns-nodelocal-cycle",
    ),
    (
        "upstream",
        "Who owns each name server",
        "upstream --root testdata/nodes/cluster-loop",
    ),
    (
        "upstream-circle",
        "Queries in a circle",
        "upstream --root testdata/upstream/circle/root",
    ),
    (
        "pods",
        "A pod that crashes",
        "pods --root testdata/nodes/cluster-loop",
    ),
    ("pods-clean", "Pods", "pods --root testdata/nodes/cgroup-v2"),
    (
        "pods-drift",
        "A pod with another file",
        "pods --root testdata/nodes/cri-o",
    ),
    (
        "pod-file",
        "The file of a pod",
        "pod-file --root testdata/nodes/cluster-loop --namespace shop",
    ),
    (
        "lint-node",
        "A node's files",
        "lint --root testdata/nodes/cluster-loop",
    ),
    ("rule-near", "A rule by a part of its name", "rule ndots"),
    (
        "report",
        "Eleven nodes",
        "report merge testdata/report/fleet/reports.jsonl",
    ),
    (
        "target-near",
        "A target that is none",
        "explain db --root testdata/nodes/cluster-loop --target deploy/corends",
    ),
    (
        "nsenter-hint",
        "A command without its dashes",
        "nsenter web bash",
    ),
    (
        "doctor",
        "A node that loops",
        "doctor --root testdata/nodes/cluster-loop",
    ),
    (
        "doctor-clean",
        "A node in order",
        "doctor --root testdata/nodes/coredns-healthy",
    ),
    (
        "why",
        "A line of a log",
        "why read udp 10.1.94.93:43523->8.8.8.8:53: i/o timeout",
    ),
    ("why-log", "A log", "why testdata/logs/upstream-timeout.log"),
    (
        "path",
        "Where a query to a Service goes",
        "path --source 10.244.0.8 --rules testdata/path/cluster-2/rules.txt 10.96.0.10",
    ),
    (
        "path-drop",
        "A policy that drops",
        "path --source 10.244.0.7 --in-interface cni0 --rules testdata/path/docker-drop/rules.txt 10.96.0.10:53/udp",
    ),
    (
        "watch",
        "Packets of a pod",
        "watch --read testdata/watch/race/capture.pcap --file testdata/watch/race/resolv.conf --resolver glibc",
    ),
    (
        "diff",
        "Two nodes",
        "diff testdata/nodes/cluster-loop testdata/nodes/cluster-cgroup-v2",
    ),
    ("help", "Help", "--help"),
    ("hint", "A name is no command", "db.prod"),
];

/// All of them, the tasks first.
pub(crate) fn all() -> Vec<Run> {
    let tasks = TASKS.iter().map(|(run, _)| *run);
    tasks.chain(RUNS.iter().copied()).collect()
}
