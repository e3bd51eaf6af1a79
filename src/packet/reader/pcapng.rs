//! Blocks of pcapng: sections, interfaces, packets, statistics.

use std::io::Read;

use super::blocks::{half, long, options, word};
use super::{CaptureError, MAX_RECORD, Packet, Window};
use crate::packet::LinkType;

const SECTION: u32 = 0x0a0d_0d0a;
const INTERFACE: u32 = 1;
/// Obsolete; tools of 2005 wrote it.
const OLD_PACKET: u32 = 2;
const SIMPLE_PACKET: u32 = 3;
const STATISTICS: u32 = 5;
const ENHANCED_PACKET: u32 = 6;

/// Option codes. Source: draft-ietf-opsawg-pcapng-04, section 4.
const OPT_COMMENT: u16 = 1;
const IF_TSRESOL: u16 = 9;
const IF_TSOFFSET: u16 = 14;
const EPB_FLAGS: u16 = 2;
const ISB_IFDROP: u16 = 5;
const ISB_OSDROP: u16 = 7;

/// Of more interfaces in a section packets are not read: each one is remembered.
const MAX_INTERFACES: usize = 65_536;

/// As many bytes of comments are kept.
const MAX_COMMENTS: usize = MAX_RECORD;

/// Where a capture is.
#[derive(Debug, Default)]
pub(super) struct Sections {
    is_big_endian: bool,
    interfaces: Vec<Interface>,
    /// The comments of sections and statistics that were not taken yet.
    comments: Vec<String>,
    /// Bytes of them.
    commented: usize,
    /// Drops of the sections before this one.
    dropped_before: Option<u64>,
    /// The time of the last packet: a simple one has none.
    time: i64,
}

/// What an Interface Description Block says.
#[derive(Clone, Copy, Debug)]
struct Interface {
    link: LinkType,
    snap_length: u32,
    unit: Unit,
    /// Seconds that are added to each time.
    offset: i64,
    drops: Option<u64>,
}

/// What a time counts.
#[derive(Clone, Copy, Debug)]
enum Unit {
    /// So many nanoseconds.
    Nanoseconds(i128),
    /// So many are a nanosecond.
    OfNanosecond(i128),
    /// Seconds by this power of two.
    Binary(u32),
}

impl Unit {
    /// The value of `if_tsresol`.
    fn from_resolution(resolution: u8) -> Self {
        let exponent = u32::from(resolution & 0x7f);
        if resolution & 0x80 != 0 {
            // More than 64 bits of a time are not there.
            return Self::Binary(exponent.min(64));
        }
        match exponent {
            0..=9 => Self::Nanoseconds(10i128.pow(9 - exponent)),
            // A time has 64 bits, which is less than 10^20.
            _ => Self::OfNanosecond(10i128.pow((exponent - 9).min(20))),
        }
    }
}

impl Interface {
    /// A time in nanoseconds since the epoch. Those beyond the year 2262 are
    /// taken for its last moment.
    fn time(&self, units: u64) -> i64 {
        let units = i128::from(units);
        let time = match self.unit {
            Unit::Nanoseconds(factor) => units * factor,
            Unit::OfNanosecond(divisor) => units / divisor,
            Unit::Binary(shift) => (units * 1_000_000_000) >> shift,
        };
        let time = time + i128::from(self.offset) * 1_000_000_000;
        let limit = if time < 0 { i64::MIN } else { i64::MAX };
        i64::try_from(time).unwrap_or(limit)
    }
}

impl Sections {
    /// Reads the first block, which is a section's header.
    pub(super) fn begin<R: Read>(&mut self, bytes: &mut Window<R>) -> Result<(), CaptureError> {
        self.block(bytes, 0).map(|_| ())
    }

