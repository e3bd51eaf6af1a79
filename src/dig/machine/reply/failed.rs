//! No connection, or no reply.

use crate::dig::machine::{Current, Failure, Machine, Printed, Step};

impl Machine {
    /// No socket, or no TLS.
    ///
    /// Source: BIND bin/dig/dighost.c: `udp_ready`, `start_tcp`,
    /// `tcp_connected`, `launch_next_query` (9.18)
    pub(in crate::dig::machine) fn not_opened(&mut self, mut current: Current, failure: Failure) {
        let peer = current.peer();
        match failure {
            Failure::NoContext | Failure::HalfIdentity => {
                self.warn_always(failure.text().into_owned());
                current.at += 1;
                return self.start_query(current);
            }
            Failure::NoDot => return self.print(Printed::Error(failure.text().into_owned())),
            // Nobody else is asked, and the status stays: that is dig's.
            Failure::Certificate(certificate) if current.is_digs() => {
                let why = certificate.text();
                return self.warn_always(format!(
                    "TLS peer certificate verification for {peer} failed: {why}"
                ));
            }
            _ => {}
        }
        let name = String::from_utf8_lossy(&current.pending.lookup.text).into_owned();
        let what = if current.pending.lookup.tcp {
            "Connection to"
        } else {
            "UDP setup with"
        };
        let server = current.server().map(|it| it.address.to_string());
        let server = server.unwrap_or_default();
        let why = self.words(&current, failure);
        self.warn(format!("{what} {peer}({server}) for {name} failed: {why}."));
        self.no_reply();
        if current.pending.lookup.tries > 1 {
            current.pending.lookup.tries -= 1;
            self.requeue(current.pending);
        } else if current.at + 1 < current.servers.len() {
            current.at += 1;
            return self.start_query(current);
        }
        self.print(Printed::Error("no servers could be reached".to_owned()));
    }

    /// No reply.
    ///
    /// Source: BIND bin/dig/dighost.c: `recv_done` (9.18)
    pub(in crate::dig::machine) fn lost(&mut self, mut current: Current, failure: Failure) {
        // What is no message is one without a byte to dig.
        if failure == Failure::NoMessage && current.is_digs() {
            return self.arrived(current, &[]);
        }
        self.steps.push_back(Step::Close);
        let (peer, why) = (current.peer(), self.words(&current, failure));
        self.warn(format!("communications error to {peer}: {why}"));
        let lookup = &mut current.pending.lookup;
        if lookup.tries > 1 {
            lookup.tries -= 1;
            if lookup.tcp {
                self.requeue(current.pending);
            } else {
                self.start_query(current);
            }
            return;
        }
        current.at += 1;
        if current.server().is_some() {
            return self.start_query(current);
        }
        let greeting = current.pending.lookup.greeting;
        self.print(Printed::Greeting(greeting));
        self.print(Printed::Error("no servers could be reached".to_owned()));
        self.no_reply();
    }

    /// What is said of a failure: a sentence, or dig's words, and the sentence
    /// beside them where they hide what happened.
    fn words(&mut self, current: &Current, failure: Failure) -> String {
        let sentence = failure.text().into_owned();
        let digs = match failure {
            Failure::Http(_) => Failure::Failed,
            Failure::WantsCertificate => Failure::EndOfFile,
            Failure::OtherProtocol => Failure::NoTls,
            _ => return sentence,
        };
        if !current.is_digs() {
            return sentence;
        }
        self.print(Printed::Note(sentence));
        digs.text().into_owned()
    }

    /// A warning that nothing else follows: where those are kept back, it
    /// stands on standard error.
    fn warn_always(&mut self, text: String) {
        self.print(if self.settings.keeps_warnings {
            Printed::Note(text)
        } else {
            Printed::Warning(text)
        });
    }
}

impl Current {
    /// Whether dig knows this way to the server, too.
    fn is_digs(&self) -> bool {
        let secure = self.server().and_then(|it| it.secure.as_ref());
        secure.is_some_and(|it| it.is_digs())
    }
}
