//! What kdns reads in the files of a real systemd-resolved, against what it says
//! on a real D-Bus; and one that is stuck.

use std::fs;
use std::net::IpAddr;
use std::path::Path;
use std::time::{Duration, Instant};

use kdns::host::node::processes;
use kdns::host::node::servers::{self, ask_resolved, read_resolved};
use kdns::host::root::Root;
use kdns::topology::resolved::{Resolved, Scope};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::{Value, json};

use crate::lab::{self, Case, Lab, Outcome};

/// Longest that anybody is waited for.
const LIMIT: Duration = Duration::from_millis(500);

const SOCKET: &str = "/run/dbus/system_bus_socket";

const BUS: &str = r#"<!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN"
 "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
<busconfig>
  <type>system</type>
  <auth>EXTERNAL</auth>
  <listen>unix:path=/run/dbus/system_bus_socket</listen>
  <policy context="default">
    <allow user="*"/>
    <allow own="*"/>
    <allow send_destination="*"/>
    <allow receive_sender="*"/>
  </policy>
</busconfig>
"#;

/// Links as `busctl` sets them, a call a line; `-` is an empty text.
const CALLS: [(&str, &str); 4] = [
    (
        "a loopback server of a link",
        "SetLinkDNSEx ia(iayqs) 3 2 2 4 127 0 0 1 0 - 2 4 203 0 113 1 0 -",
    ),
    (
        "servers of one link",
        "SetLinkDNSEx ia(iayqs) 2 1 2 4 192 0 2 1 0 -",
    ),
    (
        "ports, names, domains",
        "SetLinkDNSEx ia(iayqs) 2 2 2 4 192 0 2 1 5353 corp.example \
         10 16 32 1 13 184 0 0 0 0 0 0 0 0 0 0 0 83 0 -
         SetLinkDomains ia(sb) 2 2 corp.example true x.example false
         SetLinkDNSOverTLS is 2 yes
         SetLinkDefaultRoute ib 2 false",
    ),
    (
        "two links, one for everything",
        "SetLinkDNSEx ia(iayqs) 2 1 2 4 198 51 100 7 53 -
         SetLinkDNSEx ia(iayqs) 3 2 2 4 203 0 113 1 0 - 2 4 203 0 113 2 853 dns.example
         SetLinkDomains ia(sb) 3 1 . true
         SetLinkDNSOverTLS is 3 opportunistic",
    ),
];

/// The cases.
pub(crate) fn cases() -> Vec<Case> {
    let links = CALLS.iter().map(|(name, _)| Case {
        name: format!("bus::{name}"),
        needs: &["ip", "systemd-resolved", "dbus-daemon", "busctl"],
        run: with_links,
        argument: (*name).to_owned(),
    });
    let stuck = Case {
        name: "bus::systemd-resolved is silent".to_owned(),
        needs: &["ip", "systemd-resolved"],
        run: silent,
        argument: String::new(),
    };
    links.chain([stuck]).collect()
}

/// Two links that are up, and systemd-resolved with one server of its own.
fn start(lab: &mut Lab) -> Result<u32, String> {
    for line in [
        "link add d0 type veth peer name d1",
        "link set d0 up",
        "link set d1 up",
        "addr add 192.0.2.9/24 dev d0",
        "addr add 203.0.113.9/24 dev d1",
    ] {
        lab::run("ip", &line.split(' ').collect::<Vec<_>>())?;
    }
    let settings = "[Resolve]\nLLMNR=no\nMulticastDNS=no\nFallbackDNS=192.0.2.99\nDNS=192.0.2.53#own.example\nDomains=global.example\n";
    let made = fs::create_dir_all("/etc/systemd")
        .and_then(|()| fs::write("/etc/systemd/resolved.conf", settings))
        .and_then(|()| {
            std::os::unix::fs::symlink(
                "../run/systemd/resolve/stub-resolv.conf",
                "/etc/resolv.conf",
            )
        })
        .and_then(|()| fs::create_dir_all("/run/systemd/resolve"));
    made.map_err(|e| e.to_string())?;
    lab::run(
        "chown",
        &["systemd-resolve:systemd-resolve", "/run/systemd/resolve"],
    )?;
    let pid = lab.spawn(None, "systemd-resolved", &[])?;
    lab::wait_for_file("/run/systemd/resolve/stub-resolv.conf")?;
    Ok(pid)
}

