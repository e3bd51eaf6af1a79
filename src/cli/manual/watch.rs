//! The page of `kdns watch`.

use super::about::COLORS;
use super::page::{Manual, try_it};

/// Its page.
pub(super) const WATCH: Manual = Manual {
    command: "watch",
    usage: "kdns watch [OPTION]... TARGET\nkdns watch [OPTION]... --node\nkdns watch [OPTION]... --read FILE",
    description: "Watches the DNS packets of a process, container or pod, of the node, or of a capture, and says where and why they leave what the resolver should have sent.\n\nNothing is sent, and nothing is changed: a packet socket is opened in the target's network namespace, and every capability but those still needed is given up before the first packet is read. A lookup says which program asked, where its socket is still open when it is looked for.",
    examples: &[
        try_it(
            "A pod, until Ctrl-C; as root.",
            "kdns watch shop/web-7d9c6b8f5-x2x4z",
        ),
        try_it(
            "A capture from elsewhere, with the pod's file.",
            "kdns watch --read slow.pcap --file pod.conf",
        ),
        try_it(
            "While it is made.",
            "tcpdump -U -w - port 53 | kdns watch --read -",
        ),
        try_it(
            "One lookup beside its plan.",
            "kdns watch --read slow.pcap --file pod.conf --show db.prod",
        ),
        try_it(
            "For a ticket: a picture, without anybody's names.",
            "kdns watch --read slow.pcap --anonymize --format svg --output slow.svg",
        ),
        try_it(
            "Keep the packets, with all that is needed to read them again.",
            "kdns watch shop/web-7d9c6b8f5-x2x4z --for 10m --write slow.pcapng",
        ),
    ],
    notes: "",
    status: &[
        ("0", "nothing found"),
        ("1", "findings"),
        ("2", "could not watch, or nothing was seen"),
    ],
    files: &[],
    environment: COLORS,
    see_also: "tcpdump(1), pcap-filter(7), packet(7)",
};
