//! `kdns dig`.

mod flight;
mod introduction;
mod lines;
mod names;
mod output;
mod place;
mod run;
mod session;
mod status;
mod trust;
mod walk;

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io;
use std::net::{IpAddr, Ipv4Addr};
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

use self::introduction::Introduction;
use self::output::Output;
use self::place::Place;
use self::session::Session;
use self::trust::Trust;
use self::walk::Walker;
use super::node::node_below;
use crate::address::Address;
use crate::cli::streams::{Status, Streams};
use crate::dig::command_line::{End, Parser, Surroundings, server_names};
use crate::dig::lookup::{Globals, Lookup};
use crate::host::{self, FileRead, ReadError};
use crate::netns;
use crate::resolver::bind;
use crate::wire::client_cookie;

const USAGE: &str = "\
Usage:  kdns dig [@global-server] [domain] [q-type] [q-class] {q-opt}
                 {global-d-opt} host [@local-server] {local-d-opt}
                 [ host [@local-server] {local-d-opt} [...]]
";

const HELP: &str = "\
The options are those of BIND's dig 9.18: dig(1). Besides:
        @tls://SERVER[:PORT]          DNS over TLS
        @https://SERVER[:PORT][/PATH] DNS over HTTPS
        +search=RESOLVER              search as glibc, musl, go… would;
                                      target: as the target's own
        +[no]json                     JSON (RFC 8427)
        +inflight=N                   ask N lines of a batch file at once (64)
Behind a scheme, certificates are those that browsers trust, and those in the
file SSL_CERT_FILE. As in dig, +tls and +https take any certificate;
+tls-ca[=FILE] looks at them. Not supported: +trace, +nssearch, -k and -y
(TSIG), -E (engines), and options that BIND's dig 9.18 does not have, such as
+proxy. Accepted, without effect: -d, -m, +dscp, +fuzztime, +mapped, +sigchase,
+topdown, +trusted-key, +unexpected.
";

/// Ask a name server, with the command line of BIND's dig
#[derive(clap::Args, Debug)]
#[command(
    disable_help_flag = true,
    override_usage = "kdns dig [@SERVER] [NAME] [TYPE] [CLASS] [+OPTION]..."
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

/// Reads the words, asks, prints: in the caller's own namespace.
pub(super) fn run(args: &DigArgs, streams: &mut Streams<'_>) -> anyhow::Result<Status> {
    or_internal(own(&bytes(&args.words), streams), streams)
}

/// The same from inside a target of the node below `root`: its network, its files.
///
/// What the caller's own files say is read before the target is entered; what
/// is wrong with the words needs no target.
pub(super) fn run_in(
    (root, target): (Option<&Path>, &str),
    words: &[OsString],
    streams: &mut Streams<'_>,
) -> anyhow::Result<Status> {
    or_internal(inside((root, target), &bytes(words), streams), streams)
}

fn own(words: &[&[u8]], streams: &mut Streams<'_>) -> anyhow::Result<Status> {
    // BIND's dig knows no --help: where it stands alone nothing else can be meant.
    if *words == [b"--help".as_slice()] {
        write!(streams.out, "{USAGE}{HELP}")?;
        return Ok(Status::Clean);
    }
    let asked = Asked {
        words,
        digrc: digrc(),
        batch: None,
        trust: None,
    };
    ask(asked, &Place::own()?, streams)
}

fn inside(
    (root, target): (Option<&Path>, &str),
    words: &[&[u8]],
    streams: &mut Streams<'_>,
) -> anyhow::Result<Status> {
    let digrc = digrc();
    let (globals, lookups) = match rehearse(words, digrc.as_ref(), streams.colors) {
        Ok(read) => read,
        Err((end, mut parser)) => return ended(end, &mut parser, streams),
    };
    let batch = globals.batch.as_deref().filter(|path| *path != b"-");
    let batch = batch.map(|path| host::open_lines(Path::new(OsStr::from_bytes(path))));
    let trust = Trust::read_files(&globals, &lookups);
    let aim = netns::aim(&node_below(root)?, target)?;
    match &aim.namespace {
        Ok(namespace) => namespace.move_in()?,
        Err(error) => return Err(error.clone().into()),
    }
    let place = Place::of_target(&aim);
    Introduction {
        aim: &aim,
        place: &place,
        globals: &globals,
        lookups: &lookups,
    }
    .write(streams)?;
    let asked = Asked {
        words,
        digrc,
        batch,
        trust: Some(trust),
    };
    ask(asked, &place, streams)
}

/// The words, and those files of the caller's that are read already.
struct Asked<'w> {
    words: &'w [&'w [u8]],
    digrc: Option<FileRead>,
    batch: Option<Result<File, ReadError>>,
    trust: Option<Trust>,
}

