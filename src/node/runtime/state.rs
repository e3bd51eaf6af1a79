//! How containers ended, as runtimes write it down.
//!
//! Sources: containerd `internal/cri/store/container/status.go`; CRI-O
//! `internal/oci/container.go: ContainerState`; moby `container/state.go`.

use jiff::Timestamp;
use serde::Deserialize;

/// The end of a container.
#[derive(Clone, Debug, Default, Eq, Ord, PartialEq, PartialOrd)]
pub struct Ended {
    /// When, in UTC: `2026-11-23T04:07:36Z`; texts compare as their times do.
    pub at: Option<String>,
    /// Its exit code; over 128 it is mostly a signal.
    pub code: i64,
    /// Why, as the runtime says: `OOMKilled`.
    pub reason: Option<String>,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "PascalCase")]
struct Containerd {
    finished_at: i64,
    exit_code: i64,
    reason: String,
}

/// Reads `containers/ID/status` of containerd's CRI plugin; `None`: it has not
/// ended, or the file is none.
pub fn containerd(text: &[u8]) -> Option<Ended> {
    let status: Containerd = serde_json::from_slice(text).ok()?;
    let at = Timestamp::from_nanosecond(status.finished_at.into()).ok()?;
    (status.finished_at > 0).then(|| Ended {
        at: Some(written(at)),
        code: status.exit_code,
        reason: Some(status.reason).filter(|it| !it.is_empty()),
    })
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct CriO {
    finished: String,
    exit_code: Option<i64>,
    oom_killed: bool,
}

/// The same of CRI-O's `userdata/state.json`.
pub fn cri_o(text: &[u8]) -> Option<Ended> {
    let state: CriO = serde_json::from_slice(text).ok()?;
    Some(Ended {
        at: Some(moment(&state.finished)?),
        code: state.exit_code.unwrap_or_default(),
        reason: state.oom_killed.then(|| OUT_OF_MEMORY.to_owned()),
    })
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "PascalCase")]
struct Docker {
    state: DockerState,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "PascalCase")]
struct DockerState {
    running: bool,
    exit_code: i64,
    finished_at: String,
    #[serde(rename = "OOMKilled")]
    oom_killed: bool,
}

/// The same of Docker's `config.v2.json`.
pub fn docker(text: &[u8]) -> Option<Ended> {
    let Docker { state } = serde_json::from_slice(text).ok()?;
    let at = moment(&state.finished_at).filter(|_| !state.running)?;
    Some(Ended {
        at: Some(at),
        code: state.exit_code,
        reason: state.oom_killed.then(|| OUT_OF_MEMORY.to_owned()),
    })
}

/// As Kubernetes calls it.
const OUT_OF_MEMORY: &str = "OOMKilled";

/// The year 1 is Go's word for never.
fn moment(text: &str) -> Option<String> {
    let moment: Timestamp = text.parse().ok()?;
    (moment > Timestamp::UNIX_EPOCH).then(|| written(moment))
}

fn written(moment: Timestamp) -> String {
    let whole = Timestamp::from_second(moment.as_second()).unwrap_or_default();
    whole.to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(found: Option<&Ended>, expected: Option<(&str, i64, Option<&str>)>) {
        let expected = expected.map(|(at, code, reason)| Ended {
            at: Some(at.to_owned()),
            code,
            reason: reason.map(str::to_owned),
        });
        assert_eq!(found, expected.as_ref());
    }

    /// As containerd 1.6.20 wrote them.
    #[test]
    fn containerd_writes_nanoseconds() {
        let ended = br#"{"Version":"v1","Pid":0,"CreatedAt":1795406856097771043,"StartedAt":1795406856210451859,"FinishedAt":1795406856213396300,"ExitCode":3,"Reason":"","Message":"","Resources":{"linux":{"cpu_shares":2}}}"#;
        check(
            containerd(ended).as_ref(),
            Some(("2026-11-23T04:07:36Z", 3, None)),
        );
        let runs = br#"{"Version":"v1","Pid":1034,"FinishedAt":0,"ExitCode":0,"Reason":""}"#;
        check(containerd(runs).as_ref(), None);
        check(containerd(b"{}").as_ref(), None);
        check(containerd(b"\0").as_ref(), None);
    }

    #[test]
    fn others_write_times() {
        let ended = br#"{"ociVersion":"1.2.0","id":"a","status":"stopped","created":"2026-01-02T03:04:05.1Z","finished":"2026-01-02T03:04:06.9Z","exitCode":137,"oomKilled":true}"#;
        let expected = ("2026-01-02T03:04:06Z", 137, Some("OOMKilled"));
        check(cri_o(ended).as_ref(), Some(expected));
        check(
            cri_o(br#"{"finished":"0001-01-01T00:00:00Z"}"#).as_ref(),
            None,
        );
        let docker_of = |state: &str| docker(format!("{{\"State\":{state}}}").as_bytes());
        let ended = r#"{"Running":false,"ExitCode":1,"FinishedAt":"2026-01-02T03:04:06.9+01:00"}"#;
        check(
            docker_of(ended).as_ref(),
            Some(("2026-01-02T02:04:06Z", 1, None)),
        );
        let runs = r#"{"Running":true,"ExitCode":0,"FinishedAt":"2026-01-02T03:04:06Z"}"#;
        check(docker_of(runs).as_ref(), None);
    }
}
