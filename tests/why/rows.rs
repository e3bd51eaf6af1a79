//! Sentences beside what programs print, and beside sentences that say nothing of a fault.

use std::fmt::Write as _;

use kdns::why::{Catalogue, recognise};

use crate::{expect_none, texts};

/// Texts, what they say, and the cause that comes first, if one does.
const BESIDE: [(&str, &str, Option<&str>); 12] = [
    (
        "DNS resolution does not work in my pods\n$ kubectl -n kube-system get cm coredns-custom\n\
         Error from server (NotFound): configmaps \"coredns-custom\" not found",
        "symptom-broken",
        None,
    ),
    (
        "$ kubectl exec -it busybox -- nslookup kubernetes.default\n\
         Error from server (Forbidden): pods \"busybox\" is forbidden\n\
         Name resolution in the cluster is broken since the upgrade",
        "symptom-broken",
        None,
    ),
    (
        "Error from server (Forbidden): pods \"coredns-5d78c9869d-4x2lq\" is forbidden: \
         User \"dev\" cannot get resource \"pods/log\"",
        "other-kubectl-server",
        None,
    ),
    (
        "Name:           coredns-5d78c9869d-4x2lq\n    Last State:     Terminated\n      \
         Reason:       OOMKilled\n      Exit Code:    137",
        "symptom-memory",
        Some("dns-oom"),
    ),
    (
        "Last State:     Terminated\n  Reason:       OOMKilled\n  Exit Code:    137\n\
         Name: coredns-5d78c9869d-4x2lq",
        "symptom-memory",
        Some("dns-oom"),
    ),
    (
        "Name:         coredns-5d78c9869d-4x2lq\nNamespace:    kube-system\nEvents:\n  \
         Warning  Unhealthy  5m  kubelet  Readiness probe failed: HTTP probe failed with \
         statuscode: 503",
        "symptom-dns-pods-unready",
        None,
    ),
    (
        "DNS times out in namespace shop after I applied this:\n\
         apiVersion: networking.k8s.io/v1\nkind: NetworkPolicy\nspec:\n  podSelector: {}\n  \
         policyTypes:\n  - Egress",
        "symptom-network-policy",
        Some("network-policy"),
    ),
    (
        "My DaemonSet does not resolve names of services:\n\
         kind: DaemonSet\nspec:\n  template:\n    spec:\n      hostNetwork: true\n      \
         containers:\n      - name: agent",
        "symptom-host-network",
        Some("host-network-policy"),
    ),
    (
        "DNS Policy:    Default\nHost Network:  true\nMy pod does not find service names",
        "symptom-host-network",
        Some("host-network-policy"),
    ),
    (
        "Every DNS lookup from a pod takes five s. We run it on EKS 1.29 with three nodes of \
         Ubuntu 22.04; the CNI is Calico, kube-proxy is in iptables mode, containerd is \
         1.7.2. The cluster was made with kubeadm in spring and has 40 workloads. Lookups on the \
         node itself are done in 2 ms.",
        "symptom-now-and-then",
        None,
    ),
    (
        "Lookups of external names by pods need 10 sec to come back. We run it on EKS 1.29 with \
         three nodes of Ubuntu 22.04; the CNI is Calico, kube-proxy is in iptables mode, \
         containerd is 1.7.2. The cluster was made with kubeadm in spring and has 40 workloads.",
        "symptom-now-and-then",
        None,
    ),
    (
        "Since we moved to Alpine our pods resolve names outside only every second try. We run \
         it on EKS 1.29 with three nodes of Ubuntu 22.04; the CNI is Calico, kube-proxy is in iptables mode, containerd is 1.7.2. It was made with kubeadm in spring.",
        "symptom-alpine",
        None,
    ),
];

#[test]
fn what_stands_beside_a_report_is_read_with_it() {
    let catalogue = Catalogue::built_in();
    let wrong = BESIDE.iter().filter_map(|(text, id, cause)| {
        let found = recognise(catalogue, text, None);
        let found = found.map(|it| {
            let first = it.causes.first().map(|it| it.1.code);
            (it.message.id, first)
        });
        let is_right = found
            .as_ref()
            .is_ok_and(|it| it.0 == *id && (cause.is_none() || it.1 == *cause));
        (!is_right).then(|| format!("{text}: {:?}", found.ok()))
    });
    expect_none(&wrong.collect::<Vec<String>>());
}

#[test]
fn what_is_seen_is_found_in_a_long_text() {
    let catalogue = Catalogue::built_in();
    let beside = "We run it on EKS 1.29 with three nodes of Ubuntu 22.04; the CNI is Calico with \
                  VXLAN, kube-proxy is in ipvs mode, containerd is 1.7.2. The cluster was made \
                  with kubeadm in spring and has 40 workloads, most of them in Java. Here is what \
                  we did so far.";
    let mut lost = String::new();
    let seen = catalogue
        .messages
        .iter()
        .filter(|it| it.speaker.is_symptom());
    let examples = seen.flat_map(|it| texts(it, "Examples"));
    // A word or two are found where they are all that is said.
    for text in examples.filter(|it| it.split_whitespace().count() > 2) {
        if recognise(catalogue, &format!("{text}. {beside}"), None).is_err() {
            writeln!(lost, "{text}").unwrap();
        }
    }
    assert_eq!(lost, "");
}