/// What the words say, if every `@server` had an address.
fn rehearse(
    words: &[&[u8]],
    digrc: Option<&FileRead>,
    idn: bool,
) -> Result<(Globals, Vec<Lookup>), (End, Box<Parser>)> {
    let address: Address = IpAddr::from(Ipv4Addr::UNSPECIFIED).into();
    let names = server_names(words).into_iter();
    let mut parser = parser(3, idn);
    parser.learn(
        names
            .map(|name| (name.to_vec(), vec![address.clone()]))
            .collect(),
    );
    match lookups(&mut parser, words, digrc) {
        Ok(lookups) => Ok((parser.globals, lookups)),
        Err(end) => Err((end, Box::new(parser))),
    }
}

fn parser(tries: u32, idn: bool) -> Parser {
    Parser::new(Surroundings {
        tries,
        version: format!("DiG 9.18 (kdns {})", env!("CARGO_PKG_VERSION")),
        idn,
        ..Surroundings::default()
    })
}

fn lookups(
    parser: &mut Parser,
    words: &[&[u8]],
    digrc: Option<&FileRead>,
) -> Result<Vec<Lookup>, End> {
    let reads_digrc = parser.preparse(words)?;
    let lines = digrc
        .filter(|_| reads_digrc)
        .map(|it| it.source.bytes.split(|&byte| byte == b'\n'));
    for line in lines.into_iter().flatten() {
        parser.digrc_line(line)?;
    }
    parser.command_line(words)
}

/// Asks what the words say, where the place is.
fn ask(asked: Asked<'_>, place: &Place, streams: &mut Streams<'_>) -> anyhow::Result<Status> {
    let words = asked.words;
    let reading = bind::reading(&place.scenario, &bind::DIG_SEARCH);
    let mut parser = parser(reading.attempts.value, streams.colors);
    if let Some(file) = place
        .scenario
        .resolv_conf
        .as_ref()
        .filter(|_| reading.refused.is_some())
    {
        // A bad option is told first.
        if let Err(end) = parser.preparse(words) {
            return ended(end, &mut parser, streams);
        }
        // A closed stderr leaves nobody to tell.
        let _ = writeln!(streams.err, "dig: parse of {} failed", file.source.name);
        return Ok(Status::Found);
    }
    let names = server_names(words);
    if !names.is_empty() {
        parser.learn(names::addresses(&names, &reading, place));
    }
    let lookups = match lookups(&mut parser, words, asked.digrc.as_ref()) {
        Ok(lookups) => lookups,
        Err(end) => return ended(end, &mut parser, streams),
    };
    say(&mut parser, streams)?;
    if let Some(word) = &parser.globals.search_as
        && let Err(why) = Walker::named(word, place.is_target)
    {
        streams.tell(why);
        return Ok(Status::Found);
    }
    let trust = asked.trust;
    let trust = trust.unwrap_or_else(|| Trust::read_files(&parser.globals, &lookups));
    let session = Session {
        parser,
        reading: &reading,
        place,
        trust,
        cookie: client_cookie(),
    };
    run::all(session, lookups, asked.batch, streams)
}

fn bytes(words: &[OsString]) -> Vec<&[u8]> {
    words.iter().map(|word| word.as_bytes()).collect()
}

/// What is no error of dig's is one inside: status 10, never 2. Nobody at the
/// other end of a pipe is none.
fn or_internal(
    result: anyhow::Result<Status>,
    streams: &mut Streams<'_>,
) -> anyhow::Result<Status> {
    let flushed = match (result, streams.out.flush()) {
        (Ok(_), Err(unwritten)) => Err(unwritten.into()),
        (result, _) => result,
    };
    let Err(error) = flushed else {
        return flushed;
    };
    Ok(match streams.fail(&error) {
        Status::Clean => Status::Clean,
        _ => Status::Internal,
    })
}

/// As in dig, a file that cannot be read is none.
fn digrc() -> Option<FileRead> {
    let home = std::env::var_os("HOME")?;
    host::read_path(&Path::new(&home).join(".digrc")).ok()
}

/// Prints what the parser has said.
fn say(parser: &mut Parser, streams: &mut Streams<'_>) -> io::Result<()> {
    let (out, err) = (&mut *streams.out, &mut *streams.err);
    Output { out, err }.say(parser)
}

fn ended(end: End, parser: &mut Parser, streams: &mut Streams<'_>) -> anyhow::Result<Status> {
    say(parser, streams)?;
    match end {
        End::Help => write!(streams.out, "{USAGE}{HELP}")?,
        End::Version => {
            let version = env!("CARGO_PKG_VERSION");
            let _ = writeln!(streams.err, "DiG 9.18 (kdns {version})");
        }
        End::Usage => {
            let _ = write!(
                streams.err,
                "{USAGE}\nUse \"kdns dig -h\" for what it adds and does not support\n"
            );
        }
        End::Fatal | End::Internal => {}
    }
    Ok(status::of_end(end))
}
