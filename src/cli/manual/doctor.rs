//! The pages of `doctor` and `diff`.

use super::about::{COLORS, NODE_FILES};
use super::page::{Manual, try_it};

pub(super) const DOCTOR: Manual = Manual {
    command: "doctor",
    usage: "kdns doctor [OPTION]... [TARGET]",
    description: "Looks at everything here that decides about DNS, as check-loop, upstream, pods, lint --node, path and why (of the DNS pods' logs) do, and at the counters of the kernel twice, and puts their answers together: a line each as it is known, then what is wrong, the likeliest cause of trouble first, with its fix. Finds out where it runs: on a node, in a debug pod that has the node below /host, in a pod, elsewhere. Reads only, and sends nothing without --ask.",
    examples: &[
        try_it("DNS is broken on this node.", "kdns doctor"),
        try_it(
            "Ask the servers, too, and look up as this pod does.",
            "kdns doctor --ask shop/web",
        ),
        try_it(
            "A node's disk, or another machine's snapshot.",
            "kdns doctor --root /mnt/node-a",
        ),
        try_it(
            "Take all that decides along, and look at it elsewhere.",
            "kdns doctor --snapshot node-a.tar.zst\nkdns check-loop --root node-a.tar.zst",
        ),
    ],
    notes: "--ask asks each server outside the node where queries end, and each DNS pod, over UDP and TCP for their version, a DNS pod also for its status (opcode STATUS), which it answers whatever its upstream does, and looks up kubernetes.default as the target does. DNS pods are asked only where queries are known not to go round.\n\nA snapshot is a tar archive, compressed with zstd, of the files that were read: settings of the kubelet, the runtime and DNS servers, resolv.conf files, logs of DNS pods, and what /proc says. It holds only paths of a list of allowed ones. Environments of processes are left out but for the variables that decide how names are resolved; values of settings and arguments that are called a token, password, key or the like are replaced by REMOVED. --anonymize puts hashes in the place of addresses and of names that the files have as such: search domains, hosts, pods, namespaces, names in logs; they are the same for the same name within one snapshot. Which network an address is in is lost.",
    status: &[
        ("0", "nothing that was seen is wrong"),
        (
            "1",
            "something is wrong, or can go wrong, at or above --fail-on",
        ),
        (
            "2",
            "nothing wrong was seen, but where queries go could not be judged",
        ),
    ],
    files: NODE_FILES,
    environment: COLORS,
    see_also: "kdns-check-loop(1), kdns-upstream(1), kdns-pods(1), kdns-lint(1), kdns-diff(1)",
};

pub(super) const DIFF: Manual = Manual {
    command: "diff",
    usage: "kdns diff [OPTION]... A B",
    description: "Shows what differs between two nodes, or one at two times, that matters for DNS: where queries lead, the kubelet's settings, the runtime, name servers of DNS pods, findings of lint. If the verdict of check-loop differs, what leads to it comes first.",
    examples: &[
        try_it(
            "One node works, the other does not.",
            "kdns diff node-a.tar.zst node-b.tar.zst",
        ),
        try_it(
            "What changed on this node since the snapshot.",
            "kdns diff yesterday.tar.zst /",
        ),
    ],
    notes: "",
    status: &[
        ("0", "nothing that matters for DNS differs"),
        ("1", "something differs"),
        (
            "2",
            "could not be read, or neither holds anything of a node",
        ),
    ],
    files: NODE_FILES,
    environment: COLORS,
    see_also: "kdns-doctor(1), kdns-check-loop(1)",
};
