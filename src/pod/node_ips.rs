//! The addresses that the kubelet knows of its node.

use std::net::IpAddr;

/// The addresses of `--node-ip`, the last one of the arguments; none without
/// it. They decide the loopback servers of an empty `resolvConf`.
///
/// Source: kubernetes `pkg/util/node: ParseNodeIPArgument`.
pub fn node_ips(arguments: &[String]) -> Vec<IpAddr> {
    let name = |argument: &str| {
        let name = argument.strip_prefix("--")?.replace('_', "-");
        (name == "node-ip").then_some(())
    };
    let mut value = None;
    let mut rest = arguments.iter();
    while let Some(argument) = rest.next() {
        match argument.split_once('=') {
            Some((flag, given)) if name(flag).is_some() => value = Some(given),
            None if name(argument).is_some() => value = rest.next().map(String::as_str),
            _ => {}
        }
    }
    let words = value.unwrap_or_default().split(',');
    words.filter_map(|word| word.trim().parse().ok()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_node_ip_counts() {
        let check = |arguments: &[&str], expected: &[&str]| {
            let arguments: Vec<String> = arguments.iter().map(|&it| it.to_owned()).collect();
            let expected: Vec<IpAddr> = expected.iter().map(|it| it.parse().unwrap()).collect();
            assert_eq!(node_ips(&arguments), expected, "{arguments:?}");
        };
        check(&["kubelet"], &[]);
        check(&["--node-ip=10.0.0.1"], &["10.0.0.1"]);
        check(
            &["--node_ip", "10.0.0.1,fd00::1", "-v"],
            &["10.0.0.1", "fd00::1"],
        );
        check(&["--node-ip=10.0.0.1", "--node-ip=::"], &["::"]);
        check(&["--node-ip=x", "--node-ips=10.0.0.1", "--node-ip"], &[]);
    }
}
