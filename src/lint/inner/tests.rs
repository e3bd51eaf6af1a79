//! What each kind of file says, and where.

use std::sync::Arc;

use crate::lint::document::{At, Document, FileId, Syntax};
use crate::lint::extract;
use crate::lint::facts::{Facts, Setting, Text};
use crate::lint::reading;
use crate::text::Source;

/// What is found in a file, each with the bytes at its place; a place of more
/// than one line ends in `…`.
fn found(path: &str, text: &str) -> Vec<String> {
    let source = Source::new(path, text);
    let found = reading::documents(FileId(0), &Arc::new(source), None);
    let facts = extract::facts(&found);
    let mut lines: Vec<String> = found
        .broken
        .iter()
        .map(|it| format!("broken: {}", it.message))
        .collect();
    lines.extend(said(&facts, text));
    lines.extend(found.documents.iter().filter_map(settings));
    lines
}

fn said(facts: &Facts, text: &str) -> Vec<String> {
    let place = |at: At| {
        let bytes = String::from_utf8_lossy(at.span.slice(text.as_bytes())).into_owned();
        match bytes.split_once('\n') {
            Some((first, _)) => format!("{first}…"),
            None => bytes,
        }
    };
    let word = |what: &str, word: &Text| format!("{what} {} @{}", word.text, place(word.at));
    let mut lines = Vec::new();
    for kubelet in &facts.kubelets {
        let setting = |it: &Setting| {
            let values: Vec<String> = it
                .values
                .iter()
                .map(|it| format!("{} @{}", it.text, place(it.at)))
                .collect();
            format!("{:?} {:?} {}", kubelet.form, it.key, values.join(" "))
        };
        lines.extend(kubelet.settings.iter().map(setting));
    }
    for file in &facts.resolvers {
        lines.extend(file.servers.iter().map(|it| word("nameserver", it)));
        lines.extend(file.searches.iter().map(|it| word("search", it)));
    }
    for file in &facts.corefiles {
        for forward in &file.forwards {
            lines.extend(forward.to.iter().map(|it| word("forward", it)));
        }
    }
    lines
}

fn settings(document: &Document) -> Option<String> {
    matches!(document.syntax, Syntax::Settings(_)).then(|| format!("settings {}", document.path))
}

pub(super) fn check(path: &str, text: &str, expected: &[&str]) {
    assert_eq!(found(path, text), expected, "{path}\n{text}");
}

#[test]
fn ignition_files_are_opened() {
    let file = |path: &str, contents: &str| {
        format!(
            r#"{{"ignition":{{"version":"3.4.0"}},"storage":{{"files":[{{"path":"{path}","contents":{contents}}}]}}}}"#
        )
    };
    let url = r#"{"source":"data:,nameserver%2010.0.0.53%0A"}"#;
    let at = "nameserver 10.0.0.53 @\"data:,nameserver%2010.0.0.53%0A\"";
    check("config.ign", &file("/etc/resolv.conf", url), &[at]);
    let packed = r#"{"compression":"gzip","source":"data:;base64,H4sIAAAAAAACA8tLzE0tTi0qSy1SMDTQA0FTYy4A3jWMdhUAAAA="}"#;
    check(
        "config.ign",
        &file("/etc/resolv.conf", packed),
        &[
            "nameserver 10.0.0.53 @\"data:;base64,H4sIAAAAAAACA8tLzE0tTi0qSy1SMDTQA0FTYy4A3jWMdhUAAAA=\"",
        ],
    );
    let other = r#"{"source":"https://example.net/resolv.conf"}"#;
    check("config.ign", &file("/etc/resolv.conf", other), &[]);
    check("config.ign", &file("/etc/motd", url), &[]);
    let broken = r#"{"source":"data:;base64,*"}"#;
    check("config.ign", &file("/etc/resolv.conf", broken), &[]);
    let units = r#"{"ignition":{},"systemd":{"units":[{"name":"kubelet.service","dropins":[{"name":"10.conf","contents":"[Service]\nEnvironment=KUBELET_A=--resolv-conf=/a\n"}]}]}}"#;
    check("config.ign", units, &["Unit ResolvConf /a @/a"]);
}

