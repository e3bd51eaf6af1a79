//! Sentences that use the words of DNS and are about something else.

use std::fs;

use kdns::why::{Catalogue, recognise};

use crate::{expect_none, root};

/// Each was taken for a fault of DNS once.
const INNOCENT: [&str; 119] = [
    "I did not change anything about DNS in the cluster, all lookups work",
    "We do not use DNS inside the pods, only addresses",
    "We don't see any problem with DNS in our cluster",
    "Unit test DnsResolverTest did not pass on node 18",
    "The cluster doesn't expose DNS metrics",
    "Please do not restart coredns, all pods are healthy",
    "Cilium upgrade went well, DNS does not show any problem",
    "We did not upgrade CoreDNS; names are as they were",
    "mtu of the interface is 9000 and udp throughput is low with iperf",
    "ldap: bind refused by acl; dn=admin",
    "unbound variable: recursion depth, refused in bash",
    "validation failure: DNS-1123 label must consist of lower case",
    "Invalid value \"Web\": a DNS-1035 label must start with a letter, failed validation",
    "etcd: clock skew between members, certificate signature is invalid",
    "wrong clock: JWT signature is invalid",
    "signature expired for AWS request",
    "endpointslice webhook is forbidden by gatekeeper",
    "configmap \"kube-dns\" not found",
    "configmaps \"coredns\" not found in namespace web",
    "redis exits with exit code 137; kube-dns is running",
    "java exit code 137, memory limit 512Mi; coredns pods were not touched",
    "search domain is set; jenkins build fails",
    "the router's landing page shows the wrong name after login failed",
    "the router forwards unknown domains to 1.1.1.1 and dns works",
    "docker: forward the ticket; we drop support for pod security policies",
    "jvm keeps a record of each failover in the database",
    "spring boot: failover of the database takes 30 s, jdbc keeps the old connection",
    "private endpoint of storage has public ip, vnet; it is HTTP 403",
    "checksum of the dns package is invalid: sha256 mismatch",
    "policy on port 53 is open, the web pod cannot reach postgres",
    "alpine image is smaller than debian, it works fine but the binary doesn't start: not found",
    "python slim image works, alpine doesn't build numpy",
    "the Corefile has forward . 10.0.0.2 and nothing was refused",
    "we forward logs to splunk and get timeouts in corefile dumps",
    "Tailscale was removed",
    "Tailscale isn't used here",
    "Tailscale has been uninstalled",
    "We never had Tailscale",
    "kube-proxy is in ipvs mode",
    "503 Service Unavailable: upstream connect error or disconnect/reset before headers",
    "problems with resolving merge conflicts in service.yaml",
    "trouble resolving dependencies of the hostname package",
    "Cannot resolve method 'getHostName' in 'InetAddress'",
    "Could not resolve placeholder 'db.hostname' in value \"${db.hostname}\"",
    "Could not resolve all dependencies for configuration ':app:debug' of service",
    "unable to resolve module; hostname is set",
    "dns stops being my problem on Friday",
    "strange dns names are funny",
    "server failure in rack 4, disk replaced",
    "refused to merge unrelated histories",
    "> LDAP bind was refused\n> dns is fine",
    "│ web-0 started │\n│ dns is fine   │",
    "name resolution not needed",
    "dns resolution is not part of the plan",
    "name resolution doesn't matter here",
    "DNS breaks ties by alphabetical order",
    "DNS no longer works around the bug",
    "the release 'dns stops working group'",
    "DNS is down-sampled in our dashboards",
    "dns is down the list of priorities",
    "weird dns behaviour was a joke",
    "strange DNS behaviour is explained in chapter 4",
    "trouble resolving the ticket of the service desk",
    "issues resolving customer complaints, service team",
    "problem resolving path of node modules",
    "problems with resolving the container's image tag",
    "name not found",
    "ETIMEOUT",
    "server failure",
    "refused entry",
    "unable to resolve class org.jenkins.Node",
    "unable to resolve variable ${cluster}",
    "cannot resolve the template of the node",
    "Could not resolve dependency: npm ERR! node-sass cluster",
    "Ingress shows Kubernetes Ingress Controller Fake Certificate. See https://github.com/kubernetes/ingress-nginx/issues/4674",
    "ERROR: more than 100 concurrent queries from user app on the database",
    "Snowflake: more than 20 concurrent queries from warehouse WH1",
    "unreachable backend: dial tcp 10.0.0.1:8080: i/o timeout",
    "Envoy strict_dns cluster: no healthy upstream since all health checks fail (HTTP 500)",
    "\"type\":\"STRICT_DNS\" ... 503 UH no healthy upstream",
    "connection refused",
    "not implemented",
    "format error",
    "ufw disabled and grafana works",
    "firewall stopped and then the node port works",
    "hairpin NAT: from the LAN the requests to my public ip time out, but dns is fine",
    "my site's domain name points to my public ip and works",
    "ElasticSearch domain search goes to a cold node",
    "extra search index added to search pod",
    "ClickHouse too many concurrent queries, resolved by raising max_concurrent_queries",
    "GraphQL: limit parallel queries per resolver",
    "kafka: container started before the network is ready, broker id conflict",
    "minikube was created before the vpn, image pull returns 404",
    "Terraform always uses cluster.local as var",
    "assume role arn:.../cluster.local failed",
    "our Helm chart requires cluster.local.yaml",
    "network_mode: host and port 80 not found in docker ps",
    "split-horizon issue in VPLS",
    "we upgraded CoreDNS yesterday; today ConfigMap web not found",
    "haproxy fails to start: unable to load SSL certificate from PEM file; the resolvers section and dns ...",
    "resolved address of the shipment not updated after",
    "LDAP lookup bob on 10.0.0.4:636: connection reset by peer",
    "failed lookup customer on 10.0.0.4:8443: EOF",
    "bw_out_allowance_exceeded: 812",
    "node_ethtool_linklocal_allowance_exceeded{device=\"eth0\"} 0",
    "Our VIP works, and the domain resolves",
    "by name it works; the ip address is new, not by name server",
    "the script works by IPAM; equip works with the DNS server of the domain",
    "cat: /mnt/sysroot/etc/resolv.conf: No such file or directory",
    "ls: cannot access '/etc/resolv.conf': Permission denied",
    "sum(rate(coredns_forward_max_concurrent_rejects_total 5",
    "Nov 30 10:00:00 node-1 systemd-resolved[512]: Positive Trust Anchors: . IN DS 20326 8 2 e06d44b80b8f1d39",
    "Nov 30 10:00:00 node-1 systemd[1]: Started Network Name Resolution.",
    "kubectl -n kube-system rollout restart deployment coredns deployment.apps/coredns restarted",
    "This library resolves host names with the system resolver and caches answers for 30 seconds.",
    "- fix: handle ENOTFOUND in retry logic (#123)",
    "PASS src/dns/lookup.test.ts (12 tests) should throw ENOTFOUND when the host is unknown",
    "assert_eq!(err.to_string(), \"no such host\");",
    "expect(() => f()).toThrow(\"getaddrinfo ENOTFOUND db.shop\")",
];

