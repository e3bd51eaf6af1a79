//! DNS servers: real ones that forward, and upstream servers by script.

use std::fs;
use std::io::{Read as _, Write as _};
use std::net::{IpAddr, TcpListener, TcpStream, UdpSocket};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use hickory_proto::op::{Message, MessageType, ResponseCode};

use super::Lab;

/// How an upstream server answers.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Upstream {
    /// NXDOMAIN to all.
    NoSuchName,
    /// The same after so long.
    Late(Duration),
    /// Never.
    Silent,
}

/// Starts an upstream server on port 53 of the address, in the network
/// namespace of a pod or the node's own.
pub(crate) fn upstream(pod: Option<&str>, address: &str, how: Upstream) -> Result<(), String> {
    let (pod, address) = (pod.map(str::to_owned), address.to_owned());
    let (ready, is_ready) = mpsc::channel();
    thread::spawn(move || {
        let entered = pod.map_or(Ok(()), |pod| super::enter(&pod));
        let at = (address.as_str(), 53);
        let bind = || Ok((UdpSocket::bind(at)?, TcpListener::bind(at)?));
        let bind = |()| bind().map_err(|e: std::io::Error| format!("{address}: {e}"));
        let opened = entered.and_then(bind);
        let _ = ready.send(opened.as_ref().map(|_| ()).map_err(Clone::clone));
        if let Ok((socket, listener)) = opened {
            thread::spawn(move || {
                for stream in listener.incoming().flatten() {
                    thread::spawn(move || answer_stream(stream, how));
                }
            });
            serve(&socket, how);
        }
    });
    is_ready.recv().map_err(|e| e.to_string())?
}

fn serve(socket: &UdpSocket, how: Upstream) {
    let mut buffer = [0; 2048];
    while let Ok((length, client)) = socket.recv_from(&mut buffer) {
        let Some(answer) = answer(&buffer[..length]) else {
            continue;
        };
        let Ok(socket) = socket.try_clone() else {
            return;
        };
        match how {
            Upstream::Silent => {}
            Upstream::NoSuchName => drop(socket.send_to(&answer, client)),
            Upstream::Late(delay) => drop(thread::spawn(move || {
                thread::sleep(delay);
                let _ = socket.send_to(&answer, client);
            })),
        }
    }
}

/// As many questions as come: unbound uses its connections again. One that is never
/// answered ends it.
fn answer_stream(mut stream: TcpStream, how: Upstream) -> Option<()> {
    loop {
        let mut length = [0; 2];
        stream.read_exact(&mut length).ok()?;
        let mut query = vec![0; usize::from(u16::from_be_bytes(length))];
        stream.read_exact(&mut query).ok()?;
        let answer = matches!(how, Upstream::NoSuchName).then(|| answer(&query))??;
        let length = u16::try_from(answer.len()).ok()?.to_be_bytes();
        stream
            .write_all(&[&length, answer.as_slice()].concat())
            .ok()?;
    }
}

fn answer(query: &[u8]) -> Option<Vec<u8>> {
    let mut message = Message::from_vec(query).ok()?;
    message.metadata.message_type = MessageType::Response;
    message.metadata.response_code = ResponseCode::NXDomain;
    message.metadata.recursion_available = true;
    message.to_vec().ok()
}

