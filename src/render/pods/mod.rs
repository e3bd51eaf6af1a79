//! The pods of a node as text for people.

pub mod json;
mod verdict;

use std::io::{self, Write};
use std::net::IpAddr;

use colored::{Color, Colorize as _};

use crate::config::resolv_conf::ResolvConf;
use crate::node::runtime::state::Ended;
use crate::node::{Container, Listener, Pod, Presence};
use crate::render::style::painted;
use crate::render::{Style, paragraph};
use crate::text::escaped;

/// What a sandbox's id is cut to, as runtimes' own tools show it.
const ID_WIDTH: usize = 12;

/// Numbers of namespaces have so many digits.
const NETWORK_WIDTH: usize = 10;

/// Between two columns.
const GAP: &str = "  ";

/// What is known of a loopback name server of a pod.
#[derive(Clone, Debug)]
pub struct Heard {
    /// Its address.
    pub address: IpAddr,
    /// What listens there on port 53.
    pub listener: Option<Listener>,
}

/// Who has the socket on port 53 of a loopback address, as the end of a sentence.
pub fn listens(listener: Option<&Listener>) -> String {
    match listener.map(|it| &it.owner) {
        None => "nobody listens there on port 53".to_owned(),
        Some(None) => "a process that was not found listens there".to_owned(),
        Some(Some(owner)) => format!("{} (process {}) listens there", owner.comm, owner.pid),
    }
}

/// Writes what is wrong, then a row for each pod, and below it what is wrong
/// with it, and who listens on its loopback servers. `is_whole`: all could be read.
///
/// # Errors
///
/// Any error of `out`.
pub fn write(
    pods: &[Pod],
    heard: &[Vec<Heard>],
    is_whole: bool,
    style: Style,
    out: &mut dyn Write,
) -> io::Result<()> {
    if pods.is_empty() {
        return Ok(());
    }
    let heads = ["POD", "SANDBOX", "NETWORK", "NAME SERVERS"].map(str::to_owned);
    let rows: Vec<[String; 4]> = pods.iter().map(row).collect();
    let rest = ID_WIDTH + NETWORK_WIDTH + 3 * GAP.len();
    // A usual pod has one name server, the longest address of version 4.
    let widest = style.columns - rest - "255.255.255.255".len();
    let widths = rows.iter().map(|[label, ..]| label.chars().count());
    let width = widths.filter(|&it| it <= widest).max().unwrap_or(0);
    let width = width.max("POD".len());
    let mut text = Text { style, width, out };
    text.verdict(pods, heard, is_whole)?;
    text.row(&heads, true, &[])?;
    for (number, (pod, row)) in pods.iter().zip(&rows).enumerate() {
        let heard = heard.get(number).map(Vec::as_slice).unwrap_or_default();
        text.row(row, false, heard)?;
        text.notes(pod)?;
        for it in heard {
            let who = listens(it.listener.as_ref());
            let sentence = format!("{} is the pod itself, and {who}", it.address);
            text.note(&sentence, it.listener.is_none())?;
        }
        if style.verbose {
            text.details(pod)?;
        }
    }
    Ok(())
}

/// The columns of a pod, safe to print.
fn row(pod: &Pod) -> [String; 4] {
    let sandbox = pod.sandbox.as_deref().unwrap_or("?");
    let network = match (pod.host_network, pod.netns) {
        (Some(true), _) => "host".to_owned(),
        (_, Some(number)) => number.to_string(),
        (Some(false), None) => "own".to_owned(),
        (None, None) => "?".to_owned(),
    };
    // What the processes have is what counts.
    let servers = match pod.own_file() {
        Some(conf) => words(conf, "nameserver").join(" "),
        None => "?".to_owned(),
    };
    let servers = if servers.is_empty() {
        "none".to_owned()
    } else {
        servers
    };
    let sandbox: String = sandbox.chars().take(ID_WIDTH).collect();
    [pod.label(), sandbox, network, servers].map(|it| escaped(it.as_bytes()))
}

/// The words behind `keyword` at the beginning of a line, of all such lines.
pub(super) fn words(conf: &ResolvConf, keyword: &str) -> Vec<String> {
    let mut found = Vec::new();
    for line in conf.lines() {
        let mut words = line.words();
        if words
            .next()
            .is_some_and(|it| it.bytes == keyword.as_bytes())
        {
            found.extend(words.map(|it| escaped(it.bytes)));
        }
    }
    found
}

struct Text<'w> {
    style: Style,
    /// Of the first column.
    width: usize,
    out: &'w mut dyn Write,
}

