#!/bin/sh
cat <<EOF > /var/lib/kubelet/config.yaml
apiVersion: kubelet.config.k8s.io/v1beta1
kind: KubeletConfiguration
clusterDNS: [10.96.0.10]
clusterDomain: cluster.local
resolvConf: /run/systemd/resolve/stub-resolv.conf
EOF
