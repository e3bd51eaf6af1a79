//! The network and its real servers.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

/// Addresses of this network. BIND's server has most of them: 127.0.0.1 and
/// `::1` have the zone `example.test` only and do not recurse, the others have
/// `world.zone` too and say that they recurse.
const NAMED: &[&str] = &["127.0.0.1", "10.96.0.10", "8.8.8.8", "192.0.2.53"];
const UNBOUND: &[&str] = &["127.0.0.2", "1.1.1.1", "9.9.9.9"];
const DNSMASQ: &[&str] = &["127.0.0.3", "169.254.20.10"];
const NAMED_V6: &[&str] = &["::1", "2001:db8::53"];
/// Ports that people's servers have; unbound listens there too.
const PORTS: &[u16] = &[5335, 5353, 8600];

const RESOLV_CONF: &str = "nameserver 10.96.0.10\n\
     search default.svc.cluster.local svc.cluster.local cluster.local\n\
     options ndots:5\n";

/// What is not there.
pub(crate) fn missing() -> Option<String> {
    if !nix::unistd::geteuid().is_root() {
        return Some("needs root".to_owned());
    }
    let programs = [
        "dig", "named", "unbound", "dnsmasq", "unshare", "ip", "mount",
    ];
    let missing = programs.iter().find(|it| program_path(it).is_none())?;
    Some(format!("needs {missing}"))
}

/// Of this machine, or unpacked by `.ci/install-real`.
fn program_path(name: &str) -> Option<String> {
    let real = std::env::var("KDNS_REAL_DIR")
        .unwrap_or_else(|_| concat!(env!("CARGO_MANIFEST_DIR"), "/target/real").to_owned());
    let unpacked = format!("{real}/servers/usr/sbin");
    let folders = ["/usr/sbin", "/usr/bin", "/sbin", "/bin", &unpacked];
    let mut paths = folders.iter().map(|folder| format!("{folder}/{name}"));
    paths.find(|path| Path::new(path).exists())
}

/// Makes the network and starts the servers; what they need is in `folder`.
pub(crate) fn start(folder: &Path) {
    run("ip", &["link", "set", "lo", "up"]);
    for address in [NAMED, UNBOUND, DNSMASQ].concat() {
        if !address.starts_with("127.") {
            run(
                "ip",
                &["addr", "add", &format!("{address}/32"), "dev", "lo"],
            );
        }
    }
    run(
        "ip",
        &["addr", "add", "2001:db8::53/128", "dev", "lo", "nodad"],
    );
    stand_in(folder, "resolv.conf", RESOLV_CONF);
    let mut hosts = "127.0.0.1 localhost\n::1 ip6-localhost\n".to_owned();
    hosts.push_str(&crate::bad::hosts());
    hosts.push_str(crate::secure::HOSTS);
    stand_in(folder, "hosts", &hosts);
    copy_files(folder);
    named(folder);
    unbound(folder);
    dnsmasq();
    for address in [NAMED[0], UNBOUND[0], DNSMASQ[0]] {
        wait_for(address);
    }
}

fn run(program: &str, arguments: &[&str]) {
    let status = Command::new(program).args(arguments).status().unwrap();
    assert!(status.success(), "{program} {arguments:?}");
}

/// Puts a file in the place of the machine's, in this namespace only.
fn stand_in(folder: &Path, name: &str, text: &str) {
    let path = folder.join(name);
    fs::write(&path, text).unwrap();
    let place = format!("/etc/{name}");
    run("mount", &["--bind", path.to_str().unwrap(), &place]);
}

/// Batch files and home directories.
fn copy_files(folder: &Path) {
    let source = concat!(env!("CARGO_MANIFEST_DIR"), "/testdata/dig/files");
    let to = folder.join("files");
    run("cp", &["-r", source, to.to_str().unwrap()]);
}

