#![doc = include_str!("servers_beside_public_ones.md")]

use std::net::IpAddr;

use crate::address::{is_private, is_public_resolver};
use crate::lint::facts::Forward;
use crate::lint::rules::is_own_file;
use crate::lint::rules::prelude::*;
use crate::lint::rules::resolver_file::common::{handed_out, point_to_setting};

pub(super) fn check(file: &ResolverFile<'_>, context: &Context<'_>, report: &mut Report) {
    let find = |is_it: fn(IpAddr) -> bool| handed_out(file, context).find(|it| is_it(it.0));
    let (Some((known, private)), Some((unknown, public))) =
        (find(is_private), find(is_public_resolver))
    else {
        return;
    };
    // What CoreDNS makes of the file, KC010 says.
    let corefiles = context.corefiles(file.read.file);
    let mut forwards = corefiles.iter().flat_map(|it| &it.forwards);
    let is_read = |it: &Forward| it.to.iter().any(|it| is_own_file(&it.text));
    if known.is_loopback() || forwards.any(is_read) {
        return;
    }
    let finding = report
        .add(
            public.at,
            format!("{unknown} is asked beside {known}, and does not know the names that it knows"),
        )
        .also(private.at, "a private address")
        .help("name servers that know the same names, or make one server of them that forwards")
        .note("glibc asks the second server when the first is slow, musl asks all at once, CoreDNS chooses one at random: names of private zones are not found now and then");
    point_to_setting(finding, file);
}
