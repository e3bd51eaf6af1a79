#!/bin/sh
# On which machine, nobody can tell.
cat > /etc/resolv.conf <<EOF
nameserver 127.0.0.1
EOF