#[test]
fn what_is_about_something_else_has_no_cause() {
    expect_no_cause(INNOCENT.iter().map(|it| (*it).to_owned()));
}

/// Reports of other faults, and what programs print where all is well: each of these was taken for
/// a fault of DNS once, or could be.
#[test]
fn what_tools_print_where_dns_is_well_has_no_cause() {
    let texts = fs::read_to_string(root().join("testdata/why/innocent.tsv")).unwrap();
    let texts = texts.lines().skip(1).map(|it| {
        let text = it.split_once('\t').unwrap_or_default().1;
        text.replace('␤', "\n").replace('⇥', "\t")
    });
    expect_no_cause(texts);
}

fn expect_no_cause(texts: impl Iterator<Item = String>) {
    let catalogue = Catalogue::built_in();
    let wrong = texts.filter_map(|text| {
        let found = recognise(catalogue, &text, None).ok()?;
        (!found.causes.is_empty()).then(|| format!("{text}: {}", found.message.id))
    });
    expect_none(&wrong.collect::<Vec<String>>());
}

/// Complaints that look like the ones above.
#[test]
fn what_is_broken_stays_known() {
    let catalogue = Catalogue::built_in();
    for (text, id) in [
        (
            "not all pods can resolve names, DNS times out",
            "symptom-broken",
        ),
        (
            "we cannot resolve import-service.default in the service mesh",
            "symptom-broken",
        ),
        ("DNS lookups get time outs in the cluster", "symptom-broken"),
        ("dns time outs in pods", "symptom-broken"),
        (
            "DNS doesn't seem to be working in the cluster",
            "symptom-broken",
        ),
        ("Problems with resolving host names", "symptom-broken"),
        ("name resolution doesn't work", "symptom-broken"),
        ("DNS is down in all pods", "symptom-broken"),
        ("ENOTFOUND", "symptom-enotfound"),
        ("ENOTFOUND issue", "node-enotfound"),
        ("query refused", "symptom-refused"),
        ("SERVFAIL", "symptom-servfail"),
        ("NXDOMAIN", "symptom-nxdomain"),
        ("REFUSED", "symptom-refused-word"),
        (
            "failed calling webhook \"v\": Post \"https://hook.prod.svc:443/validate\": dial tcp 10.96.3.4:443: connect: connection refused\nlookup a.example on 10.0.0.2:53: context deadline exceeded",
            "go-canceled",
        ),
        ("rcode REFUSED", "symptom-refused"),
        ("FORMERR", "symptom-rcode"),
        ("test: DNS does not work on one node", "symptom-one-node"),
        // What stands in another line is another program's.
        (
            "W0805 06:36:29.6 133 reflector.go:533] vendor/k8s.io/client-go/informers/factory.go:150: failed to list *v1.Service: Get \"https://10.96.0.1:443/api/v1/services\": dial tcp 10.96.0.1:443: connect: connection refused\n[ERROR] plugin/kubernetes: Failed to list *v1.Service: Get \"https://10.96.0.1:443/api/v1/services\": dial tcp 10.96.0.1:443: connect: connection refused",
            "coredns-api-connect",
        ),
        ("timeout", "symptom-timeout"),
        ("i/o timeout", "symptom-timeout"),
    ] {
        let found = recognise(catalogue, text, None).map(|it| it.message.id);
        assert_eq!(found.ok(), Some(id), "{text}");
    }
}