#[test]
fn butane_and_machine_configs_are_opened() {
    let butane = "variant: fcos\nversion: 1.5.0\nstorage:\n  files:\n  - path: /etc/systemd/resolved.conf.d/a.conf\n    contents:\n      inline: |\n        [Resolve]\n        DNS=10.0.0.53\n  - path: /etc/kubernetes/kubelet.yaml\n    contents:\n      inline: |\n        kind: KubeletConfiguration\n        resolvConf: /a\n";
    check(
        "node.bu",
        butane,
        &[
            "Configuration ResolvConf /a @/a",
            "settings node.bu/etc/systemd/resolved.conf.d/a.conf",
        ],
    );
    let machine = "apiVersion: machineconfiguration.openshift.io/v1\nkind: MachineConfig\nspec:\n  config:\n    ignition:\n      version: 3.2.0\n    storage:\n      files:\n      - path: /etc/resolv.conf\n        contents:\n          source: data:text/plain;charset=utf-8;base64,bmFtZXNlcnZlciAxMC4wLjAuNTMK\n";
    check(
        "99.yaml",
        machine,
        &[
            "nameserver 10.0.0.53 @data:text/plain;charset=utf-8;base64,bmFtZXNlcnZlciAxMC4wLjAuNTMK",
        ],
    );
    let template = "mode: 0644\npath: \"/etc/kubernetes/kubelet.conf\"\ncontents:\n  inline: |\n    kind: KubeletConfiguration\n    clusterDomain: cluster.local\n";
    check(
        "kubelet.yaml",
        template,
        &["Configuration ClusterDomain cluster.local @cluster.local"],
    );
    let other =
        "kind: Other\npath: /etc/resolv.conf\ncontents:\n  inline: |\n    nameserver 10.0.0.53\n";
    check("a.yaml", other, &[]);
}

#[test]
fn what_commands_print_is_read() {
    let line = "echo 'nameserver 10.0.0.53' > /etc/resolv.conf";
    let said = format!("nameserver 10.0.0.53 @{line}");
    check("a.sh", &format!("{line}\n"), &[&said]);
    let more = format!("{line}\nprintf 'nameserver 10.0.0.54\\n' | tee -a /etc/resolv.conf\n");
    check("a.sh", &more, &[&said, &said.replace(".53 @", ".54 @")]);
    check(
        "a.sh",
        &format!("{line}\nsed -i s/5/6/ /etc/resolv.conf\n"),
        &[],
    );
    check(
        "a.sh",
        &format!("if a; then\n{line}\nelse\n{line}\nfi\n"),
        &[],
    );
    check("a.sh", &line.replace(".53", ".$A").replace('\'', "\""), &[]);
    check("a.sh", &line.replace("> ", ">> "), &[]);
    check("Dockerfile", &format!("RUN {line}\n"), &[]);
    let config = format!("#cloud-config\nruncmd:\n- \"{line}\"\n- [touch, /a]\n");
    check("a.yaml", &config, &[&said]);
    let config = format!("#cloud-config\nbootcmd:\n- [sh, -c, \"{line}\"]\n");
    check("a.yaml", &config, &[&said]);
    let cluster = format!(
        "kind: KubeadmControlPlane\nspec:\n  kubeadmConfigSpec:\n    preKubeadmCommands:\n    - \"{line}\"\n"
    );
    check("a.yaml", &cluster, &[&said]);
}

