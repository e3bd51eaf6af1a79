//! Who says a message.

/// A program or library that says messages.
#[derive(Debug, Eq, PartialEq)]
pub struct Speaker {
    /// Its short name.
    pub id: &'static str,
    /// Who that is, in the middle of a sentence.
    pub who: &'static str,
}

/// The id of the speaker of what is seen without a message.
const SYMPTOM: &str = "symptom";

/// The ids of those that are DNS servers.
const SERVERS: [&str; 5] = [
    "coredns",
    "dnsmasq",
    "nodelocaldns",
    "systemd-resolved",
    "unbound",
];

impl Speaker {
    /// Whether it is no message of a program, but what somebody has seen.
    pub fn is_symptom(&self) -> bool {
        self.id == SYMPTOM
    }

    /// Whether it is a DNS server, which tells of its own upstream servers: what kind
    /// of name a client asked it for says nothing about these.
    pub fn is_server(&self) -> bool {
        SERVERS.contains(&self.id)
    }
}

/// The speaker with this id.
pub fn find(id: &str) -> Option<&'static Speaker> {
    ALL.iter().find(|it| it.id == id)
}

/// Every speaker.
pub static ALL: [Speaker; 32] = [
    of("glibc", "glibc's getaddrinfo"),
    of("musl", "musl's getaddrinfo (Alpine)"),
    of("go", "Go"),
    of("node", "Node.js"),
    of("python", "Python"),
    of("java", "Java"),
    of("netty", "Netty"),
    of("dotnet", ".NET"),
    of("php", "PHP"),
    of("ruby", "Ruby"),
    of("rust", "Rust"),
    of("curl", "curl"),
    of("wget", "wget"),
    of("nginx", "nginx"),
    of("envoy", "Envoy"),
    of("haproxy", "HAProxy"),
    of("busybox", "busybox"),
    of("bind-tools", "dig, host or nslookup"),
    of("resolvectl", "resolvectl"),
    of("systemd-resolved", "systemd-resolved"),
    of("dnsmasq", "dnsmasq"),
    of("unbound", "unbound"),
    of("coredns", "CoreDNS"),
    of("nodelocaldns", "NodeLocal DNSCache"),
    of("kubelet", "the kubelet"),
    of("kube-proxy", "kube-proxy"),
    of("containerd", "containerd"),
    of("docker", "Docker"),
    of("kernel", "the kernel"),
    of("tcpdump", "tcpdump"),
    of("other", "another program"),
    of(SYMPTOM, "nobody: it is what is seen"),
];

const fn of(id: &'static str, who: &'static str) -> Speaker {
    Speaker { id, who }
}
