//! A setting of the kubelet, and where it was made.

use crate::text::Place;

/// A setting, where it was made, and what that overrode.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Setting<T> {
    /// What counts.
    pub value: T,
    /// Where it was set.
    pub origin: Origin,
    /// What it overrode, the strongest first; never the built-in default.
    pub overrode: Vec<(T, Origin)>,
}

/// Where a setting was made. `render` has the words.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Origin {
    /// Nowhere: the kubelet's own default.
    BuiltIn,
    /// In a file, at the value.
    File(Place),
    /// An argument of a running process that no file was found to give.
    Argument {
        /// The process.
        pid: u32,
        /// The argument as it was given, safe to print.
        argument: String,
    },
    /// An option of kdns.
    Option(&'static str),
    /// Where is not known; this pod was made since, and got what is set.
    Pod(String),
    /// A file that could set it could not be read, so the value is a guess:
    /// the kubelet's default. The reason, a whole sentence without a full stop.
    Unread(String),
}

impl<T> Setting<T> {
    /// A setting that nobody made.
    pub fn built_in(value: T) -> Self {
        Self::made(value, Origin::BuiltIn)
    }

    /// A setting that overrode nothing.
    pub fn made(value: T, origin: Origin) -> Self {
        Self {
            value,
            origin,
            overrode: Vec::new(),
        }
    }

    /// This setting, if it was made at all, over another one.
    pub(super) fn over(mut self, weaker: Self) -> Self {
        if self.origin == Origin::BuiltIn {
            return weaker;
        }
        let counted = (weaker.value, weaker.origin);
        let is_made =
            |(_, origin): &(T, Origin)| !matches!(origin, Origin::BuiltIn | Origin::Unread(_));
        self.overrode.extend(Some(counted).filter(is_made));
        self.overrode.extend(weaker.overrode);
        self
    }
}

impl Origin {
    /// Where it stands, if in a file.
    pub fn place(&self) -> Option<&Place> {
        match self {
            Self::File(place) => Some(place),
            _ => None,
        }
    }

    /// The same, or the argument or option in its stead.
    pub fn at(&self) -> Option<Place> {
        match self {
            Self::File(place) => Some(place.clone()),
            Self::Argument { argument, .. } => Some(Place::nowhere(argument)),
            Self::Option(option) => Some(Place::nowhere(option)),
            Self::BuiltIn | Self::Pod(_) | Self::Unread(_) => None,
        }
    }
}
