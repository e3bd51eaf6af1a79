use super::*;
use crate::config::yaml;
use crate::text::Source;

/// What each policy of a text lets out over UDP and TCP: `left out`, `misses`,
/// `pods`, `anywhere`.
fn reaches(text: &str) -> Vec<(&'static str, &'static str)> {
    let source = Source::new("policy.yaml", text);
    let word = |it: Reach<'_>| match it {
        Reach::LeftOut => "left out",
        Reach::Misses(..) => "misses",
        Reach::Pods(_) => "pods",
        Reach::Anywhere => "anywhere",
    };
    let documents = yaml::documents(&source);
    let roots = documents.iter().filter_map(|it| it.root.as_ref().ok());
    let found = roots.flat_map(policies);
    found.map(|it| (word(it.udp), word(it.tcp))).collect()
}

fn kubernetes(rule: &str) -> (&'static str, &'static str) {
    let text = format!(
        "apiVersion: networking.k8s.io/v1\nkind: NetworkPolicy\nmetadata: {{namespace: shop}}\nspec:\n  podSelector: {{}}\n  egress: [{rule}]\n"
    );
    reaches(&text).first().copied().unwrap_or(("none", "none"))
}

#[test]
fn peers_of_kubernetes_that_can_be_dns() {
    const BOTH: &str = "ports: [{port: 53, protocol: UDP}, {port: 53, protocol: TCP}]";
    for (rule, expected) in [
        ("{}", ("anywhere", "anywhere")),
        (
            "{ports: [{port: 53, protocol: UDP}]}",
            ("anywhere", "left out"),
        ),
        ("{ports: [{port: 6443}]}", ("left out", "left out")),
        ("{ports: [{protocol: UDP}]}", ("anywhere", "left out")),
        ("{to: [{namespaceSelector: {}}]}", ("pods", "pods")),
        (
            "{to: [{podSelector: {matchLabels: {app: db}}}]}",
            ("left out", "left out"),
        ),
        (
            "{to: [{ipBlock: {cidr: 0.0.0.0/0}}]}",
            ("anywhere", "anywhere"),
        ),
        (
            "{to: [{ipBlock: {cidr: 0.0.0.0/0, except: [10.0.0.0/8]}}]}",
            ("left out", "left out"),
        ),
        (
            "{to: [{ipBlock: {cidr: 192.0.2.0/24}}]}",
            ("left out", "left out"),
        ),
        (
            "{to: [{namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: kube-system}}}]}",
            ("pods", "pods"),
        ),
        (
            "{to: [{namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: db}}}]}",
            ("left out", "left out"),
        ),
    ] {
        assert_eq!(kubernetes(rule), expected, "{rule}");
    }
    for (peer, expected) in [
        ("podSelector: {matchLabels: {k8s-app: kube-dns}}", "misses"),
        ("podSelector: {matchLabels: {app: pihole}}", "anywhere"),
        (
            "namespaceSelector: {matchLabels: {name: kube-system}}",
            "misses",
        ),
        (
            "namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: openshift-dns}}",
            "misses",
        ),
        (
            "namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: net}}",
            "misses",
        ),
        ("ipBlock: {cidr: 169.254.20.10/32}", "anywhere"),
    ] {
        let rule = format!("{{to: [{{{peer}}}], {BOTH}}}");
        assert_eq!(kubernetes(&rule), (expected, expected), "{peer}");
    }
}

fn cilium(rule: &str) -> (&'static str, &'static str) {
    let text = format!(
        "apiVersion: cilium.io/v2\nkind: CiliumNetworkPolicy\nmetadata: {{namespace: shop}}\nspec:\n  endpointSelector: {{}}\n  egress: [{rule}]\n"
    );
    reaches(&text).first().copied().unwrap_or(("none", "none"))
}