fn with_links(lab: &mut Lab, name: &str) -> Outcome {
    fs::create_dir_all("/run/dbus").map_err(|e| e.to_string())?;
    fs::write("/run/lab/bus.conf", BUS).map_err(|e| e.to_string())?;
    lab.spawn(
        None,
        "dbus-daemon",
        &[
            "--config-file=/run/lab/bus.conf",
            "--nofork",
            "--nopidfile",
            "--nosyslog",
        ],
    )?;
    lab::wait_for_file(SOCKET)?;
    start(lab)?;
    wait_for_service()?;
    let calls = CALLS
        .iter()
        .find(|it| it.0 == name)
        .ok_or("no such case")?
        .1;
    for call in calls.lines() {
        let words = call.split_whitespace();
        let words: Vec<&str> = words.map(|it| if it == "-" { "" } else { it }).collect();
        manager("call", &words)?;
    }
    same_as_the_bus()?;
    // A file that is changed now counts after a restart.
    let settings = "/etc/systemd/resolved.conf";
    let text = fs::read_to_string(settings).map_err(|e| e.to_string())?;
    let changed = text.replace(
        "192.0.2.53#own.example",
        "192.0.2.53#own.example 192.0.2.54",
    );
    fs::write(settings, changed).map_err(|e| e.to_string())?;
    same_as_the_bus()?;
    let text = lab::kdns_text(&["upstream"])?;
    if text.contains("192.0.2.54 (/etc/systemd/resolved.conf:5:28) is not asked") {
        return Ok(());
    }
    Err(format!("what was not read is not said: {text}"))
}

