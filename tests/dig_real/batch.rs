//! Batch files: what is known is shown, and nothing is lost where little is
//! allowed.

use std::fs;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, UdpSocket};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use libtest_mimic::{Failed, Trial};

const KDNS: &str = env!("CARGO_BIN_EXE_kdns");
const NAMES: usize = 300;

pub(crate) fn trials(folder: &Path) -> Vec<Trial> {
    let files = [1, 2].map(|number| folder.join(format!("batch-{number}")));
    let [few, slow] = files;
    vec![
        Trial::test("batch: few descriptors are enough", move || {
            few_descriptors(&few)
        }),
        Trial::test("batch: an answer does not wait for later ones", move || {
            promptly(&slow)
        }),
        Trial::test("a server that never stops sending", endless),
        Trial::test("a transfer without an end", transfer),
        Trial::test("batch: of another program", || {
            from_another(
                "\"$0\" dig @127.0.0.1 +short -f <(for i in 1 2 3; do echo example.test MX; done)",
            )?;
            from_another(
                "yes example.test MX | head -n 3 | \"$0\" dig @127.0.0.1 +short -f /dev/stdin",
            )
        }),
    ]
}

/// What has come of a zone is shown, and not kept until all is there.
fn transfer() -> Result<(), Failed> {
    let server = TcpListener::bind("127.90.1.3:53")?;
    std::thread::spawn(move || {
        let (mut stream, _) = server.accept().unwrap();
        let mut query = [0; 512];
        let length = stream.read(&mut query).unwrap();
        let message = |kind: u8, data: &[u8], count: u16| {
            let mut message = query[2..length].to_vec();
            message[2] |= 0x80;
            message[6..8].copy_from_slice(&count.to_be_bytes());
            message[10..12].fill(0);
            // Behind the name come its type and class; no OPT follows.
            message.truncate(12 + b"\x01a\x04test\0".len() + 4);
            let head = [
                0xc0,
                12,
                0,
                kind,
                0,
                1,
                0,
                0,
                0,
                60,
                0,
                u8::try_from(data.len()).unwrap(),
            ];
            let record = [&head[..], data].concat();
            message.extend(record.repeat(count.into()));
            [
                &u16::try_from(message.len()).unwrap().to_be_bytes()[..],
                &message,
            ]
            .concat()
        };
        let soa = [&[0xc0, 12, 0xc0, 12][..], &[0; 20]].concat();
        let _ = stream.write_all(&message(6, &soa, 1));
        let addresses = message(1, &[192, 0, 2, 1], 900);
        while stream.write_all(&addresses).is_ok() {}
    });
    let mut child = Command::new(KDNS)
        .args(["dig", "@127.90.1.3", "a.test", "AXFR"])
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()?;
    let mut out = child.stdout.take().ok_or("no output")?;
    let (tell, told) = std::sync::mpsc::channel();
    std::thread::spawn(move || tell.send(out.read_exact(&mut vec![0; 1 << 18]).is_ok()));
    let is_shown = told.recv_timeout(Duration::from_secs(20));
    child.kill()?;
    child.wait()?;
    match is_shown {
        Ok(true) => Ok(()),
        Ok(false) => Err("it ends".into()),
        Err(_) => Err("nothing is shown".into()),
    }
}

/// Whoever sends what is no reply, without end, gains no time by it.
fn endless() -> Result<(), Failed> {
    let server = UdpSocket::bind("127.90.1.2:53")?;
    std::thread::spawn(move || {
        let mut query = [0; 512];
        let (length, from) = server.recv_from(&mut query).unwrap();
        query[0] ^= 1;
        query[2] |= 0x80;
        while server.send_to(&query[..length], from).is_ok() {
            std::thread::sleep(Duration::from_millis(100));
        }
    });
    let words = ["dig", "@127.90.1.2", "a.test", "+tries=1", "+time=1"];
    let mut child = Command::new(KDNS)
        .args(words)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .spawn()?;
    let began = Instant::now();
    while child.try_wait()?.is_none() {
        if began.elapsed() > Duration::from_secs(30) {
            child.kill()?;
            child.wait()?;
            return Err("it waits for ever".into());
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    let status = child.wait()?;
    if status.code() == Some(9) {
        return Ok(());
    }
    Err(format!("{status}").into())
}

/// Names that another program writes: three times the same.
fn from_another(script: &str) -> Result<(), Failed> {
    let output = Command::new("bash")
        .args(["-c", script, KDNS])
        .stdin(Stdio::null())
        .output()?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    if output.status.success() && text == "10 mail.example.test.\n20 mail2.other.test.\n".repeat(3)
    {
        return Ok(());
    }
    Err(format!("{text}{}", String::from_utf8_lossy(&output.stderr)).into())
}

fn few_descriptors(file: &PathBuf) -> Result<(), Failed> {
    fs::write(file, "example.test MX\n".repeat(NAMES))?;
    let script = r#"ulimit -n 24; exec "$0" dig @127.0.0.1 +short +inflight=512 -f "$1""#;
    let output = Command::new("sh")
        .args(["-c", script, KDNS])
        .arg(file)
        .stdin(Stdio::null())
        .output()?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let expected = "10 mail.example.test.\n20 mail2.other.test.\n".repeat(NAMES);
    if output.status.success() && text == expected {
        return Ok(());
    }
    let last = text.lines().last().unwrap_or_default().to_owned();
    Err(format!("{} lines, the last: {last}", text.lines().count()).into())
}

/// The second line asks somebody who says nothing for a while.
fn promptly(file: &PathBuf) -> Result<(), Failed> {
    let _silent = UdpSocket::bind("127.90.1.1:53")?;
    let lines = "@127.0.0.1 txt.example.test A +short\n@127.0.0.1 example.test MX +short\n\
                 @127.90.1.1 a.test +tries=1 +time=60\n";
    fs::write(file, lines)?;
    let mut child = Command::new(KDNS)
        .args(["dig", "-f"])
        .arg(file)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()?;
    let began = Instant::now();
    let mut line = String::new();
    let out = child.stdout.take().ok_or("no output")?;
    BufReader::new(out).read_line(&mut line)?;
    let elapsed = began.elapsed();
    child.kill()?;
    child.wait()?;
    if line == "10 mail.example.test.\n" && elapsed < Duration::from_secs(50) {
        return Ok(());
    }
    Err(format!("{line:?} after {elapsed:?}").into())
}