#[test]
fn peers_of_cilium_that_can_be_dns() {
    const PORTS: &str = "toPorts: [{ports: [{port: \"53\"}]}]";
    for (rule, expected) in [
        ("{}", "left out"),
        ("{toEndpoints: [{}]}", "left out"),
        ("{toEntities: [world]}", "left out"),
        ("{toEntities: [cluster]}", "anywhere"),
        ("{toCIDR: [0.0.0.0/0]}", "left out"),
        ("{toFQDNs: [{matchName: example.com}]}", "left out"),
        (
            "{toEndpoints: [{matchLabels: {\"k8s:io.kubernetes.pod.namespace\": kube-system}}]}",
            "pods",
        ),
        (
            "{toServices: [{k8sService: {serviceName: kube-dns}}]}",
            "pods",
        ),
        (
            "{toEndpoints: [{matchExpressions: [{key: io.kubernetes.pod.namespace, operator: Exists}]}]}",
            "pods",
        ),
    ] {
        assert_eq!(cilium(rule), (expected, expected), "{rule}");
    }
    for (peer, expected) in [
        (
            "toEndpoints: [{matchLabels: {k8s-app: kube-dns}}]",
            "misses",
        ),
        ("toEndpoints: [{}]", "misses"),
        ("toCIDR: [192.0.2.53/32]", "anywhere"),
        ("toEntities: [host]", "anywhere"),
    ] {
        let rule = format!("{{{peer}, {PORTS}}}");
        assert_eq!(cilium(&rule), (expected, expected), "{peer}");
    }
}

fn calico(rule: &str) -> (&'static str, &'static str) {
    let text = format!(
        "apiVersion: projectcalico.org/v3\nkind: NetworkPolicy\nmetadata: {{namespace: shop}}\nspec:\n  egress: [{rule}]\n"
    );
    reaches(&text).first().copied().unwrap_or(("none", "none"))
}

#[test]
fn peers_of_calico_that_can_be_dns() {
    for (rule, expected) in [
        ("{action: Allow}", ("anywhere", "anywhere")),
        ("{action: Deny}", ("left out", "left out")),
        (
            "{action: Allow, protocol: UDP, destination: {ports: [53]}}",
            ("anywhere", "left out"),
        ),
        (
            "{action: Allow, destination: {ports: [\"1:1024\"]}}",
            ("anywhere", "anywhere"),
        ),
        (
            "{action: Allow, destination: {notPorts: [53]}}",
            ("left out", "left out"),
        ),
        (
            "{action: Allow, destination: {selector: \"app == 'db'\"}}",
            ("left out", "left out"),
        ),
        (
            "{action: Allow, destination: {selector: \"k8s-app == 'kube-dns'\"}}",
            ("misses", "misses"),
        ),
        (
            "{action: Allow, destination: {selector: \"k8s-app == 'kube-dns'\", namespaceSelector: \"kubernetes.io/metadata.name == 'kube-system'\"}}",
            ("pods", "pods"),
        ),
        (
            "{action: Allow, protocol: TCP, destination: {services: {name: kube-dns}}}",
            ("left out", "pods"),
        ),
    ] {
        assert_eq!(calico(rule), expected, "{rule}");
    }
}

#[test]
fn pods_meet_where_no_label_has_two_values() {
    let pods = |namespace: Option<&str>, labels: &[(&str, &str)]| {
        let labels = labels
            .iter()
            .map(|(key, value)| ((*key).to_owned(), (*value).to_owned()));
        Pods {
            namespace: namespace.map(str::to_owned),
            labels: labels.collect(),
        }
    };
    let web = pods(Some("shop"), &[("app", "web")]);
    assert!(pods(None, &[]).can_meet(&web));
    assert!(pods(Some("shop"), &[("dns", "allowed")]).can_meet(&web));
    assert!(pods(None, &[("app", "web"), ("tier", "1")]).can_meet(&web));
    assert!(!pods(Some("shop"), &[("app", "db")]).can_meet(&web));
    assert!(!pods(Some("db"), &[]).can_meet(&web));
}

#[test]
fn the_place_is_that_of_the_rule_for_dns() {
    for (rules, expected) in [
        (
            "{to: [], ports: [{port: 443}]}, {ports: [{port: 53, protocol: UDP}]}",
            "[{port: 53, protocol: UDP}]",
        ),
        ("{ports: [{port: 443}]}, {}", "{}"),
        ("{ports: [{port: 443}]}", "[{ports: [{port: 443}]}]"),
    ] {
        let text = format!(
            "apiVersion: networking.k8s.io/v1\nkind: NetworkPolicy\nspec: {{egress: [{rules}]}}\n"
        );
        let source = Source::new("policy.yaml", text.as_str());
        let documents = yaml::documents(&source);
        let root = documents.first().and_then(|it| it.root.as_ref().ok());
        let policies = root.map(policies).unwrap_or_default();
        let place = policies
            .first()
            .map(|it| it.place.span.slice(text.as_bytes()));
        assert_eq!(place, Some(expected.as_bytes()), "{rules}");
    }
}
