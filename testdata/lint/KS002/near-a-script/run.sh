#!/bin/sh
cat <<EOF > /tmp/config.txt
apiVersion: v1
kind: KubeletConfiguration
EOF
echo a: b: c
