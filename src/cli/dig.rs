//! `kdns dig`.

mod names;
mod run;

use std::ffi::OsString;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

use self::run::Run;
use super::{Status, Streams};
use crate::config::resolv_conf::ResolvConf;
use crate::dig::command_line::{End, Parser, Said, Surroundings, server_names};
use crate::host::{self, FileRead};
use crate::resolver::bind;
use crate::resolver::reading::{Origin, Reading};
use crate::scenario::{self, Scenario};
use crate::text::escaped;
use crate::wire;

/// The file that names the servers.
const RESOLV_CONF: &str = "/etc/resolv.conf";
/// The file of the names that need no server.
const HOSTS: &str = "/etc/hosts";

const USAGE: &str = "\
Usage:  kdns dig [@global-server] [domain] [q-type] [q-class] {q-opt}
                 {global-d-opt} host [@local-server] {local-d-opt}
                 [ host [@local-server] {local-d-opt} [...]]
";

/// Ask a name server, with the command line of BIND's dig
#[derive(clap::Args, Debug)]
#[command(
    disable_help_flag = true,
    override_usage = "kdns dig [@SERVER] [NAME] [TYPE] [CLASS] [+OPTION]...",
    after_help = "\
Examples:
  kdns dig @10.96.0.10 web.default.svc.cluster.local
  kdns dig +short -x 10.0.0.1 @::1
  kdns dig +search web AAAA"
)]
pub(super) struct DigArgs {
    /// The words of dig's command line
    #[arg(
        value_name = "WORD",
        trailing_var_arg = true,
        allow_hyphen_values = true
    )]
    words: Vec<OsString>,
}

/// Reads the words, asks, prints.
pub(super) fn run(args: &DigArgs, streams: &mut Streams<'_>) -> anyhow::Result<Status> {
    let words: Vec<&[u8]> = args.words.iter().map(|word| word.as_bytes()).collect();
    let file = existing(RESOLV_CONF)?;
    let mut scenario = Scenario::new("dig", "");
    scenario.resolv_conf = file.map(|read| scenario::file(RESOLV_CONF, read.source.bytes));
    scenario.interfaces = wire::interfaces();
    let reading = bind::reading(&scenario, bind::Tool::DigSearch);
    let mut parser = Parser::new(Surroundings {
        tries: reading.attempts.value,
        version: format!("DiG 9.18 (kdns {})", env!("CARGO_PKG_VERSION")),
        idn: streams.colors,
        ..Surroundings::default()
    });
    let reads_digrc = match parser.preparse(&words) {
        Ok(reads_digrc) => reads_digrc,
        Err(end) => return ended(end, &mut parser, streams),
    };
    if reading.refused.is_some() {
        let message = format!("dig: parse of {RESOLV_CONF} failed");
        // A closed stderr leaves nobody to tell.
        let _ = writeln!(streams.err, "{message}");
        return Ok(Status::Found);
    }
    if reads_digrc && let Some(read) = digrc() {
        for line in read.source.bytes.split(|&byte| byte == b'\n') {
            if let Err(end) = parser.digrc_line(line) {
                return ended(end, &mut parser, streams);
            }
        }
    }
    let names = server_names(&words);
    if !names.is_empty() {
        parser.learn(names::addresses(&names, &reading)?);
    }
    let lookups = match parser.command_line(&words) {
        Ok(lookups) => lookups,
        Err(end) => return ended(end, &mut parser, streams),
    };
    say(&mut parser, streams)?;
    if let Some(resolver) = &parser.globals.search_as {
        let resolver = escaped(resolver.as_bytes());
        let message = format!("kdns: +search={resolver} is not supported: `kdns explain` tells");
        let _ = writeln!(streams.err, "{message}");
        return Ok(Status::Found);
    }
    Run::new(parser, &reading).all(lookups, streams)
}

/// The file, unless there is none.
fn existing(path: &str) -> anyhow::Result<Option<FileRead>> {
    match host::read_path(Path::new(path)) {
        Ok(read) => Ok(Some(read)),
        Err(error) if error.is_missing() => Ok(None),
        Err(error) => Err(error.into()),
    }
}

/// As in dig, a file that cannot be read is none.
fn digrc() -> Option<FileRead> {
    let home = std::env::var_os("HOME")?;
    host::read_path(&Path::new(&home).join(".digrc")).ok()
}

/// Prints what the parser has said.
fn say(parser: &mut Parser, streams: &mut Streams<'_>) -> anyhow::Result<()> {
    for said in std::mem::take(&mut parser.said) {
        match said {
            Said::Out(line) => writeln!(streams.out, "{}", escaped(line.as_bytes()))?,
            Said::Err(line) => {
                streams.out.flush()?;
                // A closed stderr leaves nobody to tell.
                let _ = writeln!(streams.err, "{}", escaped(line.as_bytes()));
            }
        }
    }
    Ok(())
}

fn ended(end: End, parser: &mut Parser, streams: &mut Streams<'_>) -> anyhow::Result<Status> {
    say(parser, streams)?;
    Ok(match end {
        End::Help => {
            write!(
                streams.out,
                "{USAGE}The options are those of BIND's dig 9.18: dig(1). Not supported: +trace, \
                 +nssearch,\n-k and -y (TSIG), DNS over TLS and HTTPS.\n"
            )?;
            Status::Clean
        }
        End::Version => {
            let version = env!("CARGO_PKG_VERSION");
            let _ = writeln!(streams.err, "DiG 9.18 (kdns {version})");
            Status::Clean
        }
        End::Usage => {
            let _ = write!(
                streams.err,
                "{USAGE}\nUse \"kdns dig -h\" for what is not supported\n"
            );
            Status::Found
        }
        End::Fatal => Status::Found,
        End::Internal => Status::Internal,
    })
}

/// The time-out of `resolv.conf`, where it says one.
fn timeout(reading: &Reading<'_>) -> Option<u32> {
    if reading.timeout.origin == Origin::BuiltIn {
        return None;
    }
    u32::try_from(reading.timeout.value.as_secs()).ok()
}

/// `/etc/hosts`, parsed as far as words.
fn hosts() -> anyhow::Result<Option<ResolvConf>> {
    Ok(existing(HOSTS)?.map(|read| scenario::file(HOSTS, read.source.bytes)))
}
