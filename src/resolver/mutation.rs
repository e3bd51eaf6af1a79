//! Every field of a version counts: changed, the model no longer does what was observed.

use std::cell::OnceCell;

use super::{ALL, Model, Resolver, busybox, c_ares, dnspython};
use crate::scenario::Scenario;
use crate::simulation::Run;
use crate::simulation::courses::Courses;

/// Gives a version its neighbours, each with one field changed, beside that
/// field's name. A field that is not listed does not compile.
macro_rules! neighbours {
    ($version:ident: $($flag:ident)*; $($field:ident: $value:expr),*) => {
        impl $version {
            pub(in crate::resolver) fn neighbours(&self) -> Vec<(&'static str, Self)> {
                let Self { $($flag: _,)* $($field: _,)* } = self;
                vec![
                    $((stringify!($flag), Self { $flag: !self.$flag, ..*self }),)*
                    $((stringify!($field), Self { $field: $value, ..*self }),)*
                ]
            }
        }
    };
}
pub(super) use neighbours;

/// Fields that change nothing of what was observed of a resolver, and why.
const SILENT: [(&str, &str, &str); 35] = [
    ("glibc-res_search", "alias_alone_is_not_found", NO_NSS),
    ("glibc-res_search", "waits_for_unsent", ONE_QUERY),
    ("glibc-res_search", "has_old_nsswitch", NO_NSS),
    ("glibc-res_search", "asks_dns_before_files", NO_NSS),
    ("glibc-res_query", "alias_alone_is_not_found", NO_NSS),
    ("glibc-res_query", "waits_for_unsent", ONE_QUERY),
    ("glibc-res_query", "has_old_nsswitch", NO_NSS),
    ("glibc-res_query", "asks_dns_before_files", NO_NSS),
    ("glibc-res_query", "search_limits", NO_SEARCH),
    ("musl-1.1.24", "sets_ad", NO_RECORDS),
    ("musl-1.1.24", "checks_reply", NO_RECORDS),
    ("musl-1.2.3", "sets_ad", NO_RECORDS),
    ("musl-1.2.3", "checks_reply", NO_RECORDS),
    ("musl-1.2.5", "sets_ad", NO_RECORDS),
    ("musl-1.2.5", "checks_reply", NO_RECORDS),
    ("go-1.15", "knows_netedns0", NO_EDNS),
    ("go-1.15", "empty_name_has_addresses", NO_ADDRESS),
    ("go-1.15", "additional_is_not_lame", NO_EDNS),
    ("go-1.19", "empty_name_has_addresses", NO_ADDRESS),
    ("go-1.21", "local_is_for_libc", LIBC),
    ("go-1.21", "gateway_names", LIBC),
    ("go-1.22", "local_is_for_libc", LIBC),
    ("go-1.22", "gateway_names", LIBC),
    ("go-1.27", "local_is_for_libc", LIBC),
    ("go-1.27", "gateway_names", LIBC),
    ("c-ares", "probes_beside_failures", NO_PROBE),
    ("c-ares", "ends_lost_probes", NO_PROBE),
    ("c-ares", "keeps_server", FROM_SOURCE),
    ("c-ares", "closes_all_idle", FROM_SOURCE),
    ("c-ares", "single_labels_may_fail", FROM_SOURCE),
    ("c-ares", "needs_interface", FROM_SOURCE),
    ("dig-search-9.16", "tries", NO_SILENCE),
    (
        "systemd-resolved-stub-247",
        "hosts_have_aliases",
        FILES_FIRST,
    ),
    ("systemd-resolved-stub", "hosts_have_aliases", FILES_FIRST),
    (
        "systemd-resolved-stub-257",
        "hosts_have_aliases",
        FILES_FIRST,
    ),
];
/// Fields of BIND's tools that say what is printed, which decides on no query.
const PRINTED: [&str; 3] = ["name", "comments", "status"];
const NO_SEARCH: &str = "it has no search list";
const ONE_QUERY: &str = "it asks for one type only";
const NO_NSS: &str = "no module of nsswitch.conf has to do with it";
const NO_EDNS: &str = "its queries have no OPT record, and so have replies";
const NO_ADDRESS: &str = "its result is a `net.IP` without bytes, which the lab does not write";
const NO_PROBE: &str =
    "in no observation did a new name come 5 s after a failure and draw a probe, one in ten";
const FROM_SOURCE: &str = "it was read in the source, and no observed scenario shows it";
const FILES_FIRST: &str = "the C library finds the name in the hosts file before it asks the stub";
const NO_SILENCE: &str = "in no observation of it a server is silent";
const NO_RECORDS: &str = "the lab asks musl for addresses only: see the tests of `res_query`";
const LIBC: &str = "only a program with libc minds: see the tests of `order`";

