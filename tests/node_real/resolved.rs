//! systemd-resolved itself, in the forms that nodes have it, and dnsmasq as
//! NetworkManager starts it.

use std::fs;
use std::os::unix::fs::symlink;

use serde_json::Value;

use crate::lab::servers::{Upstream, upstream, wait_for_listener};
use crate::lab::{self, Case, Lab, Outcome, make_pod};
use crate::loops::{check_loop, kubelet_node, sights, text, write};

/// The servers outside the node.
const OUTSIDE: &str = "192.0.2.53";

const STUB_FILE: &str = "../run/systemd/resolve/stub-resolv.conf";
const UPLINK_FILE: &str = "../run/systemd/resolve/resolv.conf";

/// What a node with systemd-resolved is like, and what is found there.
struct Form {
    name: &'static str,
    /// Lines of resolved.conf.
    settings: &'static str,
    /// `/etc/resolv.conf`: where it links to, or what it says.
    link: Option<&'static str>,
    file: &'static str,
    verdict: &'static str,
    /// What the probe sees of the listener, if there is one.
    listener: Option<(&'static str, &'static str)>,
}

const STUB: &str = "127.0.0.53:53";

const FORMS: [Form; 7] = [
    Form {
        name: "stub",
        settings: "DNS=192.0.2.53\n",
        link: Some(STUB_FILE),
        file: "",
        verdict: "will loop",
        listener: Some((STUB, "not seen")),
    },
    Form {
        name: "uplink",
        settings: "DNS=192.0.2.53\n",
        link: Some(UPLINK_FILE),
        file: "",
        verdict: "no loop",
        listener: Some((STUB, "not seen")),
    },
    Form {
        // Without DNS= it takes the servers of the file that is not its own.
        name: "foreign",
        settings: "",
        link: None,
        file: "nameserver 192.0.2.53\n",
        verdict: "no loop",
        listener: Some((STUB, "not seen")),
    },
    Form {
        name: "foreign, the stub's address by hand",
        settings: "DNS=192.0.2.53\n",
        link: None,
        file: "nameserver 127.0.0.53\n",
        verdict: "will loop",
        listener: Some((STUB, "not seen")),
    },
    Form {
        name: "extra listener",
        settings: "DNS=192.0.2.53\nDNSStubListenerExtra=10.244.0.1\n",
        link: None,
        file: "nameserver 10.244.0.1\n",
        verdict: "no loop",
        listener: Some(("10.244.0.1:53", "not seen")),
    },
    Form {
        name: "no listener",
        settings: "DNS=192.0.2.53\nDNSStubListener=no\n",
        link: Some(STUB_FILE),
        file: "",
        verdict: "no loop",
        listener: None,
    },
    Form {
        name: "forwards to dnsmasq, which asks it",
        settings: "DNS=127.0.1.1\n",
        link: Some(UPLINK_FILE),
        file: "",
        verdict: "loop",
        listener: Some((STUB, "seen to loop")),
    },
];

/// The cases.
pub(crate) fn cases() -> Vec<Case> {
    let resolved = FORMS.iter().map(|form| Case {
        name: format!("resolved::{}", form.name),
        needs: &["ip", "dnsmasq", "systemd-resolved"],
        run: node_with_resolved,
        argument: form.name.to_owned(),
    });
    let manager = [
        "/etc/resolv.conf",
        "/run/NetworkManager/no-stub-resolv.conf",
    ];
    let manager = manager.iter().map(|file| Case {
        name: format!("resolved::NetworkManager's dnsmasq, resolvConf {file}"),
        needs: &["ip", "dnsmasq"],
        run: node_with_manager,
        argument: (*file).to_owned(),
    });
    resolved.chain(manager).collect()
}

/// A network in which 192.0.2.53 answers NXDOMAIN to all.
fn outside() -> Outcome {
    make_pod("outside", OUTSIDE)?;
    upstream(Some("outside"), OUTSIDE, Upstream::NoSuchName)
}

