//! Flags of a kubelet in units and variables.

use crate::config::traced::{Spot, Traced};
use crate::config::unit_file::{Escapes, Service, words};
use crate::kubelet::flags::{self, Flag, Name};
use crate::kubelet::{distribution, rancher};
use crate::lint::document::{At, Document, Syntax};
use crate::lint::facts::{Command, CommandPart, Key, KubeletFacts, KubeletForm, Setting, Text};
use crate::text::Span;

/// What the flags in a unit or in variables set; nothing where there are none
/// and no command for a kubelet.
pub(super) fn facts(document: &Document) -> Option<KubeletFacts> {
    let mut facts = KubeletFacts {
        path: document.path.clone(),
        at: document.at(Span::default()),
        form: match document.syntax {
            Syntax::Unit(_) => KubeletForm::Unit,
            _ => KubeletForm::Environment,
        },
        ..KubeletFacts::default()
    };
    match &document.syntax {
        Syntax::Unit(entries) => unit(document, &Service::of(entries), &mut facts),
        Syntax::Environment(variables) => {
            let variables = variables.iter().map(|it| (it.name.as_str(), &it.value));
            add_variables(document, variables, &mut facts);
        }
        Syntax::Arguments(arguments) => facts.settings = settings(document, arguments),
        _ => {}
    }
    facts.settings.extend(own_variables(document));
    let says = !facts.settings.is_empty() || facts.command.is_some();
    says.then_some(facts)
}

/// The variables of a unit, then its command.
fn unit(document: &Document, service: &Service, facts: &mut KubeletFacts) {
    let variables = service.environment.iter();
    let variables = variables.filter(|it| is_kubelets(&it.0));
    add_variables(
        document,
        variables.map(|(name, value)| (name.as_str(), value)),
        facts,
    );
    let commands: Vec<Vec<Traced>> = commands(service).collect();
    if commands.is_empty() {
        return;
    }
    let mut command = Command::default();
    for words in &commands {
        let mut pending = words.as_slice();
        while let Some(at) = pending.iter().position(|it| !names(it).is_empty()) {
            let (before, rest) = pending.split_at(at);
            add_settings(document, before, facts, &mut command);
            let word = rest.first().map(names).unwrap_or_default();
            command
                .parts
                .extend(word.into_iter().map(CommandPart::Variable));
            pending = rest.get(1..).unwrap_or_default();
        }
        add_settings(document, pending, facts, &mut command);
    }
    let files = service.environment_files.iter();
    command.environment_files = files
        .map(|it| it.trim_start_matches('-').to_owned())
        .collect();
    facts.command = Some(Box::new(command));
}

fn add_settings(
    document: &Document,
    words: &[Traced],
    facts: &mut KubeletFacts,
    command: &mut Command,
) {
    for setting in settings(document, words) {
        command
            .parts
            .push(CommandPart::Setting(facts.settings.len()));
        facts.settings.push(setting);
    }
}

fn add_variables<'v>(
    document: &Document,
    variables: impl Iterator<Item = (&'v str, &'v Traced)>,
    facts: &mut KubeletFacts,
) {
    for (name, value) in variables {
        let settings = settings(document, &words(value, Escapes::Plain));
        facts
            .variables
            .extend(settings.iter().map(|_| name.to_owned()));
        facts.settings.extend(settings);
    }
}

/// The variables that a word names: `$NAME`, `${NAME}`.
fn names(word: &Traced) -> Vec<String> {
    let text = word.text();
    let parts = text.split('$').skip(1).filter_map(|rest| {
        let rest = rest.strip_prefix('{').unwrap_or(rest);
        let is_name = |it: char| it.is_ascii_alphanumeric() || it == '_';
        let end = rest.find(|it| !is_name(it)).unwrap_or(rest.len());
        rest.get(..end)
            .filter(|it| !it.is_empty())
            .map(str::to_owned)
    });
    parts.collect()
}

fn is_kubelets(variable: &str) -> bool {
    variable.contains("KUBELET")
}

/// The commands of a unit that start a kubelet, as words.
fn commands(service: &Service) -> impl Iterator<Item = Vec<Traced>> {
    let commands = service.exec_start.iter();
    commands.filter_map(|it| of_kubelet(words(it, Escapes::C)))
}

/// The words of a command that are for a kubelet; of k3s and rke2 the flags
/// that they make of their own. `None`: it starts none.
fn of_kubelet(command: Vec<Traced>) -> Option<Vec<Traced>> {
    let program = command.first()?.text().into_owned();
    if program.contains("kube") {
        return Some(command);
    }
    let second = command.get(1).map(Traced::text);
    let is_node = matches!(second.as_deref(), Some("server" | "agent"));
    let found = match program.rsplit('/').next() {
        Some("k3s" | "rke2") if is_node => {
            let arguments = command.get(2..).unwrap_or_default();
            // No variable of theirs is in a unit's command.
            rancher::options(&rancher::K3S, &[], arguments, &[]).flags(true)
        }
        _ => distribution::kubelet_arguments(&command)?,
    };
    // What restarts a kubelet has its name and no flags.
    let is_flag = |it: &Traced| it.bytes().starts_with(b"-");
    found.iter().any(is_flag).then_some(found)
}

