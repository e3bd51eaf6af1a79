//! What `kdns` reads of a DNS server against what the real one does: on which
//! addresses it answers, and to whom it sends names of which zone.

use std::collections::BTreeSet;
use std::fs;
use std::net::{IpAddr, SocketAddr, UdpSocket};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError, mpsc};
use std::thread;
use std::time::{Duration, Instant};

use hickory_proto::op::{Message, MessageType, OpCode, Query, ResponseCode};
use hickory_proto::rr::{Name, RecordType};
use kdns::config::resolv_conf::ResolvConf;
use kdns::host::node::{files, networks, processes, servers};
use kdns::host::root::Root;
use kdns::loopback;
use kdns::node::Node;
use kdns::text::Source;
use kdns::topology::{DnsServer, Listen, Program, Target};

use crate::configurations::{Configuration, TABLE};
use crate::lab::{self, Case, Lab, Outcome};

/// Where the upstream servers are, outside of the node.
const UPSTREAMS: [&str; 5] = [
    "192.0.2.1",
    "192.0.2.2",
    "192.0.2.3",
    "192.0.2.4",
    "192.0.2.5",
];
const PORTS: [u16; 3] = [53, 5353, 853];

/// The addresses that are tried.
const OWN: [&str; 7] = [
    "127.0.0.1",
    "127.0.0.2",
    "127.0.0.53",
    "127.0.1.1",
    "10.1.0.1",
    "10.2.0.1",
    "::1",
];

/// A name of each zone that a configuration can have.
const NAMES: [&str; 4] = [
    "www.example.net.",
    "www.corp.example.",
    "a.sub.corp.example.",
    "4.3.2.10.in-addr.arpa.",
];

/// The cases.
pub(crate) fn cases() -> Vec<Case> {
    let case = |it: &Configuration| Case {
        name: format!("servers::{}: {}", it.program, it.name),
        needs: match it.program {
            "dnsmasq" => &["ip", "dnsmasq"],
            "unbound" => &["ip", "unbound"],
            _ => &["ip", "named"],
        },
        run: one,
        argument: it.name.to_owned(),
    };
    TABLE.iter().map(case).collect()
}

type Log = Arc<Mutex<Vec<(SocketAddr, String)>>>;

fn one(lab: &mut Lab, name: &str) -> Outcome {
    let case = TABLE
        .iter()
        .find(|it| it.name == name)
        .ok_or("no such case")?;
    for (interface, address) in [("br0", "10.1.0.1/24"), ("br1", "10.2.0.1/24")] {
        // A kernel can lack bridges and dummies.
        let peer = format!("x{interface}");
        let veth = ["type", "veth", "peer", "name", &peer];
        lab::run("ip", &[&["link", "add", interface], &veth[..]].concat())?;
        lab::run("ip", &["addr", "add", address, "dev", interface])?;
        lab::run("ip", &["link", "set", interface, "up"])?;
    }
    let log = upstreams()?;
    for (path, text) in case.files {
        let folder = Path::new(path).parent().ok_or("no folder")?;
        fs::create_dir_all(folder).map_err(|e| e.to_string())?;
        fs::write(path, text).map_err(|e| format!("{path}: {e}"))?;
    }
    fs::create_dir_all("/run/named").map_err(|e| e.to_string())?;
    lab.spawn(None, case.program, case.arguments)?;
    let expected = wait_for(case)?;
    check_listens(&expected)?;
    check_forwards(&expected, &log)
}

/// Upstream servers on every address and port, which note who is asked what.
fn upstreams() -> Result<Log, String> {
    lab::make_pod("up", "10.244.0.9")?;
    let log = Log::default();
    for address in UPSTREAMS {
        let address = format!("{address}/32");
        lab::run("ip", &["-n", "up", "addr", "add", &address, "dev", "lo"])?;
        lab::run("ip", &["route", "add", &address, "dev", "veth-up"])?;
    }
    for address in UPSTREAMS {
        for port in PORTS {
            let (log, (ready, is_ready)) = (log.clone(), mpsc::channel());
            thread::spawn(move || {
                let socket = lab::enter("up")
                    .and_then(|()| UdpSocket::bind((address, port)).map_err(|e| e.to_string()));
                let _ = ready.send(socket.as_ref().map(|_| ()).map_err(Clone::clone));
                socket.map(|it| serve(&it, &log))
            });
            is_ready.recv().map_err(|e| e.to_string())??;
        }
    }
    Ok(log)
}

fn serve(socket: &UdpSocket, log: &Log) {
    let mut buffer = [0; 2048];
    let Ok(here) = socket.local_addr() else {
        return;
    };
    while let Ok((length, client)) = socket.recv_from(&mut buffer) {
        let Ok(mut message) = Message::from_vec(buffer.get(..length).unwrap_or_default()) else {
            continue;
        };
        let names = message.queries.iter().map(|it| it.name().to_string());
        let names: Vec<_> = names.map(|it| (here, it.to_lowercase())).collect();
        let mut all = log.lock().unwrap_or_else(PoisonError::into_inner);
        all.extend(names);
        drop(all);
        message.metadata.message_type = MessageType::Response;
        message.metadata.response_code = ResponseCode::NXDomain;
        message.metadata.recursion_available = true;
        if let Ok(answer) = message.to_vec() {
            let _ = socket.send_to(&answer, client);
        }
    }
}

