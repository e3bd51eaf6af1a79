//! One query and what may come of it.

mod cookie;
mod failed;
mod transfer;

use std::rc::Rc;

use self::transfer::Progress;
pub(super) use self::transfer::{AXFR, IXFR, Transfer};
use super::{Current, Exchange, Failure, Machine, Pending, Printed, Step, Total};
use crate::dig::lookup::Server;
use crate::dig::message::{self, Message, Read, flag, peek};
use crate::dig::mnemonic::{class_text, opcode_text, type_text};
use crate::engine::message::Transport;

const SERVFAIL: u16 = 2;
const NXDOMAIN: u16 = 3;
const BADVERS: u16 = 16;
const BADCOOKIE: u16 = 23;

impl Current {
    /// Whether the socket of the running query is there.
    pub(super) fn is_open(&self) -> bool {
        self.opened
    }

    fn server(&self) -> Option<&Server> {
        self.servers.get(self.at)
    }

    /// `10.0.0.1#53`
    fn peer(&self) -> String {
        self.server().map(peer).unwrap_or_default()
    }

    fn exchange(&self, cookie_ok: Option<bool>) -> Option<Rc<Exchange>> {
        let server = self.server()?.clone();
        Some(Rc::new(Exchange {
            lookup: self.pending.lookup.clone(),
            server,
            tcp: self.pending.lookup.tcp,
            cookie_ok,
            query_size: self.query.len(),
        }))
    }
}

/// `10.0.0.1#53`
fn peer(server: &Server) -> String {
    let port = server.port();
    format!("{}#{port}", server.address)
}

impl Machine {
    /// Opens what the current server needs.
    ///
    /// Source: BIND bin/dig/dighost.c: `start_udp`, `start_tcp` (9.18)
    pub(super) fn start_query(&mut self, mut current: Current) {
        while let Some(server) = current.server() {
            if server.is_mapped() {
                let text = format!("Skipping mapped address '{}'", server.address);
                self.warn(text);
                current.at += 1;
                if current.server().is_none() {
                    self.warn("No acceptable nameservers");
                }
                continue;
            }
            if server.has_half_identity() {
                return self.not_opened(current, Failure::HalfIdentity);
            }
            let tcp = current.pending.lookup.tcp;
            self.steps.push_back(Step::Open {
                transport: if tcp { Transport::Tcp } else { Transport::Udp },
                server: server.clone(),
                timeout: self.seconds(tcp),
                reuse: self.settings.keep_open,
            });
            current.opened = false;
            self.current = Some(current);
            return;
        }
    }

    /// Source: BIND bin/dig/dighost.c: `udp_ready`, `tcp_connected`,
    /// `launch_next_query` (9.18)
    pub(super) fn opened(&mut self, mut current: Current) {
        self.status = 0;
        current.opened = true;
        self.steps.push_back(Step::Send(current.query.clone()));
        if current.pending.lookup.show_query
            && let Some(exchange) = current.exchange(None)
            && let padding = current.pending.lookup.edns.padding
            && let Read::Whole(message) | Read::Part(message) =
                message::read_own(&current.query, padding != 0)
        {
            self.print(Printed::Query(exchange, Box::new(message)));
            current.pending.lookup.greeting.clear();
        }
        self.wait(current);
    }

    fn wait(&mut self, current: Current) {
        let tcp = current.pending.lookup.tcp;
        self.steps.push_back(Step::Receive(self.seconds(tcp)));
        self.current = Some(current);
    }

    /// Waits on: what was no reply gives a server no more time. (dig begins
    /// anew, and waits for ever for one that never stops sending.)
    fn wait_on(&mut self, current: Current) {
        self.steps.push_back(Step::ReceiveOn);
        self.current = Some(current);
    }