/// The arguments for a kubelet in a unit or in variables, each list as it
/// stands: what variables of other files hold is not in it. The spots are
/// offsets in the document.
pub fn arguments(document: &Document) -> Vec<Vec<Traced>> {
    match &document.syntax {
        Syntax::Unit(entries) => {
            let service = Service::of(entries);
            let mut lists: Vec<Vec<Traced>> = commands(&service).collect();
            let variables = service.environment.iter().filter(|it| is_kubelets(&it.0));
            lists.extend(variables.map(|(_, value)| words(value, Escapes::Plain)));
            lists
        }
        Syntax::Arguments(arguments) => vec![arguments.clone()],
        Syntax::Environment(variables) => {
            let values = variables.iter().map(|it| words(&it.value, Escapes::Plain));
            values.collect()
        }
        _ => Vec::new(),
    }
}

/// The variable that opens `--config-dir` to old kubelets.
const GATE: &str = "KUBELET_CONFIG_DROPIN_DIR_ALPHA";

/// What a kubelet, k3s or rke2 reads from its environment: no flags.
fn own_variables(document: &Document) -> Vec<Setting> {
    let of_unit;
    let variables: Vec<(&str, &Traced)> = match &document.syntax {
        Syntax::Unit(entries) => {
            of_unit = Service::of(entries).environment;
            of_unit.iter().map(|it| (it.0.as_str(), &it.1)).collect()
        }
        Syntax::Environment(variables) => {
            let variables = variables.iter();
            variables.map(|it| (it.name.as_str(), &it.value)).collect()
        }
        _ => Vec::new(),
    };
    let settings = variables.into_iter().filter_map(|(name, value)| {
        let is_file = [rancher::K3S, rancher::RKE2]
            .iter()
            .any(|it| it.resolv_conf_variable == name);
        let key = match name {
            GATE => Key::DropInGate,
            // An empty one is none.
            _ if is_file && !value.bytes().is_empty() => Key::ResolvConf,
            _ => return None,
        };
        Some(variable(document, key, name, value))
    });
    settings.collect()
}

fn variable(document: &Document, key: Key, name: &str, value: &Traced) -> Setting {
    let text = value.text().into_owned();
    let spot = value.spot(0);
    let at = place(document, spot, &text);
    let written = Text {
        text: name.to_owned(),
        at,
    };
    Setting {
        key,
        written,
        at,
        is_flag: false,
        is_null: false,
        literal: spot.and_then(|spot| document.at_literal(standing(document, spot, &text)?)),
        values: vec![Text { text, at }],
    }
}

/// The settings that a list of arguments makes.
pub(super) fn settings(document: &Document, arguments: &[Traced]) -> Vec<Setting> {
    let flags = flags::read(arguments).flags;
    let setting = |flag| setting(document, flag);
    flags.iter().filter_map(setting).collect()
}

/// `None`: no rule asks for it.
fn setting(document: &Document, flag: &Flag) -> Option<Setting> {
    let key = key(flag.name)?;
    let at = place(document, flag.spot, &flag.value);
    let values = match flag.name {
        Name::ClusterDns => {
            let mut offset = 0;
            let parts = flag.value.split(',').map(|part| {
                let spot = flag
                    .spot
                    .map(|spot| Spot::new(0, spot.offset as usize + offset));
                offset += part.len() + 1;
                let at = place(document, spot, part);
                let text = part.trim_matches('"').to_owned();
                Text { text, at }
            });
            parts.filter(|it| !it.text.is_empty()).collect()
        }
        _ => vec![Text {
            text: flag.value.clone(),
            at,
        }],
    };
    let name = flag.argument.split(['=', ' ']).next().unwrap_or_default();
    Some(Setting {
        key,
        written: Text {
            text: name.to_owned(),
            at,
        },
        values,
        at,
        is_flag: true,
        is_null: false,
        literal: flag.spot.and_then(|spot| {
            let span = standing(document, spot, &flag.value)?;
            document.at_literal(span)
        }),
    })
}

/// Where a value stands: all of it, if its bytes stand there as they are.
fn place(document: &Document, spot: Option<Spot>, value: &str) -> At {
    let Some(spot) = spot else {
        return document.at(Span::default());
    };
    let start = spot.offset as usize;
    let whole = standing(document, spot, value);
    document.at(whole.unwrap_or(Span::new(start, start + 1)))
}

/// The bytes of a value, if they stand there as they are.
fn standing(document: &Document, spot: Spot, value: &str) -> Option<Span> {
    let start = spot.offset as usize;
    let whole = Span::new(start, start + value.len());
    (document.bytes(whole) == value.as_bytes()).then_some(whole)
}

pub(super) fn key(name: Name) -> Option<Key> {
    Some(match name {
        Name::ResolvConf => Key::ResolvConf,
        Name::ClusterDns => Key::ClusterDns,
        Name::ClusterDomain => Key::ClusterDomain,
        Name::Config => Key::Config,
        Name::ConfigDir => Key::ConfigDir,
        // Programs other than the kubelet have it, too.
        Name::FeatureGates | Name::RuntimeEndpoint | Name::StaticPods => return None,
    })
}