#[test]
fn cloud_init_is_opened_in_every_encoding() {
    let file = |encoding: &str, content: &str| {
        format!(
            "#cloud-config\nwrite_files:\n- path: /etc/resolv.conf\n{encoding}  content: {content}\n"
        )
    };
    let b64 = "bmFtZXNlcnZlciAxMC4wLjAuNTMK";
    let gz = "H4sIAAAAAAACA8tLzE0tTi0qSy1SMDTQA0FTYy4A3jWMdhUAAAA=";
    for (encoding, content, place) in [
        ("", "|\n    nameserver 10.0.0.53\n", "10.0.0.53"),
        ("  encoding: b64\n", b64, b64),
        ("  encoding: base64\n", b64, b64),
        ("  encoding: gz+b64\n", gz, gz),
        ("  encoding: gzip+base64\n", gz, gz),
        ("  encoding: gzip\n", &format!("!!binary {gz}"), gz),
    ] {
        let expected = format!("nameserver 10.0.0.53 @{place}");
        check("user-data", &file(encoding, content), &[&expected]);
    }
    check("user-data", &file("  encoding: rot13\n", b64), &[]);
    check("user-data", &file("  encoding: b64\n", "'*'"), &[]);
    let archive = "#cloud-config-archive\n- type: text/cloud-config\n  content: |\n    write_files:\n    - path: /etc/resolv.conf\n      content: |\n        nameserver 10.0.0.53\n";
    check("user-data", archive, &["nameserver 10.0.0.53 @10.0.0.53"]);
}

#[test]
fn parts_of_user_data_are_opened() {
    let head = "MIME-Version: 1.0\nContent-Type: multipart/mixed; boundary=\"//\"\n\n";
    let eks = format!(
        "{head}--//\nContent-Type: application/node.eks.aws\n\n---\napiVersion: node.eks.aws/v1alpha1\nkind: NodeConfig\nspec:\n  kubelet:\n    config:\n      clusterDNS:\n      - 10.100.0.10\n    flags:\n    - --resolv-conf=/a\n--//\nContent-Type: text/x-shellscript\n\n#!/bin/sh\n# nameserver 10.0.0.53\n--//--\n"
    );
    check(
        "user-data.txt",
        &eks,
        &[
            "Cluster ClusterDns 10.100.0.10 @10.100.0.10",
            "Cluster ResolvConf /a @--resolv-conf=/a",
        ],
    );
    let encoded = format!(
        "{head}--//\nContent-Type: text/cloud-config\nContent-Transfer-Encoding: base64\n\nI2Nsb3VkLWNvbmZpZwprdWJlbGV0LWFyZzoKLSByZXNvbHYtY29uZj0vYQo=\n--//--\n"
    );
    check(
        "user-data",
        &encoded,
        &["Rancher ResolvConf /a @I2Nsb3VkLWNvbmZpZwprdWJlbGV0LWFyZzoKLSByZXNvbHYtY29uZj0vYQo=…"],
    );
    check(
        "mail.txt",
        "Content-Type: text/plain\n\nnameserver 10.0.0.53\n",
        &[],
    );
}

#[test]
fn settings_of_clusters_are_read() {
    let kops = "apiVersion: kops.k8s.io/v1alpha2\nkind: Cluster\nspec:\n  kubelet:\n    resolvConf: /a\n    clusterDNS: 10.0.0.10,10.0.0.11\n  masterKubelet:\n    resolvConf: /b\n";
    check(
        "cluster.yaml",
        kops,
        &[
            "Cluster ResolvConf /a @/a",
            "Cluster ClusterDns 10.0.0.10 @10.0.0.10,10.0.0.11 10.0.0.11 @10.0.0.10,10.0.0.11",
            "Cluster ResolvConf /b @/b",
        ],
    );
    check(
        "cluster.yaml",
        "apiVersion: cluster.x-k8s.io/v1beta1\nkind: Cluster\nspec:\n  kubelet:\n    resolvConf: /a\n",
        &[],
    );
    let talos = "version: v1alpha1\nmachine:\n  kubelet:\n    extraArgs:\n      resolv-conf: /a\n    extraConfig:\n      clusterDomain: a.example\n    clusterDNS:\n    - 10.96.0.10\n  network:\n    nameservers:\n    - 10.0.0.53\n    - '10.0.0.54'\n    searchDomains: [example.net]\n";
    check(
        "worker.yaml",
        talos,
        &[
            "Cluster ClusterDomain a.example @a.example",
            "Cluster ClusterDns 10.96.0.10 @10.96.0.10",
            "Cluster ResolvConf /a @/a",
            "nameserver 10.0.0.53 @10.0.0.53",
            "nameserver 10.0.0.54 @10.0.0.54",
            "search example.net @example.net",
        ],
    );
    let rke = "nodes: []\nservices:\n  kubelet:\n    cluster_domain: cluster.local\n    cluster_dns_server: 10.43.0.10\n    extra_args:\n      resolv-conf: /a\n";
    check(
        "cluster.yml",
        rke,
        &[
            "Cluster ClusterDomain cluster.local @cluster.local",
            "Cluster ClusterDns 10.43.0.10 @10.43.0.10",
            "Cluster ResolvConf /a @/a",
        ],
    );
    check(
        "compose.yml",
        "services:\n  web:\n    dns: 10.0.0.53\n    image: kubelet\n",
        &[],
    );
    let openshift = "apiVersion: machineconfiguration.openshift.io/v1\nkind: KubeletConfig\nspec:\n  kubeletConfig:\n    clusterDomain: cluster.local\n";
    check(
        "kc.yaml",
        openshift,
        &["Cluster ClusterDomain cluster.local @cluster.local"],
    );
}

