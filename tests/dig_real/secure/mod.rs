//! DNS over TLS and HTTPS, with authorities made for the test.
//!
//! The servers hand every query to BIND's, so a reply behind TLS must be the
//! one that comes over TCP, and the one that BIND's `dig +tls` and `+https`
//! show. `SSL_CERT_FILE` names the authority.

mod answers;
mod anyone;
mod certificates;
mod entered;
mod options;
mod serve;

use std::net::Ipv4Addr;
use std::path::Path;
use std::sync::Arc;

use libtest_mimic::{Failed, Trial};

use self::certificates::{Authority, Kind, Leaf};
use self::serve::{Dot, Http};
use crate::compare;

/// What the wording of certificates begins with.
const TLS: &str = "TLS peer certificate verification failed: ";

/// The name of the server where all is well.
pub(crate) const HOSTS: &str = "127.90.0.1 dns.secure.test\n";

/// A server and what kdns says of it.
struct Scene {
    name: &'static str,
    leaf: Leaf,
    server: Server,
    /// `SERVER` is its address.
    word: &'static str,
    /// What is said after `failed: ` or `communications error to PEER: `.
    said: &'static str,
}

#[derive(Clone, Copy)]
enum Server {
    Dot(Dot),
    Http(Http),
    Nobody,
}

/// Of the network of scene `at`.
fn address(at: usize) -> Ipv4Addr {
    Ipv4Addr::new(127, 90, 0, u8::try_from(at).unwrap())
}

fn scene(
    name: &'static str,
    leaf: Leaf,
    server: Server,
    word: &'static str,
    said: &'static str,
) -> Scene {
    Scene {
        name,
        leaf,
        server,
        word,
        said,
    }
}

fn bad_certificates() -> Vec<Scene> {
    let unknown = "neither an authority that browsers trust nor one of SSL_CERT_FILE has signed it";
    let time = "it is not valid at this machine's time";
    let other = "it is for another name; write the server's own name behind @";
    let use_ = "it is made for another use, or cannot be read";
    let kinds = [
        ("of another name", Leaf::OtherName, other),
        ("that has expired", Leaf::Expired, time),
        ("of tomorrow", Leaf::Future, time),
        ("signed by itself", Leaf::SelfSigned, unknown),
        ("that is an authority's own", Leaf::Authority, unknown),
        ("of a client", Leaf::Client, use_),
        ("of a stranger", Leaf::Stranger, unknown),
    ];
    let mut scenes = Vec::new();
    for (name, leaf, said) in kinds {
        let dot = Server::Dot(Dot::Answers);
        let http = Server::Http(Http::Answers);
        scenes.push(scene(name, leaf, dot, "@tls://SERVER", said));
        scenes.push(scene(name, leaf, http, "@https://SERVER", said));
    }
    scenes
}

fn bad_servers() -> Vec<Scene> {
    let dot =
        |name, server, said| scene(name, Leaf::Good, Server::Dot(server), "@tls://SERVER", said);
    let http = |name, server, said| {
        scene(
            name,
            Leaf::Good,
            Server::Http(server),
            "@https://SERVER",
            said,
        )
    };
    let message = "what the server sends is no DNS message";
    let closed = |word| {
        let (leaf, server) = (Leaf::Good, Server::Nobody);
        scene("a closed port", leaf, server, word, "connection refused")
    };
    vec![
        closed("@tls://SERVER"),
        closed("@https://SERVER"),
        dot("hangs before the handshake", Dot::Silent, "timed out"),
        dot("hangs behind the handshake", Dot::Hangs, "timed out"),
        dot("ends behind the handshake", Dot::Ends, "end of file"),
        dot("ends before the handshake", Dot::Gone, "end of file"),
        dot("speaks without TLS", Dot::Plain, "TLS error"),
        http("hangs behind the handshake", Http::Hangs, "timed out"),
        http(
            "status 500",
            Http::Status(500),
            "the server answers with HTTP status 500",
        ),
        http(
            "status 404",
            Http::Status(404),
            "the server answers with HTTP status 404",
        ),
        http(
            "status 302",
            Http::Status(302),
            "the server answers with HTTP status 302",
        ),
        http("a web page", Http::Page, message),
        http("junk", Http::Junk, message),
        http("nothing", Http::Empty, message),
        http("more than a message", Http::Long, message),
        http(
            "HTTP/1.1",
            Http::Old,
            "the server speaks another protocol behind TLS",
        ),
        scene(
            "another path",
            Leaf::Good,
            Server::Http(Http::Answers),
            "@https://SERVER/nowhere",
            "the server answers with HTTP status 404",
        ),
    ]
}

/// Starts all servers, and makes the trials; what they need is in `folder`.
pub(crate) fn trials(folder: &Path, is_list: bool) -> Vec<Trial> {
    let authority = Arc::new(Authority::new(folder));
    let mut trials = Vec::new();
    let mut scenes = bad_certificates();
    scenes.extend(bad_servers());
    for (at, scene) in scenes.into_iter().enumerate() {
        let here = address(at + 10);
        if !is_list {
            start(&scene, here, &authority);
        }
        let scheme = if scene.word.contains("tls") {
            "tls"
        } else {
            "https"
        };
        let name = format!("secure {scheme}: {}", scene.name);
        let file = authority.file.clone();
        trials.push(Trial::test(name, move || fails(&scene, here, &file)));
    }
    trials.extend(answers::trials(&authority, is_list));
    trials.extend(anyone::trials(&authority, is_list));
    trials.extend(options::trials(&authority, folder, is_list));
    trials.extend(answers::files(&authority, folder));
    trials.extend(entered::trials(&authority, folder));
    trials
}

fn start(scene: &Scene, here: Ipv4Addr, authority: &Authority) {
    let chain = || {
        authority.chain(&Kind {
            leaf: scene.leaf,
            address: here,
        })
    };
    match scene.server {
        Server::Dot(dot) => serve::dot((here, 853), dot, &chain()),
        Server::Http(http) => serve::http((here, 443), http, &chain()),
        Server::Nobody => {}
    }
}

/// DNS over TLS and over HTTPS, with one certificate.
fn both(authority: &Authority, address: Ipv4Addr, leaf: Leaf) {
    let chain = authority.chain(&Kind { leaf, address });
    serve::dot((address, 853), Dot::Answers, &chain);
    serve::http((address, 443), Http::Answers, &chain);
}

/// One sentence says why, and the status is 9.
fn fails(scene: &Scene, here: Ipv4Addr, file: &str) -> Result<(), Failed> {
    let word = scene.word.replace("SERVER", &here.to_string());
    let words = [&word, "www.example.test", "+tries=1", "+time=2"];
    let output = compare::ours(&words, &[("SSL_CERT_FILE", file)])?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let lines: Vec<&str> = text.lines().filter(|it| it.starts_with(";; ")).collect();
    let lines: Vec<&str> = lines
        .into_iter()
        .filter(|it| !it.starts_with(";; global"))
        .collect();
    let is_certificate = lines.iter().any(|it| it.contains(TLS));
    let ending = scene.said;
    let says = |line: &&&str| line.trim_end_matches('.').ends_with(ending);
    let count = lines.iter().filter(says).count();
    let last = lines.last() == Some(&";; no servers could be reached");
    let is_right = is_certificate == (scene.leaf != Leaf::Good);
    if count == 1 && lines.len() == 2 && last && is_right && output.status.code() == Some(9) {
        return Ok(());
    }
    Err(format!(
        "not one `{ending}` with status 9: {:?}\n{text}",
        output.status.code()
    )
    .into())
}
