//! Words before or behind others that deny what these say.

/// They deny what follows; what was tried was none of what began it.
const BEFORE: [&str; 6] = ["no", "not", "without", "disabled", "tried", "trying"];

/// Right before `not` they deny what something is; else somebody complains of what is not
/// done: `does not truncate`.
const BEING: [&str; 6] = ["is", "are", "was", "were", "and", "but"];

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

/// Before what is off they say what helps.
const CONDITIONS: [&str; 5] = ["when", "if", "once", "until", "unless"];

/// Whether what stands between these two, in small letters, is denied: `no istio sidecar`,
/// `we do not use tailscale`, `firewalld is disabled`.
pub(super) fn denies(before: &str, behind: &str) -> bool {
    // `firewall` may be the beginning of `firewalld`.
    let word_end = behind.trim_start_matches(char::is_alphanumeric);
    let rests = [behind, word_end].map(str::trim_start);
    let is_behind = |it: &&str| rests.iter().any(|rest| rest.starts_with(*it));
    // What ends a clause ends what it denies.
    let clause = before.rsplit(['.', ',', ';', ':', '(']).next();
    let words = clause.unwrap_or_default().split_whitespace().rev();
    if BEHIND.iter().any(is_behind) {
        // That it helps when something is off says that it is there.
        let mut words = words.skip_while(|it| BETWEEN.contains(it));
        return words.next().is_none_or(|it| !CONDITIONS.contains(&it));
    }
    let is_next = words
        .clone()
        .next()
        .is_some_and(|it| !BETWEEN.contains(&it));
    let mut words = words.skip_while(|it| BETWEEN.contains(it));
    let is_denial = |it: &str| BEFORE.contains(&it) || it.ends_with("n't");
    match (words.next(), words.next()) {
        (Some("not"), Some(word)) if is_next && !BEING.contains(&word) => false,
        (Some(last), _) if is_denial(last) => true,
        // One word may say which: `no istio sidecar`; a message is no denial.
        (Some(which), Some("no" | "without")) => !["such", "longer"].contains(&which),
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
            ("they no longer ", ""),
            ("it works when the ", " is off"),
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
