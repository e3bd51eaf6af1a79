//! Opens the sockets of a probe in the network namespaces of its targets.

use std::net::{IpAddr, SocketAddr, UdpSocket};
use std::os::fd::OwnedFd;
use std::path::Path;

use crate::address::any_like;
use crate::check_loop::seen::{NamespaceFile, Record, Target};
use crate::host::io_reason;
use crate::netns::{EnterError, Namespace, packets};
use crate::order::Order as _;
use crate::topology::Network;

/// The sockets of a probe.
#[derive(Debug, Default)]
pub(super) struct Sockets {
    /// One in each namespace that sees every packet there.
    pub(super) watches: Vec<(Network, OwnedFd)>,
    /// For each target that can be asked, by number.
    pub(super) askers: Vec<Asker>,
}

/// The socket that a target is asked from.
#[derive(Debug)]
pub(super) struct Asker {
    /// The target's number.
    pub(super) target: usize,
    /// Connected to it, never blocking.
    pub(super) socket: UdpSocket,
    /// Its own address.
    pub(super) from: SocketAddr,
}

/// Room for the packets of a busy node between two looks.
const RECEIVE_BUFFER: usize = 4 << 20;

/// In IPVS mode the node has every service's address on this interface, but no
/// packet to one of them reaches a socket.
const IPVS_INTERFACE: &str = "kube-ipvs0";

/// Opens what the targets need. This thread ends in the namespace of one of
/// them. What cannot be opened is in the record.
pub(super) fn open(root: &Path, targets: &[Target]) -> (Sockets, Record) {
    let mut sockets = Sockets::default();
    let mut record = Record::default();
    let mut networks: Vec<(&Network, Option<&NamespaceFile>)> = Vec::new();
    for target in targets {
        let known = networks.iter().any(|(it, _)| *it == &target.network);
        if !known {
            networks.push((&target.network, target.namespace.as_ref()));
        }
    }
    // There is no way back, so this thread's own namespace comes first.
    networks.order_by_key(|(_, file)| file.is_some());
    for (network, file) in networks {
        let here = targets.iter().enumerate();
        let here: Vec<(usize, &Target)> = here.filter(|(_, it)| it.network == *network).collect();
        let entered = file.map_or(Ok(()), |file| {
            enter(root, file).map_err(|it| it.to_string())
        });
        if let Err(reason) = entered.and_then(|()| watch(network, &here, &mut sockets)) {
            let trouble = |(number, _): &(usize, &Target)| (*number, reason.clone());
            record.troubles.extend(here.iter().map(trouble));
            continue;
        }
        record.addresses.push((network.clone(), addresses()));
        for (number, target) in here {
            match asker(number, target) {
                Ok(asker) => sockets.askers.push(asker),
                Err(reason) => record.troubles.push((number, reason)),
            }
        }
    }
    (sockets, record)
}

/// Moves this thread to the network namespace of the file.
fn enter(root: &Path, file: &NamespaceFile) -> Result<(), EnterError> {
    let path = root.join(file.path.trim_start_matches('/'));
    let namespace = Namespace::of_path(&path)?;
    // A process's number may have gone to another one.
    if file.number.is_some_and(|it| it != namespace.number()) {
        return Err(EnterError::Replaced(namespace.name().to_owned()));
    }
    namespace.enter()
}

/// Opens a socket that sees the packets of this namespace.
fn watch(
    network: &Network,
    targets: &[(usize, &Target)],
    sockets: &mut Sockets,
) -> Result<(), String> {
    let mut ports: Vec<u16> = targets.iter().map(|(_, it)| it.server.port()).collect();
    ports.push(53);
    ports.order();
    ports.dedup();
    let descriptor = packets::open(&ports, RECEIVE_BUFFER)
        .map_err(|error| format!("cannot watch the wire: {}", io_reason(&error)))?;
    sockets.watches.push((network.clone(), descriptor));
    Ok(())
}

/// The addresses of this namespace.
fn addresses() -> Vec<IpAddr> {
    let interfaces = nix::ifaddrs::getifaddrs().into_iter().flatten();
    let own = interfaces.filter(|it| it.interface_name != IPVS_INTERFACE);
    own.filter_map(|it| {
        let address = it.address?;
        let four = address.as_sockaddr_in().map(|it| IpAddr::V4(it.ip()));
        four.or_else(|| address.as_sockaddr_in6().map(|it| IpAddr::V6(it.ip())))
    })
    .collect()
}

fn asker(target: usize, of: &Target) -> Result<Asker, String> {
    let server = of.server;
    let open = || {
        let socket = UdpSocket::bind((any_like(server.ip()), 0))?;
        socket.connect(server)?;
        socket.set_nonblocking(true)?;
        let from = socket.local_addr()?;
        Ok(Asker {
            target,
            socket,
            from,
        })
    };
    open().map_err(|error| format!("cannot ask {server}: {}", io_reason(&error)))
}
