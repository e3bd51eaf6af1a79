//! musl's `res_query`, which is also its `res_search`: no search list.

use std::net::IpAddr;

use hickory_proto::rr::RecordType;

use crate::engine::io::Io;
use crate::engine::machine::Outcome::{self, Failed};
use crate::engine::message::{Because, Rcode};
use crate::resolver::musl::Version;
use crate::resolver::musl::read::get_resolv_conf;
use crate::resolver::musl::res_msend::{Crash, res_mkquery, res_msend};
use crate::scenario::Scenario;

/// Source: musl `src/network/res_query.c: res_query`.
pub(super) async fn res_query(
    io: &Io,
    scenario: &Scenario,
    version: &Version,
    record_type: RecordType,
) -> Result<Vec<IpAddr>, Outcome> {
    let name = scenario.name.as_bytes();
    let Some(packets) = res_mkquery(name, &[record_type], &Because::AsIs, version) else {
        return Err(Failed("NO_RECOVERY"));
    };
    let conf = get_resolv_conf(scenario);
    let replies = res_msend(io, &packets, &conf, version)
        .await
        .map_err(|Crash| Outcome::Crashed)?;
    let Some(reply) = replies.into_iter().next().flatten() else {
        return Err(Failed("TRY_AGAIN"));
    };
    match reply.rcode {
        Rcode::NxDomain => Err(Failed("HOST_NOT_FOUND")),
        _ if reply.answers.is_empty() => Err(Failed("NO_DATA")),
        _ => Ok(reply.answers.iter().filter_map(|it| it.data.ip()).collect()),
    }
}
