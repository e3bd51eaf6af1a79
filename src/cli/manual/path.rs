//! The page of `path`.

use super::about::COLORS;
use super::page::{Manual, try_it};

pub(super) const PATH: Manual = Manual {
    command: "path",
    usage: "kdns path --source IP --rules FILE... [OPTION]... [DESTINATION]\nkdns path [--target TARGET] [OPTION]... [DESTINATION]",
    description: "Tells where a packet to a Service goes: it walks the packet through the rules of iptables, nftables, ipset and IPVS as the kernel would, and gives every end with its exact share, each step with file, line, rule and counter, and the way of the answer.\n\nWhat was not seen is not guessed: at a rule that kdns does not know both ways are followed, outcomes behind it say what they depend on, and where they differ the verdict is unknown.\n\nRules are read as iptables-save, iptables-save -c, nft list ruleset (with -j or without), ipvsadm -S -n, ipvsadm -L -n, /proc/net/ip_vs and ipset save print them, recognised by their content, also pasted into a log or a ticket, and in part.\n\nOn a node, as root, it reads all of that itself, in the network namespaces of the node and of the target. For the rules it starts the node's own read-only tools, where the part of the kernel that they ask is there already: iptables-save -c and ip6tables-save -c (-legacy, -nft), nft -j list ruleset, ipset save, from /usr/sbin, /sbin, /usr/bin and /bin alone. It starts no other program, loads no module and changes nothing; --probe sends queries, at most --max-packets packets, only to addresses where the rules lead.",
    examples: &[
        try_it(
            "On a node: where do the queries of this pod go, and what is wrong on the way?",
            "kdns path --target shop/web",
        ),
        try_it(
            "The same, and who really answers; all that was read goes to a file.",
            "kdns path --target shop/web --probe --save node.path",
        ),
        try_it(
            "From a ticket: where does a query of this pod go?",
            "kdns path --source 10.244.0.7 --rules rules.txt 10.96.0.10:53/udp",
        ),
        try_it(
            "The same by the name of the Service, with every rule that the packet meets.",
            "kdns path --source 10.244.0.7 --rules rules.txt -v kube-system/kube-dns",
        ),
        try_it(
            "From the node itself, with the sets and services of IPVS mode.",
            "kdns path --from-host --rules iptables.txt --rules ipset.txt --rules ipvs.txt 10.96.0.10",
        ),
        try_it(
            "As a picture for the ticket.",
            "kdns path --source 10.244.0.7 --rules rules.txt --format svg --output path.svg 10.96.0.10:53/udp",
        ),
    ],
    notes: "",
    status: &[
        ("0", "every packet arrives, and nothing seen is wrong"),
        (
            "1",
            "packets, or the answers to them, are lost; or another finding",
        ),
        (
            "2",
            "it depends on what was not seen, or another proxy carries the Service; usage, unreadable, no permission",
        ),
    ],
    files: &[],
    environment: COLORS,
    see_also: "iptables-save(8), nft(8), ipvsadm(8), ipset(8), conntrack(8)",
};
