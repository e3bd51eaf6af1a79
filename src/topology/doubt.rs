//! What cannot be known from a server's configuration.

use crate::text::Place;

/// Something that cannot be known from a server's configuration. Names and words
/// are safe to print.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub enum Doubt {
    /// It has more of these than are looked at.
    Beyond(Beyond),
    /// It listens on an interface whose addresses are not known.
    Interface {
        /// The interface.
        name: String,
        /// Where it is named.
        place: Place,
    },
    /// Of dnsmasq's `resolv-file`s only the one that was changed last counts.
    NewestFile,
    /// dnsmasq has its servers over D-Bus.
    OverDbus {
        /// Whether they come from NetworkManager.
        is_network_managers: bool,
    },
    /// named has views: which one answers depends on who asks.
    Views,
    /// systemd-resolved has no servers but those that were compiled in.
    CompiledIn,
    /// CoreDNS does not start with its Corefile.
    Stops {
        /// Why, as CoreDNS says it.
        reason: String,
        /// Where the reason stands.
        place: Place,
    },
    /// The Corefile has no server block that CoreDNS could serve.
    NoServerBlock,
    /// A file of the Corefile is so long that its end was not read.
    Cut(String),
    /// No file was found for an import.
    Import {
        /// What is imported.
        pattern: String,
        /// Where.
        place: Place,
    },
    /// What a plugin does depends on more than its configuration.
    Plugin {
        /// Its name.
        name: String,
        /// Where it stands.
        place: Place,
        /// What the plugin may do with a query.
        does: Plugin,
    },
    /// A word of NodeLocal DNSCache's template stands for something else.
    Template {
        /// The word.
        word: String,
        /// Whether it stands for the cluster's DNS pods, not for the upstream
        /// servers.
        is_cluster_dns: bool,
        /// Where it stands.
        place: Place,
    },
    /// What a word stands for is not known.
    Variable {
        /// The word.
        word: String,
        /// What the word is used for.
        role: Role,
        /// Where it stands.
        place: Place,
    },
    /// An option, or a policy, of `forward` that kdns does not know.
    Option {
        /// Its name.
        name: String,
        /// Whether it is a policy.
        is_policy: bool,
        /// Where it stands.
        place: Place,
    },
    /// The Corefile of a pod is not known.
    Corefile {
        /// The pod's namespace and name, where both are known.
        pod: Option<(String, String)>,
        /// What people call the pod.
        label: String,
        /// Why; `None`: it was not found.
        why: Option<CorefileUnknown>,
    },
}

/// Why the Corefile of a pod is not known.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub enum CorefileUnknown {
    /// CoreDNS reads it from its standard input.
    Stdin,
    /// It could not be read; the reason.
    Unread(String),
    /// There is no such file in its container.
    NotThere(String),
    /// The container has it from its image, which was not read.
    InImage(String),
}

/// What there can be more of than is looked at.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum Beyond {
    /// Servers of one zone.
    Targets(usize),
    /// Zones of a server.
    Zones(usize),
    /// Zones that a Corefile treats apart.
    CorefileZones,
    /// Zones in the directives of a server block.
    BlockZones,
    /// Listeners.
    Listeners,
    /// Server blocks.
    Blocks,
}

/// What a plugin does that the Corefile does not tell.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum Plugin {
    /// `auto` answers the zones that it finds in a directory.
    Auto,
    /// `view` lets the block serve some of the queries only.
    View,
    /// kdns does not know it.
    Unknown,
}

/// What a word of a Corefile is.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum Role {
    /// The key of a server block.
    Key,
    /// An argument of `bind`.
    Address,
    /// A target of `forward`.
    Target,
}

/// What follows from a doubt.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Weight {
    /// It is worth knowing.
    Note,
    /// It can hide where queries are sent: what is followed is not all.
    Hides,
    /// The server does not start.
    Stops,
}

impl Doubt {
    /// What follows from it.
    pub fn weight(&self) -> Weight {
        match self {
            Self::Stops { .. } => Weight::Stops,
            // Files beside the Corefile need not be there, others must.
            Self::Import { pattern, .. } if pattern.contains(['*', '?']) => Weight::Note,
            Self::Plugin { does, .. } if *does == Plugin::Auto => Weight::Note,
            Self::Variable { role, .. } if *role != Role::Key => Weight::Note,
            Self::Interface { .. }
            | Self::NewestFile
            | Self::CompiledIn
            | Self::Template { .. }
            | Self::Option { .. } => Weight::Note,
            Self::Beyond(_)
            | Self::OverDbus { .. }
            | Self::Views
            | Self::NoServerBlock
            | Self::Cut(_)
            | Self::Import { .. }
            | Self::Plugin { .. }
            | Self::Variable { .. }
            | Self::Corefile { .. } => Weight::Hides,
        }
    }
}
