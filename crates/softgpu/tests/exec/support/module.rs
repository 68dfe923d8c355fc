//! A small loader of code objects.

use object::elf::PT_LOAD;
use object::read::elf::{ElfFile64, ProgramHeader};
use object::{Endianness, Object, ObjectSymbol, RelocationFlags, RelocationTarget};

use super::memory::Buffer;

// Relocation types of AMDGPU.
const R_AMDGPU_ABS64: u32 = 3;
const R_AMDGPU_RELATIVE64: u32 = 13;

/// A loaded code object.
pub struct Module {
    image: Buffer,
    symbols: Vec<(String, u64)>,
}

impl Module {
    pub fn load(bytes: &[u8]) -> Module {
        let elf = ElfFile64::<Endianness>::parse(bytes).expect("a code object is an ELF file");
        let endian = elf.endian();
        let segments = || elf.elf_program_headers().iter().filter(|p| p.p_type(endian) == PT_LOAD);
        let size = segments().map(|p| p.p_vaddr(endian) + p.p_memsz(endian)).max().expect("segments");
        let mut image = vec![0u8; size as usize];
        for segment in segments() {
            let data = segment.data(endian, bytes).expect("a segment's data");
            let at = segment.p_vaddr(endian) as usize;
            image[at..at + data.len()].copy_from_slice(data);
        }
        let loaded = Buffer::of(&image);
        let base = loaded.address();
        for (offset, relocation) in elf.dynamic_relocations().into_iter().flatten() {
            let RelocationFlags::Elf { r_type } = relocation.flags() else { panic!("an ELF relocation") };
            let symbol = match relocation.target() {
                RelocationTarget::Symbol(index) => elf.dynamic_symbol_table().and_then(|t| {
                    use object::ObjectSymbolTable;
                    t.symbol_by_index(index).ok().map(|s| s.address())
                }),
                _ => None,
            };
            let value = match r_type.0 {
                R_AMDGPU_RELATIVE64 => base.wrapping_add_signed(relocation.addend()),
                R_AMDGPU_ABS64 => base.wrapping_add_signed(relocation.addend()) + symbol.expect("a symbol"),
                other => panic!("relocation {other}"),
            };
            image[offset as usize..offset as usize + 8].copy_from_slice(&value.to_le_bytes());
        }
        // The image stays where it is: only its bytes change.
        loaded.write(&image);
        let symbols =
            elf.dynamic_symbols().filter_map(|s| Some((s.name().ok()?.to_owned(), base + s.address()))).collect();
        Module { image: loaded, symbols }
    }

    /// The address of a kernel's descriptor.
    pub fn kernel(&self, name: &str) -> u64 {
        self.symbol(&format!("{name}.kd"))
    }

    /// The address of a symbol.
    pub fn symbol(&self, name: &str) -> u64 {
        self.symbols.iter().find(|(n, _)| n == name).unwrap_or_else(|| panic!("no symbol {name}")).1
    }

    pub fn image(&self) -> &Buffer {
        &self.image
    }
}
