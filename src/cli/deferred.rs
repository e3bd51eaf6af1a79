//! Commands whose options are made only when they are asked for.

use std::ops::Deref;

use clap::builder::Resettable;
use clap::{ArgMatches, Args, Command, Error, FromArgMatches};

use super::help;

/// The arguments of a command that clap learns only when it is this command
/// that runs, is helped with, or is documented. The options of all the others
/// would take a tenth of the time of a start.
#[derive(Debug)]
pub(super) struct Deferred<T>(Box<T>);

impl<T> Deref for Deferred<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.0
    }
}

impl<T: Args> Args for Deferred<T> {
    fn augment_args(command: Command) -> Command {
        command.defer(|command| with_own_words(command, T::augment_args))
    }

    fn augment_args_for_update(command: Command) -> Command {
        command.defer(|command| with_own_words(command, T::augment_args_for_update))
    }
}

/// With the options, and what it was said to do: groups of options have words
/// of their own, which clap would take for the command's.
fn with_own_words(command: Command, augment: fn(Command) -> Command) -> Command {
    let about = command.get_about().cloned();
    let long_about = command.get_long_about().cloned();
    let command = augment(command)
        .about(Resettable::from(about))
        .long_about(Resettable::from(long_about));
    help::examples_first(command)
}

impl<T: FromArgMatches> FromArgMatches for Deferred<T> {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, Error> {
        T::from_arg_matches(matches).map(|it| Self(Box::new(it)))
    }

    fn from_arg_matches_mut(matches: &mut ArgMatches) -> Result<Self, Error> {
        T::from_arg_matches_mut(matches).map(|it| Self(Box::new(it)))
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), Error> {
        self.0.update_from_arg_matches(matches)
    }
}
