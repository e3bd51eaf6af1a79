apiVersion: v1
kind: ConfigMap
metadata:
  name: coredns
  namespace: kube-system
data:
  Corefile: |
    .:53 {
        errors
        forward . UPSTREAMNAMESERVER {
          max_concurrent 1000
        }
        loop
    }STUBDOMAINS