    /// The next packet; `None`: there is none.
    pub(super) fn next<R: Read>(
        &mut self,
        bytes: &mut Window<R>,
        after: u64,
    ) -> Result<Option<Packet>, CaptureError> {
        loop {
            let Some((kind, length)) = self.block(bytes, after)? else {
                return Ok(None);
            };
            // Between the two lengths, of which the first is behind the type.
            let end = length - 4;
            let record = bytes.record();
            let packet = match kind {
                ENHANCED_PACKET => self.enhanced(record, end),
                SIMPLE_PACKET => self.simple(record, end),
                OLD_PACKET => self.old(record, end),
                _ => continue,
            };
            let what =
                "a packet that is longer than its block, or of an interface without description";
            let packet = packet.ok_or_else(|| CaptureError::Damaged {
                offset: bytes.offset - length as u64,
                after,
                what,
            })?;
            self.time = packet.time;
            return Ok(Some(packet));
        }
    }

    /// Reads a block and takes in what is no packet; its type and length.
    fn block<R: Read>(
        &mut self,
        bytes: &mut Window<R>,
        after: u64,
    ) -> Result<Option<(u32, usize)>, CaptureError> {
        loop {
            if !bytes.fill(12)? {
                let is_end = bytes.filled().is_empty();
                return if is_end {
                    Ok(None)
                } else {
                    Err(CaptureError::Cut { after })
                };
            }
            let filled = bytes.filled();
            let is_section = filled.starts_with(&SECTION.to_be_bytes());
            if is_section {
                self.is_big_endian = match word(filled, 8, true) {
                    Some(0x1a2b_3c4d) => true,
                    Some(0x4d3c_2b1a) => false,
                    _ => return Err(bytes.damaged(after, "a section in no byte order")),
                };
            }
            let kind = word(filled, 0, self.is_big_endian).unwrap_or_default();
            let length = word(filled, 4, self.is_big_endian).unwrap_or_default();
            if length < 12 || !length.is_multiple_of(4) {
                return Err(bytes.damaged(after, "a block of a length that no block has"));
            }
            let written = length;
            let length = length as usize;
            if length > MAX_RECORD {
                let is_needed = matches!(
                    kind,
                    SECTION | INTERFACE | OLD_PACKET | SIMPLE_PACKET | ENHANCED_PACKET
                );
                if is_needed {
                    return Err(bytes.damaged(after, "a block of more than 8 MiB"));
                }
                if !bytes.skip(written.into())? {
                    return Err(CaptureError::Cut { after });
                }
                continue;
            }
            if !bytes.fill(length)? {
                return Err(CaptureError::Cut { after });
            }
            if word(bytes.filled(), length - 4, self.is_big_endian) != Some(written) {
                return Err(bytes.damaged(after, "a block whose two lengths differ"));
            }
            bytes.take(length);
            let body = bytes.record().get(8..length - 4).unwrap_or_default();
            match kind {
                SECTION => self.section(body),
                INTERFACE if self.interface(body).is_none() => {
                    return Err(bytes.damaged(after, "an interface too many"));
                }
                STATISTICS => self.statistics(body),
                _ => {}
            }
            return Ok(Some((kind, length)));
        }
    }

    fn section(&mut self, body: &[u8]) {
        self.dropped_before = self.drops();
        self.interfaces.clear();
        self.comment(body.get(16..).unwrap_or_default());
    }

    /// Keeps the comments among options.
    fn comment(&mut self, bytes: &[u8]) {
        for (code, value) in options(bytes, self.is_big_endian) {
            if code == OPT_COMMENT && self.commented + value.len() <= MAX_COMMENTS {
                self.commented += value.len();
                let text = String::from_utf8_lossy(value);
                self.comments.push(text.into_owned());
            }
        }
    }

    pub(super) fn take_comments(&mut self) -> Vec<String> {
        self.commented = 0;
        std::mem::take(&mut self.comments)
    }

