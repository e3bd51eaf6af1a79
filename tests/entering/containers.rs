//! Containers of runc whose image has only one static program, and files of
//! all kinds in the place of resolv.conf.

use std::fs;
use std::os::unix::fs::{lchown, symlink};
use std::os::unix::net::UnixListener;
use std::path::Path;
use std::time::Instant;

use serde_json::json;

use crate::lab::{explains, kdns, refuses};
use crate::node::Node;
use crate::places::shell;

const NONE: &str = "the target has no /etc/resolv.conf";

/// What the target's owner put in the place of the file.
pub(crate) fn files() {
    let node = Node::boot();
    let id = node.id(1);
    let pid = node.container(&id, |_| {}).to_string();
    let image = node.image(&id);
    for directory in ["etc", "run"] {
        fs::create_dir_all(image.join(directory)).unwrap();
    }
    let conf = image.join("etc/resolv.conf");
    let put = |make: &dyn Fn(&Path)| {
        let _ = fs::remove_file(&conf);
        let _ = fs::remove_dir(&conf);
        make(&conf);
    };
    explains(&pid, &[NONE, "its resolver is glibc: app has glibc"]);
    put(&|it| fs::write(it, "nameserver 10.1.1.1\nsearch one.test\n").unwrap());
    let own = format!("its resolv.conf is /proc/{pid}/root/etc/resolv.conf");
    explains(&pid, &[&own, "10.1.1.1", "db.one.test."]);

    // Links are the container's: the node has files there as well.
    shell("mkdir /run/stub; echo nameserver 10.9.9.9 > /run/stub/resolv.conf");
    shell("echo 'root:kdns-secret:1::::::' > /etc/shadow; echo nameserver 10.9.9.9 >> /etc/shadow");
    for link in [
        "/run/stub/resolv.conf",
        "../run/stub/resolv.conf",
        "../../../../run/stub/resolv.conf",
        "/etc/shadow",
        "/proc/1/root/etc/none",
    ] {
        put(&|it| symlink(link, it).unwrap());
        says_nothing_of_the_node(&pid);
    }
    put(&|it| symlink("/run/stub/resolv.conf", it).unwrap());
    fs::create_dir(image.join("run/stub")).unwrap();
    fs::write(image.join("run/stub/resolv.conf"), "nameserver 10.2.2.2\n").unwrap();
    explains(&pid, &["10.2.2.2"]);
    put(&|it| symlink("/etc/shadow", it).unwrap());
    fs::write(image.join("etc/shadow"), "nameserver 10.3.3.3\n").unwrap();
    explains(&pid, &["10.3.3.3"]);
    put(&|it| symlink("resolv.conf", it).unwrap());
    refused(&pid, "too many");

    put(&|it| shell(&format!("mkfifo {}", it.display())));
    refused(&pid, "it is a FIFO, not a regular file");
    put(&|it| shell(&format!("mknod {} c 1 5", it.display())));
    refused(&pid, "it is a device, not a regular file");
    put(&|it| fs::create_dir(it).unwrap());
    refused(&pid, "it is a directory, not a regular file");
    put(&|it| {
        drop(UnixListener::bind("/run/socket").unwrap());
        fs::rename("/run/socket", it).unwrap();
    });
    refused(&pid, "it is a socket, not a regular file");
    put(&|it| {
        shell(&format!(
            "yes 'nameserver 10.4.4.4' | head -c 100M > {}",
            it.display()
        ));
    });
    is_cut(&pid);
}

/// Of a file without an end, the beginning; and it is said.
fn is_cut(pid: &str) {
    let since = Instant::now();
    let cut = "only the first 1048576 bytes are read";
    explains(pid, &["10.4.4.4", cut]);
    assert!(since.elapsed().as_secs() < 60, "{:?}", since.elapsed());
    let (status, out, err) = kdns(&["nsenter", pid, "--", "wc", "-c", "/etc/resolv.conf"]);
    assert_eq!((status, out.as_str()), (0, "1048576 /etc/resolv.conf\n"));
    assert!(err.contains(cut), "{err}");
    let (_, out, _) = kdns(&["nsenter", pid, "dig", "-f", "/dev/null"]);
    assert!(out.contains(cut), "{out}");
}

fn says_nothing_of_the_node(pid: &str) {
    let (status, out, err) = kdns(&["explain", "db", "--target", pid]);
    let all = format!("{out}{err}");
    assert!(
        !all.contains("10.9.9.9") && !all.contains("kdns-secret"),
        "{all}"
    );
    assert!(all.contains(NONE) || status == 2, "{all}");
    let (_, out, _) = kdns(&["nsenter", pid, "--", "cat", "/etc/resolv.conf"]);
    assert_eq!(out, "");
}

/// Neither looked at nor entered, and nothing waits.
fn refused(pid: &str, why: &str) {
    refuses(pid, why);
    let (status, out, err) = kdns(&["nsenter", pid, "--", "true"]);
    assert_eq!((status, out.as_str()), (125, ""), "{err}");
    assert!(err.contains(why) && err.lines().count() == 1, "{err}");
}

