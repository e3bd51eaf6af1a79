//! Where a text says that it happens, as far as its words tell: a cause of the one place is
//! seldom one of the other.

use super::asked::Kind;
use super::cause::Cause;
use super::looked::Looked;

/// Where it happens.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Platform {
    /// In a cluster.
    Cluster,
    /// In a container of Docker, which is no cluster.
    Docker,
    /// In one of Podman, which makes no swarms.
    Podman,
}

/// Words of clusters, whole ones: their programs, what only they have, and who sells them.
const CLUSTER: &str = "k8s|k3s|k3d|k0s|rke|rke2|microk8s|minikube|kind cluster|coredns|pod|pods|\
    in namespace|statefulset|statefulsets|daemonset|daemonsets|svc cluster|cluster local|helm|\
    openshift|rancher|istio|cilium|argocd|argo cd|argo workflows|tekton|eks|aks|gke";

/// With this begin the names of many more.
const KUBE: &str = " kube";

/// Words of containers that run in no cluster; images are built and tried for clusters, too.
const DOCKER: &str = "docker compose|compose yml|compose yaml|127 0 0 11|docker container|\
    docker containers";

/// Words of those of Podman.
const PODMAN: &str = "podman|netavark|aardvark";

/// What Docker and Podman alone can cause.
const OF_DOCKER: &str = "docker-dns|docker-network|docker-rules|gateway-firewall|swarm-names";

/// What takes an overlay or Docker's own rules, which Podman has not.
const NOT_OF_PODMAN: &str = "docker-rules|overlay-blocked|overlay-checksum|swarm-names";

/// What only a cluster of Kubernetes can cause; one of Swarm has overlays and IPVS, too.
const OF_CLUSTERS: &str = "autopath|cilium-dns-denied|cilium-dns-proxy|cilium-redirect|\
    cluster-domain|dns-overloaded|dns-pod-behind|dns-pod-network|dns-rollout|\
    headless-not-ready|host-network-policy|asks-node-servers|kube-proxy-down|\
    kubelet-file-broken|kubelet-file-empty|kubelet-file-missing|mesh-dns-proxy|mesh-init|\
    network-not-ready|network-policy|no-cluster-dns|no-dns-endpoints|nodelocal-down|\
    nodelocal-upstream|other-namespace|policy-target-port|\
    service-path|wrong-cluster-dns";

impl Platform {
    /// Where a text in small letters says that it happens; `None`: in both, or it does not say.
    pub(super) fn told(small: &str, asked: Option<Kind>, looked: Option<Looked>) -> Option<Self> {
        let words = small.split(|it: char| !it.is_alphanumeric());
        let words: Vec<&str> = words.filter(|it| !it.is_empty()).collect();
        let words = format!(" {} ", words.join(" "));
        let has = |all: &str| all.split('|').any(|it| words.contains(&format!(" {it} ")));
        let is_cluster = has(CLUSTER)
            || words.contains(KUBE)
            || matches!(asked, Some(Kind::Service | Kind::NodeLocal | Kind::Pod))
            || matches!(
                looked,
                Some(Looked::Service | Looked::Api | Looked::Candidate)
            );
        let is_podman = has(PODMAN);
        let is_docker = has(DOCKER) || asked == Some(Kind::Docker);
        match (is_cluster, is_docker, is_podman) {
            (true, false, false) => Some(Self::Cluster),
            (false, true, _) => Some(Self::Docker),
            (false, false, true) => Some(Self::Podman),
            _ => None,
        }
    }

    /// Whether a cause is seldom one here.
    pub(super) fn is_strange(self, cause: &Cause) -> bool {
        let strange: &[&str] = match self {
            Self::Cluster => &[OF_DOCKER],
            Self::Docker => &[OF_CLUSTERS],
            Self::Podman => &[OF_CLUSTERS, NOT_OF_PODMAN],
        };
        let mut codes = strange.iter().flat_map(|it| it.split('|'));
        codes.any(|it| it == cause.code)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::why::Catalogue;

    #[test]
    fn a_text_tells_its_platform_if_it_names_one_only() {
        for (text, asked, expected) in [
            ("pods of one namespace fail", None, Some(Platform::Cluster)),
            ("docker-compose up: web fails", None, Some(Platform::Docker)),
            ("docker-compose for a pod of k8s", None, None),
            (
                "aks: db ; docker build was fine",
                None,
                Some(Platform::Cluster),
            ),
            ("k3d: lookup db on 127.0.0.11:53", None, None),
            ("the network namespace of my container", None, None),
            ("we overwhelm redis in podman", None, Some(Platform::Podman)),
            ("aardvark dns is silent", None, Some(Platform::Podman)),
            ("podman and docker-compose", None, Some(Platform::Docker)),
            ("docker run fails", None, None),
            ("kubeflow is slow", None, Some(Platform::Cluster)),
            ("getaddrinfo eai_again db", None, None),
            ("two weeks ago a worker breaks", None, None),
            (
                "lookup db: no such host",
                Some(Kind::Service),
                Some(Platform::Cluster),
            ),
            (
                "lookup db: no such host",
                Some(Kind::Docker),
                Some(Platform::Docker),
            ),
        ] {
            assert_eq!(Platform::told(text, asked, None), expected, "{text}");
        }
    }

    #[test]
    fn the_causes_are_known() {
        let catalogue = Catalogue::built_in();
        for code in [OF_DOCKER, OF_CLUSTERS, NOT_OF_PODMAN].join("|").split('|') {
            assert!(catalogue.cause(code).is_some(), "{code}");
        }
    }
}
