use std::net::Shutdown;
use std::os::unix::net::UnixListener;
use std::path::Path;

use super::*;

/// Longest that an engineer waits for somebody who does not answer.
const LIMIT: Duration = Duration::from_millis(500);

/// Who is behind a socket.
enum Speaks {
    /// Nobody.
    Nobody,
    /// One who takes the call and says nothing.
    Nothing,
    /// One who says this, and no more.
    This(Vec<u8>),
}

/// Answers one caller.
fn speaker(path: &Path, speaks: &Speaks) {
    let reply = match speaks {
        Speaks::Nobody => return,
        Speaks::Nothing => None,
        Speaks::This(reply) => Some(reply.clone()),
    };
    let listener = UnixListener::bind(path).unwrap();
    std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        if let Some(reply) = reply {
            let _ = stream.write_all(&reply);
            let _ = stream.shutdown(Shutdown::Write);
        }
        std::thread::sleep(LIMIT * 4);
    });
}

/// What is reported when it answers so.
fn reported(speaks: &Speaks) -> Result<Option<Reported>, String> {
    let directory = tempfile::tempdir().unwrap();
    let socket = directory.path().join("varlink");
    speaker(&socket, speaks);
    let start = Instant::now();
    let reported = ask(&socket);
    let took = start.elapsed();
    assert!(took < LIMIT, "{took:?}");
    let folder = directory.path().to_str().unwrap();
    reported.map_err(|reason| reason.replace(folder, ""))
}

fn varlink_says(reply: &[u8]) -> Result<Option<Reported>, String> {
    reported(&Speaks::This(reply.to_vec()))
}

#[test]
fn it_tells_on_its_socket() {
    let reply =
        b"{\"parameters\":{\"configuration\":[{\"servers\":[{\"address\":[192,0,2,1]}]}]}}\0{";
    let reported = varlink_says(reply).unwrap().unwrap();
    let servers: Vec<String> = reported
        .global
        .servers
        .iter()
        .map(|it| it.value.to_string())
        .collect();
    assert_eq!(servers, ["192.0.2.1"]);
}

#[test]
fn where_nobody_can_be_asked_nothing_is_wrong() {
    assert_eq!(reported(&Speaks::Nobody), Ok(None));
    let older = b"{\"error\":\"org.varlink.service.MethodNotFound\",\"parameters\":{}}\0";
    assert_eq!(varlink_says(older), Ok(None));
}

#[test]
fn odd_answers_are_said() {
    let mib = vec![b'['; MAX_BYTES + 10_000];
    let tests: [(&[u8], &str); 6] = [
        (b"", "the reply ends too early"),
        (b"{\"parameters\":", "the reply ends too early"),
        (&mib, "the reply is too long"),
        (b"{}\0", "the reply has no parameters"),
        (
            b"{\"error\":\"io.systemd.Broken\x1b[1m\"}\0",
            "the reply is not what it says usually: control character",
        ),
        (b"[1]\0", "the reply is not what it says usually: invalid"),
    ];
    for (reply, expected) in tests {
        let reason = varlink_says(reply).unwrap_err();
        let start = format!("cannot ask systemd-resolved for its servers: /varlink: {expected}");
        assert!(reason.starts_with(&start), "{reason}");
        assert!(reason.ends_with("; its files count alone"), "{reason}");
    }
}

#[test]
fn one_that_says_nothing_is_not_waited_for() {
    let reason = reported(&Speaks::Nothing).unwrap_err();
    let expected = "cannot ask systemd-resolved for its servers: /varlink: no answer in time; its files count alone";
    assert_eq!(reason, expected);
}
