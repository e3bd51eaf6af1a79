//! The Corefiles and the resolv.conf that kubespray makes of its variables: what the variables say, and
//! what its templates have around it.
//!
//! Source: kubernetes-sigs/kubespray `docs/advanced/dns-stack.md`,
//! `roles/kubernetes-apps/ansible/templates/coredns-config.yml.j2`, `nodelocaldns-config.yml.j2`,
//! `roles/kubernetes/preinstall/tasks/0060-resolvconf.yml`.

use crate::config::yaml::{Entry, Node};
use crate::lint::form::Form;
use crate::lint::inner::pieces::Pieces;
use crate::lint::inner::{Inner, is_plain};

/// The variables of a file that CoreDNS and its cache on each node are made of.
pub(super) fn texts(root: &Node) -> Vec<Inner<'_>> {
    let corefiles = coredns(root).into_iter().chain(cache(root));
    corefiles.chain(resolv_conf(root)).collect()
}

/// The servers that the nodes are given, beside those that they have.
fn resolv_conf(root: &Node) -> Option<Inner<'_>> {
    let servers = root.get("nameservers")?;
    let is_kubesprays = ["resolvconf_mode", "searchdomains", "upstream_dns_servers"]
        .iter()
        .any(|it| root.get(it).is_some());
    let mut made = Pieces::new(servers);
    for server in servers.as_sequence()?.iter().filter(|it| is_plain(it)) {
        made.text("nameserver ");
        made.scalar(server);
        made.text("\n");
    }
    let part = Inner::made("etc/resolv.conf", made, Form::ResolvConf);
    is_kubesprays.then_some(Inner {
        is_part: true,
        ..part
    })
}

fn coredns(root: &Node) -> Option<Inner<'_>> {
    let mut made = Made::new(root, "coredns_external_zones");
    made.zones("errors\n    cache 30\n    loadbalance\n    reload");
    made.text(".:53 {\n    ");
    made.lines("coredns_additional_configs");
    made.text("errors\n    health {\n        lameduck 5s\n    }\n    ");
    made.lines("coredns_rewrite_block");
    made.text("ready\n    kubernetes {$dns_domain} in-addr.arpa ip6.arpa {\n        pods insecure\n        fallthrough in-addr.arpa ip6.arpa\n        ");
    for option in made.items("coredns_kubernetes_extra_opts") {
        made.scalar(option);
        made.text("\n        ");
    }
    made.text("}\n    prometheus :9153\n    forward .");
    let servers = made.items("upstream_dns_servers");
    for server in servers {
        made.text(" ");
        made.scalar(server);
    }
    if servers.is_empty() {
        made.text(" {$upstream_dns_servers}");
    }
    made.text(" {\n        prefer_udp\n        max_concurrent 1000\n");
    made.options("dns_upstream_forward_extra_opts");
    made.text("    }\n    ");
    if !made.lines("coredns_default_zone_cache_block") {
        made.text("cache 30\n    ");
    }
    made.text("loop\n    reload\n    loadbalance\n}\n");
    made.finished("coredns/Corefile")
}

fn cache(root: &Node) -> Option<Inner<'_>> {
    let mut made = Made::new(root, "nodelocaldns_external_zones");
    made.zones("errors\n    cache 30\n    reload\n    loop\n    bind {$nodelocaldns_ip}");
    made.text(".:53 {\n    ");
    made.lines("nodelocaldns_additional_configs");
    made.text("errors\n    cache 30\n    reload\n    loop\n    bind {$nodelocaldns_ip}\n    forward . {$upstream_dns_servers}\n}\n");
    made.finished("nodelocaldns/Corefile")
}

/// A Corefile that is being made.
struct Made<'n> {
    root: &'n Node,
    /// The variable with zones of its own.
    zones: &'static str,
    pieces: Option<Pieces<'n>>,
    before: String,
}

impl<'n> Made<'n> {
    fn new(root: &'n Node, zones: &'static str) -> Self {
        Self {
            root,
            zones,
            pieces: None,
            before: String::new(),
        }
    }

    /// What the template has.
    fn text(&mut self, text: &str) {
        match &mut self.pieces {
            Some(pieces) => pieces.text(text),
            None => self.before.push_str(text),
        }
    }

