//! The flags of a kubelet in the order of its command line, put together from
//! a unit, its drop-ins and the files of variables.
//!
//! Source: systemd.exec(5) `EnvironmentFile=`: of a variable that is set twice
//! the later value counts, files over `Environment=`; systemd.service(5)
//! `ExecStart=`: drop-ins take back and set again.

use crate::kubelet::configuration::Ignored;
use crate::lint::facts::{Command, CommandPart, KubeletFacts, KubeletForm, Setting};

/// What the flags of a kubelet come to.
#[derive(Debug, Default)]
pub(super) struct Flags<'w> {
    /// Those that its command line has, in order.
    pub(super) made: Vec<&'w Setting>,
    /// Those that it has not, and why.
    pub(super) ignored: Vec<(&'w Setting, Ignored)>,
}

/// The flags in the texts of one kubelet that are units and variables.
pub(super) fn flags<'w>(parts: &[&'w KubeletFacts]) -> Flags<'w> {
    let mut texts: Vec<&'w KubeletFacts> = parts.to_vec();
    texts.sort_by_key(|it| (it.form, place_of(&it.path)));
    let unit = texts.iter().rfind(|it| it.command.is_some()).copied();
    let Some((unit, command)) = unit.and_then(|it| Some((it, it.command.as_deref()?))) else {
        return Flags {
            made: texts.iter().flat_map(|it| &it.settings).collect(),
            ignored: Vec::new(),
        };
    };
    let files: Vec<&str> = texts
        .iter()
        .filter_map(|it| it.command.as_ref())
        .flat_map(|it| it.environment_files.iter().map(String::as_str))
        .collect();
    texts.sort_by_key(|it| (it.form, rank(&it.path, &files)));
    let mut flags = Flags::default();
    for part in &command.parts {
        match part {
            CommandPart::Setting(index) => flags.made.extend(unit.settings.get(*index)),
            CommandPart::Variable(name) => variable(name, &texts, &mut flags),
        }
    }
    rest(&texts, unit, command, &mut flags);
    flags
}

/// Units before their drop-ins, and those by the names of their files; of one
/// name, what lies below `/etc` counts.
fn place_of(path: &str) -> (bool, &str, bool) {
    let (folder, name) = path.rsplit_once('/').unwrap_or(("", path));
    let is_own = folder.contains("etc/systemd/system");
    (folder.strip_suffix(".d").is_some(), name, is_own)
}

/// The place of a file of variables in the unit's list; those that are not in
/// it come first.
fn rank(path: &str, files: &[&str]) -> Option<usize> {
    files.iter().rposition(|it| path.ends_with(it))
}

/// What the last text that sets a variable says.
fn variable<'w>(name: &str, texts: &[&'w KubeletFacts], flags: &mut Flags<'w>) {
    let sets = |it: &&&KubeletFacts| it.variables.iter().any(|it| it == name);
    let last = texts.iter().rfind(sets);
    for text in texts.iter().filter(sets) {
        let is_last = last.is_some_and(|it| std::ptr::eq(*it, *text));
        let named = text.variables.iter().zip(&text.settings);
        for (_, setting) in named.filter(|it| it.0 == name) {
            if is_last {
                flags.made.push(setting);
            } else {
                flags.ignored.push((setting, Ignored::Repeated));
            }
        }
    }
}