/// As runtimes lay the sandbox's file over the image's.
pub(crate) fn bind_mounts() {
    let node = Node::boot();
    shell("mkdir /run/conf; echo nameserver 10.1.1.1 > /run/conf/resolv.conf");
    let id = node.id(1);
    let bind = |from: &str, to: &str| json!({"destination": to, "type": "bind", "source": from, "options": ["bind"]});
    let pid = node.container(&id, |config| {
        let mounts = config["mounts"].as_array_mut().unwrap();
        mounts.push(bind("/run/conf/resolv.conf", "/etc/resolv.conf"));
        mounts.push(bind("/dev/null", "/etc/hosts"));
    });
    let pid = pid.to_string();
    // A device over a file of the target: it has none that can be read.
    let absent = "/etc/hosts below";
    explains(
        &pid,
        &[
            "10.1.1.1",
            absent,
            "it is a device, not a regular file; it counts as absent",
        ],
    );
    let (status, out, err) = kdns(&["nsenter", &pid, "--", "wc", "-c", "/etc/hosts"]);
    assert_eq!((status, out.as_str()), (0, "0 /etc/hosts\n"), "{err}");
    assert!(err.contains("it counts as absent"), "{err}");
    let id = node.id(2);
    let pid = node.container(&id, |config| {
        let mounts = config["mounts"].as_array_mut().unwrap();
        mounts.push(bind("/run/conf/resolv.conf", "/etc/resolv.conf"));
    });
    let pid = pid.to_string();
    explains(&pid, &["10.1.1.1"]);
    // Written in place it is seen, replaced it is not.
    shell("echo nameserver 10.2.2.2 > /run/conf/resolv.conf");
    explains(&pid, &["10.2.2.2"]);
    shell("echo nameserver 10.9.9.9 > /run/conf/new; mv /run/conf/new /run/conf/resolv.conf");
    explains(&pid, &["10.2.2.2"]);
    shell("rm /run/conf/resolv.conf");
    explains(&pid, &["10.2.2.2"]);
}

/// Containers with users of their own.
pub(crate) fn users() {
    let node = Node::boot();
    let id = node.id(1);
    let image = node.image(&id);
    fs::create_dir_all(image.join("etc")).unwrap();
    fs::write(image.join("etc/resolv.conf"), "nameserver 10.1.1.1\n").unwrap();
    for path in ["", "etc", "etc/resolv.conf"] {
        lchown(image.join(path), Some(100_000), Some(100_000)).unwrap();
    }
    // Only its owner may look: the node's root needs a capability for that.
    shell(&format!("chmod 600 {}/etc/resolv.conf", image.display()));
    let pid = node.container(&id, |config| {
        let map = json!([{"containerID": 0, "hostID": 100_000, "size": 65536}]);
        config["linux"]["uidMappings"] = map.clone();
        config["linux"]["gidMappings"] = map;
        let namespaces = config["linux"]["namespaces"].as_array_mut().unwrap();
        namespaces.insert(0, json!({"type": "user"}));
        config["hostname"] = json!("mapped");
    });
    let pid = pid.to_string();
    explains(&pid, &["10.1.1.1", "its resolver is glibc"]);
    let inside = |script: &str| kdns(&["nsenter", &pid, "--", "sh", "-c", script]);
    let own = |name: &str| fs::read_link(format!("/proc/self/ns/{name}")).unwrap();
    let of = |name: &str| fs::read_link(format!("/proc/{pid}/ns/{name}")).unwrap();
    let script = "readlink /proc/self/ns/net /proc/self/ns/user; uname -n; cat /etc/resolv.conf";
    let (status, out, err) = inside(script);
    // The command stays the node's root.
    let expected = format!(
        "{}\n{}\nmapped\nnameserver 10.1.1.1\n",
        of("net").display(),
        own("user").display()
    );
    assert_eq!((status, out), (0, expected), "{err}");
    assert_ne!(own("user"), of("user"));
}

/// The file that HOSTALIASES names is the target's, wherever the path leads on
/// the node.
pub(crate) fn aliases() {
    let node = Node::boot();
    let id = node.id(1);
    let image = node.image(&id);
    fs::create_dir_all(image.join("usr/bin")).unwrap();
    fs::create_dir_all(image.join("etc")).unwrap();
    fs::write(image.join("etc/resolv.conf"), "nameserver 10.1.1.1\n").unwrap();
    // A path of the target's can be one of the node's programs.
    fs::write(image.join("usr/bin/env"), "db db.prod.test\n").unwrap();
    let pid = node.container(&id, |config| {
        config["process"]["env"] = json!(["HOSTALIASES=/usr/bin/env"]);
    });
    let pid = pid.to_string();
    let inside = |script: &str| kdns(&["nsenter", &pid, "--", "sh", "-c", script]);
    let (status, out, err) = inside("cat $HOSTALIASES; cat $HOSTALIASES; env true");
    let twice = "db db.prod.test\ndb db.prod.test\n";
    assert_eq!((status, out.as_str()), (0, twice), "{err}");
    let (status, out, _) = inside("echo x >> $HOSTALIASES");
    assert!(status != 0 && out.is_empty(), "{status} {out}");
    fs::remove_file(image.join("usr/bin/env")).unwrap();
    let (status, out, err) = inside("echo ${HOSTALIASES-none}");
    assert_eq!((status, out.as_str()), (0, "none\n"), "{err}");
    let (status, out, err) = kdns(&["nsenter", &pid, "--", ""]);
    assert_eq!((status, out.as_str()), (127, ""));
    assert!(err.contains("the program, is empty"), "{err}");
}
