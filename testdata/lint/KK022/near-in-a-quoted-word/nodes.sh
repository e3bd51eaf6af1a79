#!/bin/sh
# It's one command of the other shell.
for node in a b; do
  ssh "$node" "
cat <<EOF | sudo tee /var/lib/kubelet/config.yaml
apiVersion: kubelet.config.k8s.io/v1beta1
kind: KubeletConfiguration
clusterDNS: [\"10.96.0.10\"]
resolvConf: \"/run/systemd/resolve/resolv.conf\"
EOF
"
done
