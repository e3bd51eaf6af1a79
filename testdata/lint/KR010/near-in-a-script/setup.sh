#!/bin/sh
cat >> /etc/resolv.conf <<EOF
nameserver 192.0.2.300
EOF
cat <<EOF | sed s/300/53/ > /etc/resolv.conf
nameserver 192.0.2.300
EOF
