//! The same from inside a target: the authority's file is the caller's.

use std::fs::File;
use std::net::TcpListener;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::mpsc::channel;
use std::thread;
use std::time::{Duration, Instant};

use libtest_mimic::{Failed, Trial};
use nix::sched::{CloneFlags, setns};

use super::certificates::{Authority, Kind, Leaf};
use super::serve::{self, Dot, Http};

pub(super) fn trials(authority: &Arc<Authority>, folder: &Path) -> Vec<Trial> {
    let (authority, folder) = (Arc::clone(authority), folder.to_owned());
    vec![Trial::test("secure nsenter", move || {
        inside(&authority, &folder)
    })]
}

/// In the target, nothing is where the file is for the caller; and in the
/// caller's network, nobody listens.
fn inside(authority: &Authority, folder: &Path) -> Result<(), Failed> {
    let script = format!(
        "mount -t tmpfs none {} && ip link set lo up && exec sleep 1000",
        folder.display()
    );
    let mut target = Command::new("unshare")
        .args(["--net", "--mount", "sh", "-ec", &script])
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .spawn()?;
    let result = serve_in(target.id(), authority).and_then(|()| digs(target.id(), authority));
    target.kill()?;
    target.wait()?;
    result
}

fn serve_in(pid: u32, authority: &Authority) -> Result<(), Failed> {
    let until = Instant::now() + Duration::from_secs(10);
    while std::fs::read_to_string(format!("/proc/{pid}/comm"))? != "sleep\n" {
        if Instant::now() > until {
            return Err("the target never sleeps".into());
        }
        thread::sleep(Duration::from_millis(5));
    }
    let namespace = File::open(format!("/proc/{pid}/ns/net"))?;
    let here = super::address(9);
    let (sender, bound) = channel();
    // Only this thread moves; a socket stays where it was made.
    thread::spawn(move || {
        setns(namespace, CloneFlags::CLONE_NEWNET).unwrap();
        let sockets = [853, 443].map(|port| TcpListener::bind((here, port)).unwrap());
        sender.send(sockets).unwrap();
    });
    let [dot, http] = bound.recv()?;
    let chain = || {
        authority.chain(&Kind {
            leaf: Leaf::Good,
            address: here,
        })
    };
    serve::serve_dot(dot, Dot::Answers, &chain());
    serve::serve_http(http, Http::Answers, &chain());
    Ok(())
}

fn digs(pid: u32, authority: &Authority) -> Result<(), Failed> {
    let here = super::address(9);
    let batch = Path::new(&authority.file).with_file_name("secure.batch");
    std::fs::write(
        &batch,
        format!(
            "@tls://{here} www.example.test\n@https://{here} www.example.test\n\
             @{here} www.example.test +https-get +tls-ca={}\n",
            authority.file
        ),
    )?;
    let batch = batch.display().to_string();
    let (tls, https) = (format!("@tls://{here}"), format!("@https://{here}"));
    let (plain, file) = (format!("@{here}"), format!("+tls-ca={}", authority.file));
    for words in [
        vec![tls.as_str(), "www.example.test"],
        vec![https.as_str(), "www.example.test"],
        vec![plain.as_str(), "www.example.test", file.as_str()],
        vec!["-f", batch.as_str()],
    ] {
        let output = Command::new(env!("CARGO_BIN_EXE_kdns"))
            .args(["nsenter", &pid.to_string(), "dig", "+short", "+tries=1"])
            .args(&words)
            .env("SSL_CERT_FILE", &authority.file)
            .output()?;
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        let lines = if words[0] == "-f" { 3 } else { 1 };
        if !output.status.success() || text != "10.0.0.1\n10.0.0.2\n".repeat(lines) {
            let err = String::from_utf8_lossy(&output.stderr).into_owned();
            return Err(format!("{words:?}: {text}{err}").into());
        }
    }
    Ok(())
}
