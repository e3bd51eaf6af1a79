//! What follows `-j`.

use std::borrow::Cow;
use std::net::{IpAddr, SocketAddr};

use super::matches::{masked, number};
use crate::rules::rule::{Action, Masked, Translation};
use crate::text::WordList;

/// Targets that change nothing about where a packet goes.
const HARMLESS: WordList = WordList(
    "LOG NFLOG ULOG TRACE CHECKSUM TCPMSS TCPOPTSTRIP CLASSIFY DSCP TOS AUDIT SET TTL HL TEE \
     SECMARK CONNSECMARK RATEEST IDLETIMER LED",
);

/// Targets of extensions whose effect is not known.
const UNKNOWN: [&str; 5] = ["NETMAP", "SYNPROXY", "HMARK", "CLUSTERIP", "ECN"];

/// The action of `-j NAME OPTIONS`. Any name but those of extensions is a chain.
pub(in crate::rules) fn target(name: &str, words: &[Cow<'_, str>]) -> Action {
    let known = match name {
        "ACCEPT" => Some(Action::Accept),
        "DROP" => Some(Action::Drop),
        "RETURN" => Some(Action::Return),
        "QUEUE" | "NFQUEUE" => Some(Action::Queue),
        "REJECT" => {
            let error = value(words, "--reject-with");
            Some(Action::Reject(error.map(full_error).unwrap_or_default()))
        }
        "DNAT" => value(words, "--to-destination")
            .and_then(translation)
            .map(Action::Dnat),
        "SNAT" => value(words, "--to-source")
            .and_then(translation)
            .map(Action::Snat),
        "MASQUERADE" => Some(Action::Masquerade),
        "REDIRECT" => match value(words, "--to-ports") {
            None => Some(Action::Redirect(None)),
            Some(ports) => range(ports).map(|it| Action::Redirect(Some(it))),
        },
        "MARK" => mark(words).map(|(clear, flip)| Action::Mark { clear, flip }),
        "CONNMARK" => connmark(words),
        "NOTRACK" => Some(Action::NoTrack),
        "CT" => Some(ct(words)),
        "TPROXY" => tproxy(words),
        _ if HARMLESS.has(name) => Some(Action::Nothing),
        _ if UNKNOWN.contains(&name) => None,
        _ => Some(Action::Jump(name.into())),
    };
    known.unwrap_or_else(|| {
        let options = words.join(" ");
        Action::Unknown(format!("-j {name} {options}").trim_end().into())
    })
}

fn value<'w>(words: &'w [Cow<'w, str>], option: &str) -> Option<&'w str> {
    let at = words.iter().position(|it| it == option)?;
    words.get(at + 1).map(Cow::as_ref)
}

fn has(words: &[Cow<'_, str>], option: &str) -> bool {
    words.iter().any(|it| it == option)
}

/// Short names that `iptables` takes for an error.
fn full_error(name: &str) -> Box<str> {
    match name {
        "net-unreach" => "icmp-net-unreachable",
        "host-unreach" => "icmp-host-unreachable",
        "proto-unreach" => "icmp-proto-unreachable",
        "port-unreach" => "icmp-port-unreachable",
        "net-prohib" => "icmp-net-prohibited",
        "host-prohib" => "icmp-host-prohibited",
        "admin-prohib" => "icmp-admin-prohibited",
        "tcp-rst" => "tcp-reset",
        "adm-prohibited" => "icmp6-adm-prohibited",
        "no-route" => "icmp6-no-route",
        "addr-unreach" => "icmp6-addr-unreachable",
        other => other,
    }
    .into()
}

fn range(text: &str) -> Option<(u16, u16)> {
    let (first, last) = text.split_once('-').unwrap_or((text, text));
    // What follows `/` shifts the range.
    let last = last.split_once('/').map_or(last, |it| it.0);
    Some((first.parse().ok()?, last.parse().ok()?))
}

/// `[ADDRESS[-ADDRESS]][:PORT[-PORT]]`, IPv6 in brackets where a port follows.
fn translation(text: &str) -> Option<Translation> {
    if let Ok(one) = text.parse::<SocketAddr>() {
        return Some(Translation {
            addresses: Some((one.ip(), one.ip())),
            ports: Some((one.port(), one.port())),
        });
    }
    let (addresses, ports) = if let Some(inside) = text.strip_prefix('[') {
        let (addresses, ports) = inside.split_once(']')?;
        (addresses, ports.strip_prefix(':'))
    } else if text.matches(':').count() == 1 {
        let (addresses, ports) = text.split_once(':')?;
        (addresses, Some(ports))
    } else {
        (text, None)
    };
    let addresses = if addresses.is_empty() {
        None
    } else {
        let (first, last) = addresses.split_once('-').unwrap_or((addresses, addresses));
        let parse = |it: &str| it.parse::<IpAddr>().ok();
        Some((parse(first)?, parse(last)?))
    };
    Some(Translation {
        addresses,
        ports: ports.map(range).map_or(Some(None), |it| it.map(Some))?,
    })
}

/// What `--set-mark` and its relatives clear and flip (`xt_mark.c`, `mark_tg`).
fn mark(words: &[Cow<'_, str>]) -> Option<(u32, u32)> {
    let of = |option| value(words, option);
    if let Some(text) = of("--set-xmark") {
        let it = masked(text)?;
        Some((it.mask, it.value))
    } else if let Some(text) = of("--set-mark") {
        let it = masked(text)?;
        Some((it.mask | it.value, it.value))
    } else if let Some(text) = of("--and-mark") {
        Some((!number(text)?, 0))
    } else if let Some(text) = of("--or-mark") {
        let bits = number(text)?;
        Some((bits, bits))
    } else if let Some(text) = of("--xor-mark") {
        Some((0, number(text)?))
    } else {
        None
    }
}

fn connmark(words: &[Cow<'_, str>]) -> Option<Action> {
    let mask = |option| value(words, option).map_or(Some(u32::MAX), number);
    let both = |ct: &str, nf: &str| {
        let all = mask("--mask")?;
        let (ct, nf) = (value(words, ct), value(words, nf));
        Some((ct.map_or(Some(all), number)?, nf.map_or(Some(all), number)?))
    };
    if has(words, "--save-mark") {
        let (to, from) = both("--ctmask", "--nfmask")?;
        return Some(Action::SaveMark { from, to });
    }
    if has(words, "--restore-mark") {
        let (from, to) = both("--ctmask", "--nfmask")?;
        return Some(Action::RestoreMark { from, to });
    }
    mark(words).map(|(clear, flip)| Action::ConnectionMark { clear, flip })
}

fn ct(words: &[Cow<'_, str>]) -> Action {
    if has(words, "--notrack") {
        return Action::NoTrack;
    }
    let options = ["--zone", "--zone-orig", "--zone-reply"];
    let zone = options.iter().find_map(|it| value(words, it));
    zone.and_then(|it| it.parse().ok())
        .map_or(Action::Nothing, Action::Zone)
}

fn tproxy(words: &[Cow<'_, str>]) -> Option<Action> {
    let mark = value(words, "--tproxy-mark").map_or(Some(Masked { value: 0, mask: 0 }), masked);
    Some(Action::Tproxy {
        to: value(words, "--on-ip").and_then(|it| it.parse().ok()),
        port: value(words, "--on-port").and_then(|it| it.parse().ok())?,
        mark: mark?,
    })
}
