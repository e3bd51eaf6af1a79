//! resolv.conf, hosts, nsswitch.conf, aliases and the environment, read by
//! everyone who reads them.

use kdns::config::resolv_conf::ResolvConf;
use kdns::config::{hosts, openresolv_conf::OpenresolvConf};
use kdns::loopback::{self, Evidence};
use kdns::pod::{kubelet_file, rules::LAST_BEFORE_CHANGES, rules::Rules};
use kdns::render;
use kdns::resolver;
use kdns::scenario::{Scenario, file};
use kdns::topology::dnsmasq;

use super::{inside, printable, source, texts};

/// Texts: resolv.conf, hosts, nsswitch.conf, host aliases, `RES_OPTIONS`, name.
pub(crate) fn run(data: &[u8]) {
    let mut texts = texts(data);
    let [resolv_conf, hosts, nsswitch, aliases, options, name] = [(); 6].map(|()| texts.next());
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).replace('\0', "");
    let name = name.map_or_else(|| "web.prod".to_owned(), text);
    let mut scenario = Scenario::new("fuzz", name);
    scenario.resolv_conf = resolv_conf.map(|it| file("/etc/resolv.conf", it));
    if let Some(bytes) = hosts {
        scenario.hosts = Some(file("/etc/hosts", bytes));
    }
    if let Some(bytes) = nsswitch {
        scenario.nsswitch = Some(file("/etc/nsswitch.conf", bytes));
    }
    if let Some(bytes) = aliases {
        let path = "/etc/aliases".to_owned();
        scenario.env.insert("HOSTALIASES".to_owned(), path.clone());
        scenario.files.insert(path, bytes.to_vec());
    }
    if let Some(bytes) = options {
        scenario.env.insert("RES_OPTIONS".to_owned(), text(bytes));
    }
    for file in [&scenario.resolv_conf, &scenario.hosts, &scenario.nsswitch] {
        file.iter().for_each(syntax);
    }
    scenario.resolv_conf.iter().for_each(meaning);
    readings(&scenario);
}

/// Lines and words are the bytes of the file, all of them, in order.
fn syntax(conf: &ResolvConf) {
    let bytes = &conf.source.bytes;
    let mut whole = Vec::new();
    let mut last = (1, 1);
    for line in conf.lines() {
        inside(line.span(), bytes);
        assert_eq!(line.bytes(), line.span().slice(bytes));
        whole.extend_from_slice(line.bytes());
        if line.ends_in_newline() {
            whole.push(b'\n');
        }
        for word in line.words() {
            assert_eq!(word.bytes, word.span.slice(bytes));
            assert!(!word.bytes.is_empty());
            let at = conf.position(word.span.start);
            assert_eq!(at, conf.source.position(word.span.start));
            assert!(last <= (at.line, at.column), "{last:?} {at:?}");
            last = (at.line, at.column);
        }
    }
    assert_eq!(&whole, bytes, "every byte stands in a line");
    for entry in hosts::entries(conf) {
        for word in entry.names.iter().chain([&entry.address]) {
            assert_eq!(word.bytes, word.span.slice(bytes));
        }
    }
    let openresolv = OpenresolvConf::parse(&conf.source);
    openresolv.files().for_each(drop);
}

/// What is no resolver reads it, too.
fn meaning(conf: &ResolvConf) {
    let evidence = Evidence::default();
    for (address, span) in loopback::name_servers(conf) {
        inside(span, &conf.source.bytes);
        if let Some(lead) = loopback::lead(address, conf, &evidence) {
            printable(&render::loopback::lead(&lead));
        }
    }
    loopback::wanted(conf);
    dnsmasq::network_managers(conf);
    for version in LAST_BEFORE_CHANGES.map(Some).into_iter().chain([None]) {
        if let Ok(read) = kubelet_file::read_kubelet_file(conf, &Rules::of_version(version)) {
            let words = read.servers.iter().chain(&read.searches);
            for word in words.chain(&read.options) {
                drop(format!("{word:?}"));
            }
        }
    }
    let again = ResolvConf::parse(source("f", &conf.source.bytes));
    assert_eq!(again.lines().count(), conf.lines().count());
}

/// Every resolver says of every word it drops where that stands, and why.
fn readings(scenario: &Scenario) {
    let conf = scenario.resolv_conf.as_ref();
    let bytes = conf.map_or(&[][..], |conf| &conf.source.bytes);
    for resolver in resolver::ALL {
        let reading = resolver.reading(scenario);
        for dropped in reading.dropped.first().iter().chain(&reading.refused) {
            inside(dropped.span, bytes);
            assert!(!dropped.why.is_empty());
        }
    }
}
