locals {
  default_corefile = <<EOT
.:53 {
    errors
    redy
    kubernetes ${var.cluster_domain} in-addr.arpa ip6.arpa
    hosts {
      %{for ip, host in var.hosts~}
      ${ip} ${host}
      %{endfor~}
      fallthrough
    }
    forward . /etc/resolv.conf
    loop
}
EOT
}
