#!/bin/sh
sudo tee /etc/resolv.conf <<'EOF'
nameserver 192.0.2.300
EOF
