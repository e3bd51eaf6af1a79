//! Lookups that broke the plan, drawn.

use std::io::{self, Write};

use crate::explain::Context;
use crate::explain::live::Comparison;
use crate::explain::transition::run_when;
use crate::name::Name;
use crate::render::live::Lived;
use crate::render::timeline;
use crate::render::watch::Style;
use crate::render::watch::lookup::{asked, faults};
use crate::scenario::Scenario;
use crate::watch::{Judged, played};

/// Draws each lookup as a timeline, one below the other; `more` were left out.
///
/// # Errors
///
/// Any error of `out`.
pub fn write(
    base: Option<&Scenario>,
    judged: &[Judged],
    more: usize,
    style: &Style,
    out: &mut dyn Write,
) -> io::Result<()> {
    let pages: Vec<timeline::Page> = judged.iter().map(|it| page(base, it, style)).collect();
    timeline::write("watch", &pages, more, out)
}

fn page(base: Option<&Scenario>, judged: &Judged, style: &Style) -> timeline::Page {
    let name = asked(judged, style);
    let mut said = faults(judged, style);
    let is_timed = judged.lookup.took().is_some();
    if !is_timed {
        said.push("not drawn: the time of a packet is not known".to_owned());
    }
    let Some((_, plan)) = judged.plan.as_ref().filter(|_| is_timed) else {
        return timeline::failed(&name, &said.join("; "));
    };
    let shown = &style.shown;
    let rename = |name: &Name| {
        let text = shown.name(name);
        let hidden = || Name::from_plain(text.as_bytes()).unwrap_or_default();
        if shown.is_anonymous() {
            hidden()
        } else {
            name.clone()
        }
    };
    let readdress = |ip: std::net::IpAddr| shown.ip(ip).parse().unwrap_or(ip);
    let mut scenario = match base.filter(|_| !shown.is_anonymous()) {
        Some(base) => base.without_answers(),
        None => Scenario::new("watch", ""),
    };
    scenario.name = name;
    let mut played = played::replay(judged, plan.resolver, &rename, &readdress);
    played.notes = said;
    let comparison = Comparison::with_plan(&played, &run_when(&scenario, plan.resolver, &[]));
    let context = Context::default();
    timeline::lived(&scenario, &context, &[Lived { played, comparison }])
}
