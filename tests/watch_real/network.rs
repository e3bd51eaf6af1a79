//! Two network namespaces with a link between them, and what happens there.

use std::fs::File;
use std::net::{SocketAddr, UdpSocket};
use std::os::fd::AsFd as _;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use nix::sched::{CloneFlags, setns};

/// The client's address and the server's.
pub(crate) const CLIENT: &str = "10.77.0.1";
pub(crate) const SERVER: &str = "10.77.0.2";

/// A process that keeps a network namespace until this value is dropped.
#[derive(Debug)]
pub(crate) struct Namespace(Child);

impl Namespace {
    fn new() -> Self {
        let mut command = Command::new("unshare");
        command.args(["--net", "--kill-child", "--fork", "sleep", "600"]);
        command.stdin(Stdio::null()).stdout(Stdio::null());
        let own = namespace_of("self").unwrap();
        let namespace = Self(command.spawn().unwrap());
        let until = Instant::now() + Duration::from_secs(10);
        // The process has it once it is another one than this one's.
        while namespace_of(&namespace.pid()).is_none_or(|it| it == own) {
            assert!(Instant::now() < until, "no namespace");
            thread::sleep(Duration::from_millis(5));
        }
        namespace
    }

    pub(crate) fn pid(&self) -> String {
        self.0.id().to_string()
    }

    /// Runs `work` on a thread that is there.
    pub(crate) fn within<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> JoinHandle<T> {
        let file = File::open(format!("/proc/{}/ns/net", self.pid())).unwrap();
        thread::spawn(move || {
            setns(file.as_fd(), CloneFlags::CLONE_NEWNET).unwrap();
            work()
        })
    }

    /// Runs a program there.
    pub(crate) fn command(&self, program: &str) -> Command {
        let mut command = Command::new("nsenter");
        command.args(["--net", "--target", &self.pid(), "--", program]);
        command
    }

    pub(crate) fn run(&self, line: &str) {
        let mut words = line.split(' ');
        let mut command = self.command(words.next().unwrap());
        let output = command.args(words).output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{line}: {said}");
    }
}

impl Drop for Namespace {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn namespace_of(process: &str) -> Option<String> {
    let link = std::fs::read_link(format!("/proc/{process}/ns/net")).ok()?;
    Some(link.to_str()?.to_owned())
}

/// A client and a server, each in a namespace.
#[derive(Debug)]
pub(crate) struct Pair {
    pub(crate) client: Namespace,
    pub(crate) server: Namespace,
}

impl Pair {
    pub(crate) fn new() -> Self {
        let (client, server) = (Namespace::new(), Namespace::new());
        let link = format!(
            "ip link add kdns-c netns {} type veth peer name kdns-s netns {}",
            client.pid(),
            server.pid()
        );
        client.run(&link);
        for (namespace, name, address) in [(&client, "kdns-c", CLIENT), (&server, "kdns-s", SERVER)]
        {
            namespace.run(&format!("ip address add {address}/24 dev {name}"));
            namespace.run(&format!("ip link set {name} up"));
            namespace.run("ip link set lo up");
        }
        Self { client, server }
    }

    /// Answers every query at the server with `answer` until the value is dropped.
    pub(crate) fn serve(&self, answer: fn(&[u8]) -> Option<Vec<u8>>) -> Serving {
        let stop = Arc::new(AtomicBool::new(false));
        let stopped = stop.clone();
        let (ready, is_ready) = std::sync::mpsc::channel();
        let thread = self.server.within(move || {
            let socket = UdpSocket::bind((SERVER, 53)).unwrap();
            let wait = Duration::from_millis(50);
            socket.set_read_timeout(Some(wait)).unwrap();
            ready.send(()).unwrap();
            let mut buffer = [0; 4096];
            while !stopped.load(Ordering::Relaxed) {
                let Ok((length, from)) = socket.recv_from(&mut buffer) else {
                    continue;
                };
                if let Some(reply) = answer(&buffer[..length]) {
                    let _ = socket.send_to(&reply, from);
                }
            }
        });
        is_ready.recv().unwrap();
        Serving(stop, Some(thread))
    }
}

/// A server that runs.
pub(crate) struct Serving(Arc<AtomicBool>, Option<JoinHandle<()>>);

impl Drop for Serving {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
        let _ = self.1.take().unwrap().join();
    }
}

/// A query with this id for the A records of `name`.
pub(crate) fn query(id: u16, name: &str) -> Vec<u8> {
    let mut message = id.to_be_bytes().to_vec();
    message.extend(b"\x01\0\0\x01\0\0\0\0\0\0");
    for label in name.split('.') {
        message.push(u8::try_from(label.len()).unwrap());
        message.extend(label.as_bytes());
    }
    message.extend(b"\0\0\x01\0\x01");
    message
}

/// An answer with one address.
#[expect(clippy::unnecessary_wraps, reason = "called like those beside it")]
pub(crate) fn answer(query: &[u8]) -> Option<Vec<u8>> {
    let mut reply = query.to_vec();
    reply[2] |= 0x80;
    reply[7] = 1;
    reply.extend(b"\xc0\x0c\0\x01\0\x01\0\0\0\x1e\0\x04\x0a\x01\x02\x03");
    Some(reply)
}

/// Asks `server` for so many names one after the other; how many were answered.
pub(crate) fn ask(server: SocketAddr, count: u16) -> u16 {
    let mut answered = 0;
    for id in 0..count {
        let socket = UdpSocket::bind("0.0.0.0:0").unwrap();
        socket.connect(server).unwrap();
        let wait = Duration::from_secs(2);
        socket.set_read_timeout(Some(wait)).unwrap();
        socket.send(&query(id, &format!("n{id}.example"))).unwrap();
        let mut buffer = [0; 512];
        answered += u16::from(socket.recv(&mut buffer).is_ok());
    }
    answered
}
