//! Settings of one program from several files, in the order in which the
//! program meets them.

use crate::text::{Lines, Place, Source, Span};

/// Files and the settings in them. Which file follows which `include` is up
/// to the one who read them.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Settings {
    /// The files, in the order in which they were opened.
    pub files: Vec<Source>,
    /// The settings, in the order in which the program meets them.
    pub settings: Vec<Setting>,
}

/// A name and perhaps a value: `server=192.0.2.1`, `forward-addr: 192.0.2.1`.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Setting {
    /// The file, as an index of [`Settings::files`].
    pub file: usize,
    /// The name, as written.
    pub name: Span,
    /// The value without the white space around it; `None`: there is none.
    pub value: Option<Span>,
}

impl Settings {
    /// The name of a setting, as written.
    pub fn name(&self, setting: &Setting) -> &[u8] {
        self.bytes(setting, setting.name)
    }

    /// The value of a setting, as written; empty if it has none.
    pub fn value(&self, setting: &Setting) -> &[u8] {
        self.bytes(setting, setting.value.unwrap_or_default())
    }

    /// Finds the lines of all files, to tell the places of settings.
    pub fn places(&self) -> Places<'_> {
        Places {
            files: self.files.iter().map(Lines::new).collect(),
        }
    }

    fn bytes(&self, setting: &Setting, span: Span) -> &[u8] {
        let file = self.files.get(setting.file);
        file.map_or(&[], |file| span.slice(&file.bytes))
    }
}

/// The places of settings.
#[derive(Clone, Debug)]
pub struct Places<'s> {
    files: Vec<Lines<'s>>,
}

impl Places<'_> {
    /// Where the value is written, or the name if there is none.
    pub fn place(&self, setting: &Setting) -> Place {
        let span = setting.value.unwrap_or(setting.name);
        let file = self.files.get(setting.file);
        file.map_or_else(|| Place::nowhere("nowhere"), |it| it.place_of(span.start))
    }
}
