#!/bin/sh
TEMPLATE=/srv/kubernetes/manifests/web
cat << EOF > $TEMPLATE
apiVersion: v1
kind: Pod
metadata:
  name: web
spec:
  dnsPolicy: ClusterFirstWithHost
  containers:
  - name: web
    image: registry.example/web:1
EOF
