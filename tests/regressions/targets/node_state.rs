//! What a node says of itself in files that others write: logs, the state of
//! container runtimes, `/proc`, programs.

use kdns::check_loop::log;
use kdns::node::{addresses, cgroup, kernel, logs, mountinfo, runtime, stat};
use kdns::program::{self, Program, elf, go, maps};
use kdns::render;
use kdns::scenario::Scenario;
use kdns::text::Source;

use super::{head, possible, printable, source};

/// The first line is `log`, `oci`, `docker`, `containerd`, `mountinfo`,
/// `cgroup`, `stat`, `kernel`, `addresses`, `elf`, `go` or `process`; the rest
/// is the file.
pub(crate) fn run(data: &[u8]) {
    let (kind, bytes) = head(data);
    match kind {
        b"log" => log(&source("f", bytes)),
        b"oci" => drop(runtime::oci(&"0a".repeat(32), bytes)),
        b"docker" => drop((runtime::docker(bytes), runtime::docker_root(bytes))),
        b"containerd" => drop(format!("{:?}", runtime::containerd::directories(bytes))),
        b"mountinfo" => mounts(bytes),
        b"cgroup" => groups(bytes),
        b"stat" => drop((stat::parse(bytes), stat::namespace("net", bytes))),
        b"kernel" => tables(bytes),
        b"addresses" => {
            let interfaces = addresses::interfaces(bytes, bytes, bytes);
            assert!(interfaces.len() <= bytes.len());
            assert!(addresses::parse(bytes, bytes).is_sorted());
        }
        b"go" => drop(go::parse_build(bytes, |at, length| {
            let start = usize::try_from(at).ok()?;
            let end = start.checked_add(usize::try_from(length).ok()?)?;
            Some(bytes.get(start..end)?.to_vec())
        })),
        b"process" => process(bytes),
        _ => executable(bytes),
    }
}

fn log(log: &Source) {
    for seen in log::sightings(log) {
        printable(&seen.text);
        possible(&seen.place, &log.bytes);
    }
    logs::first_time(log);
    logs::last_time(log);
    let text = String::from_utf8_lossy(&log.bytes);
    let names: Vec<&str> = text.lines().collect();
    assert!(logs::newest(&names).len() <= 2);
    for name in names {
        drop((logs::link(name), logs::pod(name), logs::start(name)));
    }
}

fn mounts(bytes: &[u8]) {
    drop(format!("{:?}", mountinfo::pod(bytes)));
    let found = mountinfo::network_namespaces(bytes);
    assert!(found.len() <= bytes.len());
}

fn groups(bytes: &[u8]) {
    let prefix = cgroup::Prefix::of_init(bytes);
    drop(cgroup::membership(bytes, &prefix));
    drop(cgroup::membership(bytes, &cgroup::Prefix::default()));
    cgroup::is_silent(bytes);
}

fn tables(bytes: &[u8]) {
    drop(kernel::statistics("f", bytes));
    drop(kernel::flows("f", bytes));
    drop(kernel::services("f", bytes));
    drop(kernel::service_flows("f", bytes));
    drop(addresses::interface_names(bytes));
}

fn process(bytes: &[u8]) {
    let mut program = Program {
        path: String::from_utf8_lossy(head(bytes).0).into_owned(),
        libraries: maps::libraries(bytes),
        env: program::environment(bytes),
        ..Program::default()
    };
    let text = String::from_utf8_lossy(bytes);
    program.arguments = text.split('\0').map(str::to_owned).collect();
    for path in &program.libraries {
        maps::libc_of(path);
    }
    let choice = program::choose(&program, &Scenario::new("fuzz", "web"));
    printable(&render::program::choice(&choice));
}

fn executable(bytes: &[u8]) {
    let Some(found) = elf::parse_executable(bytes) else {
        return;
    };
    found.interpreter.iter().for_each(|it| printable(it));
    let program = Program {
        path: "/app".to_owned(),
        executable: Some(found),
        ..Program::default()
    };
    let choice = program::choose(&program, &Scenario::new("fuzz", "web"));
    printable(&render::program::choice(&choice));
}
