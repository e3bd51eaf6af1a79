//! Configurations of real DNS servers.

/// A program, its arguments and its files.
#[derive(Debug)]
pub(crate) struct Configuration {
    pub(crate) name: &'static str,
    pub(crate) program: &'static str,
    pub(crate) arguments: &'static [&'static str],
    pub(crate) files: &'static [(&'static str, &'static str)],
}

const fn row(
    program: &'static str,
    name: &'static str,
    arguments: &'static [&'static str],
    files: &'static [(&'static str, &'static str)],
) -> Configuration {
    Configuration {
        name,
        program,
        arguments,
        files,
    }
}

const D: &str = "dnsmasq";
const U: &str = "unbound";
const N: &str = "named";

/// What every dnsmasq here is started with besides.
const CONF: &str = "/etc/dnsmasq.conf";
const UNBOUND: &str = "/etc/unbound/unbound.conf";
const NAMED: &str = "/etc/bind/named.conf";

/// Every configuration that is tried.
pub(crate) const TABLE: &[Configuration] = &[
    row(
        D,
        "resolv.conf by default",
        &["-k", "-u", "root", "-x", ""],
        &[(CONF, "\n"), ("/etc/resolv.conf", "nameserver 192.0.2.1\n")],
    ),
    row(
        D,
        "itself in resolv.conf",
        &["-k", "-u", "root", "-x", ""],
        &[
            (CONF, "\n"),
            (
                "/etc/resolv.conf",
                "nameserver 127.0.0.1\nnameserver 10.1.0.1\nnameserver 192.0.2.2\n",
            ),
        ],
    ),
    row(
        D,
        "servers and domains",
        &["-k", "-u", "root", "-x", ""],
        &[(
            CONF,
            "no-resolv\nserver=192.0.2.1\nserver=/corp.example/192.0.2.2#5353\nserver=/sub.corp.example/#\n",
        )],
    ),
    row(
        D,
        "local names and wildcards",
        &["-k", "-u", "root", "-x", ""],
        &[(
            CONF,
            "no-resolv\nserver = 192.0.2.1 # one\n#server=192.0.2.5\nserver=/*.corp.example/192.0.2.3\nserver=/#/192.0.2.4\n",
        )],
    ),
    row(
        D,
        "several domains, quotes, rev-server",
        &["-k", "-u", "root", "-x", ""],
        &[(
            CONF,
            "no-resolv\nserver=\"/a.example/corp.example/192.0.2.3\"\nrev-server=10.0.0.0/8,192.0.2.4#5353\nserver=192.0.2.1@br0\nserver=192.0.2.2\n",
        )],
    ),
    row(
        D,
        "names without a dot",
        &["-k", "-u", "root", "-x", ""],
        &[(CONF, "no-resolv\nserver=//192.0.2.3\nserver=192.0.2.2\n")],
    ),
    row(
        D,
        "listen-address",
        &["-k", "-u", "root", "-x", ""],
        &[(
            CONF,
            "no-resolv\nserver=192.0.2.1\nlisten-address=127.0.0.1,10.1.0.1\n",
        )],
    ),
    row(
        D,
        "listen-address, bound",
        &["-k", "-u", "root", "-x", ""],
        &[(
            CONF,
            "no-resolv\nserver=192.0.2.1\nlisten-address=127.0.1.1\nbind-interfaces\nserver=127.0.1.1\n",
        )],
    ),
    row(
        D,
        "interface",
        &["-k", "-u", "root", "-x", ""],
        &[(CONF, "no-resolv\nserver=192.0.2.1\ninterface=br0\n")],
    ),
    row(
        D,
        "interface, bound, port",
        &["-k", "-u", "root", "-x", ""],
        &[(
            CONF,
            "no-resolv\nserver=192.0.2.1\ninterface=br*\nbind-interfaces\nport=5353\n",
        )],
    ),
    row(
        D,
        "interface but not lo",
        &["-k", "-u", "root", "-x", ""],
        &[(
            CONF,
            "no-resolv\nserver=192.0.2.1\ninterface=br1\nexcept-interface=lo\nbind-dynamic\n",
        )],
    ),
    row(
        D,
        "except-interface",
        &["-k", "-u", "root", "-x", ""],
        &[(CONF, "no-resolv\nserver=192.0.2.1\nexcept-interface=br0\n")],
    ),
    row(
        D,
        "except-interface, bound",
        &["-k", "-u", "root", "-x", ""],
        &[(
            CONF,
            "no-resolv\nserver=192.0.2.1\nexcept-interface=br0\nbind-interfaces\n",
        )],
    ),
    row(
        D,
        "arguments and a directory",
        &[
            "-k",
            "-uroot",
            "-x",
            "",
            "-r",
            "/run/up.conf",
            "-7",
            "/etc/dnsmasq.d,.bak",
            "--server",
            "/sub.corp.example/192.0.2.4",
        ],
        &[
            (CONF, "\n"),
            ("/run/up.conf", "nameserver 192.0.2.3\n"),
            ("/etc/dnsmasq.d/a", "server=/corp.example/192.0.2.2\n"),
            ("/etc/dnsmasq.d/b.bak", "server=/corp.example/192.0.2.5\n"),
            ("/etc/dnsmasq.d/c~", "server=/corp.example/192.0.2.5\n"),
            ("/etc/dnsmasq.d/.d", "server=/corp.example/192.0.2.5\n"),
        ],
    ),
    row(
        D,
        "another file, endings, servers-file",
        &[
            "-k",
            "--user=root",
            "--pid-file=",
            "--conf-file=/etc/other.conf",
            "-S192.0.2.5",
        ],
        &[
            (CONF, "server=192.0.2.1\n"),
            (
                "/etc/other.conf",
                "no-resolv\nconf-dir=/etc/dnsmasq.d,*.conf\nservers-file=/etc/servers\n",
            ),
            ("/etc/dnsmasq.d/a.conf", "server=/corp.example/192.0.2.2\n"),
            ("/etc/dnsmasq.d/b", "server=/corp.example/192.0.2.1\n"),
            ("/etc/servers", "server=/sub.corp.example/192.0.2.3\n"),
        ],
    ),
    row(
        D,
        "strict-order",
        &["-k", "-u", "root", "-x", "", "-o"],
        &[
            (CONF, "resolv-file=/run/up.conf\n"),
            (
                "/run/up.conf",
                "nameserver 192.0.2.3\nnameserver 192.0.2.4\n",
            ),
        ],
    ),
    row(
        U,
        "forward-zones",
        &["-d"],
        &[(
            UNBOUND,
            "\
server:\n  username: \"\"\n  chroot: \"\"\n  directory: \"/run\"\n  pidfile: \"\"\n  use-syslog: no\n  module-config: \"iterator\"\n\
remote-control:\n  control-enable: no\n\
forward-zone:\n  name: \".\"\n  forward-addr: 192.0.2.1\n  forward-addr: 192.0.2.2@5353\n\
forward-zone: name: corp.example forward-addr:192.0.2.3#name\n",
        )],
    ),
    row(
        U,
        "localhost is not asked",
        &["-d"],
        &[(
            UNBOUND,
            "\
server:\n  username: \"\"\n  chroot: \"\"\n  directory: \"/run\"\n  pidfile: \"\"\n  use-syslog: no\n  module-config: \"iterator\"\n\
  interface: 127.0.0.2\n  interface: 10.1.0.1@5353\n  interface: br1\n\
remote-control:\n  control-enable: no\n\
forward-zone:\n  name: \".\"\n  forward-addr: 127.0.0.53\n  forward-addr: 192.0.2.2\n",
        )],
    ),
    row(
        U,
        "includes and stub-zones",
        &["-d", "-c", "/etc/unbound/x.conf"],
        &[
            (
                "/etc/unbound/x.conf",
                "\
server:\n  username: \"\"\n  chroot: \"\"\n  directory: \"/run\"\n  pidfile: \"\"\n  use-syslog: no\n  module-config: \"iterator\"\n\
include: \"/etc/unbound/server.conf\"\n  port: 5353\n\
remote-control:\n  control-enable: no\n\
include-toplevel: \"/etc/unbound/conf.d/*.conf\"\n",
            ),
            (
                "/etc/unbound/server.conf",
                "interface: 0.0.0.0\ndo-ip6: no\n",
            ),
            (
                "/etc/unbound/conf.d/a.conf",
                "forward-zone:\n  name: .\n  forward-addr: 192.0.2.4\n",
            ),
            (
                "/etc/unbound/conf.d/b.conf",
                "stub-zone:\n  name: Corp.Example.\n  stub-addr: 192.0.2.5\n",
            ),
            (
                "/etc/unbound/conf.d/c.conf.bak",
                "forward-zone:\n  name: .\n  forward-addr: 192.0.2.1\n",
            ),
        ],
    ),
    row(
        U,
        "recursion",
        &["-d"],
        &[(
            UNBOUND,
            "\
server:\n  username: \"\"\n  chroot: \"\"\n  directory: \"/run\"\n  pidfile: \"\"\n  use-syslog: no\n  module-config: \"iterator\"\n\
remote-control:\n  control-enable: no\n\
forward-zone:\n  name: corp.example\n  forward-addr: 192.0.2.3\n",
        )],
    ),
    row(
        N,
        "forwarders",
        &["-f", "-4"],
        &[
            (
                NAMED,
                "include \"/etc/bind/named.conf.options\";\ncontrols { };\nzone \"corp.example\" { type forward; forward only; forwarders { 192.0.2.2 port 5353; }; };\n",
            ),
            (
                "/etc/bind/named.conf.options",
                "options { directory \"/run/named\"; pid-file none; session-keyfile none; dnssec-validation no; // c\n forward only; forwarders { 192.0.2.1; /* no: 192.0.2.5; */ }; };\n",
            ),
        ],
    ),
    row(
        N,
        "listen-on",
        &["-f"],
        &[(
            NAMED,
            "controls { };\nacl inner { 10.1.0.0/16; };\n\
options { directory \"/run/named\"; pid-file none; session-keyfile none; dnssec-validation no; forward only; forwarders port 5353 { 192.0.2.1; 192.0.2.2 port 53; };\n\
listen-on { inner; 127.0.0.2; }; listen-on port 5353 { !10.2.0.1; any; }; listen-on-v6 { none; }; };\n",
        )],
    ),
    row(
        N,
        "a zone without forwarders",
        &["-f"],
        &[(
            NAMED,
            "controls { };\n\
options { directory \"/run/named\"; pid-file none; session-keyfile none; dnssec-validation no; forward only; forwarders { 192.0.2.3; };\n\
listen-on { 127.0.0.1; }; };\nzone \"corp.example\" { type forward; forwarders { }; };\n",
        )],
    ),
    row(
        N,
        "static-stub and another port",
        &["-f", "-p", "5353"],
        &[(
            NAMED,
            "controls { };\n\
options { directory \"/run/named\"; pid-file none; session-keyfile none; dnssec-validation no; forward only; forwarders { 192.0.2.3 port 53; };\n\
listen-on { localhost; }; };\nzone \"corp.example\" { type static-stub; server-addresses { 192.0.2.4; }; forwarders { }; };\n",
        )],
    ),
    row(
        N,
        "views",
        &["-f"],
        &[(
            NAMED,
            "controls { };\n\
options { directory \"/run/named\"; pid-file none; session-keyfile none; dnssec-validation no; forward only; };\n\
view all { match-clients { any; }; recursion yes; forwarders { 192.0.2.3; };\n\
zone \"corp.example\" { type forward; forward only; forwarders { 192.0.2.4; }; }; };\n",
        )],
    ),
];
