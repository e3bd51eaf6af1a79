//! The cookies of a conversation.

use super::super::decode_hex;
use super::{Current, Machine};
use crate::dig::message::Message;

/// The number of the cookie option (RFC 7873).
const COOKIE: u16 = 10;

impl Machine {
    /// Source: BIND bin/dig/dighost.c: `recv_done` (`done_process_opt`) (9.18)
    pub(super) fn note_cookie(
        &mut self,
        current: &mut Current,
        message: &Message,
        cookie_ok: &mut Option<bool>,
    ) {
        let edns = &current.pending.lookup.edns;
        match (&edns.cookie, &message.opt) {
            (Some(_), None) => self.warn("expected opt record in response"),
            (None, _) if !edns.send_cookie => {}
            (_, Some(_)) => *cookie_ok = self.take_cookie(current, message),
            (None, None) => {}
        }
    }

    /// Compares the reply's first cookie with the one that was sent, and
    /// keeps it for the next query; `None`: there is none.
    ///
    /// Source: BIND bin/dig/dighost.c: `process_opt`, `process_cookie` (9.18)
    pub(super) fn take_cookie(&mut self, current: &mut Current, message: &Message) -> Option<bool> {
        let opt = message.opt.as_ref()?;
        let (_, cookie) = opt.options().find(|(code, _)| *code == COOKIE)?;
        let edns = &mut current.pending.lookup.edns;
        let sent = match &edns.cookie {
            Some(digits) => decode_hex(digits).unwrap_or_default(),
            None => self.settings.cookie.to_vec(),
        };
        match (sent.get(..8), cookie.get(..8)) {
            (Some(sent), Some(came)) if sent == came => {
                let digits = cookie.iter().map(|byte| format!("{byte:02X}"));
                edns.cookie = Some(digits.collect::<String>().into_bytes());
                Some(true)
            }
            (Some(_), Some(_)) => {
                self.warn("Warning: Client COOKIE mismatch");
                Some(false)
            }
            _ => {
                self.warn("Warning: COOKIE bad token (too short)");
                Some(false)
            }
        }
    }
}
