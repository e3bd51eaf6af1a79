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

/// What is told when these two answer so.
fn told(varlink: &Speaks, bus: &Speaks) -> Result<Option<Told>, String> {
    let directory = tempfile::tempdir().unwrap();
    let sockets = Sockets {
        varlink: directory.path().join("varlink"),
        bus: directory.path().join("bus"),
    };
    speaker(&sockets.varlink, varlink);
    speaker(&sockets.bus, bus);
    let start = Instant::now();
    let told = ask(&sockets);
    let took = start.elapsed();
    assert!(took < LIMIT, "{took:?}");
    let folder = directory.path().to_str().unwrap();
    told.map_err(|reason| reason.replace(folder, ""))
}

fn varlink_says(reply: &[u8]) -> Result<Option<Told>, String> {
    told(&Speaks::This(reply.to_vec()), &Speaks::Nobody)
}

#[test]
fn it_tells_on_its_socket() {
    let reply =
        b"{\"parameters\":{\"configuration\":[{\"servers\":[{\"address\":[192,0,2,1]}]}]}}\0{";
    let told = varlink_says(reply).unwrap().unwrap();
    let servers: Vec<String> = told
        .global
        .servers
        .iter()
        .map(|it| it.value.to_string())
        .collect();
    assert_eq!(servers, ["192.0.2.1"]);
}

#[test]
fn where_nobody_can_be_asked_nothing_is_wrong() {
    assert_eq!(told(&Speaks::Nobody, &Speaks::Nobody), Ok(None));
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
    let reason = told(&Speaks::Nothing, &Speaks::Nobody).unwrap_err();
    let expected = "cannot ask systemd-resolved for its servers: /varlink: no answer in time; its files count alone";
    assert_eq!(reason, expected);
}

#[test]
fn a_bus_that_says_nothing_is_not_waited_for() {
    let reason = told(&Speaks::Nobody, &Speaks::Nothing).unwrap_err();
    assert!(reason.contains("/bus: no answer in time"), "{reason}");
    let reason = told(&Speaks::Nothing, &Speaks::Nothing).unwrap_err();
    assert!(
        reason.contains("/varlink: no answer in time; /bus: no answer in time"),
        "{reason}"
    );
}

#[test]
fn a_bus_that_says_odd_things_is_not_believed() {
    let mib = vec![b'A'; MAX_BYTES];
    let begun = [
        b"OK 00000000000000000000000000000000\r\n".as_slice(),
        &[0xff; 5000],
    ]
    .concat();
    let odd: [&[u8]; 5] = [b"", b"REJECTED\r\n", b"OK no\r\n", &mib, &begun];
    for reply in odd {
        let reason = told(&Speaks::Nobody, &Speaks::This(reply.to_vec())).unwrap_err();
        assert!(
            reason.starts_with("cannot ask systemd-resolved for its servers: /bus: "),
            "{reason}"
        );
    }
}
