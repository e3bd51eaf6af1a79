//! Texts of rules: files, which are read in pieces, and pipes.

use std::fs::File;
use std::io::{self, ErrorKind, Read};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::FileExt as _;
use std::path::Path;

use crate::rules::Text;
use crate::text::escaped;

/// No more is taken from a pipe.
const MOST_PIPED: usize = 1 << 30;

const CHUNK: usize = 1 << 20;

/// A file of which only what is asked for is read.
#[derive(Debug)]
struct Filed {
    name: String,
    file: File,
    length: u64,
}

/// What came out of a pipe.
#[derive(Debug)]
struct Piped {
    name: String,
    /// All but the last are full.
    chunks: Vec<Vec<u8>>,
}

impl Text for Filed {
    fn name(&self) -> &str {
        &self.name
    }

    fn length(&self) -> u64 {
        self.length
    }

    fn read_at(&self, at: u64, buffer: &mut [u8]) -> io::Result<usize> {
        let mut filled = 0;
        while let Some(room) = buffer.get_mut(filled..).filter(|it| !it.is_empty()) {
            match self.file.read_at(room, at + filled as u64) {
                Ok(0) => break,
                Ok(count) => filled += count,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(filled)
    }
}

impl Text for Piped {
    fn name(&self) -> &str {
        &self.name
    }

    fn length(&self) -> u64 {
        self.chunks.iter().map(|it| it.len() as u64).sum()
    }

    fn read_at(&self, at: u64, buffer: &mut [u8]) -> io::Result<usize> {
        let at = usize::try_from(at).unwrap_or(usize::MAX);
        let (mut index, mut offset) = (at / CHUNK, at % CHUNK);
        let mut filled = 0;
        while let Some(room) = buffer.get_mut(filled..).filter(|it| !it.is_empty()) {
            let rest = self.chunks.get(index).and_then(|it| it.get(offset..));
            let Some(rest) = rest.filter(|it| !it.is_empty()) else {
                break;
            };
            let count = rest.len().min(room.len());
            let both = room.iter_mut().zip(rest);
            both.for_each(|(to, from)| *to = *from);
            filled += count;
            (index, offset) = (index + 1, 0);
        }
        Ok(filled)
    }
}

/// The text of a file that the caller named; a pipe is read to its end.
///
/// # Errors
///
/// It cannot be read, or is neither.
pub fn open(path: &Path) -> io::Result<Box<dyn Text + Send>> {
    open_as(path, escaped(path.as_os_str().as_bytes()))
}

/// The same under another name.
pub(super) fn open_as(path: &Path, name: String) -> io::Result<Box<dyn Text + Send>> {
    let file = File::open(path)?;
    let metadata = file.metadata()?;
    if metadata.is_dir() {
        return Err(ErrorKind::IsADirectory.into());
    }
    if metadata.is_file() && metadata.len() > 0 {
        let length = metadata.len();
        return Ok(Box::new(Filed { name, file, length }));
    }
    // Files of /proc have no length.
    piped(name, file)
}

/// The text that comes out of a stream, up to its end.
///
/// # Errors
///
/// It cannot be read, or there is more than 1 GiB of it.
pub fn piped(name: String, stream: impl Read) -> io::Result<Box<dyn Text + Send>> {
    let mut stream = stream;
    let mut chunks = Vec::new();
    loop {
        let mut chunk = Vec::with_capacity(CHUNK);
        let count = (&mut stream).take(CHUNK as u64).read_to_end(&mut chunk)?;
        if count > 0 {
            chunks.push(chunk);
        }
        if count < CHUNK {
            return Ok(Box::new(Piped { name, chunks }));
        }
        if chunks.len() * CHUNK >= MOST_PIPED {
            return Err(io::Error::other("it is longer than 1 GiB"));
        }
    }
}