fn named(folder: &Path) {
    let path = |name: &str| folder.join(name).display().to_string();
    let mut zone = include_str!("../../testdata/dig/example.test.zone").to_owned();
    for last in 1..=95 {
        let _ = writeln!(zone, "big IN A 10.1.0.{last}");
    }
    let soa = "$TTL 60\n@ IN SOA ns1.example.test. h.example.test. 1 2 3 4 5\n\
               @ IN NS ns1.example.test.\n";
    let reverse = format!("{soa}1.0.0 IN PTR www.example.test.\n");
    let zones = |there: &str| {
        [
            "example.test",
            "10.in-addr.arpa",
            "8.b.d.0.1.0.0.2.ip6.arpa",
        ]
        .map(|zone| {
            if there.is_empty() {
                let file = path(zone);
                let kind = "type primary; check-names ignore";
                format!("zone \"{zone}\" {{ {kind}; file \"{file}\"; }};\n")
            } else {
                format!("zone \"{zone}\" {{ in-view {there}; }};\n")
            }
        })
    };
    let configuration = format!(
        "options {{ directory \"{}\"; listen-on {{ {}; }}; listen-on-v6 {{ {}; }};\n\
         listen-on port 853 tls ephemeral {{ 127.0.0.1; }};\n\
         listen-on port 443 tls ephemeral http default {{ 127.0.0.1; }};\n\
         listen-on port 80 tls none http default {{ 127.0.0.1; }};\n\
         pid-file none; session-keyfile none; dnssec-validation no;\n\
         allow-transfer {{ any; }}; rrset-order {{ order none; }}; minimal-responses no;\n\
         server-id \"ns-one\"; version \"real\"; }};\ncontrols {{ }};\n\
         view plain {{ match-destinations {{ 127.0.0.1; ::1; }}; recursion no;\n{} }};\n\
         view world {{ recursion yes; {}\n\
         zone \".\" {{ type primary; file \"{}\"; check-names ignore; }}; }};\n",
        folder.display(),
        NAMED.join("; "),
        NAMED_V6.join("; "),
        zones("").concat(),
        zones("plain").concat(),
        path("world"),
    );
    fs::write(folder.join("example.test"), zone).unwrap();
    fs::write(folder.join("10.in-addr.arpa"), reverse).unwrap();
    fs::write(folder.join("8.b.d.0.1.0.0.2.ip6.arpa"), soa).unwrap();
    let world = include_str!("../../testdata/dig/world.zone");
    fs::write(folder.join("world"), world).unwrap();
    fs::write(folder.join("named.conf"), configuration).unwrap();
    serve("named", &["-f", "-c", &path("named.conf")]);
}

/// It keeps nothing, so that both programs see the same time to live.
fn unbound(folder: &Path) {
    let mut configuration =
        "server:\n username: \"\"\n chroot: \"\"\n directory: \"\"\n pidfile: \"\"\n\
         use-syslog: no\n do-daemonize: no\n num-threads: 1\n cache-max-ttl: 0\n\
         module-config: \"iterator\"\n rrset-roundrobin: no\n minimal-responses: no\n\
         access-control: 0.0.0.0/0 allow_snoop\n ede: yes\n deny-any: yes\n\
         identity: \"un\"\n version: \"bound\"\n nsid: ascii_un-one\n\
         local-zone: \"blocked.test.\" always_refuse\n\
         local-zone: \"ads.example.\" always_nxdomain\n\
         local-data: \"router.home. 3600 IN A 192.168.1.1\"\n"
            .to_owned();
    for address in UNBOUND {
        let _ = writeln!(configuration, " interface: {address}");
    }
    for port in PORTS {
        let _ = writeln!(configuration, " interface: 127.0.0.1@{port}");
    }
    configuration.push_str("forward-zone:\n name: \".\"\n forward-addr: 8.8.8.8\n");
    let path = folder.join("unbound.conf");
    fs::write(&path, configuration).unwrap();
    serve("unbound", &["-d", "-c", path.to_str().unwrap()]);
}

fn dnsmasq() {
    let mut arguments = [
        "--keep-in-foreground",
        "--conf-file=/dev/null",
        "--no-resolv",
        "--no-hosts",
        "--user=root",
        "--pid-file=",
        "--bind-interfaces",
        "--cache-size=0",
        "--server=8.8.8.8",
        "--local=/lan/",
        "--host-record=printer.lan,192.168.1.9,fd00::9,600",
        "--address=/wild.lan/192.168.1.77",
        "--txt-record=txt.lan,v=spf1 a -all",
        "--mx-host=lan,mail.lan,10",
        "--srv-host=_ldap._tcp.lan,dc.lan,389",
        "--cname=alias.lan,printer.lan",
    ]
    .map(str::to_owned)
    .to_vec();
    arguments.extend(DNSMASQ.iter().map(|it| format!("--listen-address={it}")));
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    serve("dnsmasq", &arguments);
}

/// Started here, ended with the namespace.
fn serve(program: &str, arguments: &[&str]) {
    let mut server = Command::new(program_path(program).unwrap())
        .args(arguments)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    std::thread::spawn(move || server.wait());
}

fn wait_for(address: &str) {
    let server = format!("@{address}");
    let probe = [&server, "example.test", "+tries=1", "+time=1"];
    for _ in 0..100 {
        let answered = Command::new("/usr/bin/dig").args(probe).output().unwrap();
        if answered.status.success() {
            return;
        }
        std::thread::sleep(Duration::from_millis(100));
    }
    panic!("no server on {address}");
}
