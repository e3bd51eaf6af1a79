//! Reads the configuration of one program.

use std::net::IpAddr;
use std::path::{Path, PathBuf};

use super::include;
use crate::config::settings::Settings;
use crate::host::node::corefiles;
use crate::host::node::files;
use crate::host::node::processes::after;
use crate::host::root::Root;
use crate::node::launch;
use crate::topology::{
    DnsServer, Network, Program, Surroundings, coredns, dnsmasq, named, unbound,
};

/// The Corefiles of the CoreDNS that AKS runs on the node itself; it writes the
/// first one when it starts.
///
/// Source: Azure/AgentBaker parts/linux/cloud-init/artifacts/localdns.sh.
const AKS_LOCAL_DNS: [&str; 2] = [
    "/opt/azure/containers/localdns/updated.localdns.corefile",
    "/opt/azure/containers/localdns/localdns.corefile",
];

/// What is there for the programs of a node, or of a container.
pub(super) struct Reader<'r> {
    pub(super) root: &'r Root,
    pub(super) addresses: Vec<IpAddr>,
    pub(super) interfaces: Vec<(IpAddr, String)>,
    pub(super) files: Vec<String>,
    pub(super) skipped: Vec<String>,
}

impl Reader<'_> {
    /// `None` for the arguments: it does not run.
    pub(super) fn dnsmasq(
        &mut self,
        arguments: Option<&[String]>,
        label: &str,
    ) -> Option<DnsServer> {
        let mut settings = Settings::default();
        let rest = arguments.and_then(|it| it.get(1..)).unwrap_or_default();
        include::dnsmasq(self.root, rest, label, &mut settings, &mut self.skipped);
        let whose = dnsmasq::whose(arguments.unwrap_or_default());
        dnsmasq::server(&settings, &self.around(&format!("{whose}dnsmasq {label}")))
    }

    pub(super) fn unbound(&mut self, arguments: &[String], label: &str) -> DnsServer {
        let path = after(arguments, "-c").unwrap_or("/etc/unbound/unbound.conf");
        let mut settings = Settings::default();
        include::unbound(self.root, path, &mut settings, &mut self.skipped);
        unbound::server(&settings, &self.around(&format!("unbound {label}")))
    }

    pub(super) fn named(&mut self, arguments: &[String], label: &str) -> DnsServer {
        let defaults = ["/etc/bind/named.conf", "/etc/named.conf"];
        let there = |path: &&str| self.root.read(Path::new(path)).is_ok();
        let default = defaults
            .into_iter()
            .find(there)
            .unwrap_or("/etc/bind/named.conf");
        let path = after(arguments, "-c").unwrap_or(default).to_owned();
        let path = match after(arguments, "-t") {
            Some(jail) => format!("{jail}/{path}"),
            None => path,
        };
        let conf = include::named(self.root, &path, &mut self.skipped);
        let has = |flag: &str| arguments.iter().any(|it| it == flag);
        let flags = named::Flags {
            port: after(arguments, "-p").and_then(|it| it.parse().ok()),
            only_v4: has("-4"),
            only_v6: has("-6"),
        };
        named::server(&conf, flags, &self.around(&format!("named {label}")))
    }

    /// `directory` is its working directory.
    pub(super) fn coredns(
        &mut self,
        arguments: &[String],
        directory: &str,
        label: &str,
    ) -> Vec<DnsServer> {
        let path = match coredns::conf(arguments) {
            Some(coredns::Conf::File(path)) => launch::absolute(directory, &path),
            // Of one whose arguments cannot be read the usual file is taken.
            None if arguments.is_empty() => "/etc/coredns/Corefile".to_owned(),
            _ => return Vec::new(),
        };
        self.corefile(&path, label)
    }

    fn corefile(&mut self, path: &str, label: &str) -> Vec<DnsServer> {
        let corefiles = corefiles::at(self.root, path, &mut self.skipped);
        let site = coredns::Site {
            program: Program::CoreDns,
            label: &format!("CoreDNS {label}"),
            network: &Network::Node,
            addresses: &self.addresses,
            interfaces: &self.interfaces,
        };
        coredns::read(&corefiles, &site)
    }

    /// What the files configure, where no process tells what runs.
    pub(super) fn configured(&mut self) -> Vec<DnsServer> {
        let there = |root: &Root, path: &str| root.read(Path::new(path)).is_ok();
        let mut servers = Vec::new();
        if there(self.root, "/etc/dnsmasq.conf") {
            servers.extend(self.dnsmasq(None, "(configured in /etc/dnsmasq.conf)"));
        }
        if there(self.root, "/etc/unbound/unbound.conf") {
            servers.push(self.unbound(&[], "(configured in /etc/unbound/unbound.conf)"));
        }
        for path in ["/etc/bind/named.conf", "/etc/named.conf"] {
            if there(self.root, path) {
                let arguments = ["-c".to_owned(), path.to_owned()];
                servers.push(self.named(&arguments, &format!("(configured in {path})")));
            }
        }
        let local_dns = AKS_LOCAL_DNS.iter().find(|path| there(self.root, path));
        if let Some(path) = local_dns {
            servers.extend(self.corefile(path, &format!("(configured in {path})")));
        }
        servers.extend(self.network_managers());
        servers
    }

    /// The dnsmasq that NetworkManager starts when it is told to.
    fn network_managers(&mut self) -> Option<DnsServer> {
        let sources = include::network_manager(self.root, &mut self.skipped);
        let place = dnsmasq::network_manager_uses_it(&sources)?;
        let mut listed = None;
        for path in ["/etc/resolv.conf", "/run/NetworkManager/resolv.conf"] {
            let file = files::host_file(self.root, &PathBuf::from(path));
            let server = file
                .content
                .ok()
                .and_then(|conf| dnsmasq::network_managers(&conf));
            listed = listed.or(server);
        }
        let label = format!("NetworkManager's dnsmasq (configured at {place})");
        dnsmasq::of_network_manager(listed?, &place, &self.around(&label))
    }

    fn around<'a>(&'a self, label: &'a str) -> Surroundings<'a> {
        Surroundings {
            label,
            addresses: &self.addresses,
            interfaces: &self.interfaces,
            files: &self.files,
        }
    }
}
