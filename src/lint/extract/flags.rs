//! Flags of a kubelet in units and variables.

use std::collections::BTreeSet;

use crate::config::traced::{Spot, Traced};
use crate::config::unit_file::{Escapes, Service, Unset, command, words};
use crate::kubelet::flags::{self, Flag, Name};
use crate::kubelet::layers::added_up;
use crate::kubelet::{distribution, rancher};
use crate::lint::document::{At, Body, Document, Syntax};
use crate::lint::facts::{KubeletFacts, KubeletForm, Setting, Text};
use crate::text::{Span, ordered};

/// What the flags in a unit or in variables set; nothing where there are none
/// and no command for a kubelet.
pub(super) fn facts(document: &Document) -> Option<KubeletFacts> {
    let lists = arguments(document);
    let lists = lists
        .iter()
        .flat_map(|it| settings(&it.0, &|_| Some(&document.body)));
    let mut made: Vec<Setting> = lists.collect();
    let (form, environment, says) = match &document.syntax {
        Syntax::Unit(entries) => {
            let service = Service::of_entries(entries);
            let says = commands(&service).next().is_some() || !service.environment.is_empty();
            (KubeletForm::Unit, service.environment, says)
        }
        Syntax::Environment(variables) => {
            let pairs = variables
                .iter()
                .map(|it| (it.name.clone(), it.value.clone()));
            (
                KubeletForm::Environment,
                pairs.collect(),
                !variables.is_empty(),
            )
        }
        _ => (KubeletForm::Environment, Vec::new(), false),
    };
    for program in [&rancher::K3S, &rancher::RKE2] {
        let options = rancher::options(program, &[], &[], &environment);
        made.extend(settings(&options.flags(true), &|_| Some(&document.body)));
    }
    (says || !made.is_empty()).then(|| KubeletFacts {
        path: document.path.clone(),
        at: document.at(Span::default()),
        form,
        settings: made,
        body: Some(Box::new(document.body.clone())),
    })
}

/// The commands of a unit that start a kubelet, as words, and the variables in
/// them as they are written.
fn commands(service: &Service) -> impl Iterator<Item = Vec<Traced>> {
    let commands = service.exec_start.iter();
    commands.filter_map(|it| of_kubelet(&command(it, &[], Unset::Kept)))
}

/// The arguments in a command that are for a kubelet; of k3s and rke2 the flags
/// that they make of their own. `None`: it starts none.
fn of_kubelet(command: &[Traced]) -> Option<Vec<Traced>> {
    if of_rancher(command).is_some() {
        let arguments = command.get(2..).unwrap_or_default();
        return Some(rancher::options(&rancher::K3S, &[], arguments, &[]).flags(true));
    }
    let found = distribution::kubelet_arguments(command)?;
    // What restarts a kubelet has its name and no flags.
    let is_flag = |it: &Traced| it.bytes().starts_with(b"-") || it.bytes().starts_with(b"$");
    found.iter().any(is_flag).then_some(found)
}

/// The arguments for a kubelet in a unit or in variables, each list as it
/// stands, and whether it is that of a command: what variables hold is a list of
/// its own. The spots are offsets in the document.
pub fn arguments(document: &Document) -> Vec<(Vec<Traced>, bool)> {
    let of_variable = |value: &Traced| (words(value, Escapes::Plain), false);
    match &document.syntax {
        Syntax::Unit(entries) => {
            let service = Service::of_entries(entries);
            let mut lists: Vec<_> = commands(&service).map(|it| (it, true)).collect();
            let named = lists.iter().flat_map(|it| &it.0).flat_map(names);
            let named: BTreeSet<String> = ordered(named);
            let is_used = |name: &String| name.contains("KUBELET") || named.contains(name);
            let variables = service.environment.iter().filter(|it| is_used(&it.0));
            lists.extend(variables.map(|it| of_variable(&it.1)));
            lists
        }
        Syntax::Arguments(arguments) => vec![(arguments.clone(), false)],
        Syntax::Environment(variables) => {
            variables.iter().map(|it| of_variable(&it.value)).collect()
        }
        _ => Vec::new(),
    }
}

/// The flags of k3s and rke2 themselves on their command lines in a unit, and which of both
/// has them.
pub fn own_arguments(document: &Document) -> Vec<(&'static str, Traced)> {
    let Syntax::Unit(entries) = &document.syntax else {
        return Vec::new();
    };
    let service = Service::of_entries(entries);
    let commands = service
        .exec_start
        .iter()
        .map(|it| command(it, &[], Unset::Kept));
    let own = commands.filter_map(|it| Some((of_rancher(&it)?, it)));
    let own = own.flat_map(|(program, command)| {
        // The value of a flag for another program is none.
        let mut is_value = false;
        let own = command.into_iter().filter(move |it| {
            let is_flag = it.bytes().starts_with(b"--");
            let takes = is_flag && it.bytes().ends_with(b"-arg");
            let is_other = std::mem::replace(&mut is_value, takes);
            is_flag && !is_other
        });
        own.map(move |it| (program, it))
    });
    own.collect()
}

