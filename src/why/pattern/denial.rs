//! Words before or behind others that deny what these say.

/// They deny what follows; what was tried was none of what began it.
const BEFORE: [&str; 6] = ["no", "not", "without", "disabled", "tried", "trying"];

/// With `not` they deny what is done: `does not truncate` is what somebody complains of.
const VERBS: [&str; 6] = ["do", "does", "did", "can", "could", "will"];

/// They may stand between, as in `do not use the`.
const BETWEEN: [&str; 11] = [
    "a", "an", "any", "the", "use", "using", "have", "run", "running", "really", "to",
];

/// They deny what stands before them.
const BEHIND: [&str; 16] = [
    "is disabled",
    "are disabled",
    "is off",
    "is stopped",
    "is not used",
    "is not running",
    "is not installed",
    "is not full",
    "table is not full",
    "dnscache is not installed",
    "is fine",
    "are fine",
    ": inactive",
    ": none",
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
    let is_next = words.clone().next().is_some_and(|it| !BETWEEN.contains(&it));
    let mut words = words.skip_while(|it| BETWEEN.contains(it));
    let is_denial = |it: &str| BEFORE.contains(&it) || it.ends_with("n't");
    match (words.next(), words.next()) {
        (Some("not"), Some(verb)) if is_next && VERBS.contains(&verb) => false,
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
            ("", " table is not full"),
            ("i tried to ", " coredns"),
            ("", "d is stopped"),
        ] {
            assert!(denies(before, behind), "{before}…{behind}");
        }
        for (before, behind) in [
            ("no such host ", ""),
            ("it does not work in ", ""),
            ("the server does not ", " its replies"),
            ("no answer. it is an ", ""),
            ("name or service not known ", ""),
            ("", " is disabling"),
            ("", ""),
        ] {
            assert!(!denies(before, behind), "{before}…{behind}");
        }
    }
}
