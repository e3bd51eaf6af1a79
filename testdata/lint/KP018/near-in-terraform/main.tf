resource "helm_release" "web" {
  values = [yamlencode({
    dnsConfig = { nameservers = [var.dns, "${var.net}.300", local.dns["x"]] }
  })]
}
