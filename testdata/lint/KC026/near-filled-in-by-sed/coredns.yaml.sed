apiVersion: v1
kind: ConfigMap
metadata:
  name: coredns
data:
  Corefile: |
    .:53 {
        errors
        LOGGING
        kubernetes $DNS_DOMAIN {
            pods insecure
        }
        forward . $UPSTREAM
    }
