//! What people call a resolver: the image, the language or the program that has it.

use crate::text::WordList;

/// A word that is no resolver's, and the one that is meant.
#[derive(Clone, Copy, Debug)]
pub struct Alias {
    /// The words, in lower case.
    pub words: WordList,
    /// The short name or id of the model; of several kinds the one most have.
    pub resolver: &'static str,
    /// Why it is that one, as a sentence without a full stop.
    pub why: &'static str,
}

#[rustfmt::skip]
const ALIASES: &[Alias] = &[
    alias_of("alpine", "musl", "Alpine images have musl"),
    alias_of("debian ubuntu fedora rhel ubi centos rocky amazonlinux wolfi chainguard", "glibc", "these images have glibc"),
    alias_of("distroless", "glibc", "distroless base and cc have glibc; in static there are mostly Go programs: --resolver go"),
    alias_of("python python3 perl rust c c++ curl wget", "glibc", "it calls getaddrinfo of its image's C library; in Alpine images that is musl"),
    alias_of("php", "glibc", "gethostbyname and all that connects ask its image's C library, of Alpine musl; dns_get_record is glibc-res_search"),
    alias_of("ruby", "glibc", "sockets call getaddrinfo of its image's C library; in Alpine images that is musl; Resolv, which asks by itself, is ruby-resolv"),
    alias_of("dotnet", "glibc", "Dns.GetHostAddresses calls getaddrinfo of its image's C library; in Alpine images that is musl"),
    alias_of("java jvm", "glibc", "InetAddress calls getaddrinfo of its image's C library, and keeps what it found for 30 s; in Alpine images that is musl; Netty's own resolver (Vert.x, Reactor Netty) is netty"),
    alias_of("vertx reactor-netty", "netty", "it has Netty's DnsNameResolver"),
    alias_of("trust-dns", "hickory-0.24", "hickory-resolver was called so up to 0.23, and these versions were not observed"),
    alias_of("erlang elixir beam", "glibc", "inet:getaddr calls getaddrinfo in a program of its own, inet_gethost; inet_res, which asks by itself, is erlang-getbyname with a search list and erlang-resolve without"),
    alias_of("node nodejs node-lookup", "glibc", "dns.lookup and all that connects call getaddrinfo of its image's C library, four at a time; in Alpine images that is musl; dns.resolve4 and its like are node-resolve"),
    alias_of("bun", "glibc", "fetch and all that connects call getaddrinfo of its image's C library; in Alpine images that is musl; its dns.lookup asks c-ares before 1.4"),
    alias_of("deno", "glibc", "fetch and all that connects call getaddrinfo of its image's C library; Deno.resolveDns and dns.resolve4 ask by themselves with the search list"),
    alias_of("golang kubectl coredns prometheus traefik", "go", "it is a Go program, and mostly one without cgo"),
    alias_of("istio", "envoy", "its proxies are Envoy"),
    alias_of("grpc aiodns cares", "c-ares", "it has c-ares"),
];

const fn alias_of(words: &'static str, resolver: &'static str, why: &'static str) -> Alias {
    let words = WordList(words);
    Alias {
        words,
        resolver,
        why,
    }
}

/// The alias that the word is, whatever its case.
pub fn alias(word: &str) -> Option<&'static Alias> {
    let word = word.to_ascii_lowercase();
    ALIASES.iter().find(|it| it.words.has(&word))
}

/// Every word that [`alias`] knows.
pub fn aliases() -> impl Iterator<Item = &'static str> {
    ALIASES.iter().flat_map(|it| it.words.iter())
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
