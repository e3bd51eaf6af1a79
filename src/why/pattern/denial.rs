//! Words before or behind others that deny what these say.

/// They deny what follows.
const BEFORE: [&str; 4] = ["no", "not", "without", "disabled"];

/// They may stand between, as in `do not use the`.
const BETWEEN: [&str; 10] = [
    "a", "an", "any", "the", "use", "using", "have", "run", "running", "really",
];

/// They deny what stands before them.
const BEHIND: [&str; 9] = [
    "is disabled",
    "are disabled",
    "is off",
    "is stopped",
    "is not used",
    "is not running",
    "is not installed",
    "status is inactive",
    "status: inactive",
];

/// Whether what stands between these two, in small letters, is denied: `no istio sidecar`,
/// `we do not use tailscale`, `firewalld is disabled`.
pub(super) fn denies(before: &str, behind: &str) -> bool {
    // `firewall` may be the beginning of `firewalld`.
    let word_end = behind.trim_start_matches(char::is_alphanumeric);
    let rests = [behind, word_end].map(str::trim_start);
    let is_behind = |it: &str| rests.iter().any(|rest| rest.starts_with(it));
    if BEHIND.iter().any(|it| is_behind(it)) {
        return true;
    }
    // What ends a clause ends what it denies.
    let clause = before.rsplit(['.', ',', ';', ':', '(']).next();
    let words = clause.unwrap_or_default().split_whitespace().rev();
    let mut words = words.skip_while(|it| BETWEEN.contains(it));
    let is_denial = |it: &str| BEFORE.contains(&it) || it.ends_with("n't");
    match (words.next(), words.next()) {
        (Some(last), _) if is_denial(last) => true,
        // One word may say which: `no istio sidecar`; a message is no denial.
        (Some(which), Some("no" | "without")) => which != "such",
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_denial_stands_near_what_it_denies() {
        for (before, behind) in [
            ("there are no ", " in the cluster"),
            ("we do not use ", ""),
            ("we don't run a ", ""),
            ("it is no istio ", ""),
            ("", " is disabled on all nodes"),
            ("ufw ", "status is inactive"),
            ("", "d is stopped"),
        ] {
            assert!(denies(before, behind), "{before}…{behind}");
        }
        for (before, behind) in [
            ("no such host ", ""),
            ("it does not work in ", ""),
            ("no answer. it is an ", ""),
            ("name or service not known ", ""),
            ("", " is disabling"),
            ("", ""),
        ] {
            assert!(!denies(before, behind), "{before}…{behind}");
        }
    }
}
