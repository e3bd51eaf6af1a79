//! What people call a resolver: the image, the language or the program that has it.

/// A word that is no resolver's, and the one that is meant.
#[derive(Clone, Copy, Debug)]
pub struct Alias {
    /// The words, in lower case.
    pub words: &'static [&'static str],
    /// The short name or id of the model; of several kinds the one most have.
    pub resolver: &'static str,
    /// Why it is that one, as a sentence without a full stop.
    pub why: &'static str,
}

const ALIASES: &[Alias] = &[
    Alias {
        words: &["alpine"],
        resolver: "musl",
        why: "Alpine images have musl",
    },
    Alias {
        words: &[
            "debian",
            "ubuntu",
            "fedora",
            "rhel",
            "ubi",
            "centos",
            "rocky",
            "amazonlinux",
            "wolfi",
            "chainguard",
        ],
        resolver: "glibc",
        why: "these images have glibc",
    },
    Alias {
        words: &["distroless"],
        resolver: "glibc",
        why: "distroless base and cc have glibc; in static there are mostly Go programs: --resolver go",
    },
    Alias {
        words: &[
            "python", "python3", "perl", "rust", "c", "c++", "curl", "wget",
        ],
        resolver: "glibc",
        why: "it calls getaddrinfo of its image's C library; in Alpine images that is musl",
    },
    Alias {
        words: &["php"],
        resolver: "glibc",
        why: "gethostbyname and all that connects ask its image's C library, of Alpine musl; dns_get_record is glibc-res_search",
    },
    Alias {
        words: &["ruby"],
        resolver: "glibc",
        why: "sockets call getaddrinfo of its image's C library; in Alpine images that is musl; Resolv, which asks by itself, is ruby-resolv",
    },
    Alias {
        words: &["dotnet"],
        resolver: "glibc",
        why: "Dns.GetHostAddresses calls getaddrinfo of its image's C library; in Alpine images that is musl",
    },
    Alias {
        words: &["java", "jvm"],
        resolver: "glibc",
        why: "InetAddress calls getaddrinfo of its image's C library, and keeps what it found for 30 s; in Alpine images that is musl; Netty's own resolver (Vert.x, Reactor Netty) is netty",
    },
    Alias {
        words: &["vertx", "reactor-netty"],
        resolver: "netty",
        why: "it has Netty's DnsNameResolver",
    },
    Alias {
        words: &["trust-dns"],
        resolver: "hickory",
        why: "hickory-resolver was called so up to 0.23, and these versions were not observed",
    },
    Alias {
        words: &["erlang", "elixir", "beam"],
        resolver: "glibc",
        why: "inet:getaddr calls getaddrinfo in a program of its own, inet_gethost; inet_res, which asks by itself, is erlang-getbyname with a search list and erlang-resolve without",
    },
    Alias {
        words: &["node", "nodejs", "node-lookup"],
        resolver: "glibc",
        why: "dns.lookup and all that connects call getaddrinfo of its image's C library, four at a time; in Alpine images that is musl; dns.resolve4 and its like are node-resolve",
    },
    Alias {
        words: &["bun"],
        resolver: "glibc",
        why: "fetch and all that connects call getaddrinfo of its image's C library; in Alpine images that is musl; its dns.lookup asks c-ares before 1.4",
    },
    Alias {
        words: &["deno"],
        resolver: "glibc",
        why: "fetch and all that connects call getaddrinfo of its image's C library; Deno.resolveDns and dns.resolve4 ask by themselves with the search list",
    },
    Alias {
        words: &["golang", "kubectl", "coredns", "prometheus", "traefik"],
        resolver: "go",
        why: "it is a Go program, and mostly one without cgo",
    },
    Alias {
        words: &["istio"],
        resolver: "envoy",
        why: "its proxies are Envoy",
    },
    Alias {
        words: &["grpc", "aiodns", "cares"],
        resolver: "c-ares",
        why: "it has c-ares",
    },
];

/// The alias that the word is, whatever its case.
pub fn alias(word: &str) -> Option<&'static Alias> {
    let word = word.to_ascii_lowercase();
    ALIASES.iter().find(|it| it.words.contains(&word.as_str()))
}

/// Every word that [`alias`] knows.
pub fn aliases() -> impl Iterator<Item = &'static str> {
    ALIASES.iter().flat_map(|it| it.words).copied()
}

#[cfg(test)]
mod tests {
    use super::super::{find, names};
    use super::*;

    #[test]
    fn an_alias_is_of_one_resolver_and_no_resolvers_name() {
        for alias in ALIASES {
            assert!(find(alias.resolver).is_some(), "{alias:?}");
            assert!(!alias.why.ends_with('.'), "{alias:?}");
        }
        let mut words: Vec<&str> = aliases().chain(names()).collect();
        words.sort_unstable();
        let all = words.len();
        words.dedup();
        assert_eq!(words.len(), all);
        assert!(alias("Alpine").is_some_and(|it| it.resolver == "musl"));
        let says = |word, part| alias(word).is_some_and(|it| it.why.contains(part));
        assert!(says("bun", "c-ares before 1.4") && says("bun", "Alpine"));
        assert!(says("deno", "Deno.resolveDns") && !says("deno", "Alpine"));
    }
}