impl Lab {
    /// Starts `dnsmasq`, `unbound` or `named` on port 53 of `listen`, which
    /// forwards everything to `upstreams`, and waits until it listens.
    /// dnsmasq on `0.0.0.0` takes any address.
    pub(crate) fn server(
        &mut self,
        program: &str,
        pod: Option<&str>,
        listen: &str,
        upstreams: &[&str],
    ) -> Result<u32, String> {
        let file = format!("/etc/{program}-{}{listen}.conf", pod.unwrap_or_default());
        let folder = format!("/run/{program}-{listen}");
        fs::create_dir_all(&folder).map_err(|e| e.to_string())?;
        let text = match program {
            "dnsmasq" => dnsmasq(listen, upstreams),
            "unbound" => unbound(listen, upstreams),
            "unbound-tcp" => {
                let text = unbound(listen, upstreams);
                text.replace("server:", "server:\n  tcp-upstream: yes\n")
            }
            _ => {
                // named listens on addresses of interfaces only.
                let address = format!("{listen}/32");
                super::run("ip", &["addr", "replace", &address, "dev", "lo"])?;
                named(listen, upstreams, &folder)
            }
        };
        fs::write(&file, text).map_err(|e| format!("{file}: {e}"))?;
        let configuration = format!("--conf-file={file}");
        let arguments: &[&str] = match program {
            "dnsmasq" => &["-k", &configuration],
            "unbound" | "unbound-tcp" => &["-d", "-c", &file],
            _ => &["-g", "-c", &file],
        };
        let program = program.trim_end_matches("-tcp");
        let pid = self.spawn(pod, program, arguments)?;
        wait_for_listener(pid, listen)?;
        Ok(pid)
    }
}

fn dnsmasq(listen: &str, upstreams: &[&str]) -> String {
    let mut text = "user=root\nno-resolv\nno-hosts\npid-file\ncache-size=0\n".to_owned();
    if listen != "0.0.0.0" {
        text.extend(["bind-interfaces\nlisten-address=", listen, "\n"]);
    }
    for upstream in upstreams {
        text.extend(["server=", upstream, "\n"]);
    }
    text
}

fn unbound(listen: &str, upstreams: &[&str]) -> String {
    let mut text = format!(
        "server:\n  interface: {listen}\n  access-control: 0.0.0.0/0 allow\n  \
         access-control: ::/0 allow\n  do-not-query-localhost: no\n  username: \"\"\n  chroot: \"\"\n  \
         directory: \"/run\"\n  pidfile: \"\"\n  use-syslog: no\n  logfile: \"\"\n  \
         module-config: \"iterator\"\nremote-control:\n  control-enable: no\n\
         forward-zone:\n  name: \".\"\n"
    );
    for upstream in upstreams {
        text.extend(["  forward-addr: ", upstream, "\n"]);
    }
    text
}

fn named(listen: &str, upstreams: &[&str], folder: &str) -> String {
    let forwarders = upstreams.join("; ");
    format!(
        "options {{\n  directory \"{folder}\";\n  listen-on {{ {listen}; }};\n  \
         listen-on-v6 {{ none; }};\n  recursion yes;\n  allow-query {{ any; }};\n  \
         allow-recursion {{ any; }};\n  forward only;\n  forwarders {{ {forwarders}; }};\n  \
         dnssec-validation no;\n  pid-file none;\n  session-keyfile none;\n}};\ncontrols {{ }};\n"
    )
}

/// Waits until a UDP socket is bound to port 53 of the address, where the
/// process is.
pub(crate) fn wait_for_listener(pid: u32, address: &str) -> Result<(), String> {
    let address: IpAddr = address.parse().map_err(|_| format!("{address}?"))?;
    let (file, bytes) = match address {
        IpAddr::V4(four) => ("udp", four.octets().to_vec()),
        IpAddr::V6(six) => ("udp6", six.octets().to_vec()),
    };
    // Words of four bytes, as this machine has them.
    let word = |it: &[u8]| {
        it.iter()
            .rev()
            .fold(0, |all, byte| all << 8 | u32::from(*byte))
    };
    let words: Vec<String> = bytes
        .chunks(4)
        .map(|it| format!("{:08X}", word(it)))
        .collect();
    let wanted = format!(" {}:0035 ", words.concat());
    let begun = Instant::now();
    while begun.elapsed() < Duration::from_secs(10) {
        let sockets = fs::read_to_string(format!("/proc/{pid}/net/{file}"));
        if sockets.is_ok_and(|it| it.contains(&wanted)) {
            return Ok(());
        }
        thread::sleep(Duration::from_millis(10));
    }
    Err(format!("nobody listens on {address}: {}", super::logs()))
}
