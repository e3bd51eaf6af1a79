//! The first line: how many pods there are, and what is wrong with which of them.

use std::io;

use colored::{Color, Colorize as _};

use super::{Heard, Text};
use crate::node::{Pod, Presence};
use crate::render::paragraph;
use crate::render::style::painted;
use crate::text::counted;
use crate::text::escaped;

impl Text<'_> {
    /// How many there are, and what is wrong with which of them.
    pub(super) fn verdict(
        &mut self,
        pods: &[Pod],
        heard: &[Vec<Heard>],
        is_whole: bool,
    ) -> io::Result<()> {
        let gone = pods.iter().filter(|it| it.presence == Presence::LeftOver);
        let gone = gone.count();
        let mut count = counted(pods.len() - gone, "pod", "pods");
        if gone > 0 {
            count.push_str(&format!(" and {gone} left over"));
        }
        let is_deaf = |number: usize| {
            let mut heard = heard.get(number).into_iter().flatten();
            heard.any(|it| it.listener.is_none())
        };
        let of = |is_it: &dyn Fn(usize, &Pod) -> bool| -> Vec<String> {
            let pods = pods.iter().enumerate();
            pods.filter(|(number, pod)| is_it(*number, pod))
                .map(|(_, pod)| pod.label())
                .collect()
        };
        let crashing = of(&|_, pod| pod.crashes());
        let waiting = of(&|_, pod| pod.presence == Presence::Waits);
        let paused = of(&|_, pod| pod.is_paused());
        let deaf = of(&|number, _| is_deaf(number));
        let drifting = of(&|_, pod| pod.drifts() == Some(true));
        let parts = said(&[
            (crashing, ["crashes", "crash"]),
            (
                waiting,
                ["waits for its containers", "wait for their containers"],
            ),
            (paused, ["is paused", "are paused"]),
            (
                deaf,
                [
                    "asks a loopback address where nobody listens",
                    "ask a loopback address where nobody listens",
                ],
            ),
            (
                drifting,
                [
                    "sees another resolv.conf than the runtime keeps",
                    "see another resolv.conf than the runtime keeps",
                ],
            ),
        ]);
        let line = match parts.as_slice() {
            [] if is_whole => format!("{count}; nothing wrong was seen."),
            [] => format!("{count}; nothing wrong was seen, but not all could be read."),
            parts => format!("{count}; {}.", parts.join("; ")),
        };
        let line = escaped(line.as_bytes());
        let color = if parts.is_empty() && is_whole {
            Color::Green
        } else {
            Color::Yellow
        };
        let line = painted(self.style.colors, &line, |it| it.color(color).bold());
        paragraph::write(self.out, "", "  ", &line)?;
        writeln!(self.out)
    }
}

/// What is wrong with which pods: `shop/web crashes and …`, `3 crash`; what is
/// wrong with the same ones is said together.
fn said(troubles: &[(Vec<String>, [&str; 2])]) -> Vec<String> {
    let mut parts: Vec<(&[String], String)> = Vec::new();
    for (pods, [one, many]) in troubles {
        let verb = if pods.len() == 1 { one } else { many };
        match parts.iter_mut().find(|(others, _)| others == pods) {
            _ if pods.is_empty() => {}
            Some((_, said)) => said.extend([" and ", verb]),
            None => parts.push((pods, (*verb).to_owned())),
        }
    }
    let whose = |(pods, verbs): (&[String], String)| match pods {
        [pod] => format!("{pod} {verbs}"),
        pods => format!("{} {verbs}", pods.len()),
    };
    parts.into_iter().map(whose).collect()
}