/// Whether a command starts a k3s or an rke2, and which.
fn of_rancher(command: &[Traced]) -> Option<&'static str> {
    let text = |index: usize| command.get(index).map(|it| it.text().into_owned());
    let (program, second) = (text(0)?, text(1)?);
    let name = program.rsplit('/').next();
    let found = ["k3s", "rke2"].into_iter().find(|it| Some(*it) == name);
    found.filter(|_| matches!(second.as_str(), "server" | "agent"))
}

/// The variables that a word names: `$NAME`, `${NAME}`.
fn names(word: &Traced) -> Vec<String> {
    let text = word.text();
    let parts = text.split('$').skip(1).map(|rest| {
        let rest = rest.strip_prefix('{').unwrap_or(rest);
        let is_name = |it: char| it.is_ascii_alphanumeric() || it == '_';
        rest.split(|it| !is_name(it))
            .next()
            .unwrap_or_default()
            .to_owned()
    });
    parts.collect()
}

/// The settings that a list of arguments makes; `body` is the text with a
/// number.
pub fn settings<'b>(
    arguments: &[Traced],
    body: &dyn Fn(usize) -> Option<&'b Body>,
) -> Vec<Setting> {
    let flags = flags::read_flags(arguments).flags;
    let settings = flags.iter().filter_map(|flag| setting(flag, body));
    let settings = added_up(settings.map(|it| (it.key, it)), |first, more| {
        first.values.extend(more.values);
        first.literal = None;
    });
    settings.into_iter().map(|it| it.1).collect()
}

/// `None`: no rule asks for it, or it stands nowhere.
fn setting<'b>(flag: &Flag, body: &dyn Fn(usize) -> Option<&'b Body>) -> Option<Setting> {
    // An empty value can stand nowhere.
    let spot = flag.spot.or(flag.name_spot)?;
    let body = body(spot.file as usize)?;
    let at = place(body, spot, &flag.value);
    let name = flag.argument.split(['=', ' ']).next().unwrap_or_default();
    // An option of k3s and rke2 is none of the kubelet.
    let is_option = flag.name_spot.is_none();
    let name = if is_option {
        name.trim_start_matches('-')
    } else {
        name
    };
    let text = name.to_owned();
    let literal = flag.spot.and_then(|spot| {
        let span = standing(body, spot, &flag.value)?;
        body.at_literal(span)
    });
    of_flag(flag, Text { text, at }, at, literal, |before, text| {
        place(body, Spot::new(0, spot.offset as usize + before), text)
    })
}

/// What a flag sets: `at` is where all of its value stands, and `place` tells it of
/// a part of a list, by the number of bytes before it. `None`: no rule asks for it.
pub(super) fn of_flag(
    flag: &Flag,
    written: Text,
    at: At,
    literal: Option<At>,
    place: impl Fn(usize, &str) -> At,
) -> Option<Setting> {
    let key = Some(flag.name).filter(|it| is_asked_for(*it))?;
    let one = |text: &str, at| Text {
        text: text.to_owned(),
        at,
    };
    let values = match key {
        Name::ClusterDns => {
            let parts = flag.servers();
            parts.map(|it| one(it.1, place(it.0, it.1))).collect()
        }
        _ => vec![one(&flag.value, at)],
    };
    Some(Setting {
        key,
        written,
        values,
        at,
        is_flag: true,
        is_null: false,
        literal,
    })
}

/// Where a value stands: all of it, if its bytes stand there as they are.
fn place(body: &Body, spot: Spot, value: &str) -> At {
    let start = spot.offset as usize;
    let whole = standing(body, spot, value);
    body.at(whole.unwrap_or(Span::new(start, start + 1)))
}

/// The bytes of a value, if they stand there as they are.
fn standing(body: &Body, spot: Spot, value: &str) -> Option<Span> {
    let start = spot.offset as usize;
    let whole = Span::new(start, start + value.len());
    (body.bytes(whole) == value.as_bytes()).then_some(whole)
}

/// Whether rules ask for it: programs other than the kubelet have the others, too.
pub(super) fn is_asked_for(name: Name) -> bool {
    use Name::{FeatureGates, RuntimeEndpoint, StaticPods};
    !matches!(name, FeatureGates | RuntimeEndpoint | StaticPods)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variables_are_named_with_and_without_braces() {
        let named = |text: &str| names(&Traced::untraced(text.as_bytes()));
        assert_eq!(named("$ARGS"), ["ARGS"]);
        assert_eq!(named("--resolv-conf=${CONF}:$MORE"), ["CONF", "MORE"]);
        assert!(named("--v=2").is_empty());
    }
}