#[test]
fn settings_of_kubeadm_and_k3s_are_read() {
    let list = "apiVersion: kubeadm.k8s.io/v1beta4\nkind: JoinConfiguration\nnodeRegistration:\n  kubeletExtraArgs:\n  - name: resolv-conf\n    value: /a\n";
    check("join.yaml", list, &["Kubeadm ResolvConf /a @/a"]);
    let capi = "apiVersion: controlplane.cluster.x-k8s.io/v1beta1\nkind: KubeadmControlPlane\nspec:\n  kubeadmConfigSpec:\n    files:\n    - path: /etc/resolv.conf\n      content: nameserver 10.0.0.53\n    joinConfiguration:\n      nodeRegistration:\n        kubeletExtraArgs:\n          resolv-conf: /a\n";
    check(
        "kcp.yaml",
        capi,
        &[
            "Kubeadm ResolvConf /a @/a",
            "nameserver 10.0.0.53 @10.0.0.53",
        ],
    );
    check(
        "k3s.yaml",
        "token: x\nresolv-conf: /a\n",
        &["Rancher ResolvConf /a @/a"],
    );
    check("other.yaml", "name: x\nresolv-conf: /a\n", &[]);
    let arguments =
        "--resolv-conf=${SNAP_DATA}/r\n# --resolv-conf=/b\n--cluster-domain=cluster.local\n";
    check(
        "var/snap/microk8s/current/args/kubelet",
        arguments,
        &[
            "Environment ResolvConf /var/snap/microk8s/current/r @/",
            "Environment ClusterDomain cluster.local @cluster.local",
        ],
    );
    check("args/kube-proxy", arguments, &[]);
}

#[test]
fn values_of_charts_and_patches_are_opened() {
    let values = "servers:\n- zones:\n  - zone: .\n    scheme: dns://\n  port: 53\n  plugins:\n  - name: kubernetes\n    parameters: cluster.local\n    configBlock: |-\n      pods insecure\n  - name: forward\n    parameters: . 10.0.0.53\n";
    check("values.yaml", values, &["forward 10.0.0.53 @10.0.0.53"]);
    let chart: String = values.replace('\n', "\n    ");
    let chart = format!(
        "apiVersion: helm.cattle.io/v1\nkind: HelmChartConfig\nspec:\n  valuesContent: |-\n    {chart}"
    );
    check(
        "rke2-coredns.yaml",
        &chart,
        &["forward 10.0.0.53 @10.0.0.53"],
    );
    check(
        "values.yaml",
        "servers:\n- name: a\n  port: 53\nkubelet: x\n",
        &[],
    );
    check(
        "values.yaml",
        "coredns:\n  corefile: |\n    . {\n      forward . 10.0.0.53\n    }\n",
        &["forward 10.0.0.53 @10.0.0.53"],
    );
    check("values.yaml", "coredns: {corefile: /etc/Corefile}\n", &[]);
    let patch = "kind: Kustomization\npatches:\n- target: {kind: ConfigMap}\n  patch: |-\n    apiVersion: v1\n    kind: ConfigMap\n    metadata: {name: coredns}\n    data:\n      Corefile: |\n        . {\n          forward . 10.0.0.53\n        }\n- patch: |-\n    - op: replace\n      path: /data/Corefile\n      value: . { forward . 10.0.0.54 }\n";
    check(
        "kustomization.yaml",
        patch,
        &["forward 10.0.0.53 @10.0.0.53"],
    );
}

