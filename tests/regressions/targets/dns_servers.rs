//! The configuration of DNS servers, and what systemd-resolved and the kernel
//! say: the servers that come of it.

use kdns::config::settings::Settings;
use kdns::config::statements::{Statement, Statements};
use kdns::config::{dnsmasq_conf, haproxy_cfg, ini, named_conf, nginx_conf, unbound_conf};
use kdns::node::addresses;
use kdns::program::daemon;
use kdns::render;
use kdns::scenario::own::Daemon;
use kdns::text::{Place, Source};
use kdns::topology::resolved::reported::{Refusal, varlink};
use kdns::topology::resolved::{self, Files};
use kdns::topology::{DnsServer, Instance, Surroundings, dnsmasq, named, unbound};

use super::{head, inside, possible, printable, source};

/// The first line is `dnsmasq`, `unbound`, `named`, `nginx`, `haproxy`, `envoy`, `resolved` or
/// `varlink`; the rest what it reads.
pub(crate) fn run(data: &[u8]) {
    let (kind, bytes) = head(data);
    let file = source("f", bytes);
    match kind {
        b"dnsmasq" => dnsmasq(&file),
        b"unbound" => {
            let settings = settings(&file, unbound_conf::parse(&file, 0));
            around(bytes, |it| server(&unbound::server(&settings, it), bytes));
        }
        b"named" => named(&file),
        b"nginx" => {
            let statements = nginx_conf::parse(&file, 0).statements;
            daemon(Daemon::Nginx, file, statements);
        }
        b"haproxy" => {
            let statements = haproxy_cfg::parse(&file, 0);
            daemon(Daemon::Haproxy, file, statements);
        }
        b"envoy" => daemon(Daemon::Envoy, file, Vec::new()),
        b"varlink" => match varlink(bytes, "it") {
            Ok(told) => drop(format!("{told:?}")),
            Err(Refusal::Other(reason)) => printable(&reason),
            Err(Refusal::NoSuchMethod) => {}
        },
        _ => resolved(&file),
    }
}

/// What a daemon's configuration says of names, with places in it and words safe to print.
fn daemon(daemon: Daemon, file: Source, statements: Vec<Statement>) {
    let bytes = file.bytes.clone();
    let files = vec![file];
    let conf = Statements { files, statements };
    let names = daemon::names(daemon, &conf, Vec::new());
    for section in &names.sections {
        possible(&section.place, &bytes);
    }
    for sentence in render::daemon::sentences(&names, "example.com") {
        printable(&sentence);
    }
}

fn around(bytes: &[u8], call: impl FnOnce(&Surroundings<'_>)) {
    let addresses = addresses::parse(bytes, bytes);
    let mut interfaces = addresses::interfaces(bytes, bytes, bytes);
    interfaces.push(("192.0.2.1".parse().unwrap(), "eth0".to_owned()));
    call(&Surroundings {
        instance: Instance::Only,
        addresses: &addresses,
        interfaces: &interfaces,
        files: &["/etc/resolv.conf".to_owned()],
    });
}

fn settings(file: &Source, settings: Vec<kdns::config::settings::Setting>) -> Settings {
    let settings = Settings {
        settings,
        files: vec![file.clone()],
    };
    let places = settings.places();
    let mut last = Place::nowhere("");
    for it in &settings.settings {
        inside_of(settings.name(it), &file.bytes);
        inside_of(settings.value(it), &file.bytes);
        last = places.place(it);
    }
    possible(&last, &file.bytes);
    settings
}

/// The bytes stand in the file.
fn inside_of(part: &[u8], bytes: &[u8]) {
    assert!(part.len() <= bytes.len());
}

fn dnsmasq(file: &Source) {
    let settings = settings(file, dnsmasq_conf::parse(file, 0));
    around(&file.bytes, |it| {
        if let Some(found) = dnsmasq::server(&settings, it) {
            server(&found, &file.bytes);
        }
    });
    let text = String::from_utf8_lossy(&file.bytes);
    let words: Vec<String> = text.split('\n').map(str::to_owned).collect();
    let (source, parsed) = dnsmasq_conf::arguments("process 1", &words, 0);
    drop(self::settings(&source, parsed));
    dnsmasq::whose(&words);
    for setting in &settings.settings {
        let (name, value) = (settings.name(setting), settings.value(setting));
        drop(dnsmasq_conf::include(name, value));
        drop(dnsmasq_conf::unquoted(value));
        dnsmasq_conf::long_name(name);
    }
    dnsmasq::network_manager_uses_it(std::slice::from_ref(file));
}

fn named(file: &Source) {
    let conf = Statements {
        statements: named_conf::parse(file, 0),
        files: vec![file.clone()],
    };
    around(&file.bytes, |it| {
        let found = named::server(&conf, named::Flags::default(), it);
        server(&found, &file.bytes);
    });
}

fn resolved(file: &Source) {
    for entry in ini::entries(&file.bytes) {
        for (_, span) in entry.words(file) {
            inside(span, &file.bytes);
        }
    }
    let read = resolved::from_files(&Files {
        settings: vec![file.clone()],
        links: vec![(3, file.clone())],
        ..Files::default()
    });
    server(&resolved::server(&read, Instance::Only), &file.bytes);
    drop(read.lost());
}

/// What is said of a server stands in its file, and is bounded.
fn server(server: &DnsServer, bytes: &[u8]) {
    assert!(server.forwards.len() <= 1001, "{}", server.forwards.len());
    for forward in &server.forwards {
        assert!(forward.to.len() <= 100, "{}", forward.to.len());
        forward.to.iter().for_each(|it| possible(&it.place, bytes));
    }
    drop(format!("{server:?}"));
}
