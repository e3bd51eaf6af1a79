//! Where a text says that it happens, as far as its words tell: a cause of the one place is
//! seldom one of the other.

use super::asked::Kind;
use super::cause::Cause;
use super::looked::Looked;

/// Where it happens.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Place {
    /// In a cluster.
    Cluster,
    /// In a container of Docker or Podman, which are no clusters.
    Docker,
}

/// Words of clusters, and of nothing else.
const CLUSTER: &str = "kube|k8s|k3s|rke2|pod |pods|pod's|pod/|coredns|svc.cluster|cluster.local|helm |\
    helm chart|statefulset|daemonset|namespace|openshift|istio|cilium| eks| aks| gke";

/// Words of containers that are in no cluster.
const DOCKER: &str = "docker-compose|docker compose|compose.y|docker run|docker build|docker exec|127.0.0.11|\
    dockerfile|podman|docker container|swarm";

/// What Docker and Podman alone can cause.
const OF_DOCKER: &str = "docker-dns|docker-network|docker-rules|gateway-firewall|swarm-names";

/// What only a cluster can cause.
const OF_CLUSTERS: &str = "autopath|bridge-nf-off|cilium-dns-denied|cilium-dns-proxy|cilium-redirect|\
    cluster-domain|dns-overloaded|dns-pod-behind|dns-pod-network|dns-rollout|\
    headless-not-ready|host-network-policy|asks-node-servers|ipvs-residue|kube-proxy-down|\
    kubelet-file-broken|kubelet-file-empty|kubelet-file-missing|mesh-dns-proxy|mesh-init|\
    network-not-ready|network-policy|no-cluster-dns|no-dns-endpoints|nodelocal-down|\
    nodelocal-upstream|other-namespace|overlay-blocked|overlay-checksum|policy-target-port|\
    service-path|wrong-cluster-dns";

impl Place {
    /// Where a text in small letters says that it happens; `None`: in both, or it does not say.
    pub(super) fn told(small: &str, asked: Option<Kind>, looked: Option<Looked>) -> Option<Self> {
        let has = |words: &str| words.split('|').any(|it| small.contains(it));
        let is_cluster = has(CLUSTER)
            || matches!(asked, Some(Kind::Service | Kind::NodeLocal | Kind::Pod))
            || matches!(
                looked,
                Some(Looked::Service | Looked::Api | Looked::Candidate)
            );
        let is_docker = has(DOCKER) || asked == Some(Kind::Docker);
        match (is_cluster, is_docker) {
            (true, false) => Some(Self::Cluster),
            (false, true) => Some(Self::Docker),
            _ => None,
        }
    }

    /// Whether a cause is seldom one here.
    pub(super) fn is_strange(self, cause: &Cause) -> bool {
        let strange = match self {
            Self::Cluster => OF_DOCKER,
            Self::Docker => OF_CLUSTERS,
        };
        strange.split('|').any(|it| it == cause.code)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_tells_its_place_if_it_names_one_only() {
        for (text, asked, expected) in [
            ("pods of one namespace fail", None, Some(Place::Cluster)),
            ("docker-compose up: web fails", None, Some(Place::Docker)),
            ("docker build in a pod of k8s", None, None),
            ("getaddrinfo eai_again db", None, None),
            ("two weeks ago a worker breaks", None, None),
            (
                "lookup db: no such host",
                Some(Kind::Service),
                Some(Place::Cluster),
            ),
            (
                "lookup db: no such host",
                Some(Kind::Docker),
                Some(Place::Docker),
            ),
        ] {
            assert_eq!(Place::told(text, asked, None), expected, "{text}");
        }
    }
}
