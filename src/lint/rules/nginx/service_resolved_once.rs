#![doc = include_str!("service_resolved_once.md")]

use crate::config::statements::Statement;
use crate::lint::rules::nginx::names::{MAX_FINDINGS, directives, groups, host, is_service};
use crate::lint::rules::prelude::*;
use crate::text::Span;

pub(super) fn check(file: &DaemonText<'_>, _: &Context<'_>, report: &mut Report) {
    let directives = directives(file);
    let groups = groups(file, &directives);
    let mut found: Vec<(Span, &str)> = Vec::new();
    let mut put = |it: &Statement| {
        let word = file.word(it, 1);
        let name = host(word);
        let is_literal = !word.contains('$') && is_service(name) && !groups.contains(&name);
        if let (true, Some(&span)) = (is_literal, it.words.get(1)) {
            found.push((span, name));
        }
    };
    for it in &directives {
        match file.word(it, 0) {
            "proxy_pass" => put(it),
            "upstream" => {
                let has =
                    |it: &&Statement, word| (2..it.words.len()).any(|at| file.word(it, at) == word);
                let servers = it.block.iter().flatten();
                servers
                    .filter(|it| file.word(it, 0) == "server" && !has(it, "resolve"))
                    .for_each(&mut put);
            }
            _ => {}
        }
    }
    for (span, name) in found.into_iter().take(MAX_FINDINGS) {
        report
            .add(
                file.at(span),
                format!("nginx looks up {name} once, when it starts"),
            )
            .help("for a headless Service, or one that can be created again, put the name in a variable, with a resolver; from 1.27.3 on a server of an upstream can have resolve")
            .note("nginx does not start while the name is not found");
    }
}
