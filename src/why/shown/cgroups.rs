//! cAdvisor's metrics: how often a limit held the CPU of DNS pods back.

/// A limit that holds back in so many of a hundred periods is felt.
///
/// Source: kubernetes-mixin, `CPUThrottlingHigh`.
const THROTTLED: u64 = 25;

/// What containers of the cluster's DNS are called.
const CONTAINERS: [&str; 3] = ["coredns", "kubedns", "node-cache"];

/// What was counted of them.
#[derive(Debug, Default)]
pub(super) struct Cgroups {
    periods: u64,
    /// Those in which a limit held one back.
    throttled: u64,
}

impl Cgroups {
    /// `container_cpu_cfs_periods_total{container="coredns",pod="…"} 500 1700000000000`: a time
    /// may stand behind the count.
    pub(super) fn see(&mut self, line: &str) {
        let Some((name, (labels, count))) = line
            .split_once('{')
            .and_then(|(name, rest)| Some((name, rest.rsplit_once('}')?)))
        else {
            return;
        };
        let counter = match name.trim_start() {
            "container_cpu_cfs_periods_total" => &mut self.periods,
            "container_cpu_cfs_throttled_periods_total" => &mut self.throttled,
            _ => return,
        };
        let mut container = labels.split(',').filter_map(|it| {
            let value = it.trim().strip_prefix("container=\"")?;
            value.strip_suffix('"')
        });
        let count = count.split_whitespace().next();
        if let Some(count) = count.and_then(|it| it.parse().ok())
            && container.any(|it| CONTAINERS.contains(&it))
        {
            *counter = counter.saturating_add(count);
        }
    }

    pub(super) fn sentence(&self) -> Option<String> {
        let (all, held) = (self.periods, self.throttled);
        let is_felt = held.saturating_mul(100) >= all.saturating_mul(THROTTLED);
        ((1..=all).contains(&held) && is_felt).then(|| {
            format!("cpu throttled by its limit in {held} of {all} periods of the dns pods\n")
        })
    }
}