#[test]
fn texts_that_scripts_write_are_opened() {
    let script = |body: &str| format!("#!/bin/sh\n{body}");
    let says = |body: &str, expected: &[&str]| check("setup.sh", &script(body), expected);
    let at = "nameserver 10.0.0.53 @10.0.0.53";
    says(
        "cat > /etc/resolv.conf <<EOF\nnameserver 10.0.0.53\nEOF\n",
        &[at],
    );
    says(
        "cat <<-E |\\\n tee /etc/resolv.conf\n\tnameserver 10.0.0.53\n\tE\n",
        &[at],
    );
    says(
        "cat > /etc/resolv.conf <<EOF\r\nnameserver 10.0.0.53\r\nEOF\r\n",
        &[at],
    );
    // What is put in, added, unfinished or elsewhere is not known.
    says("cat > /etc/resolv.conf <<EOF\nnameserver $DNS\nEOF\n", &[]);
    says(
        "cat > /etc/resolv.conf <<'EOF'\nnameserver $DNS\nEOF\n",
        &["nameserver $DNS @$DNS"],
    );
    says(
        "cat >> /etc/resolv.conf <<EOF\nnameserver 10.0.0.53\nEOF\n",
        &[],
    );
    says("cat > /etc/resolv.conf <<EOF\nnameserver 10.0.0.53\n", &[]);
    says("cat > resolv.conf <<EOF\nnameserver 10.0.0.53\nEOF\n", &[]);
    says(
        "cat > $ROOT/etc/resolv.conf <<EOF\nnameserver 10.0.0.53\nEOF\n",
        &[],
    );
    says("echo $((1 << X)) resolv.conf\nX\n", &[]);
    let kubelet = "kind: KubeletConfiguration\napiVersion: kubelet.config.k8s.io/v1beta1\nresolvConf: /a\nhostname: $X\n";
    let found = &["Configuration ResolvConf /a @/a"];
    says(
        &format!("tee \"$D/config.yaml\" <<EOF\n{kubelet}EOF\n"),
        found,
    );
    says(&format!("kubectl apply -f - <<EOF\n{kubelet}EOF\n"), found);
    says(
        &format!("kubectl apply -f - <<EOF\n{kubelet}$X\nEOF\n"),
        &[],
    );
    says(
        "kubectl apply -f - <<EOF\nkind: KubeletConfiguration\n  a: b\nEOF\n",
        &["broken: mapping values are not allowed in this context"],
    );
    let unit = "cat > /etc/systemd/system/kubelet.service <<EOF\n[Service]\nExecStart=/usr/bin/kubelet --resolv-conf=/a \\\\\n  --cluster-domain=\\$D\nEOF\n";
    says(
        unit,
        &["Unit ResolvConf /a @/a", "Unit ClusterDomain $D @$D"],
    );
    let open = unit.replace("\\$D", "$D --node-ip=$IP");
    says(&open, &["Cluster ResolvConf /a @/a"]);
    says(&open.replace("$IP", "$(ip)"), &[]);
    let docker = "FROM scratch\nCOPY <<EOF /etc/coredns/Corefile\n. {\n forward . 10.0.0.53\n}\nEOF\n# resolv.conf\n";
    check("Dockerfile", docker, &["forward 10.0.0.53 @10.0.0.53"]);
}