fn node_with_resolved(lab: &mut Lab, name: &str) -> Outcome {
    let form = FORMS.iter().find(|form| form.name == name);
    let form = form.ok_or_else(|| format!("no form {name}"))?;
    outside()?;
    kubelet_node("/etc/resolv.conf")?;
    if form.verdict == "loop" {
        lab.server("dnsmasq", None, "127.0.1.1", &["127.0.0.53"])?;
    }
    let settings = format!(
        "[Resolve]\nLLMNR=no\nMulticastDNS=no\nFallbackDNS=\n{}",
        form.settings
    );
    let made = fs::create_dir_all("/etc/systemd")
        .and_then(|()| fs::write("/etc/systemd/resolved.conf", settings))
        .and_then(|()| match form.link {
            Some(target) => symlink(target, "/etc/resolv.conf"),
            None => fs::write("/etc/resolv.conf", form.file),
        })
        .and_then(|()| fs::create_dir_all("/run/systemd/resolve"));
    made.map_err(|e| e.to_string())?;
    lab::run(
        "chown",
        &["systemd-resolve:systemd-resolve", "/run/systemd/resolve"],
    )?;
    let pid = lab.spawn(None, "systemd-resolved", &[])?;
    match form.listener {
        Some((listener, _)) => wait_for_listener(pid, listener.trim_end_matches(":53"))?,
        None => lab::wait_for_file("/run/systemd/resolve/resolv.conf")?,
    }
    lab::wait_for_file("/run/systemd/resolve/stub-resolv.conf")?;
    let (status, json) = check_loop()?;
    expect(form.verdict, status, &json)?;
    let Some((listener, sight)) = form.listener else {
        return Ok(());
    };
    if sights(&json).contains(&(listener.to_owned(), sight.to_owned())) {
        return Ok(());
    }
    Err(format!(
        "{listener} should be {sight}: {json:#}\n{}",
        lab::logs()
    ))
}

/// NetworkManager with `dns=dnsmasq` as Ubuntu had it: its file has the
/// address of its dnsmasq, another one has the servers.
fn node_with_manager(lab: &mut Lab, resolv_conf: &str) -> Outcome {
    outside()?;
    kubelet_node(resolv_conf)?;
    write(
        "/etc/NetworkManager/NetworkManager.conf",
        "[main]\ndns=dnsmasq\n",
    )
    .and_then(|()| {
        write(
            "/etc/NetworkManager/dnsmasq.d/servers.conf",
            "server=192.0.2.53\n",
        )
    })
    .and_then(|()| {
        let text = "# Generated by NetworkManager\nnameserver 192.0.2.53\n";
        write("/run/NetworkManager/no-stub-resolv.conf", text)
    })
    .and_then(|()| {
        let text = "# Generated by NetworkManager\nnameserver 127.0.1.1\n";
        write("/run/NetworkManager/resolv.conf", text)
    })
    .and_then(|()| symlink("/run/NetworkManager/resolv.conf", "/etc/resolv.conf"))
    .map_err(|e| e.to_string())?;
    // Source: NetworkManager src/core/dns/nm-dns-dnsmasq.c `start_dnsmasq`.
    let arguments = [
        "--no-resolv",
        "--keep-in-foreground",
        "--no-hosts",
        "--bind-interfaces",
        "--pid-file=/run/NetworkManager/dnsmasq.pid",
        "--listen-address=127.0.1.1",
        "--cache-size=400",
        "--clear-on-reload",
        "--conf-file=/dev/null",
        "--proxy-dnssec",
        "--user=root",
        "--conf-dir=/etc/NetworkManager/dnsmasq.d",
    ];
    let pid = lab.spawn(None, "dnsmasq", &arguments)?;
    wait_for_listener(pid, "127.0.1.1")?;
    let (status, json) = check_loop()?;
    let is_stub = resolv_conf == "/etc/resolv.conf";
    expect(if is_stub { "will loop" } else { "no loop" }, status, &json)?;
    if sights(&json).contains(&("127.0.1.1:53".to_owned(), "not seen".to_owned())) {
        return Ok(());
    }
    Err(format!("{json:#}\n{}", lab::logs()))
}

fn expect(verdict: &str, status: i32, json: &Value) -> Outcome {
    let expected = i32::from(verdict != "no loop");
    if text(json, "verdict") == verdict && status == expected {
        return Ok(());
    }
    Err(format!(
        "{verdict} expected, status {status}: {json:#}\n{}",
        lab::logs()
    ))
}
