use super::{health, last};

const NONE: &str = "kubectl lists the DNS Service without endpoints";
const ROW: &str = "kube-dns-8bvjp IPv4";

fn yaml(name: &str, ready: &str) -> String {
    format!(
        "addressType: IPv4\nendpoints:\n- addresses:\n  - 10.244.0.2\n  conditions:\n    ready: {ready}\n  \
         targetRef:\n    kind: Pod\nkind: EndpointSlice\nmetadata:\n  labels:\n    \
         kubernetes.io/service-name: {name}\n---\nkind: Pod\nready: true\n"
    )
}

fn described(endpoints: &str) -> String {
    format!(
        "Name:         kube-dns-8bvjp\nLabels:       k8s-app=kube-dns\n              \
         kubernetes.io/service-name=kube-dns\nAddressType:  IPv4\nEndpoints: {endpoints}"
    )
}

#[test]
fn slices_without_endpoints_are_told() {
    for text in [
        format!("{ROW} <unset> <unset> 16d"),
        format!(
            "kube-system {ROW} <unset> <unset> 16d\nkube-system kube-dns-xq7wz IPv6 <unset> <unset> 16d"
        ),
        yaml("kube-dns", "false"),
        yaml("web", "true").repeat(70) + &yaml("kube-dns", "false"),
        "\"addressType\": \"IPv4\",\n\"endpoints\": null,\n\"kind\": \"EndpointSlice\",\n\
         \"kubernetes.io/service-name\": \"kube-dns\","
            .to_owned(),
        described("<none>"),
        described("\n  - Addresses:  10.244.0.2\n    Conditions:\n      Ready:    false"),
        yaml("kube-dns", "false\n    serving: false"),
        yaml("kube-dns", "false")
            .replace("---\nkind: Pod", "kind: Pod\nmetadata:\n  namespace: web"),
        format!("{ROW} <unset> <unset> 16d\nmetadata:\n  namespace: web"),
    ] {
        assert_eq!(last(&text), NONE, "{text}");
        assert_eq!(health(&text), "", "{text}");
    }
}

#[test]
fn slices_with_endpoints_or_of_others_are_told() {
    let any = "the DNS Service is listed with endpoints\n";
    for (text, health_of) in [
        // It is not said whether those are ready.
        (format!("{ROW} 53,9153,53 10.244.0.2,10.244.0.3 16d"), ""),
        (
            format!("{ROW} 53,9153,53 10.244.0.2 16d\nkube-dns-xq7wz IPv6 <unset> <unset> 16d"),
            "",
        ),
        (yaml("web", "false"), ""),
        // The DNS of a cluster in the cluster.
        (format!("vc-team-a {ROW} <unset> <unset> 16d"), ""),
        ("vc-team-a kube-dns <none> 97d".to_owned(), ""),
        (
            yaml("kube-dns", "false").replace("\n---", "\n  namespace: vc-team-a\n---"),
            "",
        ),
        (
            described("<none>").replace("\nLabels", "\nNamespace:    vc-team-a\nLabels"),
            "",
        ),
        (
            yaml("kube-dns", "true") + "metadata:\n  namespace: web\n",
            any,
        ),
        // A pod that ends is still asked where no other is ready.
        (yaml("kube-dns", "false\n    serving: true"), ""),
        (yaml("kube-dns", "true"), any),
        (
            described("\n  - Addresses:  10.244.0.2\n    Conditions:\n      Ready:    true"),
            any,
        ),
        (
            described("\n  - Addresses:  10.244.0.2\n    Conditions:\n      Ready:    <unset>"),
            any,
        ),
    ] {
        assert_ne!(last(&text), NONE, "{text}");
        assert_eq!(health(&text), health_of, "{text}");
    }
}