impl Text<'_> {
    /// A row; a label that is too long has a line of its own before it. Name
    /// servers are red where nobody listens.
    fn row(
        &mut self,
        [label, id, network, servers]: &[String; 4],
        bold: bool,
        heard: &[Heard],
    ) -> io::Result<()> {
        let mut label = label.as_str();
        if label.chars().count() > self.width {
            writeln!(self.out, "{}", self.bold(label, !bold))?;
            label = "";
        }
        let first = format!("{label:<width$}", width = self.width);
        let before = self.width + ID_WIDTH + NETWORK_WIDTH + 3 * GAP.len();
        let servers = cut(servers, self.style.columns.saturating_sub(before));
        let servers = self.colored_servers(&servers, heard);
        let rest = format!("{id:<ID_WIDTH$}{GAP}{network:<NETWORK_WIDTH$}{GAP}{servers}");
        let rest = rest.trim_end();
        writeln!(
            self.out,
            "{}{GAP}{}",
            self.bold(&first, true),
            self.bold(rest, bold)
        )
    }

    /// Those where nobody listens in red, other loopback ones in yellow.
    fn colored_servers(&self, servers: &str, heard: &[Heard]) -> String {
        let of = |word: &str| heard.iter().find(|it| it.address.to_string() == word);
        let shown = servers.split(' ').map(|word| match of(word) {
            Some(it) if self.style.colors && it.listener.is_none() => word.red().to_string(),
            Some(_) if self.style.colors => word.yellow().to_string(),
            _ => word.to_owned(),
        });
        shown.collect::<Vec<_>>().join(" ")
    }

    /// What is wrong with a pod.
    fn notes(&mut self, pod: &Pod) -> io::Result<()> {
        let unseen = match pod.presence {
            Presence::Hidden => Some("its processes cannot be seen"),
            Presence::LeftOver => Some("left over: its sandbox is gone"),
            Presence::Waits => Some("none of its containers was ever made"),
            Presence::Runs | Presence::NotSeen => None,
        };
        if let Some(note) = unseen {
            return self.note(note, false);
        }
        for container in &pod.containers {
            if let Some(note) = stopped(pod, container) {
                self.note(&note, false)?;
            }
            if container.is_paused {
                self.note(&format!("container {} is paused", container.name), false)?;
            }
        }
        if pod.processes.is_empty() {
            self.note("no running process", false)?;
        }
        if let (Some(kept), Some(seen)) = (&pod.resolv_conf, &pod.seen_resolv_conf) {
            let (kept, seen) = (&kept.source.name, &seen.source.name);
            let sentence = if pod.mounts_resolv_conf() {
                format!("its spec mounts a file of its own ({seen}) over {kept}")
            } else {
                format!("drift: its processes see another file ({seen}) than {kept}")
            };
            self.note(&sentence, false)?;
        }
        Ok(())
    }

    /// Writes all that is known of a pod.
    fn details(&mut self, pod: &Pod) -> io::Result<()> {
        let line = |what: &str, value: Option<String>| value.map(|it| format!("{what} {it}"));
        let addresses: Vec<String> = pod.addresses.iter().map(ToString::to_string).collect();
        let processes = pod
            .processes
            .iter()
            .map(|it| format!("{} {}", it.pid, it.comm));
        let processes: Vec<String> = processes.collect();
        let joined = |list: &[String]| Some(list.join(", ")).filter(|it| !it.is_empty());
        let lines = [
            line("uid", pod.uid.clone()),
            line("sandbox", pod.sandbox.clone()),
            line("network namespace", pod.netns_path.clone()),
            line("addresses", joined(&addresses)),
            line("processes", joined(&processes)),
        ];
        for line in lines.into_iter().flatten() {
            self.detail(2, &line)?;
        }
        for container in &pod.containers {
            self.detail(2, &of_container(pod, container))?;
        }
        for conf in [&pod.resolv_conf, &pod.seen_resolv_conf]
            .into_iter()
            .flatten()
        {
            self.detail(2, &conf.source.name)?;
            for line in conf.lines() {
                self.detail(4, &String::from_utf8_lossy(line.bytes()))?;
            }
        }
        Ok(())
    }

    fn note(&mut self, text: &str, is_wrong: bool) -> io::Result<()> {
        let text = self.style.brief(escaped(text.as_bytes()));
        let color = if is_wrong { Color::Red } else { Color::Yellow };
        let text = painted(self.style.colors, &text, |it| it.color(color));
        paragraph::write(self.out, "  ", "    ", &text)
    }

    /// One line of any length: it is to be copied.
    fn detail(&mut self, indent: usize, text: &str) -> io::Result<()> {
        writeln!(self.out, "{:indent$}{}", "", escaped(text.as_bytes()))
    }

    /// Safe text, bold if wanted.
    fn bold(&self, text: &str, is_wanted: bool) -> String {
        painted(self.style.colors && is_wanted, text, |it| it.bold())
    }
}

