//! k3s and rke2: how their own settings make those of the kubelet.
//!
//! Source: k3s-io/k3s `pkg/configfilearg/parser.go`, `pkg/cli/cmds/agent.go`,
//! `pkg/daemons/agent/agent_linux.go: kubeletArgsAndConfig`.

use std::net::{IpAddr, Ipv4Addr};

use crate::config::traced::Traced;
use crate::config::yaml::{self, Entry, Node, Style};
use crate::kubelet::effective::Defaults;
use crate::text::Source;

/// One of the two programs.
#[derive(Debug, Eq, PartialEq)]
pub struct Program {
    /// Its name.
    pub name: &'static str,
    /// Its configuration file; files in the folder with `.d` behind it count, too.
    pub configuration: &'static str,
    /// The variable that names another configuration file.
    pub configuration_variable: &'static str,
    /// The variable for `--resolv-conf`.
    pub resolv_conf_variable: &'static str,
    /// Where it keeps its data.
    pub data: &'static str,
}

/// k3s.
pub const K3S: Program = Program {
    name: "k3s",
    configuration: "/etc/rancher/k3s/config.yaml",
    configuration_variable: "K3S_CONFIG_FILE",
    resolv_conf_variable: "K3S_RESOLV_CONF",
    data: "/var/lib/rancher/k3s",
};

/// rke2.
pub const RKE2: Program = Program {
    name: "rke2",
    configuration: "/etc/rancher/rke2/config.yaml",
    configuration_variable: "RKE2_CONFIG_FILE",
    resolv_conf_variable: "RKE2_RESOLV_CONF",
    data: "/var/lib/rancher/rke2",
};

/// The options that count, as they are after all places were read.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Options {
    /// `resolv-conf`, the last one counts.
    resolv_conf: Vec<Traced>,
    /// `kubelet-arg`, in order.
    pub kubelet_arguments: Vec<Traced>,
    /// `data-dir`.
    pub data: Option<String>,
    /// `cluster-dns`; on an agent the server decides.
    pub cluster_dns: Option<Traced>,
    /// `cluster-domain`, the last one counts; on an agent the server decides.
    cluster_domain: Vec<Traced>,
    /// `service-cidr`.
    pub service_range: Option<String>,
}

type Environment = [(String, Traced)];

/// The configuration file that the arguments or the environment name.
pub fn named_configuration(
    program: &Program,
    arguments: &[Traced],
    environment: &Environment,
) -> Option<String> {
    let variable = environment
        .iter()
        .rfind(|(name, _)| name == program.configuration_variable)
        .map(|(_, value)| value.text().into_owned());
    let mut named = None;
    each_argument(arguments, |name, value| {
        if matches!(name, "config" | "c") {
            named = Some(value.text().into_owned());
        }
    });
    variable.filter(|path| !path.is_empty()).or(named)
}

/// The options from the configuration files, each with its number, in order;
/// then the arguments; the environment where neither says anything.
pub fn options(
    program: &Program,
    files: &[(usize, &Source)],
    arguments: &[Traced],
    environment: &Environment,
) -> Options {
    let mut options = Options::default();
    for (number, source) in files {
        let documents = yaml::documents(source);
        let root = documents.first().and_then(|it| it.root.as_ref().ok());
        for entry in root.and_then(Node::as_mapping).unwrap_or_default() {
            options.entry(entry, *number);
        }
    }
    each_argument(arguments, |name, value| options.set(name, value));
    if options.resolv_conf.is_empty() {
        let is_it = |(name, _): &&(String, Traced)| name == program.resolv_conf_variable;
        let variable = environment.iter().rfind(is_it);
        let variable = variable.map(|(_, value)| value.clone());
        options.resolv_conf.extend(variable);
    }
    // An empty one is none.
    let is_empty = |it: &Traced| it.bytes().is_empty();
    if options.resolv_conf.last().is_some_and(is_empty) {
        options.resolv_conf.clear();
    }
    options.resolv_conf.retain(|it| !is_empty(it));
    options
}

/// Calls with the name and value of each flag, one dash or two.
fn each_argument(arguments: &[Traced], mut call: impl FnMut(&str, &Traced)) {
    let mut arguments = arguments.iter().peekable();
    while let Some(argument) = arguments.next() {
        let text = argument.text();
        if !text.starts_with('-') {
            continue;
        }
        let name = text.trim_start_matches('-');
        let dashes = text.len() - name.len();
        if let Some((name, _)) = name.split_once('=') {
            call(name, &argument.after(dashes + name.len() + 1));
        } else if let Some(value) = arguments.next_if(|it| !it.bytes().starts_with(b"-")) {
            call(name, value);
        }
    }
}

impl Options {
    fn entry(&mut self, entry: &Entry, file: usize) {
        let Some(key) = entry.key.as_scalar() else {
            return;
        };
        let adds = key.text.ends_with('+');
        let name = key.text.trim_end_matches('+');
        if name == "kubelet-arg" && !adds {
            self.kubelet_arguments.clear();
        }
        let values = match entry.value.as_sequence() {
            Some(items) => items,
            None => std::slice::from_ref(&entry.value),
        };
        for value in values {
            if let Some(scalar) = value.as_scalar().filter(|_| !value.is_null()) {
                // The place of a value is that of its quotes, but an argument has
                // its value inside.
                let is_inside = name == "kubelet-arg"
                    && matches!(scalar.style, Style::SingleQuoted | Style::DoubleQuoted);
                let offset = value.span.start as usize + usize::from(is_inside);
                self.set(name, &Traced::in_file(scalar.text.as_bytes(), file, offset));
            }
        }
    }

