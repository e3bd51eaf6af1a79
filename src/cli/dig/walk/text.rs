//! A walk as dig prints it.

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::rc::Rc;

use super::walked::{Step, Walked};
use crate::dig::lookup::{Globals, Lookup, Server};
use crate::dig::mnemonic::rcode_text;
use crate::dig::printed::{Exchange, Printed, Total};
use crate::dig::translation;
use crate::engine::io::Came;
use crate::engine::message::{QueryId, Transport};
use crate::render::dig::Refused;
use crate::render::dig::printed::write as print;
use crate::resolver::Resolver;

/// What of a walk is printed.
pub(super) struct Text<'w> {
    pub(super) globals: &'w Globals,
}

impl Text<'_> {
    /// The last reply, with `+showsearch` all of them, and before it a comment
    /// for every query.
    pub(super) fn write(
        &self,
        lookup: &Lookup,
        resolver: &Resolver,
        (walked, ports): (&Walked, &BTreeMap<IpAddr, u16>),
        out: &mut String,
    ) -> Result<(), Refused> {
        let globals = self.globals;
        if globals.show_command && !globals.short {
            let greeting = Printed::Greeting(lookup.greeting.clone());
            print(&greeting, globals, out)?;
        }
        self.comments(lookup, resolver, &walked.steps, out)?;
        for note in &walked.notes {
            self.comment(lookup, note, out)?;
        }
        let mut lookup = lookup.clone();
        lookup.greeting.clear();
        for (id, step) in &walked.steps {
            if globals.show_search || Some(*id) == walked.last {
                self.reply(&lookup, ports, step, out)?;
            }
        }
        if walked.last.is_none() {
            let why = if walked.steps.is_empty() {
                "no server was asked"
            } else {
                "no servers could be reached"
            };
            let error = Printed::Error(why.to_owned());
            print(&error, globals, out)?;
        }
        Ok(())
    }

    /// One line for every query, where comments are wanted.
    fn comments(
        &self,
        lookup: &Lookup,
        resolver: &Resolver,
        steps: &BTreeMap<QueryId, Step>,
        out: &mut String,
    ) -> Result<(), Refused> {
        let who = format!("as {} ({}) searches:", resolver.id, resolver.version);
        self.comment(lookup, &who, out)?;
        for step in steps.values() {
            let Some((name, rdtype)) = step.query.name().zip(step.query.record_type()) else {
                continue;
            };
            let server = &step.query.server.address;
            let tcp = if step.query.transport == Transport::Tcp {
                " over TCP"
            } else {
                ""
            };
            let elapsed = step.times.elapsed.as_millis();
            let came = match (&step.message, &step.what) {
                (Some(message), _) => {
                    let count = message.answers.len();
                    let rcode = rcode_text(message.rcode);
                    format!("{rcode}, {count} records, {elapsed} msec")
                }
                (None, Some(Came::Refused)) => "connection refused".to_owned(),
                (None, Some(_)) => "connection closed".to_owned(),
                (None, None) => "no reply".to_owned(),
            };
            let line = format!("{name}. {rdtype} to {server}{tcp}: {came}");
            self.comment(lookup, &line, out)?;
        }
        Ok(())
    }

    fn comment(&self, lookup: &Lookup, text: &str, out: &mut String) -> Result<(), Refused> {
        let globals = self.globals;
        let is_wanted = lookup.print.comments && !globals.short && !globals.yaml && !globals.json;
        if is_wanted {
            let text = format!("SEARCH: {text}");
            print(&Printed::Comment(text), globals, out)?;
        }
        Ok(())
    }

    fn reply(
        &self,
        lookup: &Lookup,
        ports: &BTreeMap<IpAddr, u16>,
        step: &Step,
        out: &mut String,
    ) -> Result<(), Refused> {
        let Some(message) = &step.message else {
            return Ok(());
        };
        let address = step.query.server.address.clone();
        let port = ports
            .get(&address.ip)
            .copied()
            .unwrap_or(step.query.server.port);
        let word = lookup
            .servers
            .iter()
            .find(|it| it.address == address)
            .and_then(|it| it.word.clone());
        let server = Server {
            word,
            address,
            port: Some(port),
            secure: None,
        };
        let exchange = Rc::new(Exchange {
            lookup: Rc::new(translation::lookup(&step.query, lookup)),
            server,
            tcp: step.query.transport == Transport::Tcp,
            cookie_ok: None,
            query_size: step.size,
            times: step.times,
        });
        let total = Total {
            bytes: message.size,
            transfer: None,
        };
        let shown = Printed::Reply(Rc::clone(&exchange), message.clone(), true);
        print(&shown, self.globals, out)?;
        print(&Printed::Received(exchange, total), self.globals, out)
    }
}
