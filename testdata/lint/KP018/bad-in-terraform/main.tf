resource "helm_release" "web" {
  values = [yamlencode({
    dnsConfig = { nameservers = ["10.0.0.300", var.dns] }
  })]
}
