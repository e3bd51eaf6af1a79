apiVersion: v1
kind: ConfigMap
metadata: {name: coredns, namespace: kube-system}
data:
  Corefile: |
    .:53 {
        errors
        health{{ if .lameduck }} {
           lameduck {{ .lameduck }}
        }{{ end }}
        kubernetes {{ .domain }}
        forward . /etc/resolv.conf
    }
