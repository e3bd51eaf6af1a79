//! A walk as dig prints it.

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::rc::Rc;

use super::Walk;
use super::seen::{Seen, Step};
use crate::dig::lookup::{Lookup, Server};
use crate::dig::machine::{Exchange, Printed, Total};
use crate::dig::mnemonic::rcode_text;
use crate::dig::translation;
use crate::engine::io::Came;
use crate::engine::message::{QueryId, Transport};
use crate::render::dig::Refused;
use crate::render::dig::printed::write as print;
use crate::render::dig::reply::Times;
use crate::resolver::Resolver;

impl Walk<'_> {
    /// The last reply, with `+showsearch` all of them, and before it a comment
    /// for every query.
    pub(super) fn text(
        &self,
        lookup: &Lookup,
        resolver: &Resolver,
        (seen, ports): (&Seen, &BTreeMap<IpAddr, u16>),
        out: &mut String,
    ) -> Result<(), Refused> {
        let globals = self.globals;
        if globals.show_command && !globals.short {
            let greeting = Printed::Greeting(lookup.greeting.clone());
            print(&greeting, globals, Times::default(), out)?;
        }
        self.comments(lookup, resolver, &seen.steps, out)?;
        for note in &seen.notes {
            self.comment(lookup, note, out)?;
        }
        let mut lookup = lookup.clone();
        lookup.greeting.clear();
        for (id, step) in &seen.steps {
            if globals.show_search || Some(*id) == seen.last {
                self.reply(&lookup, ports, step, out)?;
            }
        }
        if seen.last.is_none() {
            let why = if seen.steps.is_empty() {
                "no server was asked"
            } else {
                "no servers could be reached"
            };
            let error = Printed::Error(why.to_owned());
            print(&error, globals, Times::default(), out)?;
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
            print(&Printed::Comment(text), globals, Times::default(), out)?;
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
            .map(|it| it.word.clone());
        let server = Server {
            word: word.unwrap_or_else(|| address.to_string().into_bytes()),
            address,
            port: Some(port),
            secure: None,
        };
        let exchange = Rc::new(Exchange {
            lookup: translation::lookup(&step.query, lookup),
            server,
            tcp: step.query.transport == Transport::Tcp,
            cookie_ok: None,
            query_size: step.size,
        });
        let total = Total {
            bytes: message.size,
            transfer: None,
        };
        let shown = Printed::Reply(Rc::clone(&exchange), message.clone(), true);
        print(&shown, self.globals, step.times, out)?;
        print(
            &Printed::Received(exchange, total),
            self.globals,
            step.times,
            out,
        )
    }
}
