//! Long ids cut to their beginning, as `git` and `kubectl` do for people.

/// A path or sentence in which ids of 32 and more hexadecimal digits keep
/// their first six, and UUIDs their first eight: `sandboxes/5b995c…/resolv.conf`.
pub(crate) fn ids(text: &str) -> String {
    let mut short = String::with_capacity(text.len());
    let mut rest = text;
    while !rest.is_empty() {
        let is_id = |it: char| it.is_ascii_hexdigit() || it == '-';
        let end = rest.find(|it| !is_id(it)).unwrap_or(rest.len());
        let (run, behind) = rest.split_at(end);
        let dashes = run.len() - run.trim_start_matches('-').len();
        let (before, id) = run.split_at(dashes);
        short.push_str(before);
        match kept(id).and_then(|it| id.get(..it)) {
            Some(beginning) => short.extend([beginning, "…"]),
            None => short.push_str(id),
        }
        let next = behind.find(is_id).unwrap_or(behind.len());
        let (other, behind) = behind.split_at(next);
        short.push_str(other);
        rest = behind;
    }
    short
}

/// How much of an id is kept; `None`: it is none, or short enough.
fn kept(id: &str) -> Option<usize> {
    let is_dash = |at: usize| matches!(at, 8 | 13 | 18 | 23);
    let has_dashes = |id: &str| {
        id.bytes()
            .enumerate()
            .all(|(at, it)| (it == b'-') == is_dash(at))
    };
    match id.len() {
        36 if has_dashes(id) => Some(8),
        32.. if !id.contains('-') => Some(6),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::ids;

    #[test]
    fn only_ids_become_shorter() {
        for (text, expected) in [
            (
                "/var/lib/kubelet/pods/54f38bab-043d-4069-8201-91e9ecb6b1e8/volumes",
                "/var/lib/kubelet/pods/54f38bab…/volumes",
            ),
            (
                "sandboxes/5b995c61b068f75cf680f391071dc777d7ac64c85881cafc036552e74fc2ec8e/resolv.conf:2:1",
                "sandboxes/5b995c…/resolv.conf:2:1",
            ),
            (
                "kube-system_coredns-57c679d4f5-kkqld_cd3dce15-a96b-4bae-bdc2-fc460e4394ed/coredns/1.log",
                "kube-system_coredns-57c679d4f5-kkqld_cd3dce15…/coredns/1.log",
            ),
            ("cni-9b0f6b6e-3ba5-3a5c-0a0e-6f1d0f0a4b1c", "cni-9b0f6b6e…"),
            ("fd00:10:96::a é 10.244.0.53", "fd00:10:96::a é 10.244.0.53"),
            ("", ""),
        ] {
            assert_eq!(ids(text), expected);
        }
    }
}
