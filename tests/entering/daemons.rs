//! Daemons with a resolver of their own, and what kdns reads of their configuration.

use std::fs;
use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};

use libtest_mimic::Trial;
use tempfile::TempDir;

use crate::lab::{Running, explains};
use crate::root::{program, trial};

pub(crate) fn trials() -> Vec<Trial> {
    vec![
        trial("daemons::nginx", &["unshare", "nginx"], nginx),
        trial("daemons::nginx without", &["unshare", "nginx"], plain_nginx),
        trial("daemons::HAProxy", &["unshare", "haproxy"], haproxy),
    ]
}

const NGINX: &str = "pid DIR/pid; error_log DIR/log; events { worker_connections 16; }\n\
    http {\naccess_log off; client_body_temp_path DIR/a; proxy_temp_path DIR/b; fastcgi_temp_path DIR/c;\n\
    uwsgi_temp_path DIR/d; scgi_temp_path DIR/e;\ninclude conf.d/*.conf;\n}\n";
const SERVER: &str = "server { listen unix:DIR/socket; }\n";
const RESOLVER: &str = "resolver 10.96.0.10 [fd00::10]:5353 valid=30s ipv6=off;\n";

fn nginx() {
    let files = Files::of(&[
        ("nginx.conf", NGINX),
        ("conf.d/a.conf", SERVER),
        ("conf.d/b.conf", RESOLVER),
    ]);
    let master = files.start(
        "nginx -c DIR/nginx.conf -p DIR -e DIR/log -g",
        &["daemon off;"],
    );
    let worker = child(&master);
    let place = files
        .put("/proc/PID/rootDIR/conf.d/b.conf:1:1")
        .replace("PID", &master.pid());
    let said = format!(
        "{place}: nginx' `resolver` of http: 10.96.0.10, fd00::10#5353; valid=30s, ipv6=off;"
    );
    // A worker's command line says nothing of a file.
    for pid in [master.pid(), worker] {
        let query = "nginx 1.22.1: 1 query to 10.96.0.10, then fd00::10#5353 if it fails";
        explains(&pid, &[query, &said, "its resolver is probably nginx: "]);
    }
}

fn plain_nginx() {
    let files = Files::of(&[("nginx.conf", NGINX), ("conf.d/a.conf", SERVER)]);
    let master = files.start(
        "nginx -c DIR/nginx.conf -p DIR -e DIR/log -g",
        &["daemon off;"],
    );
    child(&master);
    let said = files.put(
        "DIR/nginx.conf or the 1 files that it leads to: names are looked up once, when it starts, by the C library",
    );
    explains(
        &master.pid(),
        &[
            "nginx has no `resolver` in ",
            &said,
            "its resolver is glibc: ",
        ],
    );
}

const HAPROXY: &str = "global\n maxconn 8\n chroot DIR\nresolvers cluster\n nameserver a 10.96.0.10:5353\n \
    nameserver b 10.96.0.11:53\n accepted_payload_size 4096\n timeout retry 2s\n hold valid 10s\n\
    frontend f\n mode http\n timeout client 1m\n bind unix@DIR/socket\n default_backend b\n\
    backend b\n mode http\n timeout connect 1s\n timeout server 1s\n \
    server web web.default.svc.cluster.local:80 check resolvers cluster init-addr none\n";

fn haproxy() {
    let files = Files::of(&[("a.cfg", HAPROXY)]);
    let master = files.start("haproxy -W -db -f DIR/a.cfg", &[]);
    let worker = child(&master);
    let root = format!("/proc/{}/root", master.pid());
    let said = files.put(
        "ROOTDIR/a.cfg:4:1: HAProxy's `resolvers cluster`: 10.96.0.10#5353, 10.96.0.11; accepted_payload_size 4096, \
         timeout retry 2s, hold valid 10s; used at ROOTDIR/a.cfg:19:62,",
    );
    let said = said.replace("ROOT", &root);
    // The worker has another root, without the file.
    for pid in [master.pid(), worker] {
        let query = "12 queries to 10.96.0.10#5353, 10.96.0.11 at once";
        explains(&pid, &[query, &said, "its resolver is probably haproxy: "]);
    }
}

/// Files in a directory of their own, `DIR` in texts.
struct Files(TempDir);

impl Files {
    fn of(files: &[(&str, &str)]) -> Self {
        let files_of = Self(TempDir::new().unwrap());
        for (name, text) in files {
            let path = files_of.0.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, files_of.put(text)).unwrap();
        }
        files_of
    }

    fn put(&self, text: &str) -> String {
        text.replace("DIR", self.0.path().to_str().unwrap())
    }

    /// A daemon in a network namespace of its own.
    fn start(&self, words: &str, more: &[&str]) -> Master {
        let words = self.put(words);
        let (name, arguments) = words.split_once(' ').unwrap();
        let mut command = Command::new("unshare");
        command.arg("--net").arg(program(name).unwrap());
        command.args(arguments.split(' ')).args(more);
        Master(Running::start(&mut command))
    }
}

/// A master that ends with its value, and its workers with it.
struct Master(Running);

impl Master {
    fn pid(&self) -> String {
        self.0.pid()
    }
}

impl Drop for Master {
    fn drop(&mut self) {
        // Killed, it would leave its workers behind.
        let _ = Command::new("kill").args(["-TERM", &self.pid()]).status();
        let until = Instant::now() + Duration::from_secs(5);
        while matches!(self.0.0.try_wait(), Ok(None)) && Instant::now() < until {
            thread::sleep(Duration::from_millis(10));
        }
    }
}

/// The worker of a daemon, once it is there.
fn child(master: &Master) -> String {
    let pid = master.pid();
    let until = Instant::now() + Duration::from_secs(20);
    loop {
        let path = format!("/proc/{pid}/task/{pid}/children");
        let text = fs::read_to_string(path).unwrap_or_default();
        if let Some(child) = text.split_whitespace().next() {
            // It changes its root and its name first.
            thread::sleep(Duration::from_millis(300));
            return child.to_owned();
        }
        assert!(Instant::now() < until, "{pid} has no worker");
        thread::sleep(Duration::from_millis(20));
    }
}
