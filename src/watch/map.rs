//! Maps whose keys a stranger chooses, and which are asked for every packet.

/// A map with a hash that costs a few nanoseconds. Its seed differs from run to
/// run, and nobody who sends packets sees how long a look takes, so nobody can
/// choose keys that fall on one place.
pub(super) type Map<K, V> = std::collections::HashMap<K, V, foldhash::fast::RandomState>;
