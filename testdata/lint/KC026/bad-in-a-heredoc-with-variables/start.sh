#!/bin/bash
cat > ${DIR}/coredns/Corefile <<EOF
.:53 {
    errors
    kubernetes cluster.local {
        kubeconfig ${KUBECONFIG}
    }
    forward . /etc/resolv.conf
    loop
    loadbalence
}
EOF
