//! What the node's getent sends for a target, beside what a static program of
//! glibc sends inside the container.

use std::fs;
use std::net::{IpAddr, SocketAddr, UdpSocket};
use std::path::Path;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;
use std::time::Duration;

use nix::sched::{CloneFlags, setns};
use serde_json::json;

use crate::lab::{kdns, result};
use crate::node::{Node, kill, runc};
use crate::places::shell;

/// A query as a server got it.
#[derive(Debug, Eq, PartialEq)]
struct Query {
    server: &'static str,
    name: String,
    /// The type's number.
    kind: u16,
    /// The message without its id.
    message: Vec<u8>,
}

/// Servers that a resolv.conf can name. The first one says `SERVFAIL` for what
/// begins with `fail`, and all know `known.two.test` alone.
const SERVERS: [&str; 3] = ["10.96.0.10", "10.96.0.11", "fd00::a"];

/// A container, and what is looked up in it.
#[derive(Debug)]
struct Case {
    resolv_conf: &'static str,
    hosts: &'static str,
    /// `None`: the image has none.
    nsswitch: Option<&'static str>,
    env: &'static [&'static str],
    names: &'static [&'static str],
    /// What must have been sent at least, so that two silences are no proof;
    /// nothing at all if it is empty.
    sent: &'static [&'static str],
    has_version_4_only: bool,
}

const SEARCH: &str = "nameserver 10.96.0.10\nsearch one.test two.test\n";

const PLAIN: Case = Case {
    resolv_conf: SEARCH,
    hosts: "",
    nsswitch: None,
    env: &[],
    names: &["db"],
    sent: &["db.one.test"],
    has_version_4_only: false,
};

const CASES: &[Case] = &[
    Case {
        names: &["db", "db.prod", "db.prod.", "known", "a.b.c.d"],
        sent: &["db.one.test", "db.prod", "known.two.test"],
        ..PLAIN
    },
    Case {
        resolv_conf: "nameserver 10.96.0.10\nsearch one.test two.test\noptions ndots:5\n",
        names: &["db", "db.prod", "known", "a.b.c.d.e.f", "x."],
        sent: &["db.prod.two.test"],
        ..PLAIN
    },
    Case {
        resolv_conf: "nameserver 10.96.0.10\nnameserver 10.96.0.11\nnameserver fd00::a\noptions timeout:1 attempts:2\n",
        names: &["fail.test", "db.test"],
        sent: &["fail.test"],
        ..PLAIN
    },
    Case {
        resolv_conf: "nameserver 10.96.0.10\nnameserver 10.96.0.11\noptions single-request edns0\nsearch one.test\n",
        names: &["db", "fail.x"],
        ..PLAIN
    },
    Case {
        resolv_conf: "nameserver fd00::a\ndomain one.test\noptions no-aaaa\n",
        ..PLAIN
    },
    Case {
        env: &["RES_OPTIONS=ndots:3 attempts:1"],
        names: &["a.b", "db"],
        sent: &["a.b.one.test"],
        ..PLAIN
    },
    Case {
        env: &["LOCALDOMAIN=local.test other.test"],
        sent: &["db.local.test", "db.other.test"],
        ..PLAIN
    },
    Case {
        env: &["LOCALDOMAIN="],
        sent: &["db"],
        ..PLAIN
    },
    Case {
        hosts: "10.0.0.1 inner inner.one.test\n",
        nsswitch: Some("hosts: files dns\n"),
        names: &["inner", "inner.one.test", "db"],
        ..PLAIN
    },
    // Absent: glibc 2.36 asks hosts first all the same.
    Case {
        hosts: "10.0.0.1 inner\n",
        names: &["inner"],
        sent: &[],
        ..PLAIN
    },
    Case {
        hosts: "10.0.0.1 inner\n",
        nsswitch: Some("hosts: files\n"),
        names: &["inner", "db"],
        sent: &[],
        ..PLAIN
    },
    Case {
        hosts: "10.0.0.1 inner\n",
        nsswitch: Some("hosts: dns [NOTFOUND=return] files\n"),
        names: &["inner"],
        sent: &["inner.two.test"],
        ..PLAIN
    },
    Case {
        nsswitch: Some("passwd: files\n"),
        ..PLAIN
    },
    Case {
        nsswitch: Some("hosts: nosuch [!UNAVAIL=return] files dns\n"),
        ..PLAIN
    },
    Case {
        resolv_conf: "# nothing\n",
        sent: &[],
        ..PLAIN
    },
    Case {
        resolv_conf: "nameserver 10.96.0.10\noptions ndots:0\n",
        names: &["db", "10.0.0.1", "localhost", "x.localhost"],
        sent: &["db"],
        ..PLAIN
    },
    Case {
        has_version_4_only: true,
        ..PLAIN
    },
];

