//! What k3s and rke2 make of their settings.

use crate::config::traced::Traced;
use crate::kubelet::choice::Chooser;
use crate::kubelet::effective::Defaults;
use crate::kubelet::rancher::{self, Options, Program};
use crate::kubelet::start::Files;

/// What the program gives its kubelet.
#[derive(Clone, Debug)]
pub struct Given {
    /// The kubelet's arguments.
    pub arguments: Vec<Traced>,
    /// What counts where nothing is set.
    pub defaults: Defaults,
    /// The program's options.
    pub options: Options,
    /// Why not all of it is known.
    pub unread: Option<String>,
    /// The file with the program's own settings as a drop-in, if it wrote one.
    pub generated: Option<String>,
}

/// Reads the settings of a program that was started with these arguments.
pub fn given(
    files: &mut dyn Files,
    program: &'static Program,
    arguments: &[Traced],
    environment: &[(String, Traced)],
) -> Given {
    let before = files.unread();
    let named = rancher::named_configuration(program, arguments, environment);
    let main = named.unwrap_or_else(|| program.configuration.to_owned());
    let mut numbers: Vec<usize> = files.setting(&main).into_iter().collect();
    let folder = format!("{main}.d");
    for name in files.names(&folder) {
        let is_yaml = [".yaml", ".yml"].iter().any(|end| name.ends_with(end));
        if is_yaml {
            numbers.extend(files.setting(&format!("{folder}/{name}")));
        }
    }
    let unread = files.unread_since(before);
    let read: Vec<_> = numbers.iter().map(|&it| (it, files.file(it))).collect();
    let options = rancher::options(program, &read, arguments, environment);
    let data = options.data(program);
    let folder = format!("{data}/agent/etc/kubelet.conf.d");
    let generated = format!("{folder}/00-{}-defaults.conf", program.name);
    if files.is_there(&generated) {
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
    let chosen = files.chosen(Chooser::Rancher, &own);
    Given {
        arguments: options.flags(true),
        defaults: options.defaults(chosen),
        options,
        unread,
        generated: None,
    }
}
