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

    /// Whether it is a tool with which people look what DNS says, after a program has failed.
    pub fn is_check(&self) -> bool {
        self.id == "bind-tools"
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
    speaker("glibc", "glibc's getaddrinfo"),
    speaker("musl", "musl's getaddrinfo (Alpine)"),
    speaker("go", "Go"),
    speaker("node", "Node.js"),
    speaker("python", "Python"),
    speaker("java", "Java"),
    speaker("netty", "Netty"),
    speaker("dotnet", ".NET"),
    speaker("php", "PHP"),
    speaker("ruby", "Ruby"),
    speaker("rust", "Rust"),
    speaker("curl", "curl"),
    speaker("wget", "wget"),
    speaker("nginx", "nginx"),
    speaker("envoy", "Envoy"),
    speaker("haproxy", "HAProxy"),
    speaker("busybox", "busybox"),
    speaker("bind-tools", "dig, host or nslookup"),
    speaker("resolvectl", "resolvectl"),
    speaker("systemd-resolved", "systemd-resolved"),
    speaker("dnsmasq", "dnsmasq"),
    speaker("unbound", "unbound"),
    speaker("coredns", "CoreDNS"),
    speaker("nodelocaldns", "NodeLocal DNSCache"),
    speaker("kubelet", "the kubelet"),
    speaker("kube-proxy", "kube-proxy"),
    speaker("containerd", "containerd"),
    speaker("docker", "Docker"),
    speaker("kernel", "the kernel"),
    speaker("tcpdump", "tcpdump"),
    speaker("other", "another program"),
    speaker(SYMPTOM, "nobody: it is what is seen"),
];

const fn speaker(id: &'static str, who: &'static str) -> Speaker {
    Speaker { id, who }
}
