#!/bin/sh
curl -sfL https://get.k3s.io | INSTALL_K3S_EXEC="server --cluster-cidr 10.42.0.0/16 --config /etc/k3s.yaml --resolv-conf /etc/k3s.conf" sh -
k3s kubectl get nodes --cluster-dsn
