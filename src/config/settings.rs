//! Settings of one program from several files, in the order in which the
//! program meets them.

use crate::text::{Mark, Place, Source, Span};

/// Files and the settings in them. Which file follows which `include` is up
/// to the one who read them.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Settings {
    /// The files, in the order in which they were opened.
    pub files: Vec<Source>,
    /// The settings, in the order in which the program meets them.
    pub settings: Vec<Setting>,
    last: Mark,
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

    /// Where the value is written, or the name if there is none.
    pub fn place(&self, setting: &Setting) -> Place {
        let span = setting.value.unwrap_or(setting.name);
        self.last.place(&self.files, setting.file, span.start)
    }

    fn bytes(&self, setting: &Setting, span: Span) -> &[u8] {
        let file = self.files.get(setting.file);
        file.map_or(&[], |file| span.of(&file.bytes))
    }
}
