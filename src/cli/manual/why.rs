//! The page of `kdns why`.

use super::about::{COLORS, NODE_FILES};
use super::page::{Manual, try_it};

pub(super) const WHY: Manual = Manual {
    command: "why",
    usage: "kdns why [OPTION]... MESSAGE\nkdns why [OPTION]... LOG...\nkdns why [OPTION]... --metrics FILE[,FILE]",
    description: "Says what a pasted error means: who says it, whom it asked, what it proves and what it rules out, and the causes that are left, the likeliest first, each with the command that decides it and its fix. On a node, and with --root, the node's files decide what they can.\n\nAn argument that names a file, or -, is a log of DNS servers; all else, joined by blanks, is a message, or what is seen in words: dns works on one node only. What is not known is never guessed at: the nearest known ones are named.\n\nOf logs of CoreDNS and NodeLocal DNSCache it says which share of the queries is search-list waste, who makes it and what would save it, what fails and how long answers take. Several logs are read together, also compressed ones. Of metrics it says what the counters show; two pages of one process are held against each other.",
    examples: &[
        try_it(
            "A line from a log.",
            "kdns why 'read udp 10.1.94.93:43523->8.8.8.8:53: i/o timeout'",
        ),
        try_it(
            "The same on a node whose disk is at hand: its files decide.",
            "kdns why --root /host 'plugin/loop: Loop (127.0.0.1:40123 -> :53) detected for zone \".\"'",
        ),
        try_it("Which messages are known.", "kdns why --list"),
        try_it(
            "The logs of all DNS pods, with their names and times.",
            "kubectl -n kube-system logs -l k8s-app=kube-dns --prefix --timestamps --tail=-1 | kdns why -",
        ),
        try_it(
            "A picture of the last hour.",
            "kdns why --log coredns.log --since 1h --format svg --output log.svg",
        ),
        try_it(
            "The counters of a DNS pod of this node, twice, 10 seconds apart.",
            "kdns why --target coredns",
        ),
    ],
    notes: "",
    status: &[
        ("0", "no DNS error, or nothing found"),
        (
            "1",
            "recognised, with a cause; a log or metrics with findings",
        ),
        ("2", "not known; also usage, unreadable"),
    ],
    files: NODE_FILES,
    environment: COLORS,
    see_also: "kdns-check-loop(1), kdns-explain(1), getaddrinfo(3), resolv.conf(5)",
};
