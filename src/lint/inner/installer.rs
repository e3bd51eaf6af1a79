//! Flags for a kubelet in the commands of scripts: what installs k3s and rke2 gets, and
//! what starts a kubelet, a k3s or a minikube.
//!
//! Source: k3s-io/k3s `install.sh: setup_env`, rancher/rke2 `install.sh`; alexellis/k3sup
//! `cmd/install.go`; k3d-io/k3d `cmd/cluster/clusterCreate.go`; kubernetes/minikube
//! `pkg/minikube/bootstrapper/bsutil/extraconfig.go`; awslabs/amazon-eks-ami
//! `templates/al2/runtime/bootstrap.sh`.

use crate::lint::embedded::Layer;
use crate::lint::form::Form;
use crate::lint::inner::command::{self, Token, is_end, tokens};
use crate::lint::inner::heredoc::{Written, layer_of};
use crate::lint::recognise::FLAGS;
use crate::text::Span;

/// What the image of a CoreDNS with a version has in it.
const IMAGE: &[u8] = b"coredns:";

/// Variables with flags, and for what.
const VARIABLES: [(&str, &str); 2] = [("INSTALL_K3S_EXEC=", "k3s"), ("INSTALL_RKE2_EXEC=", "rke2")];

/// The units that the commands of a line make, or commands that are as good as those of
/// units; `place` is where the line stands in the script.
pub(super) fn units(script: &[u8], command: &[u8], place: Span) -> Vec<Written> {
    let has = |word: &&[u8]| memchr::memmem::find(command, word).is_some();
    if !FLAGS.iter().chain([&IMAGE]).any(has) {
        return Vec::new();
    }
    let line = String::from_utf8_lossy(command);
    // A program of an installer is at the other end of a pipe.
    let is_end = |it: &Token| is_end(it) || *it == Token::Operator("|");
    let tokens = tokens(&line).unwrap_or_default();
    let is_installer =
        line.contains("get.k3s.io") || line.contains("k3s.cn") || line.contains("install.sh");
    let commands = || tokens.split(is_end);
    let flags = commands().flat_map(|it| flags(it, is_installer));
    let units = flags.filter_map(|it| written(script, place, &it));
    let started = commands().filter_map(|it| started(script, place, it));
    units.chain(started).collect()
}

/// The image of a CoreDNS that a command starts or an image is made of, as a file of Docker
/// Compose would name it: it tells the version.
fn started(script: &[u8], place: Span, command: &[Token]) -> Option<Written> {
    let words = words(command);
    let words = command::command(&words);
    let (program, arguments) = words.split_first()?;
    let is_start = match program.rsplit('/').next()? {
        "docker" | "podman" | "nerdctl" => arguments.contains(&"run"),
        "FROM" => true,
        _ => false,
    };
    let is_image = |it: &&&str| {
        let tag = it.rsplit('/').next()?.strip_prefix("coredns:")?;
        let is_version = tag.starts_with(|it: char| it.is_ascii_digit() || matches!(it, 'v' | '$'));
        is_version.then_some(())
    };
    let mut arguments = arguments.iter().filter(|_| is_start);
    let image = arguments.find(|it| is_image(it).is_some())?;
    (!image.contains(['"', '\\', '\n', '\r'])).then_some(())?;
    let at = memchr::memmem::find(place.slice(script), image.as_bytes())? + place.start as usize;
    let before = "services: {coredns: {image: \"";
    let layer = layer_of(place, &[(before.len(), Span::new(at, at + image.len()))]);
    Some(Written {
        path: "compose.yaml".to_owned(),
        form: Form::Yaml,
        bytes: format!("{before}{image}\"}}}}\n").into_bytes(),
        layer,
        is_open: false,
        is_partial: false,
        is_final: false,
    })
}

/// The words of a command.
fn words(command: &[Token]) -> Vec<&str> {
    let words = command.iter().filter_map(|it| match it {
        Token::Word(it) => Some(it.as_str()),
        Token::Operator(_) => None,
    });
    words.collect()
}

/// The flags in a command, as a command of a unit.
fn flags(command: &[Token], is_installer: bool) -> Vec<String> {
    let words = words(command);
    let variables = words.iter().filter_map(|word| {
        let flags = |it: &(&str, &str)| Some(of_rancher(it.1, word.strip_prefix(it.0)?));
        VARIABLES.iter().find_map(flags)
    });
    let mut found: Vec<String> = variables.collect();
    let words = command::command(&words);
    let Some((program, arguments)) = words.split_first() else {
        return found;
    };
    let joined = |words: &[&str]| words.join(" ");
    match program.rsplit('/').next().unwrap_or_default() {
        "sh" | "bash" | "install.sh" | "k3s-install.sh" if is_installer => {
            let rest = arguments
                .iter()
                .skip_while(|it| matches!(**it, "-s" | "-" | "--" | "-x" | "-e"));
            found.push(of_k3s(&joined(&rest.copied().collect::<Vec<_>>())));
        }
        name @ ("k3s" | "rke2") if matches!(arguments.first(), Some(&"server" | &"agent")) => {
            found.push(of_rancher(name, &joined(arguments)));
        }
        "kubelet" => found.push(format!("kubelet {}", joined(arguments))),
        "k3sup" => found.extend(values(arguments, "--k3s-extra-args").map(of_k3s)),
        "k3d" => {
            let flags = values(arguments, "--k3s-arg");
            let flags = flags.map(|it| it.rsplit_once('@').map_or(it, |it| it.0));
            found.extend(flags.map(of_k3s));
        }
        "minikube" => {
            let flags = values(arguments, "--extra-config");
            let flags = flags.filter_map(|it| it.strip_prefix("kubelet."));
            found.extend(flags.map(|it| format!("kubelet --{it}")));
        }
        _ => {
            let flags = values(arguments, "--kubelet-extra-args");
            found.extend(flags.map(|it| format!("kubelet {it}")));
            let servers = values(arguments, "--dns-cluster-ip");
            found.extend(servers.map(|it| format!("kubelet --cluster-dns={it}")));
        }
    }
    found
}

