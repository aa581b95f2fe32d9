//! The token: `dally1-` and, in URL-safe base64 without padding, the length of the compact form, its
//! checksum (four bytes, little-endian) and the compact form itself. The length comes first so
//! that a token that was cut off can be told from one that was edited.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;

use super::{Schedule, ScheduleError, VERSION, binary};

const AGAIN: &str = "copy it again, from `dally1-` to its very end";

pub(super) fn write(schedule: &Schedule) -> String {
    let content = binary::encode(schedule);
    let mut bytes = Vec::with_capacity(content.len() + 8);
    binary::put(&mut bytes, content.len() as u64);
    bytes.extend_from_slice(&binary::checksum(&content).to_le_bytes());
    bytes.extend_from_slice(&content);
    format!("dally{VERSION}-{}", URL_SAFE_NO_PAD.encode(bytes))
}

/// The version and the rest of a text that begins like a token.
pub(super) fn recognise(text: &str) -> Option<(&str, &str)> {
    let (version, rest) = text.strip_prefix("dally")?.split_once('-')?;
    let is_number = !version.is_empty() && version.bytes().all(|byte| byte.is_ascii_digit());
    is_number.then_some((version, rest))
}

pub(super) fn read(version: &str, rest: &str) -> Result<Schedule, ScheduleError> {
    let error = |message: String| Err(ScheduleError { line: None, message });
    if version != VERSION {
        return error(format!(
            "this token is of version {version}; this Dally reads version {VERSION}"
        ));
    }
    // Mail clients and terminals break long lines; no token has a space of its own.
    let rest: String = rest.chars().filter(|char| !char.is_whitespace()).collect();
    let odd = |char: &char| !(char.is_ascii_alphanumeric() || matches!(char, '-' | '_'));
    if let Some(odd) = rest.chars().find(odd) {
        return error(format!(
            "the token was damaged: `{}` is not a character of tokens; {AGAIN}",
            odd.escape_debug()
        ));
    }
    let Ok(bytes) = URL_SAFE_NO_PAD.decode(rest) else {
        return error(format!("the token was cut off or edited; {AGAIN}"));
    };
    let mut reader = binary::Reader(&bytes);
    let (Ok(length), Ok(checksum)) = (reader.number(), reader.take(4)) else {
        return error(format!("the token was cut off: hardly anything is left of it; {AGAIN}"));
    };
    let content = reader.0;
    let have = content.len() as u64;
    if have < length {
        return error(format!(
            "the token was cut off or edited: it has {have} bytes of {length}; {AGAIN}"
        ));
    }
    if have > length || binary::checksum(content).to_le_bytes() != checksum {
        return error(format!("the token was edited: its checksum does not match; {AGAIN}"));
    }
    binary::decode(content).or_else(|why| {
        error(format!("the token was not made by Dally: its checksum matches, but {why}"))
    })
}
