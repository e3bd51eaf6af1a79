//! What a Corefile says about the log that its server writes.

use super::{Format, Settings};
use crate::config::corefile::{Corefile, Directive};

/// Source: `CoreDNS`, plugin/kubernetes/kubernetes.go `defaultTTL`, in seconds.
const DEFAULT_TTL: u32 = 5;

impl Settings {
    /// Takes formats, classes and TTL from a Corefile.
    pub fn take_corefile(&mut self, corefile: &Corefile) {
        let directives = corefile.blocks.iter().flat_map(|it| &it.directives);
        let (mut logs, mut filtered) = (0, 0);
        for directive in directives {
            match directive.name.text.as_str() {
                "log" => {
                    logs += 1;
                    filtered += usize::from(is_filtered(directive));
                    let last = directive.arguments.last().map(|it| it.text.as_str());
                    self.formats.extend(last.and_then(Format::parse));
                }
                "kubernetes" => self.ttl = Some(ttl(directive)),
                _ => {}
            }
        }
        self.is_filtered = logs > 0 && filtered == logs;
    }
}

/// Source: `CoreDNS`, plugin/log/README.md: the classes are `success`,
/// `denial`, `error` and `all`, which is what counts without any.
fn is_filtered(log: &Directive) -> bool {
    let classes = log.lines.iter().filter_map(|line| {
        let (first, rest) = line.split_first()?;
        (first.text == "class").then_some(rest)
    });
    let mut words = classes.flatten().map(|it| it.text.as_str()).peekable();
    words.peek().is_some() && !words.any(|it| matches!(it, "all" | "success"))
}

fn ttl(kubernetes: &Directive) -> u32 {
    let line = kubernetes
        .lines
        .iter()
        .find_map(|line| match line.as_slice() {
            [name, value] if name.text == "ttl" => value.text.parse().ok(),
            _ => None,
        });
    line.unwrap_or(DEFAULT_TTL)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::corefile;
    use crate::text::Source;

    #[test]
    fn a_corefile_says_what_its_log_has() {
        let read = |text: &str| {
            let mut settings = Settings::default();
            let source = Source::new("Corefile", text);
            settings.take_corefile(&corefile::parse(source, &[]));
            settings
        };
        let plain = read(".:53 {\n log\n kubernetes cluster.local {\n  ttl 30\n }\n}\n");
        assert_eq!(
            (plain.formats.len(), plain.is_filtered, plain.ttl),
            (0, false, Some(30))
        );
        let own = read(".:53 {\n log . \"{remote} {type} {name} {rcode}\"\n}\n");
        assert_eq!(
            (own.formats.len(), own.is_filtered, own.ttl),
            (1, false, None)
        );
        let filtered = read(".:53 {\n log . {\n  class denial error\n }\n}\n");
        assert!(filtered.is_filtered);
        assert!(!read(".:53 {\n log . {\n  class all\n }\n}\n").is_filtered);
        assert!(!read(".:53 {\n errors\n}\n").is_filtered);
    }
}
