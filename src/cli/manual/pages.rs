//! The pages, one for each command.

use super::about::{CLEAN, COLORS, LOOKUP, LOOKUP_FILES, NODE_FILES};
use super::doctor::{DIFF, DOCTOR};
use super::page::{Manual, shown, try_it};
use super::path::PATH;
use super::report::{MERGE, REPORT};
use super::watch::WATCH;
use super::why::WHY;

/// Every page; kdns itself first.
pub static PAGES: &[Manual] = &[
    Manual {
        command: "",
        usage: "kdns [--color WHEN] COMMAND",
        description: "kdns explains DNS on Kubernetes nodes and in pods: which queries a program sends for a name and why, whether the cluster's DNS loops, who owns each name server of a node, and what is wrong in the files that decide it.\n\nIt changes nothing on a node, and sends nothing unless it is asked to (dig, explain --live, check-loop --probe). Every string that comes from a file, a process or the network is printed with control characters escaped.\n\nLinked to kubectl-kdns on the PATH it is a plugin of kubectl.",
        examples: &[
            try_it(
                "CoreDNS is in CrashLoopBackOff: is it a loop, and what fixes it?",
                "kdns check-loop",
            ),
            try_it(
                "A name is slow or not found: what is asked, and in which order?",
                "kdns explain db.prod --target shop/web-7d9c6b8f5-x2x4z",
            ),
            try_it(
                "Ask from inside a pod that has no tools.",
                "kdns nsenter shop/web-7d9c6b8f5-x2x4z dig db",
            ),
            try_it(
                "Check files before they reach a node.",
                "kdns lint image/ manifests/",
            ),
        ],
        notes: "",
        status: &[
            ("0", "clean"),
            ("1", "findings"),
            (
                "2",
                "could not decide: usage, unreadable, no permission, time-out",
            ),
            ("130", "Ctrl-C"),
        ],
        files: &[],
        environment: COLORS,
        see_also: "resolv.conf(5), nsswitch.conf(5), dig(1), resolvectl(1), nsenter(1), systemd-resolved.service(8)",
    },
    WHY,
    DOCTOR,
    DIFF,
    Manual {
        command: "explain",
        usage: "kdns explain [OPTION]... NAME\nkdns explain --scenario FILE [OPTION]...",
        description: "Shows the queries that stub resolvers would send for a name, in order, with server, type and transport, and why: what is in the search list, what ndots does, which answer leads to which next query, how long silent servers cost, and what would save queries.\n\nNothing is sent without --live. The files are those of this machine, of a process, container or pod (--target), of a file (--file), or those that the kubelet would write for a pod that one has in mind (--namespace, --pod).",
        examples: &[
            shown(
                "What glibc asks in a pod with this file.",
                "kdns explain db.prod --file pod.conf --resolver glibc",
            ),
            try_it(
                "What a pod of this namespace would ask.",
                "kdns explain db.prod --namespace web --resolver glibc,musl",
            ),
            try_it(
                "What this pod asks, with its own files and its own resolver.",
                "kdns explain db --target shop/web-7d9c6b8f5-x2x4z",
            ),
            try_it(
                "What happens if no server answers.",
                "kdns explain api.example.com --file pod.conf --answer '*=TIMEOUT'",
            ),
            try_it(
                "The same as a picture for a ticket.",
                "kdns explain api.example.com --answer '*=TIMEOUT' --format svg --output slow.svg",
            ),
            try_it(
                "Really ask, and show what comes back.",
                "kdns explain db.prod --live",
            ),
            try_it(
                "The same from inside a process, kept so that others can replay it.",
                "kdns explain db --target 4711 --live --save-scenario db.json",
            ),
            try_it(
                "Many questions by every resolver, for a program.",
                "kdns explain --scenario cases.jsonl --resolver all --format jsonl",
            ),
        ],
        notes: "",
        status: &[
            ("0", "explained; with --live: every resolver found the name"),
            ("1", "with --live: a resolver did not find it"),
            (
                "2",
                "usage, unreadable, or with --live: could not be decided",
            ),
            ("130", "Ctrl-C, which prints what there is"),
        ],
        files: LOOKUP_FILES,
        environment: LOOKUP,
        see_also: "resolv.conf(5), nsswitch.conf(5), hosts(5), hostname(7), getaddrinfo(3)",
    },
    WATCH,
    Manual {
        command: "check-loop",
        usage: "kdns check-loop [OPTION]...",
        description: "Tells whether the cluster DNS of this node loops, through which hop, by file and line, and the one change that fixes it.\n\nIt judges two times: now, the running DNS pods with the files that they have; and the next start, with what the kubelet would write now. \"no loop\" needs the kubelet's effective file and the Corefile to have been read.\n\nNothing is sent without --probe.",
        examples: &[
            try_it("This node; as root.", "kdns check-loop"),
            shown(
                "Files from elsewhere.",
                "kdns check-loop --node-file resolv.conf --kubelet-config kubelet.yaml --corefile Corefile",
            ),
            try_it(
                "A node's disk, or /host in a debug pod.",
                "kdns check-loop --root /host --format json",
            ),
            try_it(
                "With the log of the crashed CoreDNS as a witness.",
                "kubectl logs -n kube-system deploy/coredns --previous | kdns check-loop --log -",
            ),
            try_it(
                "A line for kdns report merge.",
                "kdns check-loop --root /host --format jsonl >>reports.jsonl",
            ),
        ],
        notes: "",
        status: &[
            ("0", "no loop"),
            ("1", "loop, will loop, mixed or refused"),
            ("2", "unknown: also usage, unreadable, no permission"),
        ],
        files: NODE_FILES,
        environment: COLORS,
        see_also: "resolv.conf(5), systemd-resolved.service(8), dnsmasq(8), unbound.conf(5)",
    },
    Manual {
        command: "upstream",
        usage: "kdns upstream [OPTION]... [ADDRESS]",
        description: "Tells who owns each name server of this node's files: a server outside, or a process of the node, and then where that forwards to and in which file and line the real upstream servers stand.",
        examples: &[
            try_it("Every name server of this node.", "kdns upstream"),
            try_it("Only this one.", "kdns upstream 127.0.0.53"),
            try_it(
                "A node's disk, for a program.",
                "kdns upstream --root /host --format json",
            ),
        ],
        notes: "",
        status: CLEAN,
        files: NODE_FILES,
        environment: COLORS,
        see_also: "resolv.conf(5), resolvectl(1), resolved.conf(5), dnsmasq(8), unbound.conf(5), named.conf(5)",
    },
    PATH,
    Manual {
        command: "pod-file",
        usage: "kdns pod-file [OPTION]...",
        description: "Writes the exact resolv.conf that the kubelet and the container runtime would write for a pod, by their versions.",
        examples: &[
            try_it(
                "A ClusterFirst pod of this namespace.",
                "kdns pod-file --namespace shop",
            ),
            shown(
                "The pod of a manifest, with files from elsewhere.",
                "kdns pod-file --pod web.yaml --node-file resolv.conf --kubelet-config kubelet.yaml",
            ),
            try_it(
                "The pod of a manifest on the node below /host.",
                "kdns pod-file --pod web.yaml --root /host",
            ),
            try_it(
                "What an old kubelet makes of the node's file.",
                "kdns pod-file --policy Default --node-file resolv.conf --kubelet-version 1.24",
            ),
        ],
        notes: "Standard output is the file, byte for byte. What did not fit, the events that announce it, and\nwhat was assumed go to standard error.",
        status: &[
            ("0", "written"),
            ("1", "the pod would not start"),
            ("2", "could not decide: usage, unreadable"),
        ],
        files: NODE_FILES,
        environment: COLORS,
        see_also: "resolv.conf(5)",
    },
    Manual {
        command: "pods",
        usage: "kdns pods [OPTION]...",
        description: "Lists the pods of this node with their sandbox, network namespace and name servers, also those that crash, and says where a pod's processes see another resolv.conf than the runtime keeps. kdns lint --node says which pods have another file than the kubelet would write now.",
        examples: &[
            try_it("The pods of this node; as root.", "kdns pods"),
            try_it(
                "With uids, processes, paths and containers, below /host.",
                "kdns pods --root /host --verbose",
            ),
            try_it("For a program.", "kdns pods --format json"),
        ],
        notes: "",
        status: CLEAN,
        files: NODE_FILES,
        environment: COLORS,
        see_also: "namespaces(7), ip-netns(8)",
    },
    Manual {
        command: "nsenter",
        usage: "kdns nsenter [--root DIR] TARGET explain NAME [OPTION]...\nkdns nsenter [--root DIR] TARGET dig [WORD]...\nkdns nsenter [--root DIR] TARGET -- COMMAND [ARGUMENT]...",
        description: "Asks servers, explains a name or runs a command from inside the network of a process, container or pod, with the target's resolv.conf, hosts, hosts line of nsswitch.conf and host name, and the programs of the node.\n\nTARGET is a pid (at most 7 digits), a network namespace's file (it begins with / or ./), a container's or sandbox's id (8 or more hexadecimal digits), NAMESPACE/POD or POD, and with :CONTAINER behind it one container of the pod.\n\nBefore dig's answer, comments say what was entered and which file counts; with +short, +yaml, +json or +nocomments there are none, and warnings go to standard error.",
        examples: &[
            try_it(
                "What this process asks.",
                "kdns nsenter 4711 explain db.prod",
            ),
            try_it(
                "Ask as the pod's own resolver would.",
                "kdns nsenter shop/web-7d9c6b8f5-x2x4z dig db +search=target",
            ),
            try_it(
                "A program of the node with the pod's files.",
                "kdns nsenter shop/web-7d9c6b8f5-x2x4z -- getent ahosts db",
            ),
            try_it(
                "A network namespace by its file.",
                "kdns nsenter /run/netns/blue -- curl -v http://db/",
            ),
        ],
        notes: "",
        status: &[
            ("COMMAND's own", "if it was run"),
            ("125", "the target cannot be entered"),
            ("126", "COMMAND cannot be run"),
            ("127", "there is no COMMAND"),
            ("dig's own", "with dig; 10 if the target cannot be entered"),
        ],
        files: LOOKUP_FILES,
        environment: COLORS,
        see_also: "nsenter(1), dig(1), namespaces(7), ip-netns(8)",
    },
    Manual {
        command: "dig",
        usage: "kdns dig [@SERVER] [NAME] [TYPE] [CLASS] [+OPTION]...",
        description: "Asks DNS servers with the command line and the output of BIND's dig 9.18, whose page describes the options. Besides:\n\n@tls://SERVER[:PORT] asks over TLS, @https://SERVER[:PORT][/PATH] over HTTPS, and both want the right certificate. As in dig, +tls and +https take any, whoever answers, until +tls-ca[=FILE] is said: then those of this machine's authorities count, or of the file's.\n\n+search=RESOLVER searches as glibc, musl, go and others would; +search=target as the target's own.\n\n+json prints JSON (RFC 8427), one message a line. +inflight=N asks N lines of a batch file at once (64).\n\nNot supported: +trace, +nssearch, -k and -y (TSIG), -E (engines). Accepted, without effect: -d, -m, +dscp, +fuzztime, +mapped, +sigchase, +topdown, +trusted-key, +unexpected.",
        examples: &[
            try_it(
                "Ask the cluster's DNS.",
                "kdns dig @10.96.0.10 web.default.svc.cluster.local",
            ),
            try_it(
                "The name of an address, in short.",
                "kdns dig +short -x 10.0.0.1 @::1",
            ),
            try_it(
                "With the search list, which dig leaves out by itself.",
                "kdns dig +search web AAAA",
            ),
            try_it(
                "Many names at once, as JSON.",
                "kdns dig -f names.txt +json +inflight=200",
            ),
            try_it(
                "Over TLS, behind an authority of one's own.",
                "SSL_CERT_FILE=ca.pem kdns dig @tls://dns.corp.example web.corp.example",
            ),
            try_it(
                "Over HTTPS with one's own certificate, as BIND's dig has it.",
                "kdns dig @dns.corp.example +https=/q +tls-ca=ca.pem +tls-certfile=me.pem +tls-keyfile=me.key web.corp.example",
            ),
        ],
        notes: "Behind tls:// and https://, certificates of the authorities that browsers trust count, and those of\nthe file that SSL_CERT_FILE names (PEM). With +tls-ca and no file, that file counts beside those of this\nmachine, or of browsers where it names none. As in dig, the status stays 0 where a certificate is refused.",
        status: &[
            ("0", "a reply, whatever its code"),
            ("1", "usage"),
            ("8", "the batch file cannot be opened"),
            ("9", "no reply"),
            (
                "10",
                "an error inside, or the target of nsenter cannot be entered",
            ),
        ],
        files: &[
            ("/etc/resolv.conf", "Servers and options."),
            (
                "~/.digrc",
                "Options before those of the command line, as dig has it.",
            ),
        ],
        environment: &[
            ("HOME", "Where .digrc is."),
            (
                "SSL_CERT_FILE",
                "Authorities (PEM) that count besides others, behind tls:// and https:// and with +tls-ca alone.",
            ),
            ("NO_COLOR, CLICOLOR_FORCE", "As in kdns(1)."),
        ],
        see_also: "dig(1), resolv.conf(5)",
    },
    Manual {
        command: "lint",
        usage: "kdns lint [OPTION]... [PATH]...",
        description: "Finds what is wrong in resolv.conf files, kubelet configuration files, flags and drop-ins, Corefiles, manifests and a node's root, and where there is one fix that cannot change what works, writes it (--fix) or shows it (--diff). Fixes that depend on what was not seen need --unsafe-fixes as well.\n\nWhat a file is follows from its name and content. Files that are near each other are read together: a kubelet's file with its drop-ins and flags, and the resolv.conf that it names.\n\nkdns.toml in the working directory, or above it in the same git checkout, keeps settings, and the first line of the text says what it leaves out; --config takes another file, --isolated none. --write-baseline keeps what is found, and --baseline leaves it out later. A comment beside a line silences a rule there. kdns-rule(1) prints the page of each rule.",
        examples: &[
            try_it("Everything below this directory.", "kdns lint"),
            shown(
                "A kubelet's file, for nodes that have systemd-resolved.",
                "kdns lint --assume systemd-resolved kubelet.yaml",
            ),
            try_it(
                "An image and manifests, for this version.",
                "kdns lint --kubelet-version 1.31 --assume systemd-resolved image/ manifests/",
            ),
            try_it("What a chart makes.", "helm template . | kdns lint -"),
            try_it(
                "The files that a branch changes.",
                "git diff --name-only main | kdns lint --files-from -",
            ),
            try_it("A node's root.", "kdns lint --root /host --format concise"),
        ],
        notes: "",
        status: &[
            ("0", "nothing at or above --fail-on; with --diff: no change"),
            ("1", "findings; with --diff: a change"),
            ("2", "nothing to read, or something could not be read"),
        ],
        files: &[(
            "kdns.toml",
            "Settings; the nearest one, from the working directory up to the root of its git checkout. Outside of a checkout, the one in the working directory.",
        )],
        environment: COLORS,
        see_also: "kdns-rule(1), resolv.conf(5)",
    },
    REPORT,
    MERGE,
    Manual {
        command: "rule",
        usage: "kdns rule [--format FORMAT] [RULE]",
        description: "Prints the page of a rule of kdns lint: what it finds, why that matters, how to fix it, with examples and sources. Without a rule, the list of all. It needs no network.",
        examples: &[
            try_it("Every rule, one a line.", "kdns rule"),
            try_it("The page of a rule by its code.", "kdns rule KR001"),
            try_it("The same by its name.", "kdns rule loopback-nameserver"),
        ],
        notes: "",
        status: &[("0", "printed"), ("2", "there is no such rule")],
        files: &[],
        environment: &[],
        see_also: "kdns-lint(1)",
    },
    Manual {
        command: "schema",
        usage: "kdns schema NAME",
        description: "Prints the JSON Schema of a machine format.",
        examples: &[
            try_it(
                "What kdns check-loop --format json writes.",
                "kdns schema check-loop",
            ),
            try_it(
                "What a line of kdns explain --format jsonl is.",
                "kdns schema prediction",
            ),
        ],
        notes: "",
        status: &[("0", "printed"), ("2", "usage")],
        files: &[],
        environment: &[],
        see_also: "kdns-explain(1), kdns-check-loop(1)",
    },
    Manual {
        command: "completions",
        usage: "kdns completions SHELL",
        description: "Prints the script that completes kdns in a shell: commands, options and their values, rules, resolvers, and the pods of this node where a target is expected.",
        examples: &[
            try_it(
                "bash, for this user; needs bash-completion.",
                "kdns completions bash >~/.local/share/bash-completion/completions/kdns",
            ),
            try_it(
                "zsh, for everybody.",
                "kdns completions zsh >/usr/local/share/zsh/site-functions/_kdns",
            ),
            try_it(
                "fish, for this user.",
                "kdns completions fish >~/.config/fish/completions/kdns.fish",
            ),
        ],
        notes: "",
        status: &[("0", "printed"), ("2", "usage")],
        files: &[],
        environment: &[],
        see_also: "bash(1), zshcompsys(1), fish-completions(7)",
    },
];
