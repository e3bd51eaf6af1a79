#!/bin/sh
ssh node "
cat >/var/lib/kubelet/config.yaml <<'EOF'
apiVersion: kubelet.config.k8s.io/v1beta1
kind: KubeletConfiguration
clusterDNS: [10.96.0.10]
resolvConf: \"/run/systemd/resolve/resolv.conf\"
EOF
"
