//! Which pods a Service is, for commands that meet one on their way.

use std::io;
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use super::answer::Answer;
use crate::cli::streams::Streams;
use crate::doctor::Route;

/// Nobody waits longer for a remark: the rules of 20,000 Services take two
/// seconds.
const LIMIT: Duration = Duration::from_secs(3);

/// Finds out what is to be known of these words.
type Find = fn(&[String], &mut Streams<'_>) -> anyhow::Result<Answer>;

/// What `kdns path` with these words finds out within a short time.
///
/// # Errors
///
/// Why that is not known, as a sentence without a full stop.
pub(super) fn route(words: Vec<String>, find: Find) -> Result<Route, String> {
    let (sender, found) = mpsc::channel();
    let question = words.clone();
    // Past the limit nobody waits for it any more.
    thread::spawn(move || {
        let mut streams = Streams {
            input: &mut io::empty(),
            is_input_read: true,
            out: &mut io::sink(),
            err: &mut io::sink(),
            colors: false,
            terminal: None,
        };
        let answer = find(&words, &mut streams);
        let route = answer.map_err(|error| format!("{error:#}"));
        // Nobody is there who would miss it.
        let _ = sender.send(route.map(|it| it.into_route(question)));
    });
    let late = |_| {
        let seconds = LIMIT.as_secs();
        format!("the node's rules were not read within {seconds} s; kdns path waits for them")
    };
    found.recv_timeout(LIMIT).map_err(late)?
}
