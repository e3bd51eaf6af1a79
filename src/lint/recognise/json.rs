//! JSON, and whose.

use super::mentions;

/// Whether it is JSON that is none of Kubernetes' and none of what carries files
/// to nodes: reports, settings of editors, packages.
pub(super) fn is_foreign_json(bytes: &[u8]) -> bool {
    // Other programs have an `apiVersion`, too.
    const OURS: [&[u8]; 12] = [
        b"\"kind\"",
        b"\"ignition\"",
        b"\"op\"",
        b"_files\"",
        b"\"kubeletconfig\"",
        b"\"clusterDNS\"",
        b"\"resolvConf\"",
        b"\"dnsPolicy\"",
        b"\"dnsConfig\"",
        b"\"provisioners\"",
        // Of Envoy's bootstrap.
        b"\"static_resources\"",
        b"\"staticResources\"",
    ];
    let head = bytes.get(..bytes.len().min(MAX_HEAD)).unwrap_or_default();
    is_json(bytes) && !OURS.iter().any(|it| mentions(head, it))
}

/// So many bytes tell what JSON is for.
const MAX_HEAD: usize = 64 << 10;

/// Whether it is JSON, and no template of YAML.
pub(super) fn is_json(bytes: &[u8]) -> bool {
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    match bytes.trim_ascii_start() {
        [b'{', second, ..] => !matches!(second, b'{' | b'%' | b'#'),
        [first, ..] => *first == b'[',
        [] => false,
    }
}
