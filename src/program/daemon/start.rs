//! Where a daemon's configuration is, by how it was started.

use crate::scenario::own::Daemon;

/// How a daemon was started, as far as it tells where its configuration is.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Start {
    /// The files and directories, as given; in a directory every `*.cfg` counts.
    pub paths: Vec<String>,
    /// Where a relative path begins; `None`: at the working directory.
    pub prefix: Option<String>,
    /// What stands on the command line itself (`--config-yaml`), as it is shown there.
    pub texts: Vec<String>,
    /// Whether no argument says so, but the program or its usual package does.
    pub is_default: bool,
}

/// What nginx calls itself in the list of processes.
///
/// Source: nginx `src/os/unix/ngx_process_cycle.c: ngx_master_process_cycle` (1.22)
const MASTER: &str = "nginx: master process ";
/// Where every package has it, and nginx itself says nothing else.
const NGINX_CONF: &str = "/etc/nginx/nginx.conf";
const NGINX_PREFIX: &str = "/usr/local/nginx";

/// How a daemon was started with these arguments, the program first; `built` is
/// what nginx was configured with, if that is known. `None`: they do not tell.
pub fn start(daemon: Daemon, arguments: &[String], built: Option<&str>) -> Option<Start> {
    match daemon {
        Daemon::Nginx => nginx(arguments, built),
        Daemon::Haproxy => haproxy(arguments),
        Daemon::Envoy => envoy(arguments),
    }
}

/// Source: nginx `src/core/nginx.c: ngx_get_options, ngx_process_options` (1.22)
fn nginx(arguments: &[String], built: Option<&str>) -> Option<Start> {
    let joined = arguments.join(" ");
    let words: Vec<&str> = match joined.strip_prefix(MASTER) {
        Some(own) => own.split_ascii_whitespace().collect(),
        // A worker's name has no arguments in it.
        None if joined.starts_with("nginx: ") => return None,
        None => arguments.iter().map(String::as_str).collect(),
    };
    let words = words.get(1..).unwrap_or_default();
    let of_build = |name: &str| {
        let word = built?.split(' ').find_map(|it| it.strip_prefix(name))?;
        Some(word.to_owned())
    };
    let prefix = after(words, "-p").map(str::to_owned);
    let prefix = prefix.or_else(|| of_build("--prefix="));
    let given = after(words, "-c").map(str::to_owned);
    let is_default = given.is_none();
    let path = given.or_else(|| of_build("--conf-path="));
    Some(Start {
        paths: vec![path.unwrap_or_else(|| NGINX_CONF.to_owned())],
        prefix: Some(prefix.unwrap_or_else(|| NGINX_PREFIX.to_owned())),
        texts: Vec::new(),
        is_default,
    })
}

/// Source: HAProxy `src/haproxy.c: init_args` (2.6)
fn haproxy(arguments: &[String]) -> Option<Start> {
    let mut words = arguments.iter().skip(1).map(String::as_str);
    let mut start = Start::default();
    while let Some(word) = words.next() {
        match word {
            "-f" => {
                let path = words.next();
                start.paths.extend(path.map(str::to_owned));
            }
            "-C" => start.prefix = words.next().map(str::to_owned),
            // What follows is files; before that the processes to end.
            "--" => start.paths.extend(words.by_ref().map(str::to_owned)),
            _ => {}
        }
    }
    (!start.paths.is_empty()).then_some(start)
}

/// Source: Envoy `source/server/options_impl.cc: OptionsImpl` (1.36), whose parser (TCLAP)
/// takes the value of an option from the next word
fn envoy(arguments: &[String]) -> Option<Start> {
    let mut start = Start::default();
    let mut words = arguments.iter().skip(1);
    while let Some(word) = words.next() {
        match word.as_str() {
            "-c" | "--config-path" => start.paths = words.next().cloned().into_iter().collect(),
            "--config-yaml" => {
                // Line ends are not safe to print.
                let text = words.next().map(|it| it.replace("\\u{a}", "\n"));
                start.texts = text.into_iter().collect();
            }
            "--" | "--ignore_rest" => break,
            _ => {}
        }
    }
    let is_given = !start.paths.is_empty() || !start.texts.is_empty();
    is_given.then_some(start)
}

/// The word behind an option, or what is left of its own word.
fn after<'a>(words: &[&'a str], option: &str) -> Option<&'a str> {
    let at = words.iter().position(|it| it.starts_with(option))?;
    match words.get(at)?.strip_prefix(option)? {
        "" => words.get(at + 1).copied(),
        own => Some(own),
    }
}
