//! Where the queries of a node end, in one sentence.

use std::net::SocketAddr;

use super::words;
use crate::address::DNS_PORT;
use crate::text::some_of;
use crate::upstream::{End, Health, Report, Step};

/// So many addresses are named; the others are counted.
const NAMED: usize = 4;

/// The first sentence of a report, without its full stop; `None`: nothing was read.
pub(super) fn sentence(report: &Report, health: Health) -> Option<String> {
    match health {
        Health::Nothing => None,
        Health::Dead => dead(report),
        Health::Unknown => {
            let doubt = words::doubt(report)?;
            Some(format!("Not known where all queries go: {}", doubt.text))
        }
        Health::Clean => Some(clean(report)),
    }
}

fn dead(report: &Report) -> Option<String> {
    for file in &report.files {
        if let Some(problem) = file.problem.as_ref().filter(|_| !file.is_unknown()) {
            return Some(format!("{}: {}", file.path, words::problem(problem).text));
        }
        for server in &file.servers {
            if let Some(path) =
                path_to(server, &|it| matches!(it.end, End::Cycle | End::Refused(_)))
            {
                return Some(end_of(&path));
            }
        }
    }
    None
}

/// The way from a server to the first one that is so.
fn path_to<'s>(step: &'s Step, is_it: &dyn Fn(&Step) -> bool) -> Option<Vec<&'s Step>> {
    if is_it(step) {
        return Some(vec![step]);
    }
    let mut below = step.next.iter().find_map(|it| path_to(it, is_it))?;
    below.insert(0, step);
    Some(below)
}

fn end_of(path: &[&Step]) -> String {
    let names: Vec<String> = path.iter().map(|it| name(it)).collect();
    let last = path.last().map(|it| &it.end);
    match (names.as_slice(), last) {
        ([only], Some(End::Refused(why))) => {
            format!("{only} leads nowhere: {}", words::refused(why).text)
        }
        ([first, .., end], Some(End::Refused(why))) => format!(
            "{first} leads nowhere: its queries end at {end}: {}",
            words::refused(why).text
        ),
        (names, _) => {
            let is_other = |it: &&Step| !it.is_dead();
            let is_split =
                |it: &&&Step| it.end == End::Endpoints && it.next.iter().any(|it| is_other(&it));
            let some = if path.iter().any(|it| is_split(&it)) {
                "Some queries"
            } else {
                "Queries"
            };
            format!("{some} go in a circle: {}", names.join(", then "))
        }
    }
}

fn name(step: &Step) -> String {
    match step.address {
        Some(address) => shown(address),
        None => words::who(&step.who),
    }
}

fn shown(address: SocketAddr) -> String {
    if address.port() == DNS_PORT {
        address.ip().to_string()
    } else {
        address.to_string()
    }
}

fn clean(report: &Report) -> String {
    let (mut outside, mut unknown) = (Vec::new(), Vec::new());
    let servers = report.files.iter().flat_map(|it| &it.servers);
    servers.for_each(|it| ends(it, &mut outside, &mut unknown));
    let list = |names: &[String]| match names {
        [first @ .., last] if !first.is_empty() && names.len() <= NAMED => {
            format!("{} and {last}", first.join(", "))
        }
        [one] => one.clone(),
        names => some_of(names, NAMED),
    };
    match (outside.as_slice(), unknown.as_slice()) {
        ([], []) => "No server was found that answers".to_owned(),
        (outside, []) => format!("Queries end outside the node, at {}", list(outside)),
        ([], unknown) => format!("Where {} forwards to is not known", list(unknown)),
        (outside, unknown) => format!(
            "Queries end outside the node, at {}; where {} forwards to is not known",
            list(outside),
            list(unknown)
        ),
    }
}

fn ends(step: &Step, outside: &mut Vec<String>, unknown: &mut Vec<String>) {
    let list = match &step.end {
        End::Outside => Some(&mut *outside),
        End::Unknown(_) => Some(&mut *unknown),
        _ => None,
    };
    let name = name(step);
    if let Some(list) = list.filter(|it| !it.contains(&name)) {
        list.push(name);
    }
    for next in &step.next {
        ends(next, outside, unknown);
    }
}
