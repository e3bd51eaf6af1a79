//! Reads a capture: a file, a pipe or standard input, as it is or compressed,
//! until Ctrl-C.

use std::io::{self, BufRead, BufReader, Cursor, Read};
use std::os::fd::{AsFd as _, OwnedFd};
use std::path::Path;
use std::time::Duration;

use flate2::bufread::MultiGzDecoder;
use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::stat::{SFlag, fstat};
use ruzstd::decoding::errors::{FrameDecoderError, ReadFrameHeaderError};
use ruzstd::decoding::{BlockDecodingStrategy, FrameDecoder};

use super::interrupt::Interrupt;
use super::{ReadError, file_type, open_named};

/// As much is read at once.
const CHUNK: usize = 64 << 10;

/// What says how far back a zstd stream looks. `zstd -19` looks 8 MiB back, and
/// what looks further needs more memory than kdns takes.
const MAX_WINDOW: u64 = 32 << 20;

/// The bytes of the capture at `path`, until Ctrl-C; compressed if they are.
///
/// # Errors
///
/// It cannot be opened.
pub fn open(path: &Path, interrupt: Interrupt) -> Result<impl Read + use<>, ReadError> {
    let inner = open_named(path)?;
    let descriptor = inner.as_fd().try_clone_to_owned().ok();
    Ok(Interruptible {
        inner,
        descriptor,
        interrupt,
    })
}

/// The same of standard input.
pub fn standard_input(input: &mut dyn BufRead, interrupt: Interrupt) -> impl Read {
    let descriptor = io::stdin().as_fd().try_clone_to_owned().ok();
    // Larger than the buffer of standard input, which so stays empty.
    BufReader::with_capacity(
        CHUNK,
        Interruptible {
            inner: input,
            descriptor,
            interrupt,
        },
    )
}

/// Bytes that end at Ctrl-C, also while nothing comes.
struct Interruptible<R> {
    inner: R,
    /// What can be waited for.
    descriptor: Option<OwnedFd>,
    interrupt: Interrupt,
}

/// So long after Ctrl-C a pipe may still bring something: who writes to it was
/// told to end, too, and has packets that it did not hand on yet.
const GRACE: Duration = Duration::from_millis(500);

impl<R: Read> Read for Interruptible<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if let Some(descriptor) = &self.descriptor {
            let source = PollFd::new(descriptor.as_fd(), PollFlags::POLLIN);
            let signals = PollFd::new(self.interrupt.as_fd(), PollFlags::POLLIN);
            wait(&mut [source, signals], PollTimeout::NONE)?;
        }
        let Some(since) = self.interrupt.since() else {
            return self.inner.read(buffer);
        };
        let Some(descriptor) = self.descriptor.as_ref().filter(|it| is_pipe(it)) else {
            return Ok(0);
        };
        let rest = PollTimeout::try_from(GRACE.saturating_sub(since)).unwrap_or(PollTimeout::ZERO);
        match wait(
            &mut [PollFd::new(descriptor.as_fd(), PollFlags::POLLIN)],
            rest,
        )? {
            0 => Ok(0),
            _ => self.inner.read(buffer),
        }
    }
}

fn is_pipe(descriptor: &OwnedFd) -> bool {
    fstat(descriptor).is_ok_and(|it| file_type(it.st_mode) == SFlag::S_IFIFO)
}

fn wait(all: &mut [PollFd<'_>], timeout: PollTimeout) -> io::Result<i32> {
    loop {
        match poll(all, timeout) {
            Err(Errno::EINTR) => {}
            result => return Ok(result?),
        }
    }
}

/// Source: RFC 1952, section 2.3.1; RFC 8878, section 3.1.1.
const GZIP: &[u8] = &[0x1f, 0x8b];
const ZSTD: &[u8] = &[0x28, 0xb5, 0x2f, 0xfd];

/// Takes off what a stream is compressed with, by how it begins.
///
/// # Errors
///
/// It cannot be read.
pub fn decompressed<'s>(mut source: impl Read + 's) -> io::Result<Box<dyn Read + 's>> {
    let mut beginning = Vec::new();
    while beginning.len() < ZSTD.len() {
        let mut bytes = [0; 4];
        let free = bytes.get_mut(beginning.len()..).unwrap_or_default();
        match source.read(free) {
            Ok(0) => break,
            Ok(read) => beginning.extend(free.iter().take(read)),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    let is_gzip = beginning.starts_with(GZIP);
    let is_zstd = beginning == ZSTD;
    let whole = Cursor::new(beginning).chain(source);
    Ok(if is_gzip {
        Box::new(MultiGzDecoder::new(BufReader::with_capacity(CHUNK, whole)))
    } else if is_zstd {
        Box::new(Zstd::new(BufReader::with_capacity(CHUNK, whole)))
    } else {
        Box::new(whole)
    })
}

/// The frames of a zstd stream, one after the other.
struct Zstd<R> {
    source: R,
    decoder: FrameDecoder,
    /// Whether a frame has begun and is not over.
    is_open: bool,
}

impl<R: BufRead> Zstd<R> {
    fn new(source: R) -> Self {
        let mut decoder = FrameDecoder::new();
        decoder.set_max_window_size(MAX_WINDOW);
        Self {
            source,
            decoder,
            is_open: false,
        }
    }

    /// Begins the next frame; `false`: there is none.
    fn open(&mut self) -> io::Result<bool> {
        while !self.source.fill_buf()?.is_empty() {
            match self.decoder.reset(&mut self.source) {
                Ok(()) => return Ok(true),
                Err(FrameDecoderError::ReadFrameHeaderError(ReadFrameHeaderError::SkipFrame {
                    length,
                    ..
                })) => {
                    let mut skipped = (&mut self.source).take(length.into());
                    io::copy(&mut skipped, &mut io::sink())?;
                }
                Err(error) => return Err(self.ended(&error)),
            }
        }
        Ok(false)
    }

    /// What is wrong: nothing but the end, or its bytes.
    fn ended(&mut self, error: &FrameDecoderError) -> io::Error {
        match self.source.fill_buf() {
            Ok([]) => io::ErrorKind::UnexpectedEof.into(),
            Ok(_) => damaged(error),
            Err(error) => error,
        }
    }
}

impl<R: BufRead> Read for Zstd<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            if !self.is_open {
                if !self.open()? {
                    return Ok(0);
                }
                self.is_open = true;
            }
            let read = self.decoder.read(buffer)?;
            if read > 0 || buffer.is_empty() {
                return Ok(read);
            }
            if self.decoder.is_finished() {
                self.is_open = false;
                continue;
            }
            let one = BlockDecodingStrategy::UptoBlocks(1);
            if let Err(error) = self.decoder.decode_blocks(&mut self.source, one) {
                return Err(self.ended(&error));
            }
        }
    }
}

fn damaged(error: &FrameDecoderError) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, error.to_string())
}
