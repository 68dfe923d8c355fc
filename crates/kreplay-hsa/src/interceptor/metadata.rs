//! Which arguments of a kernel are pointers: what a code object's metadata says.
//!
//! ```text
//!   ELF, a note of AMDGPU's, type 32: MessagePack
//!   { "amdhsa.kernels": [ { ".symbol": "NAME.kd", ".args": [ { ".value_kind": "global_buffer", ".offset": 8, … }, … ], … }, … ], … }
//! ```

use object::LittleEndian;
use object::elf::{FileHeader64, NoteType};
use object::read::elf::{FileHeader, ProgramHeader};
use std::collections::HashMap;
use std::sync::Arc;

/// Where the pointers to global memory are among the argument bytes of each kernel, in order, by the descriptor's symbol.
pub(super) type Pointers = HashMap<String, Arc<[u32]>>;

/// `NT_AMDGPU_METADATA`.
const NOTE_TYPE: NoteType = NoteType(32);
/// How deep values may lie in others.
const DEPTH: u32 = 32;

/// What a code object says. Nothing for one that is none, or that has other metadata.
pub(super) fn pointers(code: &[u8]) -> Pointers {
    let mut found = Pointers::new();
    if let Some(metadata) = note(code) {
        // What is damaged ends there.
        let _ = Message(metadata).kernels(&mut found);
    }
    found
}

fn note(code: &[u8]) -> Option<&[u8]> {
    let header = FileHeader64::<LittleEndian>::parse(code).ok()?;
    for segment in header.program_headers(LittleEndian, code).ok()? {
        let Ok(Some(mut notes)) = segment.notes(LittleEndian, code) else { continue };
        while let Ok(Some(note)) = notes.next() {
            if note.n_type(LittleEndian) == NOTE_TYPE && note.name() == b"AMDGPU" {
                return Some(note.desc());
            }
        }
    }
    None
}

/// What is left of a message.
struct Message<'a>(&'a [u8]);

/// A value; those of lists and maps follow it.
enum Value<'a> {
    Number(u64),
    Text(&'a [u8]),
    List(u32),
    Map(u32),
    Other,
}

impl<'a> Message<'a> {
    fn kernels(&mut self, found: &mut Pointers) -> Option<()> {
        self.map(|message, key| match key {
            b"amdhsa.kernels" => message.list(|message| message.kernel(found)),
            _ => message.skip(DEPTH),
        })
    }

    fn kernel(&mut self, found: &mut Pointers) -> Option<()> {
        let (mut symbol, mut pointers) = (None, Vec::new());
        self.map(|message, key| match key {
            b".symbol" => {
                symbol = message.text();
                symbol.map(|_| ())
            }
            b".args" => message.list(|message| {
                pointers.extend(message.pointer()?);
                Some(())
            }),
            _ => message.skip(DEPTH),
        })?;
        pointers.sort_unstable();
        found.insert(String::from_utf8_lossy(symbol?).into_owned(), pointers.into());
        Some(())
    }

    /// The offset of an argument that is a pointer.
    fn pointer(&mut self) -> Option<Option<u32>> {
        let (mut offset, mut is_pointer) = (None, false);
        self.map(|message, key| match key {
            b".offset" => match message.value()? {
                Value::Number(number) => {
                    offset = u32::try_from(number).ok();
                    offset.map(|_| ())
                }
                _ => None,
            },
            b".value_kind" => {
                is_pointer = message.text()? == b"global_buffer";
                Some(())
            }
            _ => message.skip(DEPTH),
        })?;
        Some(offset.filter(|_| is_pointer))
    }

    /// Reads a map, with each key before its value.
    fn map(&mut self, mut entry: impl FnMut(&mut Self, &'a [u8]) -> Option<()>) -> Option<()> {
        let Value::Map(count) = self.value()? else { return None };
        for _ in 0..count {
            let key = self.text()?;
            entry(self, key)?;
        }
        Some(())
    }

    fn list(&mut self, mut item: impl FnMut(&mut Self) -> Option<()>) -> Option<()> {
        let Value::List(count) = self.value()? else { return None };
        (0..count).try_for_each(|_| item(self))
    }

    fn text(&mut self) -> Option<&'a [u8]> {
        match self.value()? {
            Value::Text(text) => Some(text),
            _ => None,
        }
    }

    fn skip(&mut self, depth: u32) -> Option<()> {
        let below = match self.value()? {
            Value::List(count) => u64::from(count),
            Value::Map(count) => 2 * u64::from(count),
            _ => 0,
        };
        if below != 0 && depth == 0 {
            return None;
        }
        (0..below).try_for_each(|_| self.skip(depth - 1))
    }

