//! Byte encodings of states.

use crate::message::Message;

/// Appends what `write` appends, preceded by its length, so that concatenations stay injective.
pub(crate) fn framed(out: &mut Vec<u8>, write: impl FnOnce(&mut Vec<u8>)) {
    let start = out.len();
    out.extend_from_slice(&[0; 4]);
    write(out);
    let length = (out.len() - start - 4) as u32;
    out[start..start + 4].copy_from_slice(&length.to_le_bytes());
}

/// Appends an event: its number at the receiver, and its content.
pub(crate) fn event(number: u16, message: &Message, out: &mut Vec<u8>) {
    out.extend_from_slice(&number.to_le_bytes());
    framed(out, |out| message.encode(out));
}