    fn set(&mut self, name: &str, value: &Traced) {
        match name {
            "resolv-conf" => self.resolv_conf.push(value.clone()),
            "kubelet-arg" => self.kubelet_arguments.push(value.clone()),
            "data-dir" | "d" => self.data = Some(value.text().into_owned()),
            "cluster-dns" => self.cluster_dns = Some(value.clone()),
            "cluster-domain" => self.cluster_domain.push(value.clone()),
            "service-cidr" => self.service_range = Some(value.text().into_owned()),
            _ => {}
        }
    }

    /// `resolv-conf`, where it names a file.
    pub fn resolv_conf(&self) -> Option<&Traced> {
        self.resolv_conf.last()
    }

    /// Where the program keeps its data.
    pub fn data(&self, program: &Program) -> String {
        self.data.clone().unwrap_or_else(|| program.data.to_owned())
    }

    /// What the kubelet gets as flags. `with_own` adds the flags for options
    /// of the program itself, as it did while it wrote no drop-in.
    pub fn flags(&self, with_own: bool) -> Vec<Traced> {
        let flag = |name: &str, value: &Traced| {
            let mut flag = Traced::untraced(format!("--{name}").as_bytes());
            flag.append(value);
            flag
        };
        let own: [(&str, &[Traced]); 3] = [
            ("resolv-conf=", &self.resolv_conf),
            ("cluster-dns=", self.cluster_dns.as_slice()),
            ("cluster-domain=", &self.cluster_domain),
        ];
        let own = own.into_iter().filter(|_| with_own);
        let own = own.flat_map(|(name, values)| values.iter().map(move |it| flag(name, it)));
        let mut flags: Vec<Traced> = own.collect();
        for argument in &self.kubelet_arguments {
            let name = argument
                .bytes()
                .iter()
                .take_while(|&&it| it == b'-')
                .count();
            flags.push(flag("", &argument.after(name)));
        }
        flags
    }

    /// What counts where nothing is set.
    ///
    /// Source: k3s-io/k3s `pkg/cli/server/server.go`: the tenth address of the
    /// service range.
    pub fn defaults(&self, resolv_conf: String) -> Defaults {
        let range = self.service_range.as_deref().unwrap_or("10.43.0.0/16");
        let first = range.split(['/', ',']).next().unwrap_or_default();
        let tenth = |first: Ipv4Addr| Ipv4Addr::from_bits(first.to_bits().saturating_add(10));
        let tenth = first.parse().ok().map(tenth);
        Defaults {
            resolv_conf,
            cluster_dns: tenth.map(IpAddr::V4).into_iter().collect(),
            cluster_domain: "cluster.local".to_owned(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(files: &[&str], arguments: &[&str], environment: &[(&str, &str)], expected: &[&str]) {
        let sources: Vec<Source> = files.iter().map(|text| Source::new("f", *text)).collect();
        let numbered: Vec<(usize, &Source)> = sources.iter().enumerate().collect();
        let traced = |text: &str| Traced::untraced(text.as_bytes());
        let arguments: Vec<Traced> = arguments.iter().map(|it| traced(it)).collect();
        let environment: Vec<(String, Traced)> = environment
            .iter()
            .map(|(name, value)| ((*name).to_owned(), traced(value)))
            .collect();
        let found = options(&K3S, &numbered, &arguments, &environment);
        let flags = found.flags(true);
        let flags: Vec<String> = flags.iter().map(|it| it.text().into_owned()).collect();
        assert_eq!(flags, expected, "{files:?}");
    }

    #[test]
    fn later_places_beat_earlier_ones() {
        check(
            &[
                "resolv-conf: /a\nkubelet-arg:\n- max-pods=5\n- resolv-conf=/b\n",
                "kubelet-arg+: --v=2\ncluster-domain: x.y\n",
            ],
            &["server", "--resolv-conf", "/c", "--debug"],
            &[("K3S_RESOLV_CONF", "/d")],
            &[
                "--resolv-conf=/a",
                "--resolv-conf=/c",
                "--cluster-domain=x.y",
                "--max-pods=5",
                "--resolv-conf=/b",
                "--v=2",
            ],
        );
        check(
            &["kubelet-arg: [a=1]\n", "kubelet-arg: [b=2]\n"],
            &["-kubelet-arg=c=3"],
            &[("K3S_RESOLV_CONF", "/d")],
            &["--resolv-conf=/d", "--b=2", "--c=3"],
        );
        check(&["resolv-conf: ''\n", "a: ["], &[], &[], &[]);
    }

    #[test]
    fn the_cluster_has_its_tenth_service_address() {
        let mut options = Options::default();
        let servers = |it: &Options| it.defaults(String::new()).cluster_dns;
        assert_eq!(servers(&options), [IpAddr::from([10, 43, 0, 10])]);
        options.service_range = Some("10.50.0.0/16,fd00::/108".to_owned());
        assert_eq!(servers(&options), [IpAddr::from([10, 50, 0, 10])]);
    }
}
