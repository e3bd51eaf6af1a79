#cloud-config
write_files:

${common_files}

- content: ${base64encode(k3s_config)}
  encoding: base64
  path: /etc/rancher/k3s/config.yaml

%{ if has_dns_servers ~}
manage_resolv_conf: true
resolv_conf:
  nameservers:
%{ for dns_server in dns_servers ~}
    - ${dns_server}
%{ endfor ~}
%{ endif ~}
