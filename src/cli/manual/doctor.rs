//! The pages of `doctor` and `diff`.

use super::about::{COLORS, NODE_FILES};
use super::page::{Manual, try_it};

pub(super) const DOCTOR: Manual = Manual {
    command: "doctor",
    usage: "kdns doctor [OPTION]...",
    description: "Looks at everything here that decides about DNS, as check-loop, upstream, pods and lint --node do, and puts their answers together: a line each, then what is wrong, the likeliest cause of trouble first, with its fix. Reads only, and sends nothing.",
    examples: &[
        try_it("DNS is broken on this node.", "kdns doctor"),
        try_it(
            "From a debug pod, where the node is below /host.",
            "kdns doctor --root /host",
        ),
        try_it(
            "Take all that decides along, and look at it elsewhere.",
            "kdns doctor --snapshot node-a.tar.zst\nkdns check-loop --root node-a.tar.zst",
        ),
    ],
    notes: "A snapshot is a tar archive, compressed with zstd, of the files that were read: settings of the kubelet, the runtime and DNS servers, resolv.conf files, logs of DNS pods, and what /proc says. It holds only paths of a list of allowed ones. Environments of processes are left out but for the variables that decide how names are resolved; values of settings and arguments that are called a token, password, key or the like are replaced by REMOVED.",
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