/// The values of an option, behind it or behind an equals sign.
fn values<'w>(words: &[&'w str], option: &str) -> impl Iterator<Item = &'w str> {
    let following = words.iter().skip(1).map(Some).chain([None]);
    let pairs = words.iter().zip(following);
    pairs.filter_map(move |(word, next)| match word.strip_prefix(option)? {
        "" => next.copied(),
        rest => rest.strip_prefix('='),
    })
}

/// The installer takes flags alone for those of a server or of an agent.
fn of_rancher(program: &str, flags: &str) -> String {
    let first = flags.split_whitespace().next();
    let node = if matches!(first, Some("server" | "agent")) {
        ""
    } else {
        "server "
    };
    format!("{program} {node}{flags}")
}

fn of_k3s(flags: &str) -> String {
    of_rancher("k3s", flags)
}

fn written(script: &[u8], place: Span, command: &str) -> Option<Written> {
    let has = |word: &&[u8]| memchr::memmem::find(command.as_bytes(), word).is_some();
    FLAGS.iter().any(has).then_some(())?;
    let text = format!("[Service]\nExecStart={command}\n");
    // The flags stand as they are where nothing was quoted between them.
    let flags = command.find('-').and_then(|it| command.get(it..))?;
    let bare = flags.trim_start_matches('-');
    let value = flags.split_once('=').map_or(bare, |it| it.1);
    let outer = [bare, value].into_iter().find_map(|it| {
        let at = memchr::memmem::find(place.slice(script), it.as_bytes());
        Some((it.len(), at.filter(|_| !it.is_empty())?))
    });
    let layer = outer.map_or_else(
        || Layer::opaque(place),
        |(length, at)| {
            let start = place.start as usize + at;
            let inner = text.len() - 1 - length;
            layer_of(place, &[(inner, Span::new(start, start + length))])
        },
    );
    Some(Written {
        path: "k3s.service".to_owned(),
        form: Form::Unit,
        bytes: text.into_bytes(),
        layer,
        is_open: command.contains(['$', '`']),
        // What else the program gets is not known.
        is_partial: true,
        is_final: false,
    })
}

#[cfg(test)]
mod tests {
    use crate::lint::inner::tests::check;

    #[test]
    fn flags_of_installers_are_read() {
        let says = |text: &str, expected: &[&str]| check("install.sh", text, expected);
        let found: &[&str] = &["Cluster ResolvConf /a @/a"];
        says(
            "curl -sfL https://get.k3s.io | INSTALL_K3S_EXEC=\"--resolv-conf /a\" sh -\n",
            found,
        );
        says(
            "export INSTALL_K3S_EXEC='server --disable traefik --resolv-conf=/a'\n",
            found,
        );
        says(
            "curl -sfL https://get.k3s.io | sh -s - server --resolv-conf /a\n",
            found,
        );
        says(
            "curl -sfL https://get.k3s.io | sudo sh -s - \\\n  --kubelet-arg=resolv-conf=/a\n",
            found,
        );
        says("nohup k3s server --resolv-conf /a &\n", &[]);
        says("exec k3s agent --token $T --resolv-conf /a\n", found);
        says("kubelet --resolv-conf=/a --cluster-dns=$DNS\n", found);
        says(
            "k3sup install --ip 192.0.2.1 --k3s-extra-args '--resolv-conf /a'\n",
            found,
        );
        says(
            "k3d cluster create x --k3s-arg \"--resolv-conf=/a@server:*\"\n",
            found,
        );
        says(
            "minikube start --extra-config=kubelet.resolv-conf=/a\n",
            found,
        );
        let bootstrap = "/etc/eks/bootstrap.sh x --kubelet-extra-args '--resolv-conf=/a' --dns-cluster-ip 10.0.0.10\n";
        says(
            bootstrap,
            &[
                "Cluster ResolvConf /a @/a",
                "Cluster ClusterDns 10.0.0.10 @10.0.0.10",
            ],
        );
        let user_data = "#cloud-config\nruncmd:\n- curl -sfL https://get.k3s.io | INSTALL_K3S_EXEC=\"--resolv-conf /a\" sh -\n";
        check("user-data.yaml", user_data, found);
        let terraform = "user_data = <<-E\n  #!/bin/sh\n  curl -sfL https://get.k3s.io | sh -s - server --resolv-conf /a\nE\n";
        check("main.tf", terraform, found);
        let task = "- shell: curl -sfL https://get.k3s.io | sh -s - server --resolv-conf /a\n";
        check("tasks.yml", task, found);
    }

    #[test]
    fn what_is_not_known_says_nothing() {
        for text in [
            "INSTALL_K3S_EXEC=\"--resolv-conf $FILE\"\n",
            "echo k3s server --resolv-conf /a\n",
            "# INSTALL_K3S_EXEC='--resolv-conf /a'\n",
            "k3s kubectl get pods --resolv-conf /a\n",
            "sh -s - --resolv-conf /a\n",
            "minikube start --extra-config=apiserver.resolv-conf=/a\n",
            "INSTALL_K3S_EXEC='--resolv-conf /a\n",
        ] {
            check("install.sh", text, &[]);
        }
    }
}
