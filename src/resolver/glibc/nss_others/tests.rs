use super::*;
use crate::engine::message::Question;
use crate::resolver::find;
use crate::scenario::file;

/// The names that glibc asks for, types with them, how that ends, and whether it is limited.
fn ask(name: &str, line: &str, modules: &[(&str, NssModule)]) -> (String, Outcome, bool) {
    let mut scenario = Scenario::new("nss", name);
    scenario.resolv_conf = Some(file("resolv.conf", "nameserver 10.96.0.10\n"));
    scenario.nsswitch = Some(file("nsswitch.conf", format!("hosts: {line}\n")));
    scenario.lookup = Lookup::Addresses(Family::Inet);
    let modules = modules.iter().map(|it| (it.0.to_owned(), it.1));
    scenario.nss_modules = modules.collect();
    let run = find("glibc").unwrap().predict(&scenario);
    let asked = run.sent.iter().filter_map(|it| match &it.query.question {
        Question::Asked(name, kind) => Some(format!("{name} {kind}")),
        Question::Malformed(_) => None,
    });
    let asked: Vec<String> = asked.collect();
    (asked.join(", "), run.outcome, !run.limits.is_empty())
}

const MDNS: &str = "mdns4_minimal [NOTFOUND=return] dns";

#[test]
fn a_module_that_is_not_known_limits_and_one_that_is_missing_does_not() {
    let asked = "printer.local A";
    let none = Outcome::Failed("EAI_NONAME");
    let (queries, outcome, limited) = ask("printer.local", MDNS, &[]);
    assert_eq!((queries.as_str(), &outcome, limited), (asked, &none, true));
    let missing = [("mdns4_minimal", NssModule::Missing)];
    let (queries, outcome, limited) = ask("printer.local", MDNS, &missing);
    assert_eq!((queries.as_str(), &outcome, limited), (asked, &none, false));
}

#[test]
fn where_avahi_is_no_address_is_asked_for() {
    let served = [("mdns4_minimal", NssModule::Served)];
    let (queries, outcome, limited) = ask("printer.local", MDNS, &served);
    assert_eq!(queries, "local SOA");
    assert_eq!((outcome, limited), (Outcome::Failed("EAI_NONAME"), true));
    let (queries, _, limited) = ask("www.example.com", MDNS, &served);
    assert_eq!((queries.as_str(), limited), ("www.example.com A", false));
}

#[test]
fn systemd_resolved_asks_in_the_place_of_the_servers_of_the_file() {
    let line = "resolve [!UNAVAIL=return] dns";
    let served = [("resolve", NssModule::Served)];
    let (queries, outcome, limited) = ask("www.example.com", line, &served);
    assert!(queries.starts_with("www.example.com A"), "{queries}");
    assert_eq!((outcome, limited), (Outcome::Failed("EAI_NONAME"), true));
    let alone = [("resolve", NssModule::Installed)];
    let (queries, _, limited) = ask("www.example.com", line, &alone);
    assert_eq!((queries.as_str(), limited), ("www.example.com A", false));
}

/// What is not played of a module that is there may come before DNS: no address is made up,
/// and it is not called missing.
#[test]
fn what_a_module_that_is_there_says_may_not_be_known() {
    for (name, module, state) in [
        ("host", "myhostname", NssModule::Found),
        ("db.x", "sss", NssModule::Found),
        ("db.x", "resolve", NssModule::Found),
        ("printer.local", "mdns4_minimal", NssModule::Found),
    ] {
        let mut scenario = Scenario::new("nss", name);
        scenario.resolv_conf = Some(file("resolv.conf", "nameserver 10.96.0.10\n"));
        let line = format!("hosts: files {module} dns\n");
        scenario.nsswitch = Some(file("nsswitch.conf", line));
        scenario.hostname = "host".to_owned();
        scenario.nss_modules = [(module.to_owned(), state)].into();
        let run = find("glibc").unwrap().predict(&scenario);
        assert_eq!(run.outcome.found(), None, "{module}");
        assert!(!run.sent.is_empty() && !run.limits.is_empty(), "{module}");
        let said = format!("{:?}{:?}", run.limits, run.notes);
        assert!(!said.contains("not installed"), "{said}");
        assert!(!said.contains("if it is installed"), "{said}");
    }
}

#[test]
fn a_path_is_no_module_to_look_for() {
    let conf = file(
        "nsswitch.conf",
        "hosts: files x/../y mdns4 resolve [!UNAVAIL=return] dns\n",
    );
    assert_eq!(named(&conf), ["mdns4", "resolve"]);
}
