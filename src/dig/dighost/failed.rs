//! No connection, or no reply.

use std::rc::Rc;

use super::{Current, Dighost, Exit, Then};
use crate::dig::printed::Printed;
use crate::engine::failure::Failure;

impl Dighost {
    /// No socket, or no TLS: tries begin at the first server again, and only
    /// the last one goes on to the next server.
    ///
    /// Source: BIND bin/dig/dighost.c: `udp_ready`, `start_tcp`,
    /// `tcp_connected`, `launch_next_query` (9.18)
    pub(super) fn not_opened(
        &mut self,
        current: &mut Current,
        failure: Failure,
    ) -> Result<Then, Exit> {
        match failure {
            Failure::NoContext | Failure::HalfIdentity => {
                self.warn_always(failure.text().into_owned())?;
                return Ok(Then::NextServer);
            }
            Failure::NoDot => {
                self.print(Printed::Error(failure.text().into_owned()))?;
                return Ok(Then::Over);
            }
            // Nobody else is asked, and the status stays: that is dig's.
            Failure::Certificate(certificate) if current.is_digs() => {
                let (peer, why) = (current.peer(), certificate.text());
                self.warn_always(format!(
                    "TLS peer certificate verification for {peer} failed: {why}"
                ))?;
                return Ok(Then::Over);
            }
            _ => {}
        }
        let lookup = &current.pending.lookup;
        if self.has_readers() {
            let name = String::from_utf8_lossy(&lookup.text);
            let what = if lookup.tcp {
                "Connection to"
            } else {
                "UDP setup with"
            };
            let server = current.server().map(|it| it.address.to_string());
            let (peer, server) = (current.peer(), server.unwrap_or_default());
            let why = self.words(current, failure)?;
            let text = format!("{what} {peer}({server}) for {name} failed: {why}.");
            self.warn(Printed::Warning(text))?;
        }
        self.no_reply();
        if lookup.tries > 1 {
            self.try_again(current)?;
        } else if current.has_server_after() {
            return Ok(Then::NextServer);
        }
        self.print(Printed::NoServers)?;
        Ok(Then::Over)
    }

    /// No reply.
    ///
    /// Source: BIND bin/dig/dighost.c: `recv_done` (9.18)
    pub(super) fn lost(&mut self, current: &mut Current, failure: Failure) -> Result<Then, Exit> {
        // What is no message is one without a byte to dig.
        if failure == Failure::NoMessage && current.is_digs() {
            return self.arrived(current, &[]);
        }
        self.close(false);
        if self.has_readers() {
            let (peer, why) = (current.peer(), self.words(current, failure)?);
            let text = format!("communications error to {peer}: {why}");
            self.warn(Printed::Warning(text))?;
        }
        let lookup = &current.pending.lookup;
        if lookup.tries > 1 && lookup.tcp {
            self.try_again(current)?;
            return Ok(Then::Over);
        }
        if lookup.tries > 1 {
            Rc::make_mut(&mut current.pending.lookup).tries -= 1;
            return Ok(Then::Again);
        }
        if current.has_server_after() {
            return Ok(Then::NextServer);
        }
        self.print(Printed::Greeting(lookup.greeting.clone()))?;
        self.print(Printed::NoServers)?;
        self.no_reply();
        Ok(Then::Over)
    }

    /// Whether sentences are for somebody: in a prediction they are not.
    fn has_readers(&self) -> bool {
        self.settings.wire.is_some()
    }

    /// Begins the lookup again, with a try less.
    pub(super) fn try_again(&mut self, current: &Current) -> Result<(), Exit> {
        let mut again = current.pending.clone();
        Rc::make_mut(&mut again.lookup).tries -= 1;
        self.requeue(again)
    }

    fn no_reply(&self) {
        let status = &self.standing.status;
        status.set(status.get().max(9));
    }

    /// What is said of a failure: a sentence, or dig's words, and the sentence
    /// beside them where they hide what happened.
    fn words(&self, current: &Current, failure: Failure) -> Result<String, Exit> {
        let sentence = failure.text().into_owned();
        let digs = match failure {
            Failure::Http(_) => Failure::Failed,
            Failure::WantsCertificate => Failure::EndOfFile,
            Failure::OtherProtocol => Failure::NoTls,
            _ => return Ok(sentence),
        };
        if !current.is_digs() {
            return Ok(sentence);
        }
        self.print(Printed::Note(sentence))?;
        Ok(digs.text().into_owned())
    }

    /// A warning that nothing else follows: where those are kept back, it
    /// stands on standard error.
    fn warn_always(&self, text: String) -> Result<(), Exit> {
        self.print(if self.settings.keeps_warnings {
            Printed::Note(text)
        } else {
            Printed::Warning(text)
        })
    }
}

impl Current {
    /// Whether dig knows this way to the server, too.
    fn is_digs(&self) -> bool {
        let secure = self.server().and_then(|it| it.secure.as_ref());
        secure.is_some_and(|it| it.is_digs())
    }
}
