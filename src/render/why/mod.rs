//! `kdns why MESSAGE` as text for people.

mod inside;
pub mod json;
pub mod log;
pub mod metrics;
pub(in crate::render) mod numbers;
pub(in crate::render) mod said;

use std::io::{self, Write};

use colored::Colorize as _;

pub use self::inside::{write_inside, write_rest_unknown};
use crate::address::DNS_PORT;
use crate::render::command::quoted;
use crate::render::style::painted;
use crate::render::{Style, paragraph, shortened};
use crate::text::escaped;
use crate::why::asked::{Asked, Kind};
use crate::why::judged::{Judged, State};
use crate::why::looked;
use crate::why::{Catalogue, Cause, Likely, Recognised, Unknown};

/// What is said about a message.
#[derive(Debug)]
pub struct Answer<'c> {
    /// The message.
    pub recognised: Recognised<'c>,
    /// Its causes, in the order in which to look at them, each with what the node
    /// says; without a node all is unknown.
    pub causes: Vec<Judgement<'c>>,
    /// Whether a node was read.
    pub has_node: bool,
}

/// A cause of a message.
#[derive(Debug)]
pub struct Judgement<'c> {
    /// How likely it is, from the message alone.
    pub likely: Likely,
    /// The cause.
    pub cause: &'c Cause,
    /// What the node says.
    pub judged: Judged,
}

/// So many causes are shown without `-v`.
const SHOWN: usize = 4;
/// So many are shown after a log.
const IN_LOGS: usize = 3;
/// So many lines of them have what decides and fixes them, too, or what decides them; the
/// first cause always has both, the second the one.
const MAX_LINES: usize = 16;
/// So many lines has what a cause is, as a rule.
const HEAD_LINES: usize = 2;

/// Writes what a message says.
///
/// # Errors
///
/// `out` cannot be written.
pub fn write(answer: &Answer<'_>, style: Style, out: &mut dyn Write) -> io::Result<()> {
    let message = answer.recognised.message;
    let colors = style.colors;
    let mut writer = Writer { colors, out };
    writer.bold("", "", &message.meaning)?;
    writer.item(
        "said by",
        &format!("{} ({})", message.speaker.who, message.id),
    )?;
    if let Some(asked) = &answer.recognised.asked {
        writer.item("asked", &who(asked))?;
    }
    if let Some(name) = &answer.recognised.name {
        writer.item("name", &escaped(name.as_bytes()))?;
    }
    if let Some(shown) = &answer.recognised.shown {
        writer.item("shown", &escaped(shown.as_bytes()))?;
    }
    writer.list("proves", answer.recognised.proves())?;
    writer.list("rules out", answer.recognised.rules_out())?;
    if style.verbose {
        let sources: Vec<String> = message.sources.iter().map(|it| plain(it)).collect();
        let sources: Vec<&str> = sources.iter().map(String::as_str).collect();
        writer.list("sources", &sources)?;
        let others: Vec<&str> = answer.recognised.others.iter().map(|it| it.id).collect();
        writer.list("also in it", &others)?;
    }
    writer.causes(answer, style.verbose)?;
    for (message, causes) in &answer.recognised.besides {
        let codes: Vec<&str> = causes.iter().map(|it| it.code).collect();
        let text = format!(
            "Also in the text: {} ({}) Its likeliest causes: {}.",
            message.meaning,
            message.id,
            codes.join(", ")
        );
        writeln!(writer.out)?;
        writer.line(&text)?;
    }
    Ok(())
}

/// Writes the likeliest causes of a message found in a log, after what the log shows;
/// with `--verbose`, what they are and what decides them.
///
/// # Errors
///
/// `out` cannot be written.
pub fn write_causes(
    recognised: &Recognised<'_>,
    style: Style,
    out: &mut dyn Write,
) -> io::Result<()> {
    let causes = recognised.causes.iter().take(IN_LOGS);
    let title = format!("Likeliest causes of {}", recognised.message.id);
    if !style.verbose {
        let codes: Vec<&str> = causes.map(|it| it.1.code).collect();
        let text = format!("{title}: {} (-v tells more).", codes.join(", "));
        writeln!(out)?;
        return paragraph::write(out, "", "", &text);
    }
    paragraph::title(style.colors, out, &title)?;
    for (_, cause) in causes {
        let text = format!("{} ({})", cause.what, cause.code);
        paragraph::write(out, "  ", "    ", &text)?;
        let text = decide(cause, recognised);
        paragraph::write(out, "    decide: ", "            ", &text)?;
    }
    Ok(())
}

/// Writes what is known of a message that is not known.
///
/// # Errors
///
/// `out` cannot be written.
pub fn write_unknown(unknown: &Unknown<'_>, out: &mut dyn Write) -> io::Result<()> {
    let mut writer = Writer { colors: false, out };
    if unknown.nearest.is_empty() {
        return writer.line("This message is not known, nor one that looks like it.");
    }
    writer.line("This message is not known. Those that look like it most:")?;
    for message in &unknown.nearest {
        // A pattern of several parts reads like none of their texts.
        let mut patterns = message.patterns.iter();
        let pattern = patterns.find(|it| !it.text.contains('{') && !it.text.contains(" <and> "));
        let text = pattern.map_or(&*message.meaning, |it| it.text);
        let line = format!("{}: {text}", message.id);
        paragraph::write(writer.out, "  ", "    ", &line)?;
    }
    Ok(())
}