    fn interface(&mut self, body: &[u8]) -> Option<()> {
        let is_big_endian = self.is_big_endian;
        let link = half(body, 0, is_big_endian)?;
        let mut interface = Interface {
            link: LinkType::of_number(u32::from(link)),
            snap_length: word(body, 4, is_big_endian)?,
            unit: Unit::from_resolution(6),
            offset: 0,
            drops: None,
        };
        for (code, value) in options(body.get(8..).unwrap_or_default(), is_big_endian) {
            match (code, value) {
                (IF_TSRESOL, [resolution]) => interface.unit = Unit::from_resolution(*resolution),
                (IF_TSOFFSET, _) => {
                    let offset = long(value, 0, is_big_endian).unwrap_or_default();
                    interface.offset = offset.cast_signed();
                }
                _ => {}
            }
        }
        (self.interfaces.len() < MAX_INTERFACES).then(|| self.interfaces.push(interface))
    }

    fn statistics(&mut self, body: &[u8]) {
        let is_big_endian = self.is_big_endian;
        let number = word(body, 0, is_big_endian).unwrap_or(u32::MAX);
        let rest = body.get(12..).unwrap_or_default();
        // Both are since the capture began, of the interface and of the system.
        let counted = options(rest, is_big_endian)
            .filter(|(code, _)| [ISB_IFDROP, ISB_OSDROP].contains(code))
            .filter_map(|(_, value)| long(value, 0, is_big_endian));
        let drops = counted.fold(None, |sum: Option<u64>, it| {
            Some(sum.unwrap_or_default().saturating_add(it))
        });
        if let Some(interface) = self.interfaces.get_mut(number as usize) {
            interface.drops = drops.or(interface.drops);
        }
        self.comment(rest);
    }

    /// Drops of all interfaces of all sections so far.
    pub(super) fn drops(&self) -> Option<u64> {
        let now = self.interfaces.iter().filter_map(|it| it.drops);
        let all = now.chain(self.dropped_before);
        all.fold(None, |sum, it| Some(sum.unwrap_or(0u64).saturating_add(it)))
    }

    fn enhanced(&self, record: &[u8], end: usize) -> Option<Packet> {
        let interface = word(record, 8, self.is_big_endian)?;
        let packet = self.packet(record, interface, end)?;
        let rest = record
            .get(packet.end.next_multiple_of(4)..end)
            .unwrap_or_default();
        let mut outgoing = None;
        if !rest.is_empty() {
            let mut options = options(rest, self.is_big_endian);
            let flags = options.find(|(code, _)| *code == EPB_FLAGS);
            let flags = flags.and_then(|(_, it)| word(it, 0, self.is_big_endian));
            outgoing = flags
                .map(|it| it & 3)
                .filter(|it| *it != 0)
                .map(|it| it == 2);
        }
        Some(Packet { outgoing, ..packet })
    }

    fn old(&self, record: &[u8], end: usize) -> Option<Packet> {
        let interface = half(record, 8, self.is_big_endian)?;
        self.packet(record, interface.into(), end)
    }

    /// What stands behind the number of the interface in both of these blocks.
    fn packet(&self, record: &[u8], interface: u32, end: usize) -> Option<Packet> {
        const HEADER: usize = 28;
        let number = |at| word(record, at, self.is_big_endian);
        let of = self.interfaces.get(interface as usize)?;
        let units = u64::from(number(12)?) << 32 | u64::from(number(16)?);
        let stop = HEADER.checked_add(number(20)? as usize)?;
        Some(Packet {
            time: of.time(units),
            interface,
            outgoing: None,
            link: of.link,
            start: HEADER,
            end: Some(stop).filter(|it| *it <= end)?,
            original_length: number(24)?,
        })
    }

    fn simple(&self, record: &[u8], end: usize) -> Option<Packet> {
        const HEADER: usize = 12;
        let of = self.interfaces.first()?;
        let original_length = word(record, 8, self.is_big_endian)?;
        // 0: as much as there was.
        let most = if of.snap_length == 0 {
            u32::MAX
        } else {
            of.snap_length
        };
        let captured = original_length.min(most) as usize;
        Some(Packet {
            time: self.time,
            interface: 0,
            outgoing: None,
            link: of.link,
            start: HEADER,
            end: HEADER.saturating_add(captured).min(end),
            original_length,
        })
    }
}