/// What kdns reads, once the program listens.
fn wait_for(case: &Configuration) -> Result<DnsServer, String> {
    let begun = Instant::now();
    let root = Root::live().map_err(|e| e.to_string())?;
    loop {
        let tables = ["/proc/net/udp", "/proc/net/udp6"].map(fs::read_to_string);
        let is_open = |text: &str| text.contains(":0035 ") || text.contains(":14E9 ");
        if tables.iter().flatten().any(|it| is_open(it)) {
            // named opens its sockets one after the other.
            thread::sleep(Duration::from_millis(500));
            let (seen, _) = processes::scan(&root);
            let (addresses, interfaces) = networks::of_node(&root);
            let node = Node {
                addresses,
                interfaces,
                files: files::read_host_files(&root).0,
                ..Node::default()
            };
            let (servers, _) = servers::read_servers(&root, &seen, &node, None);
            let count = servers.len();
            let found = servers.into_iter().next();
            return found
                .filter(|_| count == 1)
                .ok_or(format!("{count} servers"));
        }
        if begun.elapsed() > Duration::from_secs(20) {
            return Err(format!("{} does not listen\n{}", case.program, lab::logs()));
        }
        thread::sleep(Duration::from_millis(20));
    }
}

fn check_listens(server: &DnsServer) -> Outcome {
    let mut wrong = Vec::new();
    for (index, text) in OWN.iter().enumerate() {
        for port in PORTS {
            let ip: IpAddr = text.parse().map_err(|_| "address")?;
            let expected = server
                .listens
                .iter()
                .any(|it| it.port == port && it.address.is_none_or(|own| own == ip));
            if *text == "127.0.0.2" && server.program == Program::Dnsmasq {
                // Which of 127.0.0.0/8 it takes is told for well-known ones only.
                continue;
            }
            let is_any = |it: &Listen| it.port == port && it.address.is_none();
            if ip.is_ipv6() && server.listens.iter().any(is_any) {
                // 0.0.0.0 is any address of IPv4 only, which is not told apart.
                continue;
            }
            let name = format!("listens{index}.example.net.");
            let answers = ask(SocketAddr::new(ip, port), &name, RecordType::A);
            if answers != expected {
                wrong.push(format!(
                    "{ip} port {port}: answers {answers}, kdns says {expected}"
                ));
            }
        }
    }
    if wrong.is_empty() {
        return Ok(());
    }
    Err(format!("{wrong:#?}\n{server:#?}\n{}", lab::logs()))
}

/// Whether the server at `to` says anything to a query.
fn ask(to: SocketAddr, name: &str, kind: RecordType) -> bool {
    let any = if to.is_ipv4() { "0.0.0.0:0" } else { "[::]:0" };
    let Ok(socket) = UdpSocket::bind(any) else {
        return false;
    };
    let mut message = Message::new(7, MessageType::Query, OpCode::Query);
    message.metadata.recursion_desired = true;
    let Ok(name) = Name::from_ascii(name) else {
        return false;
    };
    message.add_query(Query::query(name, kind));
    let limit = Some(Duration::from_secs(1));
    let sent = || {
        socket.set_read_timeout(limit)?;
        // Some answer from another of their addresses.
        socket.send_to(&message.to_vec()?, to)?;
        let mut buffer = [0; 2048];
        socket.recv_from(&mut buffer)?;
        Ok::<(), Box<dyn std::error::Error>>(())
    };
    sent().is_ok()
}

fn check_forwards(server: &DnsServer, log: &Log) -> Outcome {
    let listen = server.listens.first().ok_or("listens nowhere")?;
    let ip = listen.address.unwrap_or(IpAddr::from([127, 0, 0, 1]));
    let at = SocketAddr::new(ip, listen.port);
    for name in NAMES {
        if name.ends_with(".arpa.") && server.program == Program::Unbound {
            // It answers reverse names of private networks itself.
            continue;
        }
        let expected = expected(server, name)?;
        let mut log_of = BTreeSet::new();
        // Some choose by lot.
        for round in 0..6 {
            let name = format!("x{round}.{name}");
            ask(at, &name, RecordType::A);
            let all = log.lock().unwrap_or_else(PoisonError::into_inner);
            let asked = all.iter().filter(|(_, asked)| *asked == name);
            log_of.extend(asked.map(|(to, _)| *to));
        }
        let fits = log_of.is_subset(&expected) && log_of.is_empty() == expected.is_empty();
        if !fits {
            let logs = lab::logs();
            return Err(format!(
                "{name}: sent to {log_of:?}, kdns says {expected:?}\n{server:#?}\n{logs}"
            ));
        }
    }
    Ok(())
}

/// To whom kdns says that the name is sent.
fn expected(server: &DnsServer, name: &str) -> Result<BTreeSet<SocketAddr>, String> {
    let (own, _) = networks::of_node(&Root::live().map_err(|e| e.to_string())?);
    let zone_has = |zone: &str| zone == "." || name.ends_with(&format!(".{zone}"));
    let forward = server.forwards.iter().find(|it| zone_has(&it.zone));
    let mut found = BTreeSet::new();
    for to in forward.iter().flat_map(|it| &it.to) {
        match &to.value {
            Target::Address(address) => drop(found.insert(*address)),
            Target::File(path) => {
                let bytes = fs::read(path).map_err(|e| format!("{path}: {e}"))?;
                let name = path.clone();
                let conf = ResolvConf::parse(Source::new(name, bytes));
                found.extend(loopback::name_servers(&conf).map(|(ip, _)| SocketAddr::new(ip, 53)));
            }
            Target::Roots | Target::ClusterDns | Target::Other(_) => {}
        }
    }
    found.retain(|it| !server.leaves_out(*it, &own));
    // Nobody outside the upstream servers can say that it was asked.
    let is_seen = |it: &SocketAddr| UPSTREAMS.contains(&it.ip().to_string().as_str());
    found.retain(is_seen);
    Ok(found)
}
