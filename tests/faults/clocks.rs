//! A clock that jumps: what takes how long is told by one that never does.

use std::fs;
use std::net::UdpSocket;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use libtest_mimic::Trial;

use crate::lab::{Ended, KDNS};
use crate::root::trial;

pub(crate) fn trials() -> Vec<Trial> {
    let needs = ["cc"];
    vec![
        trial("clocks::a wall clock that jumps an hour", &needs, jumps),
        trial("clocks::a wall clock before 1970", &needs, before),
    ]
}

/// kdns with a C library whose wall clock each time says something else.
fn with_clock(body: &str, arguments: &[&str]) -> Option<Ended> {
    let folder = tempfile::tempdir().unwrap();
    let (code, library) = (folder.path().join("c.c"), folder.path().join("c.so"));
    let text = format!(
        "#define _GNU_SOURCE\n#include <time.h>\n#include <unistd.h>\n#include <sys/syscall.h>\n\
         int clock_gettime(clockid_t id, struct timespec *to) {{\n\
         static long calls;\nint result = syscall(SYS_clock_gettime, id, to);\n\
         if (id == CLOCK_REALTIME) {{ calls++; {body} }}\nreturn result;\n}}\n"
    );
    fs::write(&code, text).unwrap();
    let built = Command::new("cc")
        .args(["-shared", "-fPIC", "-o"])
        .args([&library, &code])
        .status();
    assert!(built.unwrap().success());
    let output = Command::new(KDNS)
        .args(arguments)
        .env("LD_PRELOAD", &library)
        .stdin(Stdio::null())
        .output()
        .unwrap();
    // A static kdns loads nothing: there is nothing to try.
    let is_static = !fs::read(KDNS)
        .unwrap()
        .windows(10)
        .any(|it| it == b"ld-linux-x");
    (!is_static).then(|| Ended::of(&output))
}

/// Two tries of a second at a silent server take two seconds.
#[track_caller]
fn takes_two_seconds(body: &str) {
    let silent = UdpSocket::bind("127.0.0.1:0").unwrap();
    let port = silent.local_addr().unwrap().port().to_string();
    let words = [
        "dig",
        "@127.0.0.1",
        "-p",
        &port,
        "+time=1",
        "+tries=2",
        "web.test",
    ];
    let begun = Instant::now();
    let Some(ended) = with_clock(body, &words) else {
        return;
    };
    let took = begun.elapsed();
    assert_eq!(ended.status, 9, "{ended:?}");
    assert!(took >= Duration::from_secs(2), "{took:?}");
    assert!(took < Duration::from_secs(15), "{took:?}");
    assert!(!ended.err.contains("panicked"), "{ended:?}");
}

fn jumps() {
    takes_two_seconds("to->tv_sec += (calls % 2 ? 3600 : -3600);");
}

fn before() {
    takes_two_seconds("to->tv_sec = -1000 - calls;");
}
