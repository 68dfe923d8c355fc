//! Writes small ELF files for tests.

/// Sections and symbols of a 64-bit little-endian file.
#[derive(Debug, Default)]
pub(crate) struct Elf {
    sections: Vec<(String, u32, Vec<u8>)>,
    symbols: Vec<(String, u8, u16, u64, u64)>,
}

impl Elf {
    /// Adds a section; gives its number.
    pub(crate) fn section(&mut self, name: &str, kind: u32, bytes: Vec<u8>) -> u16 {
        self.sections.push((name.to_owned(), kind, bytes));
        self.sections.len() as u16
    }

    /// Adds a symbol; gives its number.
    pub(crate) fn symbol(&mut self, name: &str, kind: u8, section: u16, value: u64, bytes: u64) -> u32 {
        self.symbols.push((name.to_owned(), kind, section, value, bytes));
        self.symbols.len() as u32
    }

    /// The file: header, section contents, symbol table, strings, section headers.
    pub(crate) fn build(&self) -> Vec<u8> {
        let mut strings = vec![0u8];
        let mut string = |text: &str| {
            let at = strings.len() as u32;
            strings.extend(text.bytes().chain([0]));
            at
        };
        let mut symbols = vec![0u8; 24];
        for (name, kind, section, value, bytes) in &self.symbols {
            symbols.extend(string(name).to_le_bytes());
            symbols.extend([0x10 | kind, 0]);
            symbols.extend(section.to_le_bytes());
            symbols.extend(value.to_le_bytes());
            symbols.extend(bytes.to_le_bytes());
        }
        let strtab = self.sections.len() as u32 + 2;
        let mut all: Vec<(u32, u32, Vec<u8>, u32, u64)> =
            self.sections.iter().map(|(name, kind, bytes)| (string(name), *kind, bytes.clone(), 0, 0)).collect();
        all.push((string(".symtab"), 2, symbols, strtab, 24));
        let name = string(".strtab");
        all.push((name, 3, strings, 0, 0));
        let mut file = vec![0u8; 64];
        let mut headers = vec![0u8; 64];
        for (name, kind, bytes, link, entry) in &all {
            headers.extend(name.to_le_bytes());
            headers.extend(kind.to_le_bytes());
            headers.extend([0; 16]);
            headers.extend((file.len() as u64).to_le_bytes());
            headers.extend((bytes.len() as u64).to_le_bytes());
            headers.extend(link.to_le_bytes());
            headers.extend(0u32.to_le_bytes());
            headers.extend(1u64.to_le_bytes());
            headers.extend(entry.to_le_bytes());
            file.extend(bytes);
        }
        let table = file.len() as u64;
        file.extend(headers);
        file[..16].copy_from_slice(b"\x7fELF\x02\x01\x01\x41\x08\0\0\0\0\0\0\0");
        file[16..18].copy_from_slice(&2u16.to_le_bytes());
        file[18..20].copy_from_slice(&190u16.to_le_bytes());
        file[20..24].copy_from_slice(&1u32.to_le_bytes());
        file[40..48].copy_from_slice(&table.to_le_bytes());
        file[52..54].copy_from_slice(&64u16.to_le_bytes());
        file[58..60].copy_from_slice(&64u16.to_le_bytes());
        file[60..62].copy_from_slice(&(all.len() as u16 + 1).to_le_bytes());
        file[62..64].copy_from_slice(&(all.len() as u16).to_le_bytes());
        file
    }
}
