//! What of a node's files a snapshot may hold: files that decide about DNS, and
//! of those no secret.
//!
//! A list of what is allowed, not of what is forbidden: a path that nobody
//! thought of is left out.

mod settings;

use serde_json::Value;

use self::settings::settings;
use crate::text::WordList;

/// What a snapshot holds of a file.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Kept {
    /// The whole file.
    Whole,
    /// These bytes, in which secrets are replaced.
    Part(Vec<u8>),
    /// Nothing: the path is not one of those that are allowed.
    Nothing,
}

/// In the place of a secret.
const REMOVED: &str = "REMOVED";

/// Beginnings of paths whose files are allowed, below the node's root and below
/// that of a process.
const ALLOWED: WordList = WordList(
    "/etc/NetworkManager/NetworkManager.conf /etc/NetworkManager/conf.d/ \
     /etc/NetworkManager/dnsmasq.d/ /etc/bind/ /etc/cni/net.d/ /etc/containerd/ /etc/containers/ \
     /etc/coredns/ /etc/crio/ /etc/default/ /etc/dnsmasq /etc/docker/daemon.json /etc/eks/ \
     /etc/gai.conf /etc/host.conf /etc/hostname /etc/hosts /etc/kubernetes/ /etc/machine-id \
     /etc/named.conf /etc/nsswitch.conf /etc/os-release /etc/rancher/ /etc/resolv /etc/sysconfig/ \
     /etc/systemd/ /etc/unbound/ \
     /home/kubernetes/ \
     /opt/ \
     /lib/systemd/ \
     /proc/ \
     /run/NetworkManager/ /run/containerd/ /run/containers/ /run/crio/ /run/flannel/ \
     /run/k0s/containerd/ /run/k3s/containerd/ /run/resolvconf/ /run/systemd/ \
     /sys/ \
     /system/resolved/ \
     /usr/lib/os-release /usr/lib/systemd/ /usr/local/lib/systemd/ \
     /var/lib/containerd/ /var/lib/containers/ /var/lib/docker/containers/ /var/lib/kubelet/ \
     /var/lib/rancher/ /var/log/containers/ /var/log/pods/ /var/run/ /var/snap/",
);

/// Parts of paths whose files are allowed: runtimes are told where to keep them.
const ALLOWED_PARTS: &[&str] = &["/docker/containers/", "/io.containerd."];

/// Parts of the names of files, and of the directories that they are in, that are
/// allowed wherever settings lead to them.
const ALLOWED_NAMES: &[&str] = &["corefile", "dns", "hosts", "kubelet", "resolv"];

/// Parts of paths whose files are never allowed.
const FORBIDDEN: WordList = WordList(
    "kubeconfig kubernetes.io~secret kubernetes.io~projected pki secret serviceaccount \
     system-connections token .crt .key .pem",
);

/// Parts of the names of settings whose values are secrets.
const SECRET: WordList = WordList(
    "access-key access_key accesskey apikey api-key api_key auth-key auth_key authkey credential \
     client-key-data client-certificate-data passphrase passwd password presharedkey private-key \
     private_key privatekey secret token",
);

/// Ends of such names.
const SECRET_ENDS: WordList = WordList("auth authorization psk");

/// Parts of names that have one of these words and whose values are none.
const NO_SECRET: WordList = WordList(
    "anonymous-auth authentication-token-webhook automountserviceaccounttoken \
     credential-provider credentialprovider private-key-file secretname token-file",
);

/// Variables of a process that decide how it resolves names. The others are
/// nobody's business.
const VARIABLES: WordList = WordList(
    "GODEBUG HOSTALIASES KUBE_DNS_SERVICE_HOST LOCALDOMAIN NODE_OPTIONS RESOLV_ADD_TRIM_DOMAINS \
     RESOLV_HOST_CONF RESOLV_MULTI RESOLV_OVERRIDE_TRIM_DOMAINS RESOLV_REORDER RES_OPTIONS",
);

