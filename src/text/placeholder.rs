//! Words that something else is put in place of before anybody reads them.

/// What stands around a name that is to be replaced: of `envsubst`, Go and Jinja,
/// ERB, Terraform, `sed`, autoconf, Bosh and people.
const AROUND: [(&str, &str); 7] = [
    ("{", "}"),
    ("<", ">"),
    ("@", "@"),
    ("__", "__"),
    ("%", "%"),
    ("((", "))"),
    ("«", "»"),
];

/// A name is at most so long.
const LONGEST: usize = 64;

/// Whether a text has a name in it that is to be replaced: `${DNS}`, `{{ dns }}`,
/// `<dns>`, `@DNS@`, `__DNS__`, `%DNS%`, `$DNS`, `CLUSTER_DNS`, `192.0.2.xxx`.
pub fn has_placeholder(text: &str) -> bool {
    const PARTS: [&str; 9] = ["{{", "}}", "{%", "${", "$(", "<%", "%>", "[[", "$["];
    let has = |(open, close): &(&str, &str)| {
        let mut rest = text;
        while let Some((_, behind)) = rest.split_once(open) {
            let end = behind
                .char_indices()
                .nth(LONGEST)
                .map_or(behind.len(), |it| it.0);
            let near = behind.get(..end).unwrap_or_default();
            if near.split_once(close).is_some_and(|it| is_name(it.0)) {
                return true;
            }
            rest = behind;
        }
        false
    };
    let mut parts = text.split([':', '.', '/', ',']);
    let is_part = PARTS.iter().any(|it| text.contains(it));
    is_part
        || has_shell_variable(text)
        || parts.any(is_shouted)
        || AROUND.iter().any(has)
        || text.contains(['x', 'X']) && text.split([':', '/', ',']).any(is_blanked)
}

/// Whether it is an address with letters in the place of numbers: `192.0.2.xxx`.
fn is_blanked(text: &str) -> bool {
    let is_blank = |it: &str| it.bytes().all(|it| matches!(it, b'x' | b'X'));
    let is_part = |it: &str| it.bytes().all(|it| it.is_ascii_digit()) || is_blank(it);
    let mut parts = text.split('.');
    let is_address =
        parts.clone().count() == 4 && parts.clone().all(|it| !it.is_empty() && is_part(it));
    is_address && parts.any(is_blank)
}

/// Whether it is a name, and no number or pattern.
fn is_name(text: &str) -> bool {
    let is_mark = |it: char| {
        it.is_whitespace() || matches!(it, '$' | '%' | '#' | '@' | '.' | '{' | '_' | '-')
    };
    let is_part = |it: char| is_mark(it) || it.is_alphanumeric();
    let first = text.trim_start_matches(is_mark).chars().next();
    first.is_some_and(char::is_alphabetic) && text.chars().all(is_part)
}

fn has_shell_variable(text: &str) -> bool {
    let mut behind = text.split('$').skip(1);
    behind.any(|it| it.starts_with(|it: char| it.is_ascii_alphabetic() || it == '_'))
}

/// Whether all of it is in capitals, of several words.
fn is_shouted(text: &str) -> bool {
    let is_part = |it: char| it.is_ascii_uppercase() || it.is_ascii_digit() || it == '_';
    let words = text.split('_').filter(|it| !it.is_empty()).count();
    words > 1 && text.chars().all(is_part) && text.contains(|it: char| it.is_ascii_uppercase())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_stand_for_numbers() {
        for text in ["192.0.2.xxx", "tls://192.0.x.x:853", "X.X.X.X"] {
            assert!(has_placeholder(text), "{text}");
        }
        for text in ["a.b.c.xxx", "192.0.2.1", "0.0.0.0xx", "xxx"] {
            assert!(!has_placeholder(text), "{text}");
        }
    }

    #[test]
    fn what_is_to_be_replaced_is_seen() {
        for text in [
            "${DNS}",
            "$DNS",
            "$(DNS)",
            "{{dns}}",
            "{{",
            "{% include 'head' %}",
            "{{ .Values.dns }}",
            "{DNS}",
            "<dns>",
            "<your dns>",
            "<%=",
            "@DNS@",
            "@@DNS@@",
            "__DNS__",
            "%DNS%",
            "%%DNS%%",
            "%{DNS}",
            "[[DNS]]",
            "((DNS))",
            "$[DNS]",
            "«DNS»",
            "REPLACE_ME",
            "CLUSTER_DNS_IP",
            "${dns}:53",
            "10.0.0.$N",
            "{$DNS}",
            "CLUSTER_DOMAIN:53",
        ] {
            assert!(has_placeholder(text), "{text}");
        }
        for text in [
            "",
            "10.96.0.10",
            "fe80::1%eth0",
            "[fd00::10]",
            "$",
            "{1}",
            "{",
            "}",
            "(.*)\\.example$",
            "([a-z]+)\\.x\\.",
            "_ldap._tcp",
            "@kubernetes",
            "DEFAULT",
            "ndots:2",
            "cluster.local:53",
            "tls://9.9.9.9",
            "<",
            "((a|b)\\.x)",
            "A_",
            "{2,3}",
            "- name: MY_ENV",
            "a{2}",
        ] {
            assert!(!has_placeholder(text), "{text}");
        }
    }
}