    /// Something came.
    ///
    /// Source: BIND bin/dig/dighost.c: `recv_done` (9.18)
    pub(super) fn arrived(&mut self, mut current: Current, wire: &[u8]) {
        if !self.is_expected(&current, wire) {
            if current.pending.lookup.tcp {
                return self.finish();
            }
            return self.wait_on(current);
        }
        let message = match message::read(wire, current.pending.lookup.best_effort) {
            Read::Whole(message) => message,
            Read::Part(message) => {
                self.warn("Warning: Message parser reports malformed message packet.");
                message
            }
            Read::Nothing(why) => {
                self.print(Printed::BadPacket(why, wire.to_vec()));
                return self.finish();
            }
        };
        let opcode = current.pending.lookup.opcode;
        if message.opcode != opcode {
            let (expected, got) = (opcode_text(opcode), opcode_text(message.opcode));
            self.warn(format!(
                "Warning: Opcode mismatch: expected {expected}, got {got}"
            ));
            return self.wait_on(current);
        }
        if !self.answers_question(&current, &message) {
            if current.pending.lookup.tcp {
                return self.finish();
            }
            return self.wait_on(current);
        }
        let mut cookie_ok = None;
        if let Some(retry) = self.retry(&mut current, &message, &mut cookie_ok) {
            self.requeue(retry);
            return self.finish();
        }
        if message.rcode == SERVFAIL && !current.pending.lookup.servfail_stops {
            let server = current.server().map(|it| it.address.to_string());
            let from = format!("Got SERVFAIL reply from {}", server.unwrap_or_default());
            if current.at + 1 < current.servers.len() {
                self.comment(&current, format!("{from}, trying next server"));
                self.steps.push_back(Step::Close);
                current.at += 1;
                return self.start_query(current);
            }
            self.comment(&current, from);
        }
        if message.rcode != BADCOOKIE || cookie_ok.is_none() {
            self.note_cookie(&mut current, &message, &mut cookie_ok);
        }
        self.show(current, &message, cookie_ok);
    }

    /// Whether the id is ours; what else is odd about the header is said.
    fn is_expected(&mut self, current: &Current, wire: &[u8]) -> bool {
        let tcp = current.pending.lookup.tcp;
        let Some((id, flags)) = peek(wire) else {
            self.warn(if tcp {
                "ERROR: short (< header size) message"
            } else {
                "Warning: short (< header size) message received"
            });
            return false;
        };
        let started = current.transfer.as_ref().is_some_and(Transfer::has_started);
        let expected = current.id;
        let mut matches = id == expected;
        if !matches {
            let level = match (tcp, started) {
                (true, false) => "ERROR",
                (true, true) => "WARNING",
                (false, _) => "Warning",
            };
            self.warn(format!(
                "{level}: ID mismatch: expected ID {expected}, got {id}"
            ));
            matches = started;
        }
        if (matches || !tcp) && flags & flag::QR == 0 {
            self.warn("Warning: query response not set");
        }
        matches
    }

    /// Whether the question section, if there is one, is ours.
    fn answers_question(&mut self, current: &Current, message: &Message) -> bool {
        let lookup = &current.pending.lookup;
        let other = message.questions.iter().find(|question| {
            question.rdtype != lookup.rdtype
                || question.rdclass != lookup.rdclass
                || !question.name.eq_ignore_case(&current.name)
        });
        let Some(other) = other else {
            return true;
        };
        let (rdtype, class) = (type_text(other.rdtype), class_text(other.rdclass));
        // dns_name_format leaves the last dot out.
        let name = &other.name;
        self.warn(format!(
            ";; Question section mismatch: got {name}/{rdtype}/{class}"
        ));
        false
    }

