//! BIND's dig and `kdns dig` side by side, against BIND's own server.
//!
//! `testdata/dig/commands.txt` has the command lines. Ids, times and cookies
//! differ, as they must; nothing else may. Without dig and named the trials
//! are ignored, with `KDNS_REQUIRE_REAL=1` that is a failure.

#![expect(clippy::unwrap_used, reason = "a test may stop at the first surprise")]

use std::fmt::Write as _;
use std::fs;
use std::net::UdpSocket;
use std::path::Path;
use std::process::{Child, Command, ExitCode, Stdio};
use std::time::Duration;

use libtest_mimic::{Arguments, Failed, Trial};

/// Lines on which kdns differs from dig on purpose.
const OWN: &[&str] = &["-x @S 10.0.0.1"];

fn main() -> ExitCode {
    let arguments = Arguments::from_args();
    let is_there = |program: &str| Path::new(program).exists();
    let has_all = is_there("/usr/bin/dig") && is_there("/usr/sbin/named");
    let required = std::env::var_os("KDNS_REQUIRE_REAL").is_some_and(|value| value == "1");
    if !has_all && !required {
        let trial = Trial::test("dig_real (needs dig and named)", || Ok(()));
        return libtest_mimic::run(&arguments, vec![trial.with_ignored_flag(true)]).exit_code();
    }
    let folder = tempfile::tempdir().unwrap();
    let port = free_port();
    let mut server = named(folder.path(), port);
    let commands = include_str!("../../testdata/dig/commands.txt");
    let lines = commands
        .lines()
        .filter(|line| !line.is_empty() && !line.starts_with('#') && !OWN.contains(line));
    let trials = lines
        .map(|line| Trial::test(format!("dig {line}"), move || compare(line, port)))
        .collect();
    let conclusion = libtest_mimic::run(&arguments, trials);
    server.kill().unwrap();
    server.wait().unwrap();
    conclusion.exit_code()
}

/// A port that nobody has, as a moment ago nobody had it.
fn free_port() -> u16 {
    let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
    socket.local_addr().unwrap().port()
}

fn named(folder: &Path, port: u16) -> Child {
    let path = |name: &str| folder.join(name).display().to_string();
    let mut zone = include_str!("../../testdata/dig/example.test.zone").to_owned();
    for last in 1..=95 {
        let _ = writeln!(zone, "big IN A 10.1.0.{last}");
    }
    let soa = "$TTL 60\n@ IN SOA ns1.example.test. h.example.test. 1 2 3 4 5\n\
               @ IN NS ns1.example.test.\n";
    let reverse = format!("{soa}1.0.0 IN PTR www.example.test.\n");
    let configuration = format!(
        "options {{ directory \"{}\"; listen-on port {port} {{ 127.0.0.1; }};\n\
         listen-on-v6 {{ none; }}; recursion no; pid-file none; session-keyfile none;\n\
         allow-transfer {{ any; }}; rrset-order {{ order none; }}; minimal-responses no;\n\
         server-id \"ns-one\"; version \"real\"; }};\ncontrols {{ }};\n\
         zone \"example.test\" {{ type primary; file \"{}\"; check-names ignore; }};\n\
         zone \"10.in-addr.arpa\" {{ type primary; file \"{}\"; }};\n\
         zone \"8.b.d.0.1.0.0.2.ip6.arpa\" {{ type primary; file \"{}\"; }};\n",
        folder.display(),
        path("forward"),
        path("reverse"),
        path("reverse6"),
    );
    fs::write(folder.join("forward"), zone).unwrap();
    fs::write(folder.join("reverse"), reverse).unwrap();
    fs::write(folder.join("reverse6"), soa).unwrap();
    fs::write(folder.join("named.conf"), configuration).unwrap();
    let child = Command::new("/usr/sbin/named")
        .args(["-c", &path("named.conf"), "-g"])
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let port = port.to_string();
    let probe = [
        "-p",
        &port,
        "@127.0.0.1",
        "example.test",
        "+tries=1",
        "+time=1",
    ];
    for _ in 0..50 {
        let answered = Command::new("/usr/bin/dig").args(probe).output().unwrap();
        if answered.status.success() {
            break;
        }
        std::thread::sleep(Duration::from_millis(100));
    }
    child
}

/// Status and text of both are the same.
fn compare(line: &str, port: u16) -> Result<(), Failed> {
    let port = port.to_string();
    let words = line
        .split(' ')
        .map(|word| word.trim_matches('\'').replace("@S", "@127.0.0.1"));
    let mut arguments = vec!["-p".to_owned(), port];
    arguments.extend(words);
    let run = |program: &str, first: &[&str]| {
        let output = Command::new(program)
            .args(first)
            .args(&arguments)
            .env("HOME", "/nonexistent")
            .env("TZ", "UTC")
            .output()
            .unwrap();
        (output.status.code(), plain(&output.stdout))
    };
    let dig = run("/usr/bin/dig", &[]);
    let ours = run(env!("CARGO_BIN_EXE_kdns"), &["dig"]);
    if dig == ours {
        return Ok(());
    }
    Err(format!(
        "dig: {:?}\n{}\nkdns: {:?}\n{}",
        dig.0, dig.1, ours.0, ours.1
    )
    .into())
}

/// The text without what differs from run to run.
fn plain(output: &[u8]) -> String {
    let text = String::from_utf8_lossy(output);
    let lines = text.lines().map(|line| {
        let cut = |before: &str| line.split_once(before).map(|(head, _)| head.to_owned());
        cut(";; Query time: ")
            .or_else(|| cut(";; WHEN: "))
            .or_else(|| cut("<<>> DiG"))
            .or_else(|| cut(", id: "))
            .or_else(|| cut("      id: "))
            .or_else(|| cut("COOKIE: "))
            .or_else(|| cut("!!timestamp"))
            // dig shows the address that it bound, which is none.
            .or_else(|| cut("query_address: "))
            .or_else(|| cut("query_port: "))
            .or_else(|| cut(" in ").filter(|_| line.contains(" ms")))
            .unwrap_or_else(|| line.to_owned())
    });
    lines.collect::<Vec<_>>().join("\n")
}
