//! Numbers and options in the blocks of a capture.

/// Bytes of a known number.
pub(super) fn array<const N: usize>(bytes: &[u8], at: usize) -> Option<[u8; N]> {
    bytes.get(at..)?.first_chunk().copied()
}

/// Two bytes as a number.
pub(super) fn half(bytes: &[u8], at: usize, is_big_endian: bool) -> Option<u16> {
    let bytes = array(bytes, at)?;
    Some(if is_big_endian {
        u16::from_be_bytes(bytes)
    } else {
        u16::from_le_bytes(bytes)
    })
}

/// Four bytes as a number.
pub(super) fn word(bytes: &[u8], at: usize, is_big_endian: bool) -> Option<u32> {
    let bytes = array(bytes, at)?;
    Some(if is_big_endian {
        u32::from_be_bytes(bytes)
    } else {
        u32::from_le_bytes(bytes)
    })
}

/// Eight bytes as a number.
pub(super) fn long(bytes: &[u8], at: usize, is_big_endian: bool) -> Option<u64> {
    let bytes = array(bytes, at)?;
    Some(if is_big_endian {
        u64::from_be_bytes(bytes)
    } else {
        u64::from_le_bytes(bytes)
    })
}

/// The options of a block by code and value, up to the end or to what is none.
pub(super) fn options(mut bytes: &[u8], is_big_endian: bool) -> impl Iterator<Item = (u16, &[u8])> {
    std::iter::from_fn(move || {
        let code = half(bytes, 0, is_big_endian).filter(|it| *it != 0)?;
        let length = usize::from(half(bytes, 2, is_big_endian)?);
        let value = bytes.get(4..4 + length)?;
        // Values are padded to four bytes; that of the last one may not be.
        bytes = bytes
            .get(4 + length.next_multiple_of(4)..)
            .unwrap_or_default();
        Some((code, value))
    })
}
