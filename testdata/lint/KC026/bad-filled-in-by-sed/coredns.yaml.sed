apiVersion: v1
kind: ConfigMap
metadata:
  name: coredns
data:
  Corefile: |
    .:53 {
        errors
        kubernets $DNS_DOMAIN {
            pods insecure
        }
        forward . $UPSTREAM
    }
