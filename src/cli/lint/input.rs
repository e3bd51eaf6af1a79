//! A file to lint.

use std::io::Read as _;
use std::path::Path;
use std::sync::Arc;

use crate::host;
use crate::lint::{Content, Origin, recognise};
use crate::text::Source;

/// A stream of documents longer than this is not judged. Of a long one only what
/// can be ours is parsed.
pub(super) const MAX_STREAM: usize = 64 << 20;

/// A file to lint.
#[derive(Clone, Debug)]
pub(super) struct Input {
    /// Its path as it is shown; unique.
    pub(super) path: Arc<str>,
    /// Where its bytes are.
    pub(super) place: Place,
    /// Whether the caller named it: then it has to be read.
    pub(super) is_named: bool,
}

/// Where the bytes of a file are.
#[derive(Clone, Debug)]
pub(super) enum Place {
    /// In a file.
    File(Box<Path>),
    /// In memory, as standard input is.
    Memory(Arc<Source>),
}

impl crate::lint::Input for Input {
    fn path(&self) -> Arc<str> {
        Arc::clone(&self.path)
    }

    fn content(&self) -> Result<Content, String> {
        let read = match &self.place {
            Place::Memory(source) => {
                let source = Arc::clone(source);
                let is_cut = false;
                return Ok(Content { source, is_cut });
            }
            Place::File(path) if self.is_named => host::read_path(path),
            Place::File(path) => host::read_found(path),
        };
        let mut read = read.map_err(|error| error.to_string())?;
        if read.is_cut
            && let Place::File(path) = &self.place
            && recognise::can_be_long(&self.path, &read.source.bytes)
        {
            let long = host::open_path(path)
                .and_then(|file| host::read_long(&self.path, file, MAX_STREAM));
            read = long.map_err(|error| error.to_string())?;
        }
        read.source.name = self.path.to_string();
        Ok(Content {
            source: Arc::new(read.source),
            is_cut: read.is_cut,
        })
    }

    fn origin(&self) -> Origin {
        match self.place {
            _ if self.is_named => Origin::Named,
            Place::Memory(_) => Origin::OfNode,
            Place::File(_) => Origin::Found,
        }
    }

    fn any_piece(&self, wanted: &dyn Fn(&[u8]) -> bool) -> bool {
        const PIECE: u64 = 1 << 20;
        const OVERLAP: usize = 64;
        let Place::File(path) = &self.place else {
            return false;
        };
        let Ok(mut file) = host::open_path(path) else {
            return false;
        };
        let mut piece = Vec::new();
        loop {
            let kept = piece.len().saturating_sub(OVERLAP);
            piece.drain(..kept);
            match file.by_ref().take(PIECE).read_to_end(&mut piece) {
                Ok(1..) if wanted(&piece) => return true,
                Ok(1..) => {}
                _ => return false,
            }
        }
    }
}
