#!/bin/sh
echo "DNS=192.0.2.53" >> /etc/systemd/resolved.conf
systemctl restart systemd-resolved