/// What a snapshot holds of the file at `path`, an absolute one.
#[expect(
    clippy::case_sensitive_file_extension_comparisons,
    reason = "it is in small letters"
)]
pub fn kept(path: &str, bytes: &[u8]) -> Kept {
    let inside = below_process(path).unwrap_or(path);
    let name = inside.rsplit('/').next().unwrap_or_default();
    let lower = name.to_ascii_lowercase();
    let above = inside.rsplit('/').nth(1).unwrap_or_default();
    let nearest = format!("{}/{lower}", above.to_ascii_lowercase());
    let is_allowed = ALLOWED.iter().any(|it| inside.starts_with(it))
        || ALLOWED_PARTS.iter().any(|it| inside.contains(it))
        || ALLOWED_NAMES.iter().any(|it| nearest.contains(it));
    let is_forbidden = FORBIDDEN.iter().any(|it| inside.contains(it));
    if !is_allowed || is_forbidden {
        return Kept::Nothing;
    }
    let is_process = inside.starts_with("/proc/");
    let part = match name {
        "environ" if is_process => Some(environment(bytes)),
        "cmdline" if is_process => Some(arguments(bytes)),
        _ if is_process || inside.starts_with("/sys/") => None,
        _ if inside.starts_with("/var/log/") => None,
        _ if lower.ends_with(".json") || bytes.starts_with(b"{") => Some(document(bytes)),
        _ => Some(settings(bytes)),
    };
    match part {
        Some(part) if part != bytes => Kept::Part(part),
        _ => Kept::Whole,
    }
}

/// The path below the root of a process: `/etc/hosts` of `/proc/7/root/etc/hosts`.
fn below_process(path: &str) -> Option<&str> {
    let (pid, inside) = path.strip_prefix("/proc/")?.split_once("/root/")?;
    let is_process = pid.bytes().all(|byte| byte.is_ascii_digit());
    let start = path.len() - inside.len() - 1;
    path.get(start..).filter(|_| is_process)
}

fn environment(bytes: &[u8]) -> Vec<u8> {
    let is_kept = |entry: &&[u8]| {
        VARIABLES.iter().any(|it| {
            entry
                .strip_prefix(it.as_bytes())
                .is_some_and(|rest| rest.starts_with(b"="))
        })
    };
    let entries = bytes.split(|&byte| byte == 0).filter(is_kept);
    entries.flat_map(|it| [it, b"\0"].concat()).collect()
}

fn arguments(bytes: &[u8]) -> Vec<u8> {
    let mut is_value = false;
    let words = bytes.split(|&byte| byte == 0).map(|word| {
        if std::mem::take(&mut is_value) && !word.starts_with(b"-") {
            return REMOVED.as_bytes().to_vec();
        }
        let text = String::from_utf8_lossy(word);
        match text.split_once('=') {
            Some((name, _)) if is_secret(name) => format!("{name}={REMOVED}").into_bytes(),
            None if text.starts_with('-') && is_secret(&text) => {
                is_value = true;
                word.to_vec()
            }
            _ => word.to_vec(),
        }
    });
    words.collect::<Vec<_>>().join(&0)
}

fn is_secret(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    let is_one = SECRET.iter().any(|it| name.contains(it))
        || SECRET_ENDS.iter().any(|it| name.ends_with(it));
    is_one && !NO_SECRET.iter().any(|it| name.contains(it))
}

/// A JSON document without secrets and without the environment of processes.
/// What is none is taken for settings.
fn document(bytes: &[u8]) -> Vec<u8> {
    let Ok(mut value) = serde_json::from_slice::<Value>(bytes) else {
        return settings(bytes);
    };
    if clean(&mut value) {
        serde_json::to_vec_pretty(&value).unwrap_or_default()
    } else {
        bytes.to_vec()
    }
}

/// Whether something was a secret.
fn clean(value: &mut Value) -> bool {
    match value {
        Value::Array(items) => items.iter_mut().fold(false, |any, it| clean(it) | any),
        Value::Object(fields) => fields.iter_mut().fold(false, |any, (name, field)| {
            let is_text = field.is_string();
            if is_text && is_secret(name) {
                *field = REMOVED.into();
                return true;
            }
            if name.eq_ignore_ascii_case("env") {
                return any | clean_environment(field);
            }
            clean(field) | any
        }),
        _ => false,
    }
}

