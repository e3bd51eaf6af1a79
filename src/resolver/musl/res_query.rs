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
    let Some(mut packets) = res_mkquery(name, &[record_type], &Because::AsIs, version) else {
        return Err(Failed("NO_RECOVERY"));
    };
    for packet in &mut packets {
        packet.authentic_data = version.sets_ad;
    }
    let conf = get_resolv_conf(scenario);
    let replies = res_msend(io, &packets, &conf, version)
        .await
        .map_err(|Crash| Outcome::Crashed)?;
    let reply = replies.into_iter().next().flatten();
    if version.checks_reply {
        match &reply {
            None => return Err(Failed("TRY_AGAIN")),
            Some(reply) if reply.rcode == Rcode::NxDomain => return Err(Failed("HOST_NOT_FOUND")),
            Some(reply) if reply.answers.is_empty() => return Err(Failed("NO_DATA")),
            Some(_) => {}
        }
    }
    let answers = reply.iter().flat_map(|it| &it.answers);
    Ok(answers.filter_map(|it| it.data.ip()).collect())
}

#[cfg(test)]
mod tests {
    use crate::resolver::find;
    use crate::scenario::json;

    /// Seen of 1.1.24 and 1.2.3; 1.2.5 is taken for the same.
    #[test]
    fn a_missing_name_is_an_error_since_1_2_2_and_queries_have_ad_since_1_2_1() {
        let text = br#"{"name": "web", "type": "A", "resolv_conf": "nameserver 10.0.0.1\n"}"#;
        let scenario = json::parse(text, "1").unwrap();
        for (id, ad, code) in [
            ("musl-1.1.24", false, None),
            ("musl-1.2.3", true, Some("HOST_NOT_FOUND")),
            ("musl-1.2.5", true, Some("HOST_NOT_FOUND")),
        ] {
            let run = find(id).unwrap().predict(&scenario);
            let all: Vec<bool> = run.sent.iter().map(|it| it.query.authentic_data).collect();
            assert_eq!((all, run.outcome.code()), (vec![ad], code), "{id}");
        }
    }
}
