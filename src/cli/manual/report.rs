//! The pages of `kdns report`.

use super::about::COLORS;
use super::page::{Manual, try_it};

const STATUS: &[(&str, &str)] = &[
    ("0", "no loop anywhere"),
    ("1", "a node has loop, will loop, mixed or refused"),
    (
        "2",
        "two reports of one name contradict each other; or no node has one of these, but something is unknown, could not be read, or there is no report",
    ),
];

pub(super) const REPORT: Manual = Manual {
    command: "report",
    usage: "kdns report merge FILE...",
    description: "Puts the reports of many nodes together.",
    examples: &[try_it(
        "What a DaemonSet of kdns said on all nodes.",
        "kdns report merge reports/*.jsonl",
    )],
    notes: "",
    status: STATUS,
    files: &[],
    environment: COLORS,
    see_also: "kdns-report-merge(1), kdns-check-loop(1)",
};

pub(super) const MERGE: Manual = Manual {
    command: "report merge",
    usage: "kdns report merge [OPTION]... FILE...",
    description: "Tells which nodes are alike, what differs between them, and who is the odd one out; of the logs of many nodes, how many queries were for nothing.\n\nA report is what kdns check-loop or doctor writes with --format jsonl or json, or what kdns why LOG writes with --format json. What logs put before it on its line, and lines that are no report, do not matter. Of several reports of a node the last one counts; a report without the node's name is a node of its own. Memory does not grow with the size of the files.",
    examples: &[
        try_it(
            "The DaemonSet of deploy/daemonset.",
            "kubectl -n kube-system logs -l app.kubernetes.io/name=kdns -c check-loop --tail=-1 | kdns report merge -",
        ),
        try_it(
            "For machines.",
            "kdns report merge reports/*.jsonl --format json",
        ),
    ],
    notes: "Counts of logs add up exactly. Lists of clients have 100 rows in each report: how much of a client's waste can be missing is said.\n\nA report is what kdns check-loop or doctor writes with --format jsonl or json, or kdns why LOG with --format json, with or without what logs put\nbefore it. Of several reports of a node the last one counts.",
    status: STATUS,
    files: &[],
    environment: COLORS,
    see_also: "kdns-check-loop(1), kdns-doctor(1), kdns-why(1), kubectl(1)",
};