/// `["NAME=VALUE"]`, or `[{"name": …, "value": …}]`.
fn clean_environment(value: &mut Value) -> bool {
    let Value::Array(items) = value else {
        return clean(value);
    };
    let is_kept = |it: &Value| {
        let name = it
            .as_str()
            .and_then(|it| it.split('=').next())
            .or_else(|| it.get("name")?.as_str());
        name.is_some_and(|name| VARIABLES.has(name))
    };
    let count = items.len();
    items.retain(is_kept);
    items.len() < count
}

#[cfg(test)]
mod tests {
    use super::*;

    fn part(path: &str, text: &str) -> String {
        match kept(path, text.as_bytes()) {
            Kept::Whole => text.to_owned(),
            Kept::Part(bytes) => String::from_utf8(bytes).unwrap(),
            Kept::Nothing => "nothing".to_owned(),
        }
    }

    #[test]
    fn only_paths_that_are_allowed_are_kept() {
        for (path, expected) in [
            ("/etc/resolv.conf", "x"),
            ("/proc/7/root/etc/resolv.conf", "x"),
            ("/etc/mydns/My.conf", "x"),
            ("/etc/mydns/tls.key", "nothing"),
            ("/etc/shadow", "nothing"),
            ("/proc/7/root/etc/shadow", "nothing"),
            ("/etc/kubernetes/pki/apiserver.key", "nothing"),
            ("/var/lib/kubelet/kubeconfig", "nothing"),
            ("/root/.ssh/id_rsa", "nothing"),
            (
                "/var/lib/kubelet/pods/1/volumes/kubernetes.io~secret/s/password",
                "nothing",
            ),
        ] {
            assert_eq!(part(path, "x"), expected, "{path}");
        }
    }

    #[test]
    fn of_an_environment_only_what_decides_about_dns_is_kept() {
        let text = "PASSWORD=x\0RES_OPTIONS=ndots:1\0RES_OPTIONS_=x\0PATH=/bin\0";
        assert_eq!(part("/proc/7/environ", text), "RES_OPTIONS=ndots:1\0");
    }

    #[test]
    fn secrets_in_arguments_are_removed() {
        let text = "kubelet\0--token=abc\0--resolv-conf=/etc/resolv.conf\0--password\0abc\0";
        let expected =
            "kubelet\0--token=REMOVED\0--resolv-conf=/etc/resolv.conf\0--password\0REMOVED\0";
        assert_eq!(part("/proc/7/cmdline", text), expected);
    }

    #[test]
    fn secrets_in_settings_are_removed_and_lines_stay() {
        let text = "kind: Pod\n  env:\n  - name: DB_PASS\n    value: abc\n  dnsConfig:\n    options:\n    \
            - name: ndots\n      value: \"2\"\n";
        let expected = text.replace("abc", "REMOVED");
        assert_eq!(part("/etc/kubernetes/manifests/a.yaml", text), expected);
        let text = "token: abc\nserver: https://10.0.0.1:9345\n";
        let expected = "token: REMOVED\nserver: https://10.0.0.1:9345\n";
        assert_eq!(part("/etc/rancher/k3s/config.yaml", text), expected);
    }

    #[test]
    fn containers_keep_their_mounts_and_not_their_environment() {
        let text =
            r#"{"process": {"env": ["A=b", "RES_OPTIONS=x"]}, "mounts": [{"source": "/a"}]}"#;
        let found = part(
            "/run/containerd/io.containerd.runtime.v2.task/k8s.io/1/config.json",
            text,
        );
        let value: Value = serde_json::from_str(&found).unwrap();
        assert_eq!(
            value["process"]["env"],
            serde_json::json!(["RES_OPTIONS=x"])
        );
        assert_eq!(value["mounts"][0]["source"], "/a");
    }
}
