//! Reads what k3s and rke2 make of their settings.

use std::path::Path;

use crate::config::resolv_conf::ResolvConf;
use crate::config::traced::{self, Traced};
use crate::host::node::kubelet::reader::Reader;
use crate::host::root::Root;
use crate::kubelet::choice::{self, Chooser, NODE_FILE, UPLINK_FILE};
use crate::kubelet::effective::Defaults;
use crate::kubelet::rancher::{self, Options, Program};
use crate::kubelet::{Kubelet, Origin};

/// What the program gives its kubelet.
#[derive(Debug)]
pub(super) struct Given {
    /// The kubelet's arguments.
    pub(super) arguments: Vec<Traced>,
    /// What counts where nothing is set.
    pub(super) defaults: Defaults,
    /// The program's options.
    pub(super) options: Options,
    /// Why not all of it is known.
    pub(super) unread: Option<String>,
    /// The file with the program's own settings as a drop-in, if it wrote one.
    pub(super) generated: Option<String>,
}

/// Reads the settings of a program that was started with these arguments.
pub(super) fn given(
    reader: &mut Reader<'_>,
    program: &'static Program,
    arguments: &[Traced],
    environment: &[(String, Traced)],
) -> Given {
    let before = reader.skipped.len();
    let named = rancher::named_configuration(program, arguments, environment);
    let main = named.unwrap_or_else(|| program.configuration.to_owned());
    let mut numbers: Vec<usize> = reader.setting(&main).into_iter().collect();
    let folder = format!("{main}.d");
    for name in reader.own.list(Path::new(&folder)).unwrap_or_default() {
        let name = name.to_string_lossy().into_owned();
        let is_yaml = [".yaml", ".yml"].iter().any(|end| name.ends_with(end));
        if is_yaml {
            numbers.extend(reader.setting(&format!("{folder}/{name}")));
        }
    }
    let unread = reader.skipped_since(before);
    let files: Vec<_> = numbers.iter().map(|&it| (it, reader.file(it))).collect();
    let options = rancher::options(program, &files, arguments, environment);
    let data = options.data(program);
    let folder = format!("{data}/agent/etc/kubelet.conf.d");
    let generated = format!("{folder}/00-{}-defaults.conf", program.name);
    if reader.own.modified(Path::new(&generated)).is_some() {
        // Files that a kubelet-arg names were copied into the folder.
        let is_copied = |flag: &Traced| {
            let bytes = flag.bytes();
            bytes.starts_with(b"--config=") || bytes.starts_with(b"--config-dir=")
        };
        let mut arguments = vec![Traced::untraced(
            format!("--config-dir={folder}").as_bytes(),
        )];
        arguments.extend(options.flags(false).into_iter().filter(|it| !is_copied(it)));
        return Given {
            arguments,
            defaults: Defaults::default(),
            options,
            unread: None,
            generated: Some(generated),
        };
    }
    let own = format!("{data}/agent/etc/resolv.conf");
    let chosen = chosen(reader.own, Chooser::Rancher, &own);
    Given {
        arguments: options.flags(true),
        defaults: options.defaults(chosen),
        options,
        unread,
        generated: None,
    }
}

/// The file that a distribution gives the kubelet where none is named.
pub(super) fn chosen(root: &Root, chooser: Chooser, own: &str) -> String {
    let read = |path: &str| {
        let file = root.read(Path::new(path)).ok()?;
        Some(ResolvConf::parse(file.source))
    };
    let (node, uplink) = (read(NODE_FILE), read(UPLINK_FILE));
    choice::choose(chooser, node.as_ref(), uplink.as_ref(), own)
}

/// Says of settings that the program wrote into its own drop-in where they
/// come from: the program writes it anew at every start.
pub(super) fn look_behind(
    kubelet: &mut Kubelet,
    program: &Program,
    given: &Given,
    reader: &Reader<'_>,
) {
    let name = program.name;
    let Origin::File(place) = &kubelet.resolv_conf.origin else {
        if kubelet.resolv_conf.origin == Origin::BuiltIn {
            let path = crate::text::escaped(kubelet.resolv_conf.value.as_bytes());
            kubelet.remarks.push(format!(
                "{name} itself chooses resolvConf {path}: no setting names a file"
            ));
        }
        return;
    };
    if given.generated.as_deref() != Some(place.file.as_str()) {
        return;
    }
    let generated = place.file.clone();
    let Some(option) = &given.options.resolv_conf else {
        kubelet.remarks.push(format!(
            "{name} itself chose resolvConf at its start and writes {generated} anew each time: \
             resolv-conf in {} names another file",
            program.configuration
        ));
        return;
    };
    let place = option
        .spot(0)
        .and_then(|spot| traced::place(&reader.files, spot));
    if option.text() == kubelet.resolv_conf.value.as_str() {
        if let Some(place) = place {
            kubelet.resolv_conf.origin = Origin::File(place);
        }
    } else {
        let value = crate::text::escaped(option.bytes());
        let at = place.map_or_else(|| "its environment".to_owned(), |place| place.to_string());
        kubelet.remarks.push(format!(
            "{at} sets resolv-conf {value}, and {name} has not been started since: {generated} has another value"
        ));
    }
}