/// What the command does not have: other variables, commands that were taken
/// back.
fn rest<'w>(
    texts: &[&'w KubeletFacts],
    unit: &KubeletFacts,
    command: &Command,
    flags: &mut Flags<'w>,
) {
    let is_named = |name: &str| {
        let mut parts = command.parts.iter();
        parts.any(|it| matches!(it, CommandPart::Variable(it) if it == name))
    };
    let takes_variables = command
        .parts
        .iter()
        .any(|it| matches!(it, CommandPart::Variable(_)));
    for text in texts {
        let is_unit = text.form == KubeletForm::Unit;
        for (index, setting) in text.settings.iter().enumerate() {
            let reason = match text.variables.get(index) {
                // It is no argument: the program reads its environment.
                _ if !setting.is_flag => None,
                Some(name) if is_named(name) => continue,
                // A script can take them from its environment.
                Some(_) if !takes_variables => None,
                Some(_) => Some(Ignored::Unused),
                None if std::ptr::eq(*text, unit) => continue,
                None if is_unit => Some(Ignored::Unused),
                None => None,
            };
            match reason {
                Some(reason) => flags.ignored.push((setting, reason)),
                None => flags.made.push(setting),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use crate::lint::context::Context;
    use crate::lint::document::FileId;
    use crate::lint::workspace::{File, Workspace};
    use crate::lint::{extract, reading};
    use crate::text::Source;

    const UNIT: &str = "lib/systemd/system/kubelet.service";
    const DROP_IN: &str = "etc/systemd/system/kubelet.service.d/10-kubeadm.conf";
    const COMMAND: &str = "[Service]\nEnvironmentFile=-/var/lib/kubelet/kubeadm-flags.env\nEnvironmentFile=-/etc/default/kubelet\nExecStart=\nExecStart=/usr/bin/kubelet $KUBELET_KUBEADM_ARGS $KUBELET_EXTRA_ARGS\n";

    /// The file that counts, and how many flags do not.
    fn check(files: &[(&str, &str)], expected: (Option<&str>, usize)) {
        let mut files = files.to_vec();
        files.sort_unstable();
        let facts = |(index, (path, text)): (usize, &(&str, &str))| {
            let source = Source {
                name: (*path).to_owned(),
                bytes: text.as_bytes().to_vec(),
            };
            let file = FileId(u32::try_from(index).unwrap());
            let found = reading::documents(file, &Arc::new(source), None);
            File {
                path: (*path).into(),
                facts: extract::facts(&found).kept(),
            }
        };
        let workspace = Workspace {
            files: files.iter().enumerate().map(facts).collect(),
            ..Workspace::default()
        };
        let context = Context::new(&workspace);
        let [kubelet] = context.kubelets() else {
            panic!("{:?}", context.kubelets());
        };
        let found = kubelet.resolv_conf().map(|it| it.text.as_str());
        assert_eq!((found, kubelet.ignored.len()), expected, "{files:?}");
    }

    #[test]
    fn flags_count_in_the_order_of_the_command() {
        let kubeadm = (
            "var/lib/kubelet/kubeadm-flags.env",
            "KUBELET_KUBEADM_ARGS=--resolv-conf=/a\n",
        );
        let extra = (
            "etc/default/kubelet",
            "KUBELET_EXTRA_ARGS=--resolv-conf=/b\n",
        );
        let drop_in = (DROP_IN, COMMAND);
        check(&[kubeadm, extra, drop_in], (Some("/b"), 0));
        check(&[kubeadm, drop_in], (Some("/a"), 0));
        let turned = COMMAND.replace(
            "$KUBELET_KUBEADM_ARGS $KUBELET_EXTRA_ARGS",
            "$KUBELET_EXTRA_ARGS ${KUBELET_KUBEADM_ARGS}",
        );
        check(&[kubeadm, extra, (DROP_IN, &turned)], (Some("/a"), 0));
        // A variable that the command does not have says nothing.
        let other = ("etc/default/kubelet", "KUBELET_OTHER=--resolv-conf=/b\n");
        check(&[kubeadm, other, drop_in], (Some("/a"), 1));
        // The command of the unit is taken back by the drop-in.
        let unit = (
            UNIT,
            "[Service]\nExecStart=/usr/bin/kubelet --resolv-conf=/c\n",
        );
        check(&[unit, kubeadm, drop_in], (Some("/a"), 1));
        check(&[unit], (Some("/c"), 0));
        // Of two files that set a variable the later one counts.
        let again = (
            "etc/default/kubelet",
            "KUBELET_KUBEADM_ARGS=--resolv-conf=/b\n",
        );
        check(&[kubeadm, again, drop_in], (Some("/b"), 1));
        // Without a unit every variable counts.
        check(&[extra], (Some("/b"), 0));
    }
}
