//! Reads the configuration of one program.

use std::net::IpAddr;
use std::path::Path;

use super::include::Includes;
use crate::host::node::corefiles;
use crate::host::node::files;
use crate::host::node::processes::after;
use crate::host::root::Root;
use crate::kubelet::effective::absolute;
use crate::text::Place;
use crate::topology::{
    DnsServer, Instance, Network, Program, Surroundings, coredns, dnsmasq, named, unbound,
};

/// The Corefiles of the CoreDNS that AKS runs on the node itself; it writes the
/// first one when it starts.
///
/// Source: Azure/AgentBaker parts/linux/cloud-init/artifacts/localdns.sh.
const AKS_LOCAL_DNS: [&str; 2] = [
    "/opt/azure/containers/localdns/updated.localdns.corefile",
    "/opt/azure/containers/localdns/localdns.corefile",
];

/// Where the configuration of named is: Debian's place, its own.
const NAMED: [&str; 2] = ["/etc/bind/named.conf", "/etc/named.conf"];

/// What is there for the programs of a node, or of a container.
pub(super) struct Reader<'r> {
    pub(super) root: &'r Root,
    pub(super) addresses: Vec<IpAddr>,
    pub(super) interfaces: Vec<(IpAddr, String)>,
    pub(super) files: Vec<String>,
    pub(super) skipped: Vec<String>,
}

impl Reader<'_> {
    /// The servers that a process of this name is; none: it answers no queries
    /// by files that are read here. CoreDNS has its own reading.
    pub(super) fn of_program(
        &mut self,
        comm: &str,
        arguments: &[String],
        instance: Instance,
    ) -> Option<DnsServer> {
        match comm {
            "dnsmasq" => self.dnsmasq(arguments, instance),
            "unbound" => Some(self.unbound(arguments, instance)),
            "named" => Some(self.named(arguments, instance)),
            _ => None,
        }
    }

    fn dnsmasq(&mut self, arguments: &[String], instance: Instance) -> Option<DnsServer> {
        let rest = arguments.get(1..).unwrap_or_default();
        let settings = self.includes().dnsmasq(rest, &instance);
        let mut server = dnsmasq::server(&settings, &self.around(instance))?;
        server.whose = dnsmasq::whose(arguments);
        Some(server)
    }

    fn unbound(&mut self, arguments: &[String], instance: Instance) -> DnsServer {
        let path = after(arguments, "-c").unwrap_or("/etc/unbound/unbound.conf");
        let settings = self.includes().unbound(path);
        unbound::server(&settings, &self.around(instance))
    }

    fn named(&mut self, arguments: &[String], instance: Instance) -> DnsServer {
        let default = NAMED.into_iter().find(|it| self.has(it));
        let default = default.unwrap_or(NAMED[0]);
        let path = after(arguments, "-c").unwrap_or(default).to_owned();
        let path = match after(arguments, "-t") {
            Some(jail) => format!("{jail}/{path}"),
            None => path,
        };
        let conf = self.includes().named(&path);
        let has = |flag: &str| arguments.iter().any(|it| it == flag);
        let flags = named::Flags {
            port: after(arguments, "-p").and_then(|it| it.parse().ok()),
            only_v4: has("-4"),
            only_v6: has("-6"),
        };
        named::server(&conf, flags, &self.around(instance))
    }

    /// `directory` is its working directory.
    pub(super) fn coredns(
        &mut self,
        arguments: &[String],
        directory: &str,
        instance: &Instance,
    ) -> Vec<DnsServer> {
        let path = match coredns::conf(arguments) {
            Some(coredns::Conf::File(path)) => absolute(directory, &path),
            // Of one whose arguments cannot be read the usual file is taken.
            None if arguments.is_empty() => "/etc/coredns/Corefile".to_owned(),
            _ => return Vec::new(),
        };
        self.corefile(&path, instance)
    }

    fn corefile(&mut self, path: &str, instance: &Instance) -> Vec<DnsServer> {
        let corefiles = corefiles::at(self.root, path, &mut self.skipped);
        let site = coredns::Site {
            program: Program::CoreDns,
            instance,
            network: &Network::Node,
            addresses: &self.addresses,
            interfaces: &self.interfaces,
        };
        coredns::servers_of_files(&corefiles, &site)
    }

    /// What the files configure, where no process tells what runs.
    pub(super) fn configured(&mut self) -> Vec<DnsServer> {
        let in_file = |path: &str| Instance::Configured(Place::nowhere(path));
        let mut servers = Vec::new();
        if self.has("/etc/dnsmasq.conf") {
            servers.extend(self.dnsmasq(&[], in_file("/etc/dnsmasq.conf")));
        }
        if self.has("/etc/unbound/unbound.conf") {
            servers.push(self.unbound(&[], in_file("/etc/unbound/unbound.conf")));
        }
        for path in NAMED {
            if self.has(path) {
                let arguments = ["-c".to_owned(), path.to_owned()];
                servers.push(self.named(&arguments, in_file(path)));
            }
        }
        if let Some(path) = AKS_LOCAL_DNS.iter().find(|it| self.has(it)) {
            servers.extend(self.corefile(path, &in_file(path)));
        }
        servers.extend(self.network_managers());
        servers
    }

    /// The dnsmasq that NetworkManager starts when it is told to.
    fn network_managers(&mut self) -> Option<DnsServer> {
        let sources = self.includes().network_manager();
        let place = dnsmasq::network_manager_uses_it(&sources)?;
        let mut listed = None;
        for path in ["/etc/resolv.conf", "/run/NetworkManager/resolv.conf"] {
            let file = files::host_file(self.root, Path::new(path));
            listed = listed.or_else(|| dnsmasq::network_managers(file.conf()?));
        }
        let around = self.around(Instance::Configured(place.clone()));
        dnsmasq::of_network_manager(listed?, &place, &around)
    }

    fn has(&self, path: &str) -> bool {
        self.root.read(Path::new(path)).is_ok()
    }

    fn includes(&mut self) -> Includes<'_> {
        Includes {
            root: self.root,
            skipped: &mut self.skipped,
        }
    }

    fn around(&self, instance: Instance) -> Surroundings<'_> {
        Surroundings {
            instance,
            addresses: &self.addresses,
            interfaces: &self.interfaces,
            files: &self.files,
        }
    }
}