/// As many of the words as fit on the line, and how many are left.
fn cut(words: &str, room: usize) -> String {
    let words: Vec<&str> = words.split(' ').collect();
    // Each of them takes a column at least.
    for count in (1..=words.len().min(room.max(1))).rev() {
        let (shown, left) = words.split_at_checked(count).unwrap_or_default();
        let more = match left.len() {
            0 => String::new(),
            left => format!(" +{left}"),
        };
        let text = format!("{}{more}", shown.join(" "));
        if count == 1 || text.len() <= room {
            return text;
        }
    }
    String::new()
}

fn of_container(pod: &Pod, container: &Container) -> String {
    let mut parts = vec![format!("container {}", container.name)];
    parts.extend(container.id.clone());
    parts.extend(container.image.clone());
    parts.push(match container.pid {
        Some(pid) if container.is_paused => format!("process {pid}, paused"),
        Some(pid) => format!("process {pid}"),
        None if pod.unnamed_process().is_some() => "not known whether it runs".to_owned(),
        None => "does not run".to_owned(),
    });
    parts.extend(container.ended.as_ref().map(end));
    let restarts = container.restarts.filter(|&it| it > 0);
    parts.extend(restarts.map(|it| format!("restarted {}", times(it))));
    parts.join(", ")
}

/// What to say about a container that does not run; nothing of one that has
/// done its work, or in a pod that does not run at all and was never started
/// again.
fn stopped(pod: &Pod, container: &Container) -> Option<String> {
    if container.pid.is_some() || pod.has_finished(container) {
        return None;
    }
    let name = &container.name;
    let ended = container.ended.as_ref();
    let how = ended.map(|it| format!(": {}", end(it))).unwrap_or_default();
    let restarts = container.restarts.unwrap_or(0);
    if restarts > 0 {
        let times = times(restarts);
        return Some(format!(
            "container {name} does not run{how}; restarted {times}"
        ));
    }
    if ended.is_some() {
        return Some(format!("container {name} does not run{how}"));
    }
    if let Some(pid) = pod.unnamed_process() {
        return Some(format!(
            "whether container {name} runs is not known: process {pid} can be its own"
        ));
    }
    let others_run = pod.containers.iter().any(|it| it.pid.is_some());
    match (pod.processes.is_empty(), others_run) {
        (true, _) => None,
        (false, true) => Some(format!(
            "container {name} does not run: it has ended, as init containers do, or died"
        )),
        (false, false) => Some(format!("container {name} does not run")),
    }
}

/// `it ended at 2026-11-23T04:07:36Z with exit code 137 (signal 9, OOMKilled)`
fn end(ended: &Ended) -> String {
    let at = ended.at.as_ref().map(|it| format!(" at {it}"));
    let signal = Some(ended.code - 128).filter(|it| (1..=64).contains(it));
    let signal = signal.map(|it| format!("signal {it}"));
    let why: Vec<String> = signal.into_iter().chain(ended.reason.clone()).collect();
    let why = match why.as_slice() {
        [] => String::new(),
        why => format!(" ({})", why.join(", ")),
    };
    format!(
        "it ended{} with exit code {}{why}",
        at.unwrap_or_default(),
        ended.code
    )
}

fn times(count: u32) -> String {
    match count {
        1 => "once".to_owned(),
        2 => "twice".to_owned(),
        _ => format!("{count} times"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_end_of_a_container_is_told() {
        let said = |code, reason: Option<&str>| {
            end(&Ended {
                at: Some("2026-11-23T04:07:36Z".to_owned()),
                code,
                reason: reason.map(str::to_owned),
            })
        };
        let at = "it ended at 2026-11-23T04:07:36Z with exit code";
        assert_eq!(said(3, None), format!("{at} 3"));
        assert_eq!(said(139, None), format!("{at} 139 (signal 11)"));
        let killed = said(137, Some("OOMKilled"));
        assert_eq!(killed, format!("{at} 137 (signal 9, OOMKilled)"));
        assert_eq!(said(255, None), format!("{at} 255"));
    }

    #[test]
    fn name_servers_are_counted_where_there_is_no_room() {
        let three = "10.96.0.10 172.31.0.53 172.31.0.54";
        for (room, expected) in [
            (40, three),
            (34, three),
            (33, "10.96.0.10 172.31.0.53 +1"),
            (20, "10.96.0.10 +2"),
            (0, "10.96.0.10 +2"),
        ] {
            assert_eq!(cut(three, room), expected, "{room}");
        }
        assert_eq!(cut("none", 1), "none");
    }
}
