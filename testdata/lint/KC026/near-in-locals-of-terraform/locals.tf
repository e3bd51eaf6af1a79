locals {
  corefile = <<EOT
.:53 {
    errors
    ${var.plugins}
    forward . /etc/resolv.conf
    loop
}
EOT
}