const VECTORS: [&str; 8] = [
    include_str!("../../testdata/vectors/hickory.jsonl"),
    include_str!("../../testdata/vectors/versions.jsonl"),
    include_str!("../../testdata/vectors/visible.jsonl"),
    include_str!("../../testdata/vectors/regressions.jsonl"),
    include_str!("../../testdata/vectors/regressions-c_ares.jsonl"),
    include_str!("../../testdata/vectors/regressions-glibc.jsonl"),
    include_str!("../../testdata/vectors/regressions-go.jsonl"),
    include_str!("../../testdata/vectors/regressions-resolved.jsonl"),
];

/// The scenarios of the vectors in which a resolver was observed.
fn observed(id: &str) -> Vec<Scenario> {
    let key = format!("\"resolver\": \"{id}\"");
    let lines = VECTORS.iter().flat_map(|it| it.lines());
    let own = lines.filter(|it| it.contains(&key));
    let parse = |it: &str| crate::scenario::json::parse(it.as_bytes(), "1").unwrap();
    own.map(parse).collect()
}

/// The models that differ from a resolver's in one field.
fn models(resolver: &Resolver) -> Vec<(&'static str, Model)> {
    fn all<V: 'static>(
        them: Vec<(&'static str, V)>,
        of: impl Fn(&'static V) -> Model,
    ) -> Vec<(&'static str, Model)> {
        let model = |(name, it)| (name, of(Box::leak(Box::new(it))));
        them.into_iter().map(model).collect()
    }
    match resolver.model {
        Model::Glibc(version, call) => all(version.neighbours(), |it| Model::Glibc(it, call)),
        Model::Musl(version) => all(version.neighbours(), Model::Musl),
        Model::Go(version) => all(version.neighbours(), Model::Go),
        Model::CAres(c_ares::Version::V1_34(version), call @ c_ares::Call::GetAddrInfo) => {
            let model = |it| Model::CAres(c_ares::Version::V1_34(it), call);
            all(version.neighbours(), model)
        }
        Model::Bind(program) => {
            let mut others = program.neighbours();
            others.retain(|(field, _)| !PRINTED.contains(field));
            all(others, Model::Bind)
        }
        Model::Resolved(version, door) => all(version.neighbours(), |it| Model::Resolved(it, door)),
        Model::Hickory(version) => all(version.neighbours(), Model::Hickory),
        Model::Netty(version) => all(version.neighbours(), Model::Netty),
        // What has two versions has no fields: the other one is the neighbour.
        Model::CAres(c_ares::Version::V1_18, call) => {
            vec![("version", Model::CAres(c_ares::Version::V1_25, call))]
        }
        Model::Dnspython(version, call) => {
            let other = match version {
                dnspython::Version::V2_3 => dnspython::Version::V2_9,
                dnspython::Version::V2_9 => dnspython::Version::V2_3,
            };
            vec![("version", Model::Dnspython(other, call))]
        }
        Model::Busybox(version) => {
            let other = match version {
                busybox::Version::V1_29 => busybox::Version::V1_35,
                busybox::Version::V1_35 => busybox::Version::V1_29,
            };
            vec![("version", Model::Busybox(other))]
        }
        _ => Vec::new(),
    }
}

/// c-ares has many versions with many fields: there each has to count in one of them.
fn who(resolver: &Resolver) -> &'static str {
    match resolver.model {
        Model::CAres(..) => resolver.family,
        _ => resolver.id,
    }
}

/// What a resolver does in a scenario.
struct Known<'a> {
    scenario: &'a Scenario,
    run: Run,
    /// What may differ from it, once somebody asks.
    courses: OnceCell<Courses>,
}

impl<'a> Known<'a> {
    fn new(resolver: &Resolver, scenario: &'a Scenario) -> Self {
        Self {
            scenario,
            run: resolver.predict(scenario),
            courses: OnceCell::new(),
        }
    }

    /// Whether another resolver does anything else there.
    fn differs(&self, resolver: &Resolver, other: &Resolver) -> bool {
        let run = other.predict(self.scenario);
        let courses = || resolver.courses(self.scenario, &self.run);
        run != self.run || other.courses(self.scenario, &run) != *self.courses.get_or_init(courses)
    }
}

#[test]
fn every_field_of_a_version_counts() {
    let mut silent: Vec<(&str, &str)> = Vec::new();
    let mut counting: Vec<(&str, &str)> = Vec::new();
    for resolver in ALL.iter().filter(|it| !it.observed.is_empty()) {
        let scenarios = observed(resolver.id);
        let known: Vec<Known<'_>> = scenarios
            .iter()
            .map(|it| Known::new(resolver, it))
            .collect();
        for (field, model) in models(resolver) {
            let key = (who(resolver), field);
            if counting.contains(&key) {
                continue;
            }
            let other = Resolver { model, ..*resolver };
            if known.iter().any(|it| it.differs(resolver, &other)) {
                counting.push(key);
                silent.retain(|it| *it != key);
            } else if !silent.contains(&key) {
                silent.push(key);
            }
        }
    }
    let expected: Vec<_> = SILENT.iter().map(|it| (it.0, it.1)).collect();
    assert_eq!(silent, expected);
}
