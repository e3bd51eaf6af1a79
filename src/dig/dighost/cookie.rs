//! The cookies of a conversation.

use std::rc::Rc;

use data_encoding::{HEXLOWER_PERMISSIVE, HEXUPPER};

use super::{Current, Dighost, Exit};
use crate::dig::lookup::Lookup;
use crate::dig::message::{Message, Opt};
use crate::dig::printed::Printed;
use crate::dig::settings::Settings;

/// The number of the cookie option (RFC 7873).
const COOKIE: u16 = 10;

impl Dighost {
    /// Source: BIND bin/dig/dighost.c: `recv_done` (`done_process_opt`) (9.18)
    pub(super) fn note_cookie(
        &self,
        current: &mut Current,
        message: &Message,
        cookie_ok: &mut Option<bool>,
    ) -> Result<(), Exit> {
        let edns = &current.pending.lookup.edns;
        match (&edns.cookie, &message.opt) {
            (Some(_), None) => self.complain("expected opt record in response")?,
            (None, _) if !edns.send_cookie => {}
            (_, Some(_)) => *cookie_ok = self.take_cookie(current, message)?,
            (None, None) => {}
        }
        Ok(())
    }

    /// Compares the reply's first cookie with the one that was sent, and
    /// keeps it for the next query; `None`: there is none.
    ///
    /// Source: BIND bin/dig/dighost.c: `process_opt`, `process_cookie` (9.18)
    pub(super) fn take_cookie(
        &self,
        current: &mut Current,
        message: &Message,
    ) -> Result<Option<bool>, Exit> {
        let mut options = message.opt.iter().flat_map(Opt::options);
        let Some((_, cookie)) = options.find(|(code, _)| *code == COOKIE) else {
            return Ok(None);
        };
        let sent = sent(&current.pending.lookup, &self.settings).unwrap_or_default();
        match (sent.get(..8), cookie.get(..8)) {
            (Some(sent), Some(came)) if sent == came => {
                let digits = HEXUPPER.encode(cookie).into_bytes();
                Rc::make_mut(&mut current.pending.lookup).edns.cookie = Some(digits);
                return Ok(Some(true));
            }
            (Some(_), Some(_)) => self.complain("Warning: Client COOKIE mismatch")?,
            _ => self.complain("Warning: COOKIE bad token (too short)")?,
        }
        Ok(Some(false))
    }

    /// Prints a warning that nothing has to be put into.
    pub(super) fn complain(&self, text: &str) -> Result<(), Exit> {
        self.warn(Printed::Warning(text.to_owned()))
    }
}

/// The cookie of a query; `None`: what was said is none.
pub(super) fn sent(lookup: &Lookup, settings: &Settings) -> Option<Vec<u8>> {
    match &lookup.edns.cookie {
        None => Some(settings.cookie.to_vec()),
        Some(digits) => HEXLOWER_PERMISSIVE.decode(digits).ok(),
    }
}
