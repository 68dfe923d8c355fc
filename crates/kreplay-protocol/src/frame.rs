//! Frames: a length of four bytes, little endian, then one message in postcard.

use std::io::{self, Read};

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::{DecodeError, FromCommand, FromLibrary, ReceiveError};

/// The longest payload of a frame, in bytes. Senders keep below it with [`crate::bounded_text`] and
/// [`crate::MAX_RANGES`]; a receiver drops the connection of a peer that announces more.
pub const MAX_FRAME: usize = 4 << 20;

/// The message in `payload`, a frame without its length.
///
/// # Errors
/// [`DecodeError`]; never panics, whatever the bytes are.
pub fn decode(payload: &[u8]) -> Result<FromLibrary, DecodeError> {
    decode_any(payload)
}

/// As [`decode`], for what the command says.
///
/// # Errors
/// [`DecodeError`]; never panics, whatever the bytes are.
pub fn decode_command(payload: &[u8]) -> Result<FromCommand, DecodeError> {
    decode_any(payload)
}

/// The whole frame, length included, for a message of the library.
///
/// # Errors
/// [`DecodeError::TooLong`] when the message does not fit into a frame.
pub fn encode(message: &FromLibrary) -> Result<Vec<u8>, DecodeError> {
    encode_any(message)
}

/// The whole frame, length included, for a message of the command.
///
/// # Errors
/// [`DecodeError::TooLong`] when the message does not fit into a frame.
pub fn encode_command(message: &FromCommand) -> Result<Vec<u8>, DecodeError> {
    encode_any(message)
}

/// The next message of the library from `from`; `None` when it closed the connection between two frames.
///
/// # Errors
/// [`ReceiveError`] when the connection broke inside a frame or the frame is not a message.
pub fn read_library(from: &mut impl Read) -> Result<Option<FromLibrary>, ReceiveError> {
    Ok(match read_payload(from)? {
        Some(payload) => Some(decode(&payload)?),
        None => None,
    })
}

/// The next message of the command from `from`; `None` when it closed the connection between two frames.
///
/// # Errors
/// [`ReceiveError`] when the connection broke inside a frame or the frame is not a message.
pub fn read_command(from: &mut impl Read) -> Result<Option<FromCommand>, ReceiveError> {
    Ok(match read_payload(from)? {
        Some(payload) => Some(decode_command(&payload)?),
        None => None,
    })
}

fn decode_any<T: DeserializeOwned>(payload: &[u8]) -> Result<T, DecodeError> {
    let bytes = payload.len();
    if bytes > MAX_FRAME {
        return Err(DecodeError::TooLong { bytes });
    }
    match postcard::take_from_bytes(payload) {
        Ok((message, [])) => Ok(message),
        Ok((_, rest)) => Err(DecodeError::TrailingBytes { bytes, extra: rest.len() }),
        Err(error) => Err(DecodeError::NotAMessage { bytes, why: error.to_string() }),
    }
}

fn encode_any<T: Serialize>(message: &T) -> Result<Vec<u8>, DecodeError> {
    let mut frame = match postcard::to_extend(message, vec![0; 4]) {
        Ok(frame) => frame,
        Err(error) => return Err(DecodeError::NotAMessage { bytes: 0, why: error.to_string() }),
    };
    let bytes = frame.len() - 4;
    match u32::try_from(bytes) {
        Ok(length) if bytes <= MAX_FRAME => {
            frame[..4].copy_from_slice(&length.to_le_bytes());
            Ok(frame)
        }
        _ => Err(DecodeError::TooLong { bytes }),
    }
}

fn read_payload(from: &mut impl Read) -> Result<Option<Vec<u8>>, ReceiveError> {
    let mut length = [0; 4];
    let mut have = 0;
    while have < 4 {
        match from.read(&mut length[have..]) {
            Ok(0) if have == 0 => return Ok(None),
            Ok(0) => return Err(ReceiveError::Socket(io::ErrorKind::UnexpectedEof.into())),
            Ok(more) => have += more,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(ReceiveError::Socket(error)),
        }
    }
    let bytes = u32::from_le_bytes(length) as usize;
    if bytes > MAX_FRAME {
        return Err(DecodeError::TooLong { bytes }.into());
    }
    let mut payload = vec![0; bytes];
    from.read_exact(&mut payload)?;
    Ok(Some(payload))
}

/// A buffered reader of frames, so that a busy connection costs fewer system calls.
#[derive(Debug)]
pub struct FrameReader<R: Read> {
    inner: io::BufReader<R>,
}

impl<R: Read> FrameReader<R> {
    /// Reads frames from `inner`.
    pub fn new(inner: R) -> Self {
        Self { inner: io::BufReader::with_capacity(256 << 10, inner) }
    }

    /// As [`read_library`].
    ///
    /// # Errors
    /// As [`read_library`].
    pub fn next_message(&mut self) -> Result<Option<FromLibrary>, ReceiveError> {
        read_library(&mut self.inner)
    }

    /// Whether bytes wait in the buffer, so that the next message may come without a system call.
    pub fn has_buffered(&self) -> bool {
        !self.inner.buffer().is_empty()
    }
}