    /// The lookup once more, where EDNS version, truncation or cookie ask
    /// for it.
    fn retry(
        &mut self,
        current: &mut Current,
        message: &Message,
        cookie_ok: &mut Option<bool>,
    ) -> Option<Pending> {
        if message.rcode == BADVERS
            && let Some(opt) = &message.opt
            && current.pending.lookup.edns.negotiate
            && current
                .pending
                .lookup
                .edns
                .version
                .is_some_and(|it| opt.version() < it)
        {
            let version = opt.version();
            let text = format!("BADVERS, retrying with EDNS version {version}.");
            self.comment(current, text);
            let mut again = current.pending.clone();
            again.lookup.edns.version = Some(version);
            return Some(again);
        }
        let lookup = &current.pending.lookup;
        if message.flags & flag::TC != 0 && !lookup.ignore_truncation && !lookup.tcp {
            if lookup.edns.cookie.is_none() && lookup.edns.send_cookie && message.opt.is_some() {
                self.take_cookie(current, message);
            }
            self.comment(current, "Truncated, retrying in TCP mode.".to_owned());
            let mut again = current.pending.clone();
            again.lookup.tcp = true;
            return Some(again);
        }
        let wants_cookie = !lookup.tcp && lookup.edns.send_cookie && lookup.retry_badcookie;
        if message.rcode != BADCOOKIE || !wants_cookie {
            return None;
        }
        *cookie_ok = self.take_cookie(current, message).or(Some(false));
        if *cookie_ok != Some(true) {
            return None;
        }
        if current.pending.lookup.show_badcookie
            && let Some(exchange) = current.exchange(*cookie_ok)
        {
            self.print_reply(&exchange, message);
            self.print_received(exchange, message);
            current.pending.lookup.greeting.clear();
        }
        let seen = current.pending.seen_badcookie;
        let how = if seen { " in TCP mode" } else { "" };
        self.comment(current, format!("BADCOOKIE, retrying{how}."));
        let mut again = current.pending.clone();
        again.lookup.tcp |= seen;
        again.seen_badcookie = true;
        Some(again)
    }

    /// Prints a reply and goes on.
    fn show(&mut self, mut current: Current, message: &Message, cookie_ok: Option<bool>) {
        let Some(exchange) = current.exchange(cookie_ok) else {
            return self.finish();
        };
        let searches = current.pending.origin.is_some() || current.pending.need_search;
        if message.rcode == NXDOMAIN && searches {
            if !self.next_origin(&current.pending) || self.settings.show_search {
                self.print_reply(&exchange, message);
                self.print_received(Rc::clone(&exchange), message);
            }
        } else {
            let first = current.transfer.as_ref().is_none_or(Transfer::is_at_start);
            let reply = Box::new(message.clone());
            self.print(Printed::Reply(Rc::clone(&exchange), reply, first));
        }
        current.pending.lookup.greeting.clear();
        if let Some(transfer) = &mut current.transfer {
            match transfer.take(
                current.pending.lookup.rdtype,
                current.pending.lookup.ixfr_serial,
                message,
            ) {
                Progress::More => return self.wait(current),
                Progress::Failed(why) => {
                    self.print(Printed::Plain(why));
                    return self.finish();
                }
                Progress::Whole(total) => self.print(Printed::Received(exchange, total)),
            }
        } else if message.rcode == 0 || current.pending.origin.is_none() {
            self.print_received(exchange, message);
        }
        self.finish();
    }

    fn print_reply(&mut self, exchange: &Rc<Exchange>, message: &Message) {
        let reply = Box::new(message.clone());
        self.print(Printed::Reply(Rc::clone(exchange), reply, true));
    }

    fn print_received(&mut self, exchange: Rc<Exchange>, message: &Message) {
        let total = Total {
            bytes: message.size,
            transfer: None,
        };
        self.print(Printed::Received(exchange, total));
    }

    fn finish(&mut self) {
        self.steps.push_back(Step::Close);
    }

    fn warn(&mut self, text: impl Into<String>) {
        if !self.settings.keeps_warnings {
            self.print(Printed::Warning(text.into()));
        }
    }

    fn comment(&mut self, current: &Current, text: String) {
        if current.pending.lookup.print.comments && !self.settings.keeps_warnings {
            self.print(Printed::Comment(text));
        }
    }
}
