#![doc = include_str!("carriage_returns.md")]

use crate::lint::rules::prelude::*;

pub(super) fn check(file: &ResolverFile<'_>, _: &Context<'_>, report: &mut Report) {
    // The kubelet takes the carriage return for a blank, and a runtime writes
    // files without it.
    if file.role == Role::Kubelet {
        return;
    }
    let ends_at_value = |it: &Entry<'_>| {
        let value = it.values().next();
        let line = it.line.span();
        it.line.bytes().ends_with(b"\r") && value.is_some_and(|it| it.span.end + 1 == line.end)
    };
    let mut servers = file.lines("nameserver").filter(ends_at_value);
    let Some(server) = servers.next().and_then(|it| it.values().next()) else {
        return;
    };
    report
        .add(
            file.document.at(server.span),
            "a carriage return ends the line, and glibc takes it for a part of the address",
        )
        .help("write the file with plain line ends: sed -i 's/\\r$//' FILE")
        .note("programs with glibc do not ask this server, and ask 127.0.0.1 if none is left; those with musl and in Go do");
}
