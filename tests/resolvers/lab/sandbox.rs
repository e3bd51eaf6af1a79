//! The child: one scenario and one resolver, in namespaces of their own.

use std::fmt::Write as _;
use std::fs::{self, File};
use std::io::Write;
use std::net::IpAddr;
use std::os::unix::fs::symlink;
use std::os::unix::process::ExitStatusExt;
use std::path::{Component, Path};
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use nix::mount::{MsFlags, mount};
use nix::sched::{CloneFlags, unshare};

use super::observation::{Observation, Outcome, Query, Scenario, Timing};
use super::outcomes::Output;
use super::programs::{How, ResolverId};
use super::rules::{Reply, Rule};
use super::server::{Server, TcpAt};
use super::{real, resolved};

/// Everything the lab owns in the sandbox; /run is an empty tmpfs there.
const LAB: &str = "/run/lab";

/// The modules of nsswitch.conf that are not glibc's.
pub(super) const MODULES: &str = "/run/lab/nss";

/// What is never the host's below /etc, even where the scenario has none.
const REPLACED: [&str; 4] = ["systemd", "resolv.conf", "hosts", "nsswitch.conf"];

/// Time for the last packets to be recorded.
const SETTLE: Duration = Duration::from_millis(15);

/// Makes the namespaces with everything in them, as a test whether that can be done here.
pub(crate) fn check() -> Result<(), String> {
    let scenario: Scenario =
        serde_json::from_str(r#"{"name": "check"}"#).map_err(|e| e.to_string())?;
    enter(&scenario, How::Program)?;
    Server::start(&scenario.answers, &TcpAt::Everywhere).map(|_| ())
}

/// Moves this process into namespaces that look as the scenario says.
fn enter(scenario: &Scenario, how: How) -> Result<(), String> {
    let flags = CloneFlags::CLONE_NEWNS | CloneFlags::CLONE_NEWNET | CloneFlags::CLONE_NEWUTS;
    unshare(flags).map_err(|e| format!("unshare: {e}"))?;
    nix::unistd::sethostname(&scenario.hostname).map_err(|e| format!("host name: {e}"))?;
    check_names(scenario).map_err(|e| format!("files: {e}"))?;
    files(scenario, how).map_err(|e| format!("files: {e}"))?;
    network(&scenario.answers)
}

/// Runs the resolver in this process's new namespaces. Only for the child that was started for it.
pub(crate) fn run(scenario: &Scenario, resolver: ResolverId) -> Result<Observation, String> {
    record(scenario, resolver.as_str(), resolver.how(), || {
        ask(scenario, resolver)
    })
}

/// The same for anything else that asks.
pub(crate) fn record(
    scenario: &Scenario,
    id: &str,
    how: How,
    ask: impl FnOnce() -> Result<Outcome, String>,
) -> Result<Observation, String> {
    enter(scenario, how)?;
    let server = Server::start(&scenario.answers, &tcp(scenario, how))?;
    let mut daemon = match how {
        How::Program => None,
        how => {
            let daemon = id.parse::<ResolverId>()?.daemon(&real::folder());
            let daemon = daemon.ok_or("no systemd-resolved")?;
            Some(resolved::start(daemon, how == How::Stub)?)
        }
    };
    let begun = Instant::now();
    let outcome = ask();
    let took = begun.elapsed();
    thread::sleep(SETTLE);
    let (queries, trouble) = server.recorded();
    if let Some(daemon) = &mut daemon {
        let _ = daemon.kill();
        let _ = daemon.wait();
    }
    let mut outcome = outcome?;
    if !trouble.is_empty() {
        outcome = outcome.with("lab", trouble.join("; "));
    }
    let mut observation = Observation::failed(&scenario.id, id, "");
    observation.timing = timing(&queries, took);
    observation.queries = queries.into_iter().map(|(q, _)| q).collect();
    observation.outcome = outcome;
    observation.stub_resolv_conf = (how == How::Stub).then(resolved::stub_file);
    Ok(observation)
}

fn ask(scenario: &Scenario, resolver: ResolverId) -> Result<Outcome, String> {
    let limit = scenario.limit(resolver.as_str());
    let outcome = if resolver.how() == How::Varlink {
        resolved::resolve(scenario, limit)?
    } else {
        call(&mut resolver.command(scenario, &real::folder()), limit)?
            .map(|output| resolver.outcome(&output))
    };
    Ok(outcome.unwrap_or_else(|| {
        Outcome::error("STILL_RUNNING_AT_LIMIT").with("limit_s", limit.as_secs())
    }))
}

/// Runs a program to its end or to the limit (`None`).
fn call(command: &mut Command, limit: Duration) -> Result<Option<Output>, String> {
    let error = |e: std::io::Error| format!("{command:?}: {e}");
    let paths = [format!("{LAB}/stdout"), format!("{LAB}/stderr")];
    let [out, err] = [
        File::create(&paths[0]).map_err(error)?,
        File::create(&paths[1]).map_err(error)?,
    ];
    let mut child = command
        .stdin(Stdio::null())
        .stdout(out)
        .stderr(err)
        .spawn()
        .map_err(|e| format!("starting: {e}"))?;
    let end = Instant::now() + limit;
    let status = loop {
        if let Some(status) = child.try_wait().map_err(|e| e.to_string())? {
            break status;
        }
        if Instant::now() >= end {
            let _ = child.kill();
            let _ = child.wait();
            return Ok(None);
        }
        thread::sleep(Duration::from_millis(3));
    };
    let read =
        |path: &String| String::from_utf8_lossy(&fs::read(path).unwrap_or_default()).into_owned();
    let status = status
        .code()
        .unwrap_or_else(|| -status.signal().unwrap_or(1));
    Ok(Some(Output {
        status,
        stdout: read(&paths[0]),
        stderr: read(&paths[1]),
    }))
}

fn timing(queries: &[(Query, Instant)], took: Duration) -> Timing {
    let ms = |d: Duration| u64::try_from(d.as_millis()).unwrap_or(u64::MAX);
    let first = queries.first().map(|(_, at)| *at);
    let since = |at: &Instant| first.map_or(0, |f| ms(at.saturating_duration_since(f)));
    Timing {
        ms_min: ms(took),
        ms_max: ms(took),
        t_ms: queries.iter().map(|(_, at)| since(at)).collect(),
    }
}

/// Gives the process mounts and a /run of its own.
fn private_run() -> std::io::Result<()> {
    let nothing: Option<&str> = None;
    mount(
        nothing,
        "/",
        nothing,
        MsFlags::MS_REC | MsFlags::MS_PRIVATE,
        nothing,
    )?;
    mount(
        Some("tmpfs"),
        "/run",
        Some("tmpfs"),
        MsFlags::MS_NOSUID | MsFlags::MS_NODEV,
        Some("mode=755"),
    )?;
    Ok(())
}

/// Gives the process an /etc and a /run of its own.
fn files(scenario: &Scenario, how: How) -> std::io::Result<()> {
    let nothing: Option<&str> = None;
    private_run()?;
    let (old, new) = (format!("{LAB}/etc.old"), format!("{LAB}/etc"));
    fs::create_dir_all(&old)?;
    fs::create_dir(&new)?;
    mount(
        Some("/etc"),
        old.as_str(),
        nothing,
        MsFlags::MS_BIND | MsFlags::MS_REC,
        nothing,
    )?;
    let own = own_files(scenario, how);
    for entry in fs::read_dir("/etc")? {
        let name = entry?.file_name();
        let replaced = REPLACED.iter().any(|n| name == *n) || own.iter().any(|(n, _)| name == *n);
        if !replaced {
            symlink(Path::new(&old).join(&name), Path::new(&new).join(&name))?;
        }
    }
    for (name, bytes) in own {
        let path = Path::new(&new).join(name);
        fs::create_dir_all(path.parent().unwrap_or(&path))?;
        fs::write(path, bytes)?;
    }
    if how == How::Stub {
        symlink(
            "/run/systemd/resolve/stub-resolv.conf",
            Path::new(&new).join("resolv.conf"),
        )?;
    }
    fs::create_dir(format!("{new}/systemd"))?;
    fs::write(
        format!("{new}/systemd/resolved.conf"),
        resolved::configuration(scenario, how == How::Stub),
    )?;
    mount(
        Some(new.as_str()),
        "/etc",
        nothing,
        MsFlags::MS_BIND,
        nothing,
    )?;
    modules(scenario)?;
    if how != How::Program {
        runtime_folder()?;
    }
    Ok(())
}

/// The modules that the scenario has installed, in a folder of their own.
fn modules(scenario: &Scenario) -> std::io::Result<()> {
    let places = ["lib/x86_64-linux-gnu", "usr/lib/x86_64-linux-gnu"];
    let places = places.map(|it| real::folder().join("nss").join(it));
    fs::create_dir_all(MODULES)?;
    for (name, state) in &scenario.nss_modules {
        let file = format!("libnss_{name}.so.2");
        let own = places
            .iter()
            .map(|it| it.join(&file))
            .find(|it| it.is_file());
        match (state.as_str(), own) {
            ("missing", _) => {}
            ("installed", Some(own)) => symlink(own, Path::new(MODULES).join(file))?,
            _ => return Err(std::io::Error::other(format!("no {state} {file} here"))),
        }
    }
    Ok(())
}

/// Refuses files that are not below /etc: an absolute path, or one that leads up, would end in this machine's own folders.
fn check_names(scenario: &Scenario) -> std::io::Result<()> {
    let inside = |part: Component<'_>| matches!(part, Component::Normal(_));
    let outside = scenario
        .files
        .keys()
        .find(|name| !Path::new(name).components().all(inside));
    match outside {
        Some(name) => Err(std::io::Error::other(format!("{name} is not below /etc"))),
        None => Ok(()),
    }
}

/// The scenario's files below /etc; those that it says do not exist are left out.
fn own_files(scenario: &Scenario, how: How) -> Vec<(&str, Vec<u8>)> {
    let hosts = format!(
        "127.0.0.1 localhost\n::1 localhost ip6-localhost ip6-loopback\n10.244.1.5 {}\n",
        scenario.hostname
    );
    let nsswitch = "hosts: files dns\n".to_owned();
    let mut own = vec![("hostname", format!("{}\n", scenario.hostname).into_bytes())];
    let mut put = |name, text: Option<String>| {
        own.extend(text.map(|text| (name, text.into_bytes())));
    };
    put("hosts", scenario.hosts.clone().unwrap_or(Some(hosts)));
    let nsswitch = scenario.nsswitch.clone().unwrap_or(Some(nsswitch));
    put("nsswitch.conf", nsswitch);
    for (name, text) in &scenario.files {
        put(name, Some(text.clone()));
    }
    if how != How::Stub {
        let bytes = scenario.resolv_conf_bytes();
        own.extend(bytes.map(|bytes| ("resolv.conf", bytes)));
    }
    own
}

/// systemd-resolved's folder below /run, which systemd makes for its service.
fn runtime_folder() -> std::io::Result<()> {
    fs::create_dir_all("/run/systemd/resolve")?;
    let user = nix::unistd::User::from_name("systemd-resolve")?;
    let user = user.ok_or_else(|| std::io::Error::other("no user systemd-resolve"))?;
    nix::unistd::chown("/run/systemd/resolve", Some(user.uid), Some(user.gid))?;
    Ok(())
}

/// An interface, and every address of both families at home here, except the unreachable.
fn network(rules: &[Rule]) -> Result<(), String> {
    let mut batch = "link set lo up\n\
        link add name peer0 index 2 type veth peer name eth0 index 3\n\
        link set peer0 addrgenmode none\n\
        link set eth0 addrgenmode none\n\
        link set peer0 up\n\
        link set eth0 up\n\
        addr add 10.244.1.5/24 dev eth0\n\
        addr add fd00:244::5/64 dev eth0 nodad\n\
        addr add fe80::1/64 dev eth0 nodad\n\
        route add local 0.0.0.0/0 dev lo table local\n\
        route add local ::/0 dev lo table local\n"
        .to_owned();
    for server in rules
        .iter()
        .filter(|r| r.reply() == Reply::Unreachable)
        .filter_map(|r| r.server.as_ref())
    {
        let _ = writeln!(batch, "route replace unreachable {server} table local");
    }
    let mut ip = Command::new("ip")
        .args(["-batch", "-"])
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(|e| format!("ip: {e}"))?;
    ip.stdin
        .take()
        .ok_or("ip has no input")?
        .write_all(batch.as_bytes())
        .map_err(|e| format!("ip: {e}"))?;
    let output = ip.wait_with_output().map_err(|e| format!("ip: {e}"))?;
    if !output.status.success() {
        return Err(format!("ip: {}", String::from_utf8_lossy(&output.stderr)));
    }
    // IPv6 answers come from addresses that are local by a route only.
    fs::write("/proc/sys/net/ipv6/ip_nonlocal_bind", "1")
        .map_err(|e| format!("ip_nonlocal_bind: {e}"))
}

/// Where TCP listens: not at addresses with a closed port, and not at the stub's.
fn tcp(scenario: &Scenario, how: How) -> TcpAt {
    let closed: Vec<&Rule> = scenario
        .answers
        .iter()
        .filter(|r| r.reply() == Reply::Icmp && r.proto.as_deref() != Some("udp"))
        .collect();
    if closed.is_empty() && how != How::Stub {
        return TcpAt::Everywhere;
    }
    let file = scenario.resolv_conf.clone().unwrap_or_default();
    let mut open: Vec<IpAddr> = file
        .split_whitespace()
        .filter_map(|w| w.split('%').next()?.parse().ok())
        .collect();
    open.sort_unstable();
    open.dedup();
    let of = |r: &Rule, a: &IpAddr| r.server.as_ref().is_none_or(|s| *s == a.to_string());
    let lost = |a: &IpAddr| {
        scenario
            .answers
            .iter()
            .any(|r| r.reply() == Reply::Unreachable && of(r, a))
    };
    open.retain(|a| !a.is_unspecified() && !lost(a) && !closed.iter().any(|r| of(r, a)));
    TcpAt::Only(open)
}
