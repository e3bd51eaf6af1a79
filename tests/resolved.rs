//! What kdns reads of systemd-resolved's files against what its D-Bus
//! interface said at the same moment (`testdata/resolved`).

#![expect(clippy::unwrap_used, reason = "a test may stop at the first surprise")]

use std::collections::BTreeSet;
use std::fs;
use std::net::IpAddr;
use std::path::{Path, PathBuf};

use kdns::host::node::{files, servers};
use kdns::host::root::{Resolution, Root};
use kdns::topology::resolved::{self, Mode, Resolved, Stub};
use kdns::topology::{DnsServer, Target};
use serde_json::Value;

fn data() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata")
}

/// Name, root and properties of each capture.
fn captures() -> Vec<(String, Root, String)> {
    let mut found = Vec::new();
    for entry in fs::read_dir(data().join("resolved")).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap().to_owned();
        let root = data().join(format!("upstream/resolved-{name}/root"));
        let root = Root::below(&root, Resolution::default()).unwrap();
        found.push((name, root, fs::read_to_string(path).unwrap()));
    }
    found.sort_by(|a, b| a.0.cmp(&b.0));
    assert_eq!(found.len(), 20);
    found
}

fn property(text: &str, name: &str) -> Value {
    let line = text.lines().find_map(|line| line.strip_prefix(name));
    let value: Value = serde_json::from_str(line.unwrap().trim()).unwrap();
    value.get("data").unwrap().clone()
}

fn address(bytes: &Value) -> IpAddr {
    let bytes: Vec<u8> = serde_json::from_value(bytes.clone()).unwrap();
    match <[u8; 4]>::try_from(bytes.as_slice()) {
        Ok(v4) => v4.into(),
        Err(_) => <[u8; 16]>::try_from(bytes.as_slice()).unwrap().into(),
    }
}

fn read(root: &Root) -> (Resolved, DnsServer) {
    let (read, label) = servers::read_resolved(root, &[], &mut Vec::new()).unwrap();
    let server = resolved::server(&read, label);
    (read, server)
}

#[test]
fn servers_are_those_that_it_told() {
    for (name, root, properties) in captures() {
        let told = property(&properties, "DNS ");
        let told = told.as_array().unwrap().iter();
        let told: BTreeSet<IpAddr> = told.map(|it| address(&it[2])).collect();
        let (_, server) = read(&root);
        let targets = server.forwards.iter().flat_map(|it| &it.to);
        let found: BTreeSet<IpAddr> = targets
            .filter_map(|it| match &it.value {
                Target::Address(address) => Some(address.ip()),
                _ => None,
            })
            .collect();
        assert_eq!(found, told, "{name}");
    }
}

#[test]
fn domains_are_those_that_it_told() {
    for (name, root, properties) in captures() {
        let told = property(&properties, "Domains ");
        let told = told.as_array().unwrap().iter();
        // What only routes is in no file but the link's own.
        let wanted = told.filter(|it| it[2] == false || it[0] == 0);
        let told: BTreeSet<String> = wanted
            .map(|it| format!("{}.", it[1].as_str().unwrap()))
            .collect();
        let (read, _) = read(&root);
        let known = read.scopes().flat_map(|it| &it.domains);
        let known = known.map(|it| it.name.clone());
        let found: BTreeSet<String> = known.chain(read.uplink_domains.clone()).collect();
        assert_eq!(found, told, "{name}");
    }
}

#[test]
fn mode_and_listeners_are_those_that_it_told() {
    for (name, root, properties) in captures() {
        let file = files::host_file(&root, Path::new("/etc/resolv.conf"));
        let end = file.links.last().unwrap_or(&file.path).as_str();
        let mode = Mode::of_file(file.content.is_ok().then_some(end));
        assert_eq!(
            property(&properties, "ResolvConfMode "),
            mode.word(),
            "{name}"
        );
        let (read, _) = read(&root);
        let stub = match read.stub {
            Stub::Yes => "yes",
            Stub::No => "no",
            Stub::Udp => "udp",
            Stub::Tcp => "tcp",
        };
        assert_eq!(property(&properties, "DNSStubListener "), stub, "{name}");
    }
}

#[test]
fn drop_ins_count_as_systemd_says() {
    let root = data().join("upstream/resolved-two-links/root");
    let (read, _) = read(&Root::below(&root, Resolution::default()).unwrap());
    let shown = |list: &[kdns::text::Placed<resolved::ServerWord>]| {
        let list = list.iter().map(|it| format!("{} {}", it.value, it.place));
        list.collect::<Vec<_>>()
    };
    // A later file's empty assignment takes back what was set before it.
    assert_eq!(shown(&read.global.servers), Vec::<String>::new());
    let file = "/etc/systemd/resolved.conf.d/50-reset.conf";
    let expected = [
        format!("192.0.2.3 {file}:3:13"),
        format!("192.0.2.4 {file}:4:3"),
    ];
    assert_eq!(shown(&read.fallback.unwrap()), expected);
    assert_eq!(read.links.len(), 2);
}