/// Writes the list of the messages that are known.
///
/// # Errors
///
/// `out` cannot be written.
pub fn write_list(catalogue: &Catalogue, out: &mut dyn Write) -> io::Result<()> {
    for message in &catalogue.messages {
        let pattern = message.patterns.first().map_or("", |it| it.text);
        writeln!(out, "{:<34} {pattern}", message.id)?;
    }
    Ok(())
}

/// Whom an address is: `10.96.0.10, usually the Service of the cluster's DNS`.
pub fn who(asked: &Asked) -> String {
    let address = match asked.address.port() {
        DNS_PORT => asked.address.ip().to_string(),
        _ => asked.address.to_string(),
    };
    let what = match asked.kind {
        Kind::Loopback => "a DNS server on the same machine, or in the same pod",
        Kind::Docker => "Docker's embedded DNS server",
        Kind::NodeLocal => "a DNS cache on the node",
        Kind::Service => "the Service of the cluster's DNS",
        Kind::Pod => "a pod",
        Kind::Node => "the node itself",
        Kind::Provider => "the resolver of the cloud's network",
        Kind::Tailscale => "Tailscale's MagicDNS",
        Kind::Private => "a server of a private network",
        Kind::Public if asked.is_example() => "an address of examples, which no server has",
        Kind::Public => "an address of the internet",
    };
    let usually = match asked.kind {
        Kind::Service | Kind::Pod | Kind::NodeLocal if !asked.is_known => "usually ",
        _ => "",
    };
    format!("{address}, {usually}{what}")
}

struct Writer<'w> {
    colors: bool,
    out: &'w mut dyn Write,
}