    fn value(&mut self) -> Option<Value<'a>> {
        let tag = self.number(1)? as u8;
        Some(match tag {
            0x00..=0x7f => Value::Number(tag.into()),
            0x80..=0x8f => Value::Map((tag & 0xf).into()),
            0x90..=0x9f => Value::List((tag & 0xf).into()),
            0xa0..=0xbf => Value::Text(self.take((tag & 0x1f).into())?),
            0xcc..=0xcf => Value::Number(self.number(1 << (tag - 0xcc))?),
            0xd9..=0xdb => {
                let bytes = self.number(1 << (tag - 0xd9))?;
                Value::Text(self.take(bytes)?)
            }
            0xdc | 0xdd => Value::List(self.number(2 << (tag - 0xdc))? as u32),
            0xde | 0xdf => Value::Map(self.number(2 << (tag - 0xde))? as u32),
            // Bytes, and others with the length before a type.
            0xc4..=0xc6 => self.other(1 << (tag - 0xc4), 0)?,
            0xc7..=0xc9 => self.other(1 << (tag - 0xc7), 1)?,
            // Numbers that are negative or no whole ones, and others of a known length behind a type.
            0xca => self.over(4)?,
            0xcb => self.over(8)?,
            0xd0..=0xd3 => self.over(1 << (tag - 0xd0))?,
            0xd4..=0xd8 => self.over(1 + (1 << (tag - 0xd4)))?,
            _ => Value::Other,
        })
    }

    fn other(&mut self, length_bytes: u64, more: u64) -> Option<Value<'a>> {
        let bytes = self.number(length_bytes)?;
        self.over(bytes + more)
    }

    fn over(&mut self, bytes: u64) -> Option<Value<'a>> {
        self.take(bytes)?;
        Some(Value::Other)
    }

    fn number(&mut self, bytes: u64) -> Option<u64> {
        Some(self.take(bytes)?.iter().fold(0, |number, byte| number << 8 | u64::from(*byte)))
    }

    fn take(&mut self, bytes: u64) -> Option<&'a [u8]> {
        let (taken, left) = self.0.split_at_checked(usize::try_from(bytes).ok()?)?;
        self.0 = left;
        Some(taken)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const CODE: &[u8] = include_bytes!("../../kernels/conformance-gfx90a.co");

    #[test]
    fn pointers_of_a_code_object_are_found() {
        let found = pointers(include_bytes!("../../kernels/memory-gfx90a.co"));
        let mut found: Vec<(&str, &[u32])> = found.iter().map(|(symbol, at)| (symbol.as_str(), &**at)).collect();
        found.sort_unstable();
        let [table, both]: [&[u32]; 2] = [&[0], &[0, 8]];
        assert_eq!(found, [("kreplay_compare.kd", both), ("kreplay_copy.kd", table), ("kreplay_hash.kd", both)]);
    }

    #[test]
    fn what_is_no_code_object_says_nothing() {
        assert!(pointers(b"").is_empty() && pointers(&CODE[..100]).is_empty() && !pointers(CODE).is_empty());
    }

    #[test]
    fn other_values_are_skipped() {
        let mut message = vec![0x82, 0xa1, b'x'];
        // A list of every other kind of value.
        message.extend([0xdc, 0, 13, 0xc0, 0xc3, 0xff, 0xca, 0, 0, 0, 0, 0xd1, 0, 0, 0xc4, 2, 1, 2, 0xc7, 1, 9, 9]);
        message.extend([0xd4, 1, 1, 0xd9, 1, b'y', 0xcd, 1, 0, 0x81, 1, 2, 0xde, 0, 0, 0xcb, 0, 0, 0, 0, 0, 0, 0, 0]);
        message.extend([0xae]);
        message.extend(b"amdhsa.kernels");
        message.extend([0x91, 0x82, 0xa7]);
        message.extend(b".symbol");
        message.extend([0xa1, b'k', 0xa5]);
        message.extend(b".args");
        message.extend([0x90]);
        let mut found = Pointers::new();
        assert!(Message(&message).kernels(&mut found).is_some());
        assert_eq!(found.keys().collect::<Vec<_>>(), ["k"]);
    }

    proptest! {
        #[test]
        fn damaged_metadata_harms_nobody(at in 0..CODE.len(), byte: u8, end in 0..CODE.len()) {
            let mut code = CODE.to_vec();
            code[at] = byte;
            pointers(&code);
            pointers(&code[..end]);
        }

        #[test]
        fn any_message_ends(message: Vec<u8>) {
            let _ = Message(&message).skip(DEPTH);
            let _ = Message(&message).kernels(&mut Pointers::new());
        }
    }
}
