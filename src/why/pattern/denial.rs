//! Words before or behind others that deny what these say.

use crate::why::plain::boundary;

/// They deny what follows; what was tried was none of what began it.
const BEFORE: [&str; 7] = [
    "no", "not", "never", "without", "disabled", "tried", "trying",
];

/// Right before `not` they deny what something is; else somebody complains of what is not
/// done: `does not truncate`.
const BEING: [&str; 9] = [
    "is", "are", "was", "were", "and", "but", "have", "has", "had",
];

/// They may stand between, as in `do not use the`.
const BETWEEN: [&str; 15] = [
    "a", "an", "any", "be", "the", "use", "used", "using", "have", "had", "run", "ran", "running",
    "really", "to",
];

/// What follows says what something is.
const VERBS: [&str; 6] = ["is", "are", "was", "were", "been", "be"];

/// What is so is not there, or does no harm.
const OFF: [&str; 8] = [
    "disabled",
    "off",
    "stopped",
    "removed",
    "uninstalled",
    "inactive",
    "fine",
    "none",
];

/// The same, of what is not so.
const MISSING: [&str; 7] = [
    "used",
    "running",
    "installed",
    "full",
    "enabled",
    "active",
    "there",
];

/// A clause is at most so long, in bytes.
const CLAUSE: usize = 200;

/// What programs resolve besides names.
const OBJECTS: [&str; 15] = [
    "class",
    "conflict",
    "conflicts",
    "dependencies",
    "dependency",
    "import",
    "merge",
    "method",
    "module",
    "placeholder",
    "plugin",
    "reference",
    "symbol",
    "template",
    "variable",
];

/// Before what is off they say what helps.
const CONDITIONS: [&str; 5] = ["when", "if", "once", "until", "unless"];

/// Whether what stands between these two, in small letters, is denied: `no istio sidecar`,
/// `we do not use tailscale`, `firewalld is disabled`.
pub(super) fn denies(before: &str, behind: &str) -> bool {
    // `firewall` may be the beginning of `firewalld`.
    let word_end = behind.trim_start_matches(char::is_alphanumeric);
    // YAML, and JSON, of what is not so: `terminating: false`.
    let value = word_end.trim_start_matches('"').strip_prefix(':');
    if value.is_some_and(|it| it.trim_start().starts_with("false")) {
        return true;
    }
    let rests = [behind, word_end].map(str::trim_start);
    // What ends a clause ends what it denies; one is not longer.
    let far = boundary(before, before.len().saturating_sub(CLAUSE));
    let near = before.get(far..).unwrap_or_default();
    let clause = near.rsplit(['.', ',', ';', ':', '(']).next();
    let words = clause.unwrap_or_default().split_whitespace().rev();
    if rests.into_iter().any(is_off) {
        // That it helps when something is off says that it is there.
        let mut words = words.skip_while(|it| BETWEEN.contains(it));
        return words.next().is_none_or(|it| !CONDITIONS.contains(&it));
    }
    let is_next = words
        .clone()
        .next()
        .is_some_and(|it| !BETWEEN.contains(&it));
    let mut words = words.skip_while(|it| BETWEEN.contains(it));
    match (words.next(), words.next()) {
        (Some("not"), Some(word)) if is_next && !BEING.contains(&word) => false,
        (Some(last), _) if BEFORE.contains(&last) => true,
        // One word may say which: `no istio sidecar`; a message is no denial.
        (Some(which), Some("no" | "without")) => !["such", "longer"].contains(&which),
        _ => false,
    }
}

/// Whether what is resolved is no name: `cannot resol` before `ve the module`.
pub(super) fn is_of_object(said: &str, behind: &str) -> bool {
    let rest = behind.trim_start_matches(char::is_alphanumeric);
    let end = behind.strip_suffix(rest).unwrap_or_default();
    let verb = said.rsplit(' ').next().unwrap_or_default();
    let is_verb = ["resolve", "resolves", "resolved", "resolving"]
        .iter()
        .any(|it| it.strip_prefix(verb) == Some(end));
    let words = rest.split_whitespace();
    // `import-service.default` is a name.
    let words = words.map(|it| it.trim_matches(|c: char| !c.is_alphanumeric()));
    let mut words = words.filter(|it| *it != "all" && !BETWEEN.contains(it));
    is_verb && words.next().is_some_and(|it| OBJECTS.contains(&it))
}

/// What is said without the verb at its end, which is a part of a denial: `ufw is` not active.
pub(super) fn subject(said: &str) -> &str {
    let (subject, verb) = said.rsplit_once(' ').unwrap_or((said, ""));
    if VERBS.contains(&verb) { subject } else { said }
}

/// Whether a text goes on with words that something is off, not there or fine:
/// ` is disabled`, `: inactive`, `table is not full`.
fn is_off(rest: &str) -> bool {
    let ends = |it: &str| it.contains(['.', ',', ';', '(', '\n']);
    let mut words = rest.split([' ', '\t']).filter(|it| !it.is_empty());
    // One word may say which; `has been` is one verb.
    let mut first = words.by_ref().take(2).take_while(|it| !ends(it));
    if !first.any(|it| it.ends_with(':') || VERBS.contains(&it)) {
        return false;
    }
    let mut state = words.next();
    let is_not = state == Some("not");
    if is_not {
        state = words.next();
    }
    let states: &[&str] = if is_not { &MISSING } else { &OFF };
    let state = state.and_then(|it| it.split(|c: char| !c.is_alphanumeric()).next());
    state.is_some_and(|it| states.contains(&it))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_resolve_more_than_names() {
        assert!(is_of_object("cannot resolve", " the module; its name"));
        assert!(is_of_object("resol", "ve class org.jenkins.node"));
        for (said, behind) in [
            ("cannot resolve", " the name of a module"),
            ("cannot resolve", " import-service.default in the mesh"),
            ("resol", "ver plugin fails"),
        ] {
            assert!(!is_of_object(said, behind), "{said}…{behind}");
        }
        assert!(!is_of_object("coredns", " conflicts with it"));
    }

    #[test]
    fn a_denial_stands_near_what_it_denies() {
        for (before, behind) in [
            ("there are no ", " in the cluster"),
            ("we do not use ", ""),
            ("we can not run a ", ""),
            ("it is no istio ", ""),
            ("", " is disabled on all nodes"),
            ("ufw ", "status is inactive"),
            ("", " table is not full"),
            ("i tried to ", " coredns"),
            ("", "d is stopped"),
            ("", " is not used here"),
            ("", " has been uninstalled"),
            ("we never had ", ""),
            ("we had not any ", ""),
            ("there would not be a ", ""),
            ("we have not ", ""),
            ("", " is not active, dns"),
            ("serving: true ", "ing: false"),
            ("\"", "ing\": false"),
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
            ("not all ", " can resolve names"),
            ("", " is disabling"),
            ("", " is not reached"),
            ("", ". dns is fine"),
            ("", "ing: true"),
            ("", ", ready: false"),
            ("", ""),
        ] {
            assert!(!denies(before, behind), "{before}…{behind}");
        }
    }
}
