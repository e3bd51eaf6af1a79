//! Which pods a Service is, for commands that meet one on their way.

use std::io;
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use super::answer::Answer;
use crate::cli::streams::Streams;
use crate::doctor::Route;
use crate::host::io_reason;

/// Finds out what is to be known of these words.
type Find = fn(&[String], &mut Streams<'_>) -> anyhow::Result<Answer>;

/// What `kdns path` with the words of each question finds out within a short time for
/// all of them; else why that is not known, as a sentence without a full stop.
pub(super) fn routes(
    questions: Vec<Vec<String>>,
    limit: Duration,
    find: Find,
) -> Vec<Result<Route, String>> {
    let (sender, found) = mpsc::channel();
    let end = Instant::now() + limit;
    let count = questions.len();
    // Past the limit nobody waits for it any more.
    let begun = thread::Builder::new().spawn(move || {
        for words in questions {
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
            if sender.send(route.map(|it| it.into_route(words))).is_err() {
                return;
            }
        }
    });
    if let Err(error) = begun {
        let why = format!(
            "the node's rules were not read: no thread can be started: {}",
            io_reason(&error)
        );
        return vec![Err(why); count];
    }
    let late = |_| {
        let seconds = limit.as_secs();
        format!("the node's rules were not read within {seconds} s; kdns path waits for them")
    };
    let next = || {
        let left = end.saturating_duration_since(Instant::now());
        found.recv_timeout(left).map_err(late)?
    };
    std::iter::repeat_with(next).take(count).collect()
}