fn wait_for_service() -> Outcome {
    let begun = Instant::now();
    while begun.elapsed() < Duration::from_secs(10) {
        if property("Manager", "/org/freedesktop/resolve1", "DNSEx").is_ok() {
            return Ok(());
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    Err(format!(
        "systemd-resolved did not come to the bus: {}",
        lab::logs()
    ))
}

fn manager(verb: &str, rest: &[&str]) -> Result<String, String> {
    let mut arguments = vec![
        "--auto-start=no",
        verb,
        "org.freedesktop.resolve1",
        "/org/freedesktop/resolve1",
        "org.freedesktop.resolve1.Manager",
    ];
    arguments.extend(rest);
    lab::run("busctl", &arguments)
}

fn property(kind: &str, path: &str, name: &str) -> Result<Value, String> {
    let interface = format!("org.freedesktop.resolve1.{kind}");
    let arguments = [
        "--json=short",
        "get-property",
        "org.freedesktop.resolve1",
        path,
        &interface,
        name,
    ];
    let json: Value =
        serde_json::from_str(&lab::run("busctl", &arguments)?).map_err(|e| e.to_string())?;
    Ok(json["data"].clone())
}

/// What kdns makes of systemd-resolved against what `busctl` is told of it.
fn same_as_the_bus() -> Outcome {
    let root = Root::live().map_err(|e| e.to_string())?;
    let (processes, _) = processes::scan(&root);
    let (kdns, _) = read_resolved(&root, &processes, &mut Vec::new()).ok_or("it does not run")?;
    let bus = "/org/freedesktop/resolve1";
    let check = |name: &str, kdns: Value, told: Value| {
        let same = kdns == told;
        same.then_some(())
            .ok_or_else(|| format!("{name}: kdns {kdns}, busctl {told}"))
    };
    let mut servers: Vec<Value> = scopes(&kdns)
        .iter()
        .flat_map(|(link, it)| sorted_servers(*link, it))
        .collect();
    let mut expected = property("Manager", bus, "DNSEx")?
        .as_array()
        .cloned()
        .unwrap_or_default();
    for list in [&mut servers, &mut expected] {
        list.sort_by_key(ToString::to_string);
    }
    check("DNSEx", servers.into(), expected.into())?;
    let mut domains: Vec<Value> = scopes(&kdns)
        .iter()
        .flat_map(|(link, it)| domains_of(*link, it))
        .collect();
    let mut expected = property("Manager", bus, "Domains")?
        .as_array()
        .cloned()
        .unwrap_or_default();
    for list in [&mut domains, &mut expected] {
        list.sort_by_key(ToString::to_string);
    }
    check("Domains", domains.into(), expected.into())?;
    for (index, link) in &kdns.links {
        let path = format!("{bus}/link/_3{index}");
        let tls = property("Link", &path, "DNSOverTLS")?;
        let told = property("Link", &path, "DNSEx")?;
        check("DNSEx of a link", link_servers(link).into(), told)?;
        let own = link.dns_over_tls.clone().unwrap_or_else(|| "no".to_owned());
        check("DNSOverTLS", own.into(), tls)?;
        if link.default_route.is_some() {
            let route = property("Link", &path, "DefaultRoute")?;
            check("DefaultRoute", json!(link.default_route), route)?;
        }
    }
    let fallback: Vec<String> = kdns
        .fallback
        .iter()
        .flatten()
        .map(|it| it.value.to_string())
        .collect();
    check("FallbackDNSEx", json!(fallback), json!(["192.0.2.99"]))
}

fn scopes(resolved: &Resolved) -> Vec<(u32, &Scope)> {
    let links = resolved.links.iter().map(|(index, it)| (*index, it));
    std::iter::once((0, &resolved.global))
        .chain(links)
        .collect()
}

/// The servers in the form of `DNSEx`; it has 0 for a port that was not given.
fn sorted_servers(link: u32, scope: &Scope) -> Vec<Value> {
    let server = |it: &kdns::text::Placed<kdns::topology::resolved::ServerWord>| {
        let (family, bytes) = match it.value.ip {
            IpAddr::V4(ip) => (2, ip.octets().to_vec()),
            IpAddr::V6(ip) => (10, ip.octets().to_vec()),
        };
        let port = if it.value.port == 53 {
            0
        } else {
            it.value.port
        };
        // Packets to such an address leave by `lo`.
        let link = if it.value.ip.is_loopback() { 1 } else { link };
        json!([
            link,
            family,
            bytes,
            port,
            it.value.name.clone().unwrap_or_default()
        ])
    };
    scope.servers.iter().map(server).collect()
}

/// The same in the form of a link's `DNSEx`.
fn link_servers(scope: &Scope) -> Vec<Value> {
    let mut servers = sorted_servers(0, scope);
    for server in servers.iter_mut().filter_map(Value::as_array_mut) {
        server.remove(0);
    }
    servers
}

fn domains_of(link: u32, scope: &Scope) -> Vec<Value> {
    let domain = |it: &kdns::topology::resolved::Domain| {
        let name = it.name.strip_suffix('.').filter(|it| !it.is_empty());
        json!([link, name.unwrap_or("."), it.route_only])
    };
    scope.domains.iter().map(domain).collect()
}

/// One that is stopped: its files count, and kdns is done in time.
fn silent(lab: &mut Lab, _: &str) -> Outcome {
    let pid = start(lab)?;
    let before = lab::kdns_text(&["upstream", "--root", "/proc/1/root"])?;
    let before = before
        .lines()
        .find(|it| it.contains("192.0.2.53#") || it.contains("resolved.conf:5"));
    let before = before.ok_or("no line about the server")?.trim().to_owned();
    let pid = i32::try_from(pid).map_err(|e| e.to_string())?;
    kill(Pid::from_raw(pid), Signal::SIGSTOP).map_err(|e| e.to_string())?;
    let begun = Instant::now();
    let told = ask_resolved(Path::new(servers::SOCKET));
    let took = begun.elapsed();
    if took > LIMIT {
        return Err(format!("it took {took:?}"));
    }
    let reason = told.err().ok_or("it was told something")?;
    let (_, json) = lab::kdns(&["upstream"])?;
    let text = lab::kdns_text(&["upstream"])?;
    let is_said = json["skipped"]
        .as_array()
        .is_some_and(|it| it.iter().any(|it| *it == json!(reason)));
    if is_said && text.contains(&before) && reason.contains("no answer in time") {
        return Ok(());
    }
    Err(format!("{reason}: {json:#} {text}"))
}
