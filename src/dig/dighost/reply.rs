//! What may come of a reply.

use std::rc::Rc;

use super::transfer::{Progress, Transfer};
use super::{Current, Dighost, Exit, Pending, Then};
use crate::dig::message::{self, Message, Read, flag, peek};
use crate::dig::mnemonic::{class_text, opcode_text, type_text};
use crate::dig::printed::{Exchange, Printed, Total};
use crate::dig::translation;
use crate::engine::message::Because;

const A: u16 = 1;
const SERVFAIL: u16 = 2;
const NXDOMAIN: u16 = 3;
const BADVERS: u16 = 16;
const BADCOOKIE: u16 = 23;

impl Dighost {
    /// Something came.
    ///
    /// Source: BIND bin/dig/dighost.c: `recv_done` (9.18)
    pub(super) fn arrived(&mut self, current: &mut Current, wire: &[u8]) -> Result<Then, Exit> {
        if !self.is_expected(current, wire)? {
            return Ok(self.passed_over(current));
        }
        let message = match message::read_message(wire, current.pending.lookup.best_effort) {
            Read::Whole(message) => message,
            Read::Part(message) => {
                self.complain("Warning: Message parser reports malformed message packet.")?;
                message
            }
            Read::Nothing(why) => {
                self.print(Printed::BadPacket(why, wire.to_vec()))?;
                return Ok(self.over());
            }
        };
        let opcode = current.pending.lookup.opcode;
        if message.opcode != opcode {
            let (expected, got) = (opcode_text(opcode), opcode_text(message.opcode));
            self.complain(&format!(
                "Warning: Opcode mismatch: expected {expected}, got {got}"
            ))?;
            return Ok(Then::Wait { anew: false });
        }
        if !self.answers_question(current, &message)? {
            return Ok(self.passed_over(current));
        }
        self.recv_done(current, message)
    }

    /// What was no reply gives a server no more time. (dig begins anew, and
    /// waits for ever for one that never stops sending.)
    fn passed_over(&self, current: &Current) -> Then {
        if current.pending.lookup.tcp {
            return self.over();
        }
        Then::Wait { anew: false }
    }

    fn over(&self) -> Then {
        self.close(true);
        Then::Over
    }

    /// A reply that is ours.
    ///
    /// Source: BIND bin/dig/dighost.c: `recv_done` (9.18)
    pub(super) fn recv_done(
        &mut self,
        current: &mut Current,
        message: Message,
    ) -> Result<Then, Exit> {
        let mut cookie_ok = None;
        if let Some(retry) = self.retry(current, &message, &mut cookie_ok)? {
            self.requeue(retry)?;
            return Ok(self.over());
        }
        let lookup = &current.pending.lookup;
        let is_servfail = message.rcode == SERVFAIL && !lookup.servfail_stops;
        let no_recursion = self.settings.check_ra && message.flags & flag::RA == 0;
        let waits = self.settings.rounds && current.at > 0;
        let goes_on = (is_servfail || no_recursion) && (waits || current.has_server_after());
        if is_servfail && lookup.print.comments && !self.settings.keeps_warnings {
            let server = current.server().map(|it| it.address.to_string());
            self.print(Printed::Servfail(server.unwrap_or_default(), goes_on))?;
        }
        if goes_on {
            self.close(true);
            return Ok(Then::NextServer);
        }
        if message.rcode != BADCOOKIE || cookie_ok.is_none() {
            self.note_cookie(current, &message, &mut cookie_ok)?;
        }
        self.show(current, message, cookie_ok)
    }

    /// Whether the id is ours; what else is odd about the header is said.
    fn is_expected(&self, current: &Current, wire: &[u8]) -> Result<bool, Exit> {
        let tcp = current.pending.lookup.tcp;
        let Some((id, flags)) = peek(wire) else {
            self.complain(if tcp {
                "ERROR: short (< header size) message"
            } else {
                "Warning: short (< header size) message received"
            })?;
            return Ok(false);
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
            self.complain(&format!(
                "{level}: ID mismatch: expected ID {expected}, got {id}"
            ))?;
            matches = started;
        }
        if (matches || !tcp) && flags & flag::QR == 0 {
            self.complain("Warning: query response not set")?;
        }
        Ok(matches)
    }

    /// Whether the question section, if there is one, is ours.
    fn answers_question(&self, current: &Current, message: &Message) -> Result<bool, Exit> {
        let lookup = &current.pending.lookup;
        let other = message.questions.iter().find(|question| {
            question.rdtype != lookup.rdtype
                || question.rdclass != lookup.rdclass
                || !question.name.eq_ignore_case(&current.name)
        });
        let Some(other) = other else {
            return Ok(true);
        };
        let (rdtype, class) = (type_text(other.rdtype), class_text(other.rdclass));
        // dns_name_format leaves the last dot out.
        let name = &other.name;
        self.complain(&format!(
            ";; Question section mismatch: got {name}/{rdtype}/{class}"
        ))?;
        Ok(false)
    }