impl Writer<'_> {
    fn line(&mut self, text: &str) -> io::Result<()> {
        paragraph::write(self.out, "", "", text)
    }

    fn bold(&mut self, first: &str, rest: &str, text: &str) -> io::Result<()> {
        for line in paragraph::hanging(first, rest, text).lines() {
            writeln!(self.out, "{}", painted(self.colors, line, |it| it.bold()))?;
        }
        Ok(())
    }

    /// Writes a text behind its label.
    fn labelled(&mut self, label: &str, rest: &str, text: &str) -> io::Result<()> {
        let text = paragraph::hanging(label, rest, text);
        let body = text.strip_prefix(label).unwrap_or(&text);
        let label = painted(self.colors, label, |it| it.cyan());
        writeln!(self.out, "{label}{body}")
    }

    fn item(&mut self, head: &str, text: &str) -> io::Result<()> {
        self.labelled(&format!("  {head:<10} "), "             ", text)
    }

    fn list(&mut self, head: &str, items: &[&str]) -> io::Result<()> {
        for (index, item) in items.iter().enumerate() {
            self.item(if index == 0 { head } else { "" }, item)?;
        }
        Ok(())
    }

    fn causes(&mut self, answer: &Answer<'_>, verbose: bool) -> io::Result<()> {
        if answer.causes.is_empty() {
            return Ok(());
        }
        writeln!(self.out)?;
        let first = answer.causes.first();
        let is_decided = first.is_some_and(|it| it.judged.state == State::True);
        self.line(match (is_decided, answer.has_node) {
            (true, _) => "True on this node, so begin there:",
            (false, true) => "The node does not decide it. Causes, the likeliest first:",
            (false, false) => "Causes, the likeliest first:",
        })?;
        let is_shown = |it: &&Judgement<'_>| verbose || it.judged.state != State::False;
        let shown: Vec<&Judgement<'_>> = answer.causes.iter().filter(is_shown).collect();
        let most = if verbose { shown.len() } else { SHOWN };
        let few = shown.get(..most).unwrap_or(&shown);
        let is_brief = self.each_cause(few, answer, verbose)?;
        let causes = answer.causes.iter();
        let false_ones = causes.filter(|it| it.judged.state == State::False);
        let ruled_out: Vec<&str> = false_ones.map(|it| it.cause.code).collect();
        if !verbose && !ruled_out.is_empty() {
            writeln!(self.out)?;
            self.line(&format!("The node rules out: {}.", ruled_out.join(", ")))?;
        }
        let rest: Vec<&str> = shown.iter().skip(most).map(|it| it.cause.code).collect();
        let rest = rest.join(", ");
        let more = match (is_brief, rest.is_empty()) {
            (false, true) => return Ok(()),
            (false, false) => format!("Less likely (-v shows them): {rest}."),
            (true, true) => "With -v: what decides and fixes these.".to_owned(),
            (true, false) => {
                format!("With -v: what decides and fixes these, and less likely causes: {rest}.")
            }
        };
        writeln!(self.out)?;
        self.line(&more)
    }

    /// Writes causes, those behind as briefly as there is room for. Whether some are brief.
    fn each_cause(
        &mut self,
        shown: &[&Judgement<'_>],
        answer: &Answer<'_>,
        verbose: bool,
    ) -> io::Result<bool> {
        let mut lines = 0;
        let mut is_brief = false;
        for (index, judgement) in shown.iter().enumerate() {
            let text = self.drawn(|it| it.cause(index + 1, judgement, answer))?;
            let is_whole = verbose || index == 0 || lines + count(&text) <= MAX_LINES;
            if is_whole && !is_brief {
                lines += count(&text);
                self.out.write_all(&text)?;
                continue;
            }
            if !is_brief {
                writeln!(self.out)?;
            }
            is_brief = true;
            // What is true says where that is written.
            let head = self.drawn(|it| {
                it.head(index + 1, judgement)?;
                match judgement.judged.state {
                    State::True => it.places(&judgement.judged),
                    _ => Ok(()),
                }
            })?;
            let command = decide(judgement.cause, &answer.recognised);
            let command = self.drawn(|it| it.field("decide", &command))?;
            self.out.write_all(&head)?;
            lines += count(&head);
            let left = shown.len() - index - 1;
            if index == 1 || lines + count(&command) + left * HEAD_LINES <= MAX_LINES {
                self.out.write_all(&command)?;
                lines += count(&command);
            }
        }
        Ok(is_brief)
    }

    /// What `write` writes, on a writer of its own.
    fn drawn(&self, write: impl FnOnce(&mut Writer<'_>) -> io::Result<()>) -> io::Result<Vec<u8>> {
        let (mut out, colors) = (Vec::new(), self.colors);
        write(&mut Writer {
            colors,
            out: &mut out,
        })?;
        Ok(out)
    }

    fn cause(
        &mut self,
        number: usize,
        judgement: &Judgement<'_>,
        answer: &Answer<'_>,
    ) -> io::Result<()> {
        let cause = judgement.cause;
        writeln!(self.out)?;
        self.head(number, judgement)?;
        self.places(&judgement.judged)?;
        self.field("decide", &decide(cause, &answer.recognised))?;
        if !cause.shows.is_empty() {
            self.field("", &shows(cause, &answer.recognised))?;
        }
        self.field("fix", &cause.fix)
    }

    fn head(&mut self, number: usize, judgement: &Judgement<'_>) -> io::Result<()> {
        let Cause { what, code, .. } = judgement.cause;
        let text = format!("{what} ({code})");
        self.bold(&format!("{number}. "), "   ", &text)
    }

    /// Where it is written what is said of a cause.
    fn places(&mut self, judged: &Judged) -> io::Result<()> {
        let places = judged.places.iter().map(ToString::to_string);
        let places = places.collect::<Vec<_>>().join(", ");
        let short = shortened::ids(&places);
        let (head, text) = match judged.state {
            State::Unknown if places.is_empty() => return Ok(()),
            State::Unknown => ("text", format!("{places} speaks for it")),
            state if places.is_empty() => ("node", state.word().to_owned()),
            state => ("node", format!("{}: {short}", state.word())),
        };
        self.field(head, &escaped(text.as_bytes()))
    }

    fn field(&mut self, head: &str, text: &str) -> io::Result<()> {
        self.labelled(&format!("   {head:<6}  "), "           ", text)
    }
}

/// How many lines a text has.
fn count(text: &[u8]) -> usize {
    text.split(|it| *it == b'\n').count() - 1
}

/// A link of Markdown as text: `Go src/net/net.go, https://…`.
fn plain(link: &str) -> String {
    let parts = link.strip_prefix('[').and_then(|it| it.split_once("]("));
    let parts = parts.and_then(|(title, rest)| Some((title, rest.strip_suffix(')')?)));
    parts.map_or_else(
        || link.to_owned(),
        |(title, address)| format!("{title}, {address}"),
    )
}

/// The command that decides a cause, for the name and server of the message.
fn decide(cause: &Cause, recognised: &Recognised<'_>) -> String {
    filled(cause.command, recognised, quoted)
}

/// What that command shows if it is the cause.
fn shows(cause: &Cause, recognised: &Recognised<'_>) -> String {
    filled(&cause.shows, recognised, str::to_owned)
}

/// With the name and server of the message, names as `written` writes them.
fn filled(text: &str, recognised: &Recognised<'_>, written: fn(&str) -> String) -> String {
    let name = recognised.name.as_deref().filter(|it| !it.contains('*'));
    let server = recognised.asked.map(|it| match it.address.port() {
        DNS_PORT => it.address.ip().to_string(),
        port => format!("{} -p {port}", it.address.ip()),
    });
    let text = text.replace("{name}", &written(name.unwrap_or("NAME")));
    let service = name.and_then(looked::service).unwrap_or("SERVICE");
    let text = text.replace("{service}", &written(service));
    text.replace("{server}", server.as_deref().unwrap_or("SERVER"))
}
