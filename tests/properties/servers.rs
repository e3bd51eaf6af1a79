//! Any bytes in the configuration of a DNS server: nothing panics, and the
//! time grows with the file.

use std::time::{Duration, Instant};

use kdns::config::settings::Settings;
use kdns::config::statements::Statements;
use kdns::config::{dnsmasq_conf, ini, named_conf, unbound_conf};
use kdns::node::addresses;
use kdns::text::Source;
use kdns::topology::resolved::{self, Files};
use kdns::topology::{Instance, Surroundings, dnsmasq, named, unbound};

use crate::generate::Random;

/// For a file of 1 MiB, in a debug build on a busy machine.
const PATIENCE: Duration = Duration::from_secs(30);

const PIECES: &[&[u8]] = &[
    b"server=",
    b"/corp.example/",
    b"192.0.2.1",
    b"127.0.0.1#5353",
    b"rev-server=",
    b"listen-address=",
    b"interface=",
    b"server:",
    b"forward-zone:",
    b"name: ",
    b"forward-addr: ",
    b"options ",
    b"zone \"a\" ",
    b"type forward;",
    b"forwarders ",
    b"listen-on ",
    b"{",
    b"}",
    b";",
    b"!",
    b"[Resolve]",
    b"DNS=",
    b"Domains=",
    b"DNSStubListenerExtra=",
    b"\\",
    b"\"",
    b"#",
    b"/*",
    b"*/",
    b" ",
    b"\n",
    b"\n",
    b"\0",
    b"\xff",
    b"\xc3\xa9",
    b"::1",
    b"%",
    b"@",
    b"/",
    b",",
    b"|-- 10.0.0.1\n",
    b"/32 host LOCAL\n",
];

fn read(bytes: &[u8]) {
    let source = Source::new("f", bytes);
    let addresses = addresses::parse(bytes, bytes);
    let interfaces = addresses::interfaces(bytes, bytes, bytes);
    let around = Surroundings {
        instance: Instance::Only,
        addresses: &addresses,
        interfaces: &interfaces,
        files: &[],
    };
    let mut settings = Settings {
        settings: dnsmasq_conf::parse(&source, 0),
        files: vec![source.clone()],
    };
    let server = dnsmasq::server(&settings, &around);
    drop(format!("{server:?}"));
    settings.settings = unbound_conf::parse(&source, 0);
    drop(format!("{:?}", unbound::server(&settings, &around)));
    let conf = Statements {
        statements: named_conf::parse(&source, 0),
        files: vec![source.clone()],
    };
    let server = named::server(&conf, named::Flags::default(), &around);
    drop(format!("{server:?}"));
    ini::entries(&source.bytes);
    let files = Files {
        settings: vec![source.clone()],
        links: vec![(3, source)],
        ..Files::default()
    };
    let read = resolved::from_files(&files);
    drop(format!("{:?}", resolved::server(&read, Instance::Only)));
    drop(read.lost());
}

#[test]
fn random_configurations_are_read() {
    let mut random = Random(0x646e_736d);
    for _ in 0..3000 {
        let count = random.below(40);
        let pieces = (0..count).map(|_| *random.pick(PIECES));
        read(&pieces.collect::<Vec<_>>().concat());
    }
}

#[test]
fn long_configurations_are_read_in_time() {
    for piece in [
        &b"server=/corp.example/192.0.2.1\n"[..],
        b"server=192.0.2.1\n",
        b"interface=x\n",
        b"forward-zone: name: . forward-addr: 192.0.2.1 ",
        b"options { forwarders { 192.0.2.1; }; }; zone a { type forward; };",
        b"{",
        b"!{",
        b"[Resolve]\nDNS=192.0.2.1\n",
        b"[Resolve]\nDNS=192.0.2.1 \\\n",
        b"\"",
        b"/*",
        b"a\\\n",
        b"|-- 10.0.0.1\n/32 host LOCAL\n",
    ] {
        let begun = Instant::now();
        read(&piece.repeat((1 << 20) / piece.len()));
        let took = begun.elapsed();
        assert!(
            took < PATIENCE,
            "{took:?}: {:?}",
            String::from_utf8_lossy(piece)
        );
    }
    // Every line has another zone.
    let lines = (0..50_000).map(|it| format!("server=/z{it}.example/192.0.2.1\n"));
    let begun = Instant::now();
    read(lines.collect::<String>().as_bytes());
    assert!(begun.elapsed() < PATIENCE);
}
