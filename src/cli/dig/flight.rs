//! Dig on its way: its lookups, and what they have printed.

use std::cell::RefCell;
use std::rc::Rc;
use std::time::Duration;

use super::output::{Output, Piece, refusal};
use super::session::Session;
use crate::dig::dighost::{Dighost, Standing};
use crate::dig::lookup::{Globals, Lookup};
use crate::dig::printed::{Printed, Screen, Unprintable};
use crate::engine::io::Io;
use crate::engine::machine::{Machine, Outcome};
use crate::engine::message::Because;
use crate::render::dig::printed::{is_error, write as print};
use crate::wire::live::{Live, Means, Player, Told};
use crate::wire::{now, socket_address};

/// The lookups of the command line, or of a line of a batch file.
#[derive(Debug)]
pub(super) struct Flight {
    pub(super) player: Player<'static>,
    pub(super) standing: Rc<Standing>,
    paper: Rc<Paper>,
    began: Duration,
}

/// What is printed, until it can be shown.
#[derive(Debug)]
struct Paper {
    globals: Rc<Globals>,
    pieces: RefCell<Vec<Piece>>,
}

impl Paper {
    fn new(globals: &Rc<Globals>, said: Vec<Piece>) -> Rc<Self> {
        Rc::new(Self {
            globals: Rc::clone(globals),
            pieces: RefCell::new(said),
        })
    }
}

impl Screen for Paper {
    fn print(&self, printed: Printed) -> Result<(), Unprintable> {
        let mut pieces = self.pieces.borrow_mut();
        let is_error = is_error(&printed, &self.globals);
        if pieces.last().is_none_or(|(before, _)| *before != is_error) {
            pieces.push((is_error, String::with_capacity(1 << 10)));
        }
        let Some((_, text)) = pieces.last_mut() else {
            return Ok(());
        };
        print(&printed, &self.globals, text).map_err(|refused| {
            pieces.push((true, refusal(&refused)));
            Unprintable
        })
    }
}

impl Flight {
    /// Lookups that begin now, after what was said of them.
    pub(super) fn start(
        live: &mut Live,
        session: &Session<'_>,
        globals: &Rc<Globals>,
        lookups: Vec<Lookup>,
        said: Vec<Piece>,
    ) -> Self {
        let (began, standing) = (now(), Rc::default());
        let paper = Paper::new(globals, said);
        let work = work(session, began, lookups, &paper, &standing);
        Self {
            player: live.start(Machine::new(work)),
            standing,
            paper,
            began,
        }
    }

    /// Further lookups, with what is open.
    pub(super) fn then(
        mut self,
        session: &Session<'_>,
        globals: &Rc<Globals>,
        lookups: Vec<Lookup>,
        said: Vec<Piece>,
    ) -> Self {
        self.paper = Paper::new(globals, said);
        let work = work(session, self.began, lookups, &self.paper, &self.standing);
        self.player.then(work);
        self
    }

    /// Takes what a socket has told, if it has, and goes on.
    pub(super) fn advance(&mut self, live: &mut Live, session: &Session<'_>, told: Option<Told>) {
        let globals = &self.paper.globals;
        let means = Means {
            destination: &|server| socket_address(&server.address, server.port),
            source: globals.source,
            // Only YAML shows it.
            tells_local: globals.yaml,
            roots: Some(session.trust.roots()),
            ..Means::default()
        };
        if let Some(told) = told {
            live.take(&mut self.player, told, &means);
        }
        live.advance(&mut self.player, &means);
    }

    /// Shows what was printed since.
    pub(super) fn show(&self, output: &mut Output<'_>) -> std::io::Result<()> {
        output.show(&self.paper.pieces.take())
    }
}

/// What a machine does for some lookups.
fn work(
    session: &Session<'_>,
    began: Duration,
    lookups: Vec<Lookup>,
    paper: &Rc<Paper>,
    standing: &Rc<Standing>,
) -> impl FnOnce(Rc<Io>) -> Work + 'static {
    let settings = session.settings(began);
    let (screen, standing) = (Rc::clone(paper), Rc::clone(standing));
    let lookups = lookups.into_iter().map(|it| (it, Because::AsIs));
    move |io| {
        Box::pin(async move {
            Dighost::new(io, settings, screen, standing)
                .run(lookups)
                .await;
            Outcome::Found(Vec::new())
        })
    }
}

type Work = std::pin::Pin<Box<dyn Future<Output = Outcome>>>;
