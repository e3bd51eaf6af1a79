//! What is said before the answer about a target that was entered.

use std::io;

use super::place::Place;
use crate::cli::streams::Streams;
use crate::cli::target;
use crate::dig::lookup::{Globals, Lookup, Server};
use crate::dig::mnemonic::type_text;
use crate::netns::Aim;
use crate::program;
use crate::render::{self, shortened};
use crate::resolver::{self, bind};
use crate::simulation::Run;
use crate::text::escaped;

/// Record types that programs ask for when they look up a name.
const ADDRESSES: &[u16] = &[1, 28];

/// A target, and what is asked inside.
pub(super) struct Introduction<'a> {
    pub(super) aim: &'a Aim,
    pub(super) place: &'a Place,
    pub(super) globals: &'a Globals,
    pub(super) lookups: &'a [Lookup],
}

impl Introduction<'_> {
    /// Comments on standard output. Where nobody wants comments there, only
    /// warnings, on standard error.
    pub(super) fn write(&self, streams: &mut Streams<'_>) -> io::Result<()> {
        let aim = self.aim;
        let warnings = aim.plan.warnings.iter().map(render::target::warning);
        if !self.wants_comments() {
            for warning in warnings {
                streams.tell(warning);
            }
            return Ok(());
        }
        let mut line = |word: &str, text: &str| {
            let text = escaped(text.as_bytes());
            writeln!(streams.out, ";; {word}: {text}")
        };
        line("TARGET", &target::label(aim))?;
        let none = "none: the target has no /etc/resolv.conf".to_owned();
        let file = target::resolv_conf_path(aim).unwrap_or(none);
        line("FILE", &shortened::ids(&file))?;
        line("SERVERS", &self.servers())?;
        for warning in warnings {
            line("WARNING", &warning)?;
        }
        for sentence in target::unread(aim) {
            line("NOTE", &sentence)?;
        }
        for sentence in self.own_questions() {
            line("NOTE", &sentence)?;
        }
        Ok(())
    }

    fn wants_comments(&self) -> bool {
        let globals = self.globals;
        let is_for_programs = globals.short || globals.yaml || globals.json;
        let mut lookups = self.lookups.iter();
        !is_for_programs && lookups.all(|lookup| lookup.print.comments)
    }

    /// The servers of the file, and whether they are asked.
    fn servers(&self) -> String {
        let reading = bind::reading(&self.place.scenario, &bind::DIG_SEARCH);
        let servers = bind::settings(self.globals, &reading).servers;
        let shown: Vec<String> = servers.iter().map(|it| it.address.to_string()).collect();
        let mut text = shown.join(", ");
        if reading.servers.is_empty() {
            text.push_str(", as the file names none");
        }
        let named: Vec<&Server> = self
            .lookups
            .iter()
            .filter_map(|it| it.servers.first())
            .collect();
        if !named.is_empty() && named.len() == self.lookups.len() {
            text.push_str(", which are not asked: the command line names others");
        }
        text
    }

    /// What a program in the target would first ask, once for each name: dig
    /// without a search list asks for something else.
    fn own_questions(&self) -> Vec<String> {
        let globals = self.globals;
        if globals.search || globals.domain.is_some() {
            return Vec::new();
        }
        let Some(program) = &self.aim.program else {
            return Vec::new();
        };
        let mut said: Vec<String> = Vec::new();
        let wanted = self
            .lookups
            .iter()
            .filter(|it| ADDRESSES.contains(&it.rdtype));
        for lookup in wanted {
            let mut scenario = self.place.scenario.clone();
            scenario.name = String::from_utf8_lossy(&lookup.text).into_owned();
            let choice = program::choose(program, &scenario);
            let sentence = render::program::choice(&choice);
            let first = choice
                .resolver
                .and_then(resolver::find)
                .map(|it| first_question(&it.predict(&scenario), &scenario.name));
            let text = match first {
                Some(first) => format!("its own program would {first}; {sentence}"),
                None => sentence,
            };
            if !said.contains(&text) {
                said.push(text);
            }
        }
        said
    }
}

/// `first ask 10.0.0.10 for db.default.svc.cluster.local. A`
fn first_question(run: &Run, name: &str) -> String {
    let first = run.sent.first().map(|it| &it.query);
    let asked = first.and_then(|it| Some((&it.server, it.name()?, it.record_type()?)));
    match asked {
        Some((server, name, rdtype)) => {
            let rdtype = type_text(rdtype.into());
            format!(
                "first ask {} for {name}. {rdtype} (+search=target does so)",
                server.address
            )
        }
        None => format!("ask no server for {name}"),
    }
}
