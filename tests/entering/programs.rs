//! Real programs, and the resolver that each of them has.

use std::fs;
use std::path::PathBuf;
use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};

use libtest_mimic::Trial;
use tempfile::TempDir;

use crate::lab::{Running, explains, kdns};
use crate::root::trial;

const C: &str = "#include <netdb.h>\n#include <unistd.h>\nint main(void){struct addrinfo*r;\
    if(getppid()==0)getaddrinfo(\"x\",0,0,&r);pause();return 0;}\n";
const GO: &str = "package main\nimport (\"net\";\"os\";\"time\")\n\
    func main(){ if len(os.Args)>9 { net.LookupHost(\"x\") }; time.Sleep(1000*time.Second) }\n";

pub(crate) fn trials() -> Vec<Trial> {
    let mut trials = compiled();
    trials.extend(interpreted());
    trials
}

fn compiled() -> Vec<Trial> {
    vec![
        trial("programs::glibc", &["sh", "sleep"], || {
            check(
                Command::new("sleep").arg("1000"),
                "its resolver is glibc: sleep has glibc 2.",
            );
        }),
        trial("programs::glibc, static", &["gcc"], || {
            check(
                &mut built("gcc", &["-static"]).command(),
                "its resolver is glibc: ",
            );
        }),
        trial("programs::musl", &["musl-gcc"], || {
            let program = built("musl-gcc", &[]);
            check(
                &mut program.command(),
                "its resolver is musl-1.2.3: program has musl 1.2.",
            );
        }),
        trial("programs::musl, static", &["musl-gcc"], || {
            let program = built("musl-gcc", &["-static", "-s"]);
            check(
                &mut program.command(),
                "its resolver is probably musl-1.2.5: ",
            );
        }),
        trial("programs::Go without cgo", &["go"], || {
            check(
                &mut built_go("0").command(),
                "without cgo there is only Go's resolver",
            );
        }),
        trial("programs::Go with cgo", &["go", "gcc"], || {
            let program = built_go("1");
            check(
                &mut program.command(),
                "it could ask libc, but nothing here tells it to",
            );
            let cgo = "its resolver is probably glibc: built with go1.";
            check(program.command().env("LOCALDOMAIN", ""), cgo);
            let forced = "GODEBUG has netdns=cgo";
            check(program.command().env("GODEBUG", "netdns=cgo+1"), forced);
            let own = "GODEBUG has netdns=go";
            check(program.command().env("GODEBUG", "netdns=go"), own);
        }),
    ]
}

fn interpreted() -> Vec<Trial> {
    vec![
        trial("programs::busybox", &["busybox"], || {
            check(
                Command::new("busybox").args(["sleep", "1000"]),
                "its resolver is glibc: ",
            );
        }),
        trial("programs::Python", &["python3"], || {
            let script = "import socket, time; time.sleep(1000)";
            check(
                Command::new("python3").args(["-c", script]),
                "its resolver is glibc: python3",
            );
        }),
        trial("programs::Node", &["node"], || {
            let script = "setTimeout(() => 0, 1e6)";
            check(
                Command::new("node").args(["-e", script]),
                "its dns.resolve asks c-ares, which never searches",
            );
        }),
        trial("programs::the JVM", &["java", "jshell"], || {
            let source = Temporary::new(
                "Program.java",
                "class Program { public static void main(String[] a) throws Exception { Thread.sleep(1000000); } }",
            );
            check(
                Command::new("java").arg(&source.path),
                "the JVM looks names up with glibc 2.",
            );
        }),
    ]
}

/// The program runs, and kdns says this about its resolver once it waits and
/// its libraries are mapped.
fn check(command: &mut Command, expected: &str) {
    let running = Running::start(command);
    let pid = running.pid();
    let until = Instant::now() + Duration::from_secs(20);
    let is_said = || {
        let (_, out, _) = kdns(&["explain", "db", "--target", &pid]);
        let words: Vec<&str> = out.split_whitespace().collect();
        words.join(" ").contains(expected)
    };
    while !is_said() && Instant::now() < until {
        thread::sleep(Duration::from_millis(100));
    }
    explains(&pid, &[expected]);
}

/// A file in a directory of its own, which goes with it.
struct Temporary {
    path: PathBuf,
    _directory: TempDir,
}

impl Temporary {
    fn new(name: &str, text: &str) -> Self {
        let directory = TempDir::new().unwrap();
        let path = directory.path().join(name);
        fs::write(&path, text).unwrap();
        Self {
            path,
            _directory: directory,
        }
    }

    fn command(&self) -> Command {
        Command::new(&self.path)
    }
}

fn built(compiler: &str, flags: &[&str]) -> Temporary {
    let mut file = Temporary::new("program.c", C);
    let program = file.path.with_file_name("program");
    run(Command::new(compiler)
        .args(flags)
        .arg("-o")
        .args([&program, &file.path]));
    file.path = program;
    file
}

fn built_go(cgo: &str) -> Temporary {
    let mut file = Temporary::new("program.go", GO);
    let program = file.path.with_file_name("program");
    run(Command::new("go")
        .args(["build", "-o"])
        .args([&program, &file.path])
        .env("CGO_ENABLED", cgo)
        .env("GOCACHE", file.path.with_file_name("cache"))
        .env("GO111MODULE", "off"));
    file.path = program;
    file
}

fn run(command: &mut Command) {
    let output = command.output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{command:?}: {said}");
}
