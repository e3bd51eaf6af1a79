module "dns" {
  source           = "./dns"
  coredns_corefile = <<-YAML
    apiVersion: v1
    kind: ConfigMap
    metadata: {name: coredns, namespace: kube-system}
    data:
      Corefile: |
        .:53 {
          errors
          kubernetes cluster.local
          forward . 192.0.2.53
          cache 30
          loop
        }
  YAML
}