pub(crate) fn getent() {
    let node = Node::boot();
    // The node's own files, which must not count.
    shell(
        "rm -f /etc/resolv.conf; printf 'nameserver 10.96.0.11\\nsearch node.test\\noptions ndots:9\\n' > /etc/resolv.conf",
    );
    shell(
        "echo '10.9.9.9 db inner fail.test' > /etc/hosts; echo 'hosts: files' > /etc/nsswitch.conf",
    );
    for (number, case) in CASES.iter().enumerate() {
        let id = node.id(u32::try_from(number).unwrap());
        let image = node.image(&id);
        write(&image, case);
        let pid = node.container(&id, |config| config["process"]["env"] = json!(case.env));
        let family = if case.has_version_4_only { "-4" } else { "" };
        let addresses = SERVERS
            .iter()
            .filter(|it| !case.has_version_4_only || !it.contains(':'));
        let adding = addresses.map(|it| {
            format!("ip {family} addr add {it} dev lo nodad 2>/dev/null || ip addr add {it} dev lo")
        });
        let adding: Vec<String> = adding.collect();
        shell(&format!(
            "nsenter -t {pid} -n sh -ec 'ip link set lo up; {}'",
            adding.join("; ")
        ));
        let received = serve(pid, case.has_version_4_only);
        let mut sent = Vec::new();
        for name in case.names {
            let mut words = vec!["exec"];
            words.extend(case.env.iter().flat_map(|it| ["--env", it]));
            words.extend([id.as_str(), "/app", "ask", name]);
            let (status, _, err) = result(&runc(&words).output().unwrap());
            assert_eq!(status, 0, "{err}");
            let inside = drain(&received);
            let pid = pid.to_string();
            let (_, _, err) = kdns(&["nsenter", &pid, "--", "getent", "ahosts", name]);
            let found = drain(&received);
            assert_eq!(found, inside, "{name}: {case:#?}: {err}");
            sent.extend(inside);
        }
        let is_sent = |name: &&str| sent.iter().any(|it| it.name == *name);
        assert!(case.sent.iter().all(is_sent), "{sent:?}: {case:#?}");
        assert!(
            !case.sent.is_empty() || sent.is_empty(),
            "{sent:?}: {case:#?}"
        );
        kill(&id);
    }
}

fn write(image: &Path, case: &Case) {
    let etc = image.join("etc");
    fs::create_dir_all(&etc).unwrap();
    fs::write(etc.join("resolv.conf"), case.resolv_conf).unwrap();
    fs::write(etc.join("hosts"), case.hosts).unwrap();
    if let Some(text) = case.nsswitch {
        fs::write(etc.join("nsswitch.conf"), text).unwrap();
    }
}

/// Servers in the network of a process; what they get comes back in order.
fn serve(pid: u32, has_version_4_only: bool) -> Receiver<Query> {
    let (sender, receiver) = channel();
    let servers = SERVERS
        .iter()
        .filter(|it| !has_version_4_only || !it.contains(':'));
    for server in servers {
        let (sender, (ready, is_ready)) = (sender.clone(), channel());
        thread::spawn(move || {
            let namespace = fs::File::open(format!("/proc/{pid}/ns/net")).unwrap();
            setns(namespace, CloneFlags::CLONE_NEWNET).unwrap();
            let address: IpAddr = server.parse().unwrap();
            let socket = UdpSocket::bind(SocketAddr::new(address, 53)).unwrap();
            ready.send(()).unwrap();
            answer(&socket, server, &sender);
        });
        is_ready.recv_timeout(Duration::from_secs(10)).unwrap();
    }
    receiver
}

fn answer(socket: &UdpSocket, server: &'static str, sender: &Sender<Query>) {
    let mut buffer = [0; 1500];
    // Who asks has ended when nobody takes what was asked.
    loop {
        let (length, from) = socket.recv_from(&mut buffer).unwrap();
        let query = &buffer[..length];
        let (name, kind, end) = question(query);
        let is_failing = name.starts_with("fail") && server == SERVERS[0];
        let is_known = name == "known.two.test" && kind == 1;
        let message = query[2..].to_vec();
        let sent = sender.send(Query {
            server,
            name,
            kind,
            message,
        });
        if sent.is_err() {
            return;
        }
        let rcode = match (is_failing, is_known) {
            (true, _) => 2,
            (_, true) => 0,
            _ => 3,
        };
        let head = [0x81, 0x80 | rcode, 0, 1, 0, u8::from(is_known), 0, 0, 0, 0];
        let mut reply = [&query[..2], &head, &query[12..end]].concat();
        if is_known {
            reply.extend([0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 60, 0, 4, 10, 0, 0, 7]);
        }
        socket.send_to(&reply, from).unwrap();
    }
}

/// The name, the type, and where the question ends.
fn question(query: &[u8]) -> (String, u16, usize) {
    let mut labels = Vec::new();
    let mut at = 12;
    while query[at] != 0 {
        let end = at + 1 + usize::from(query[at]);
        labels.push(String::from_utf8_lossy(&query[at + 1..end]).into_owned());
        at = end;
    }
    let kind = u16::from_be_bytes([query[at + 1], query[at + 2]]);
    (labels.join("."), kind, at + 5)
}

/// What came so far. Nobody asks again before the answer, so that the order
/// is the one in which it was sent.
fn drain(received: &Receiver<Query>) -> Vec<Query> {
    let mut all = Vec::new();
    while let Ok(query) = received.recv_timeout(Duration::from_millis(30)) {
        all.push(query);
    }
    all
}
