//! `docs/resolvers.md`: every cell is what the model did, the counts are those of the vectors.

use std::fmt::Write as _;

use kdns::engine::message::Rcode;
use kdns::resolver::{self, Resolver};
use kdns::world::Effect;
use libtest_mimic::{Failed, Trial};

use crate::counts::{Counts, exceptions, observations};
use crate::pages::settle;
use crate::probes as probe;
use crate::probes::servers;

/// A behaviour: what is said before the cells, and how a cell is made.
type Row = (&'static str, fn(&Resolver) -> String);

/// Versions of those above.
#[rustfmt::skip]
const OTHERS: &[&str] = &[
    "glibc-2.41", "glibc-2.35", "glibc-2.34", "glibc-2.31", "glibc-2.28", "glibc-2.17", "musl-1.1.24", "go-1.22", "go-1.21",
    "go-1.15", "c-ares-1.25", "c-ares-1.25-search", "c-ares-1.27", "c-ares-1.27-search", "c-ares-1.28", "c-ares-1.28-search", "c-ares-1.31", "c-ares-1.31-search",
    "c-ares-1.32", "c-ares-1.32-search", "c-ares-1.33", "c-ares-1.33-search", "c-ares-1.34.3",
    "c-ares-1.34.3-search", "node-resolve-20.15", "node-resolve-20.20", "node-resolve-22.11",
    "systemd-resolved-257", "systemd-resolved-stub-257", "systemd-resolved-247", "systemd-resolved-stub-247", "systemd-resolved-245", "systemd-resolved-stub-245", "dig-9.16",
    "dig-search-9.16", "host-9.16", "nslookup-9.16", "dig-9.11", "dig-search-9.11", "host-9.11", "nslookup-9.11", "dnspython-2.9", "dnspython-search-2.9", "hickory-0.24",
    "hickory-0.25", "netty-4.1.48", "netty-4.1.68", "netty-4.1.101", "netty-4.1.118", "busybox-nslookup-1.29",
];

/// Resolvers that are compared side by side, under a heading.
const GROUPS: [(&str, &[&str]); 8] = [
    (
        "C libraries and Go",
        &["glibc", "musl-1.2.5", "musl-1.2.3", "go-1.27", "go-1.19"],
    ),
    (
        "c-ares and hickory",
        &[
            "c-ares-1.34",
            "c-ares-1.34-search",
            "c-ares-1.18",
            "c-ares-1.18-search",
            "hickory-0.26",
        ],
    ),
    (
        "systemd-resolved and glibc's other calls",
        &[
            "systemd-resolved",
            "systemd-resolved-stub",
            "glibc-res_search",
            "glibc-res_query",
        ],
    ),
    (
        "Tools",
        &[
            "dig",
            "dig-search",
            "host",
            "host-9.20",
            "nslookup",
            "busybox-nslookup",
        ],
    ),
    (
        "Languages",
        &[
            "c-ares-1.34-query",
            "node-resolve-24.22",
            "dnspython",
            "dnspython-search",
        ],
    ),
    (
        "Runtimes",
        &[
            "netty-4.2.13",
            "ruby-resolv",
            "ruby-resolv-all",
            "erlang-getbyname",
            "erlang-resolve",
        ],
    ),
    ("Daemons", &["nginx", "haproxy", "envoy"]),
    ("Other versions", OTHERS),
];

const NAMES: &[Row] = &[
    ("dots from which a name is asked as it is first", |it| {
        probe::ndots(it, "")
    }),
    ("the same with `options ndots:5`", |it| {
        probe::ndots(it, "options ndots:5\n")
    }),
    ("the same with `options ndots:40`", |it| {
        probe::ndots(it, "options ndots:40\n")
    }),
    ("after that fails, the search list", probe::search_after),
    (
        "search entries used at most, 8 characters each",
        probe::most_entries,
    ),
    ("used of 40 with 8 characters each", |it| {
        probe::entries(it, 40, 8)
    }),
    ("used of 12 with 60 characters each", |it| {
        probe::entries(it, 12, 60)
    }),
    (
        "a name without dots, where there is no search list",
        probe::single_label,
    ),
    ("`localhost`", |it| probe::other_source(it, "localhost")),
    ("a name that /etc/hosts has", |it| {
        probe::other_source(it, "pod-1")
    }),
];

const COUNTS: &[Row] = &[
    ("`web`, which does not exist", |it| {
        probe::count(it, "web", &[])
    }),
    ("`web`, a service of the pod's namespace", |it| {
        let name = "web.default.svc.cluster.local";
        probe::count(it, "web", &[probe::rule(Some(name), probe::address())])
    }),
    ("`api.example.com`, which exists", |it| {
        let name = "api.example.com";
        probe::count(it, name, &[probe::rule(Some(name), probe::address())])
    }),
    ("`api.example.com.` with its final dot", |it| {
        let rule = probe::rule(Some("api.example.com"), probe::address());
        probe::count(it, "api.example.com.", &[rule])
    }),
    ("`web`, and the server is silent", servers::dead_server),
];

const TIME: &[Row] = &[
    ("what is asked about a name", servers::types),
    (
        "servers used of eight that are silent",
        servers::servers_used,
    ),
    ("one silent server: queries at … s", |it| {
        servers::silence(it, 1, "")
    }),
    ("three silent servers: … s → server", |it| {
        servers::silence(it, 3, "")
    }),
    ("one, with `timeout:2 attempts:3`", |it| {
        servers::silence(it, 1, "options timeout:2 attempts:3\n")
    }),
    ("without a file, it asks", servers::no_file),
];

const REPLIES: &[Row] = &[
    ("NXDOMAIN", |it| {
        servers::middle(it, probe::status(Rcode::NxDomain))
    }),
    ("NODATA", |it| {
        servers::middle(it, probe::status(Rcode::NoError))
    }),
    ("SERVFAIL", |it| {
        servers::middle(it, probe::status(Rcode::ServFail))
    }),
    ("REFUSED", |it| {
        servers::middle(it, probe::status(Rcode::Refused))
    }),
    ("NOTIMP", |it| {
        servers::middle(it, probe::status(Rcode::NotImp))
    }),
    ("FORMERR", |it| {
        servers::middle(it, probe::status(Rcode::FormErr))
    }),
    ("truncated, and again over TCP", |it| {
        servers::middle(it, Effect::Truncated)
    }),
    ("nothing", |it| servers::middle(it, Effect::Timeout)),
    ("a closed port", |it| servers::middle(it, Effect::Icmp)),
];

const SERVERS: &[Row] = &[
    ("NXDOMAIN", |it| {
        servers::first_server(it, probe::status(Rcode::NxDomain))
    }),
    ("NODATA", |it| {
        servers::first_server(it, probe::status(Rcode::NoError))
    }),
    ("SERVFAIL", |it| {
        servers::first_server(it, probe::status(Rcode::ServFail))
    }),
    ("REFUSED", |it| {
        servers::first_server(it, probe::status(Rcode::Refused))
    }),
    ("NOTIMP", |it| {
        servers::first_server(it, probe::status(Rcode::NotImp))
    }),
    ("FORMERR", |it| {
        servers::first_server(it, probe::status(Rcode::FormErr))
    }),
    ("nothing", |it| servers::first_server(it, Effect::Timeout)),
    ("a closed port", |it| {
        servers::first_server(it, Effect::Icmp)
    }),
    ("a truncated response", servers::truncated),
];

const OPTIONS: &[Row] = &[
    ("EDNS", |it| probe::edns(it, "")),
    ("EDNS with `options edns0`", |it| {
        probe::edns(it, "options edns0\n")
    }),
    ("`rotate`, three servers", probe::rotate),
    ("`use-vc`", |it| probe::option(it, "use-vc")),
    ("`single-request`", |it| probe::option(it, "single-request")),
    ("`single-request-reopen`", |it| {
        probe::option(it, "single-request-reopen")
    }),
    ("`trust-ad`", |it| probe::option(it, "trust-ad")),
    ("`no-aaaa`", |it| probe::option(it, "no-aaaa")),
    ("`RES_OPTIONS=ndots:1`", |it| {
        probe::variable(it, "RES_OPTIONS", "ndots:1")
    }),
    ("`LOCALDOMAIN=z.test`", |it| {
        probe::variable(it, "LOCALDOMAIN", "z.test")
    }),
];

/// The parts of each group, and what is asked in them.
const PARTS: [(&str, &str, &[Row]); 6] = [
    (
        "Names",
        "`nameserver 10.0.0.1`, `search a.test b.test c.test`.",
        NAMES,
    ),
    (
        "Queries in a pod",
        "One server, three search domains, `ndots:5`: the file of a pod in namespace `default`.",
        COUNTS,
    ),
    (
        "Servers and time",
        "The name ends in a dot, so that it is asked as it is. Seconds count from the start of the lookup.",
        TIME,
    ),
    (
        "The first search domain answers",
        "What follows; the second domain has the name. One server.",
        REPLIES,
    ),
    (
        "The first server answers",
        "What follows, with two servers, the second of which has the name.",
        SERVERS,
    ),
    (
        "Options and environment",
        "“–”: nothing that is sent changes.",
        OPTIONS,
    ),
];

pub(crate) fn trials() -> Vec<Trial> {
    let page = || settle("docs/resolvers.md", &page()?);
    vec![
        Trial::test("resolvers::each has its column and lookups", columns),
        Trial::test("resolvers::the table is what the models do", page),
    ]
}

fn columns() -> Result<(), Failed> {
    let of_groups = GROUPS.iter().flat_map(|it| it.1.iter().copied());
    let shown: Vec<&str> = of_groups.collect();
    let all: Vec<&str> = resolver::ALL.iter().map(|it| it.id).collect();
    let missing: Vec<&&str> = all.iter().filter(|it| !shown.contains(it)).collect();
    let unknown: Vec<&&str> = shown.iter().filter(|it| !all.contains(it)).collect();
    let counts = observations()?;
    let versions = resolver::ALL
        .iter()
        .flat_map(|it| it.observed.iter().map(|version| (it.id, *version)));
    let is_without = |it: &(&str, &str)| !counts.contains_key(&(it.0.to_owned(), it.1.to_owned()));
    let without: Vec<_> = versions.filter(is_without).collect();
    let is_whole = missing.is_empty() && unknown.is_empty() && shown.len() == all.len();
    if is_whole && without.is_empty() {
        return Ok(());
    }
    Err(format!(
        "GROUPS or OTHERS in tests/book/resolvers.rs: {missing:?} missing, {unknown:?} unknown; \
         testdata/vectors has no observation of {without:?}; CONTRIBUTING has the recipe"
    )
    .into())
}

const START: &str = "# How each resolver behaves

Made by `KDNS_BLESS=1 cargo test --test book`. Nothing on this page is written by hand: a test asks each model these questions, and writes down what
it did. The models follow the source of the versions below, and are held against what the real programs were
observed to send: `testdata/vectors`, and random scenarios through the real programs in namespaces (`tests/resolvers`). Of 2,000 such scenarios
(seed 880011; 1,550 through the stub; of hickory also those with truncated replies) the first run was not as predicted: 12 of c-ares 1.34
(0.6 %; 3 of them never in three more runs), 9 of hickory, 6 through the stub (0.4 %), 4 of systemd-resolved, 3 of each musl, 2 of c-ares 1.18,
1 of glibc's res_search, none of the others. In the 40 of 2,817 scenarios without time-outs whose sets are the largest, each run 200 times, 99.6 % of
systemd-resolved's runs were among those predicted, 96 % of those of hickory and c-ares 1.34, and 95 % through the stub.
`KDNS_SETS=200 cargo test --test resolvers -- sets::` does it again with others, and says which choices were never seen: of
9,200 runs of ten resolvers on 30 November none was outside.

Other versions, held against the recorded lookups without time-outs: Ruby's resolv 0.3.0 (Ruby 3.3) did the same in all 640, that of Ruby 2.7 in 624; Erlang 23 in 353 of 384. Erlang 27.3.4.1 of Debian 13 did the same in 301 of 306, but takes a truncated reply of whole records for a malformed one and never asks over TCP (erlang/otp#11114, in 28.4.2, too). Bun's `fetch` and what connects in it asks the C library, its `dns.lookup` too since 1.4.0 and c-ares before (1.1.45, 1.3.0, 1.3.14 seen); in Deno 2.9.6 all but `Deno.resolveDns` and `dns.resolve4` do, which ask with the search list by themselves.

There is no model of uClibc-ng, of Android's bionic and of Windows: `--resolver` and `--target` say so. Envoy and systemd-resolved 245 are modelled from the source, *not observed*: 245.4 for a node that has addresses of both families (with IPv4 alone, nss-resolve does not ask for AAAA there), as Ubuntu 20.04 changed it, which asks again after NXDOMAIN as its messages say. Of Netty
4.1.50 to 4.1.63, 4.1.88 to 4.1.96, 4.1.105 and 4.1.106 nothing was run, and of c-ares between the versions below little (of 160 lookups by chance c-ares 1.20.1 did 142 as 1.18, 1.21.0 did 141, 1.22.1 did 139 as 1.25); of 84 lookups Netty 4.1.97 did all as 4.1.101, and of 132 4.1.107 all but 11 over TCP, without EDNS: they are explained as the nearest model, and kdns says that they differ, or that they are older.
So is what is older than the first row of its family: glibc before 2.17, musl before 1.1.20, Go before 1.11, BIND before 9.11, busybox before 1.29, systemd before 245, hickory before 0.24. From the source: nslookup of busybox 1.27 and 1.28 asks the C library, and `--target` says so.

In glibc the modules `myhostname`, `mymachines`, `resolve` and those of nss-mdns of nsswitch.conf are played, too, as Debian 12 has them (systemd 252, nss-mdns 0.15.1), where their library is seen beside the C library: of the target, or in a scenario (`nss_modules`). One that is not there may be where `LD_LIBRARY_PATH` leads, and what `myhostname` has for the host name is not known: both are said. For `NAME.local` nss-mdns asks DNS for the SOA of `local` first. Where the daemon of a module runs (Avahi, systemd-machined), what it has is not known, and that is said; systemd-resolved is played as 252.

`kdns explain NAME --resolver ID` shows the same for your file and your name, query by query.

";

fn page() -> Result<String, Failed> {
    let mut page = START.to_owned();
    versions(&mut page)?;
    for (heading, ids) in GROUPS {
        let resolvers: Vec<&Resolver> = ids.iter().filter_map(|id| resolver::find(id)).collect();
        write!(page, "\n## {heading}\n")?;
        for (part, about, rows) in PARTS {
            write!(page, "\n### {part}\n\n{about}\n\n")?;
            table(&mut page, &resolvers, rows)?;
        }
    }
    Ok(page)
}

fn table(page: &mut String, resolvers: &[&Resolver], rows: &[Row]) -> Result<(), Failed> {
    let ids = resolvers.iter().map(|it| format!(" {} |", it.id));
    writeln!(page, "| |{}", ids.collect::<String>())?;
    writeln!(page, "| --- |{}", " --- |".repeat(resolvers.len()))?;
    for (about, cell) in rows {
        let cells = resolvers.iter().map(|it| format!(" {} |", cell(it)));
        writeln!(page, "| {about} |{}", cells.collect::<String>())?;
    }
    Ok(())
}

/// The versions, with how often each was observed.
fn versions(page: &mut String) -> Result<(), Failed> {
    let (observed, exceptions) = (observations()?, exceptions()?);
    page.push_str("## Versions\n\n");
    page.push_str("“Not predicted” counts observations that depend on chance, each with its reason in `testdata/vectors/exceptions.json`. Where a prediction does not list all runs (`more`), the model is played along what was observed.\n\n");
    page.push_str("A version without a row is explained as the one before it: `--resolver glibc-2.39`, `go-1.24`.\n\n");
    page.push_str("| Id | From version | Used by | Observed: lookups | Not predicted |\n");
    page.push_str("| --- | --- | --- | --- | --- |\n");
    for resolver in resolver::ALL {
        let of = |counts: &Counts, version: &str| {
            let found = counts.get(&(resolver.id.to_owned(), version.to_owned()));
            found.copied().unwrap_or_default()
        };
        let each = resolver.observed.iter();
        let each = each.map(|it| format!("{it}: {}", of(&observed, it)));
        let mut seen = each.collect::<Vec<_>>().join(", ");
        if seen.is_empty() {
            "no: from the source".clone_into(&mut seen);
        }
        writeln!(
            page,
            "| `{}` | {} | {} | {seen} | {} |",
            resolver.id,
            resolver.since,
            resolver.used_by,
            of(&exceptions, ""),
        )?;
    }
    Ok(())
}