/// What may have many reasons rules out none of them.
#[test]
fn what_is_vague_rules_nothing_out() {
    let catalogue = Catalogue::built_in();
    let wrong = VAGUE.iter().filter_map(|(text, right)| {
        let found = recognise(catalogue, text, None).ok()?;
        let ruled_out = found.message.rules_out.join("; ");
        ruled_out
            .contains(right)
            .then(|| format!("{text}: {} rules out {ruled_out}", found.message.id))
    });
    expect_none(&wrong.collect::<Vec<String>>());
}

/// Texts, and what they do not rule out.
const VAGUE: [(&str, &str); 10] = [
    (
        "kube-proxy is down, dns lookups time out, coredns pod IP times out as well",
        "the Corefile",
    ),
    (
        "mtu is 1500 on all nodes, lookups of web.shop give NXDOMAIN",
        "the names",
    ),
    (
        "srv record lookup fails with i/o timeout on 10.96.0.10:53",
        "the network",
    ),
    (
        "dns: connection refused on 10.96.0.10:53, bind9 has allow-recursion any",
        "the network",
    ),
    (
        "clusterDomain: cluster.local clusterDNS: [10.96.0.10] -- lookups of github.com time out",
        "a missing Service",
    ),
    (
        "nameserver is reachable but coredns returns SERVFAIL for github.com",
        "the DNS pods",
    ),
    (
        "we must use fqdn and still dns times out",
        "the way to the server",
    ),
    (
        "coredns crashed 3 days ago, lookups fail now and then",
        "the clients",
    ),
    (
        "coredns memory limit raised, lookups are slow since the new upstream",
        "a missing route",
    ),
    (
        "router: unknown domains time out, name lookups fail",
        "drops packets",
    ),
];
