#!/bin/bash
cat <<EOF | kubectl apply -f -
apiVersion: v1
kind: Pod
metadata: {name: "$NAME"}
spec:
  hostNetwork: true
  dnsPolicy: ClusterFirst
  containers: [{name: a, image: "$IMAGE"}]
EOF