    /// What a variable says: with the first one it is known that there are any.
    fn scalar(&mut self, node: &'n Node) {
        let before = std::mem::take(&mut self.before);
        let pieces = self.pieces.get_or_insert_with(|| {
            let mut pieces = Pieces::new(node);
            pieces.text(&before);
            pieces
        });
        pieces.scalar(node);
    }

    /// The texts of a variable that is a list; none: it has what is put in later.
    fn items(&self, name: &str) -> &'n [Node] {
        let items = self.root.items(&[name]);
        if items.iter().all(is_plain) {
            items
        } else {
            &[]
        }
    }

    /// The lines that a variable says, and a new one. `false`: it says none.
    fn lines(&mut self, name: &str) -> bool {
        let Some(node) = self.root.get(name).filter(|it| is_plain(it)) else {
            return false;
        };
        self.scalar(node);
        self.text("\n    ");
        true
    }

    /// The options that a variable says, and their values, each on a line.
    fn options(&mut self, name: &str) {
        let options = self.root.get(name).and_then(Node::as_mapping);
        let is_plain = |it: &&Entry| is_plain(&it.key) && is_plain(&it.value);
        for option in options.unwrap_or_default().iter().filter(is_plain) {
            self.text("        ");
            self.scalar(&option.key);
            self.text(" ");
            self.scalar(&option.value);
            self.text("\n");
        }
    }

    /// The server blocks of external zones, each with these plugins.
    fn zones(&mut self, plugins: &str) {
        for block in self.root.items(&[self.zones]) {
            let (zones, servers) = (block.items(&["zones"]), block.items(&["nameservers"]));
            let mut all = zones.iter().chain(servers);
            if zones.is_empty() || servers.is_empty() || !all.all(is_plain) {
                continue;
            }
            self.words(zones);
            self.text("{\n    ");
            self.text(plugins);
            let rewrites = block.items(&["rewrite"]).iter();
            for rewrite in rewrites.filter(|it| is_plain(it)) {
                self.text("\n    rewrite ");
                self.scalar(rewrite);
            }
            self.text("\n    forward . ");
            self.words(servers);
            self.text("\n}\n");
        }
    }

    fn words(&mut self, words: &'n [Node]) {
        for word in words {
            self.scalar(word);
            self.text(" ");
        }
    }

    fn finished(self, path: &str) -> Option<Inner<'n>> {
        Some(Inner::made(path, self.pieces?, Form::Corefile))
    }
}

#[cfg(test)]
mod tests {
    use crate::lint::inner::tests::check;

    #[test]
    fn variables_make_corefiles_and_kubelets() {
        let says = |text: &str, expected: &[&str]| check("all.yml", text, expected);
        says(
            "upstream_dns_servers: [192.0.2.53]\ncoredns_external_zones:\n- zones: [example.com, 'example.org:1053']\n  nameservers: [192.0.2.1]\n  rewrite: [name a b]\n",
            &[
                "forward 192.0.2.1 @192.0.2.1",
                "forward 192.0.2.53 @192.0.2.53",
            ],
        );
        says(
            "nodelocaldns_external_zones:\n- zones: [example.com]\n  nameservers: [192.0.2.1]\n",
            &[
                "forward 192.0.2.1 @192.0.2.1",
                "forward {$upstream_dns_servers} @",
            ],
        );
        says("upstream_dns_servers: ['{{ dns }}']\n", &[]);
        says("upstream_dns_servers: []\nnodelocaldns: {}\n", &[]);
        let cache = "nodelocaldns_ip: 169.254.25.10\ncluster_name: example.net\ndns_domain: \"{{ cluster_name }}\"\n";
        says(
            cache,
            &[
                "Cluster ClusterDns 169.254.25.10 @169.254.25.10",
                "Cluster ClusterDomain example.net @example.net",
            ],
        );
        let off = format!("{cache}enable_nodelocaldns: false\nskydns_server: 10.233.0.3\n");
        says(
            &off,
            &[
                "Cluster ClusterDns 10.233.0.3 @10.233.0.3",
                "Cluster ClusterDomain example.net @example.net",
            ],
        );
        says("cluster_name: example.net\ndns_domain: a\n# kubelet\n", &[]);
    }
}