    /// The lookup once more, where EDNS version, truncation or cookie ask
    /// for it.
    fn retry(
        &self,
        current: &mut Current,
        message: &Message,
        cookie_ok: &mut Option<bool>,
    ) -> Result<Option<Pending>, Exit> {
        let edns = &current.pending.lookup.edns;
        let offered = message.opt.as_ref().map(message::Opt::version);
        if message.rcode == BADVERS
            && let Some(version) = offered
            && edns.negotiate
            && edns.version.is_some_and(|it| version < it)
        {
            let text = format!("BADVERS, retrying with EDNS version {version}.");
            self.comment(current, text)?;
            let mut again = current.pending.clone();
            Rc::make_mut(&mut again.lookup).edns.version = Some(version);
            return Ok(Some(again));
        }
        let lookup = &current.pending.lookup;
        if message.flags & flag::TC != 0 && !lookup.ignore_truncation && !lookup.tcp {
            if edns.cookie.is_none() && edns.send_cookie && message.opt.is_some() {
                self.take_cookie(current, message)?;
            }
            self.comment(current, "Truncated, retrying in TCP mode.".to_owned())?;
            let mut again = current.pending.clone();
            Rc::make_mut(&mut again.lookup).tcp = true;
            return Ok(Some(again));
        }
        let wants_cookie = !lookup.tcp && edns.send_cookie && lookup.retry_badcookie;
        if message.rcode != BADCOOKIE || !wants_cookie {
            return Ok(None);
        }
        *cookie_ok = self.take_cookie(current, message)?.or(Some(false));
        if *cookie_ok != Some(true) {
            return Ok(None);
        }
        if current.pending.lookup.show_badcookie
            && let Some(exchange) = current.exchange(*cookie_ok)
        {
            self.print_reply(&exchange, message.clone(), true)?;
            self.print_received(exchange, message.size)?;
            current.greeted();
        }
        let mut again = current.pending.clone();
        let how = if again.seen_badcookie {
            " in TCP mode"
        } else {
            ""
        };
        self.comment(current, format!("BADCOOKIE, retrying{how}."))?;
        Rc::make_mut(&mut again.lookup).tcp |= again.seen_badcookie;
        again.seen_badcookie = true;
        Ok(Some(again))
    }

    /// Prints a reply and goes on.
    fn show(
        &mut self,
        current: &mut Current,
        message: Message,
        cookie_ok: Option<bool>,
    ) -> Result<Then, Exit> {
        self.follow(current, &message);
        let pending = &current.pending;
        let searches = pending.origin.is_some() || pending.need_search;
        let (size, rcode) = (message.size, message.rcode);
        let lookup = &pending.lookup;
        let taken = current
            .transfer
            .as_mut()
            .map(|it| (it.is_at_start(), it.take(lookup, &message)));
        let is_shown = rcode != NXDOMAIN
            || !searches
            || !self.next_origin(pending)?
            || self.settings.show_search;
        let has_origin = current.pending.origin.is_some();
        if !is_shown && has_origin && taken.is_none() {
            return Ok(self.over());
        }
        let Some(exchange) = current.exchange(cookie_ok) else {
            return Ok(self.over());
        };
        if rcode == NXDOMAIN && searches {
            if is_shown {
                self.print_reply(&exchange, message, true)?;
                self.print_received(Rc::clone(&exchange), size)?;
            }
        } else {
            let is_first = taken.as_ref().is_none_or(|(is_first, _)| *is_first);
            self.print_reply(&exchange, message, is_first)?;
        }
        match taken.map(|(_, progress)| progress) {
            Some(Progress::More) => {
                drop(exchange);
                current.greeted();
                return Ok(Then::Wait { anew: true });
            }
            Some(Progress::Failed(why)) => self.print(Printed::Plain(why))?,
            Some(Progress::Whole(total)) => self.print(Printed::Received(exchange, total))?,
            None if rcode == 0 || !has_origin => self.print_received(exchange, size)?,
            None => {}
        }
        Ok(self.over())
    }

    /// Asks for further types of a name that has a good answer.
    ///
    /// Source: BIND bin/dig/host.c, nslookup.c: `printmessage` (9.18)
    fn follow(&mut self, current: &Current, message: &Message) {
        if message.rcode != 0 || current.pending.lookup.rdtype != A {
            return;
        }
        for &rdtype in self.settings.follow_ups {
            let target = translation::chase_cnamechain(message, &current.name);
            let mut next = Pending {
                origin: None,
                new_search: false,
                because: if target.eq_ignore_case(&current.name) {
                    Because::FollowUp
                } else {
                    Because::Cname
                },
                ..current.pending.clone()
            };
            let lookup = Rc::make_mut(&mut next.lookup);
            lookup.text = target.to_string().into_bytes();
            lookup.rdtype = rdtype.into();
            lookup.tries = self.settings.tries;
            self.waiting.push_back(next);
        }
    }

    fn print_reply(
        &self,
        exchange: &Rc<Exchange>,
        message: Message,
        is_first: bool,
    ) -> Result<(), Exit> {
        let message = Box::new(message);
        self.print(Printed::Reply(Rc::clone(exchange), message, is_first))
    }

    fn print_received(&self, exchange: Rc<Exchange>, bytes: usize) -> Result<(), Exit> {
        let total = Total {
            bytes,
            transfer: None,
        };
        self.print(Printed::Received(exchange, total))
    }

    fn comment(&self, current: &Current, text: String) -> Result<(), Exit> {
        if current.pending.lookup.print.comments {
            return self.warn(Printed::Comment(text));
        }
        Ok(())
    }
}
