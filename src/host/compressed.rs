//! What a stream is compressed with is taken off.

use std::io::{self, BufRead, BufReader, Cursor, Read};

use flate2::bufread::MultiGzDecoder;
use ruzstd::decoding::errors::{FrameDecoderError, ReadFrameHeaderError};
use ruzstd::decoding::{BlockDecodingStrategy, FrameDecoder};

/// As much is read at once.
const CHUNK: usize = 64 << 10;

/// What says how far back a zstd stream looks. `zstd -19` looks 8 MiB back, and
/// what looks further needs more memory than kdns takes.
const MAX_WINDOW: u64 = 32 << 20;

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
                Err(error) => return Err(damaged(&error)),
            }
        }
        Ok(false)
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
            let decoded = self.decoder.decode_blocks(&mut self.source, one);
            decoded.map_err(|error| damaged(&error))?;
        }
    }
}

fn damaged(error: &FrameDecoderError) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, error.to_string())
}
