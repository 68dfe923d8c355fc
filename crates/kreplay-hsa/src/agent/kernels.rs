//! The device kernels: which chips have them, and how they are loaded.

use super::error::check;
use crate::abi::{
    AgentHandle, Executable, PROFILE_FULL, ROUNDING_DEFAULT, Reader, SYMBOL_INFO_GROUP_BYTES,
    SYMBOL_INFO_KERNEL_OBJECT, SYMBOL_INFO_PRIVATE_BYTES, Symbol,
};
use crate::tables::Api;
use kreplay_engine::AgentError;
use std::ffi::CStr;

/// Code objects, one a chip, built from `kernels/memory.hip` by `cargo xtask gen`.
const CODE: [(&str, &[u8]); 5] = [
    ("gfx90a", include_bytes!("../../kernels/memory-gfx90a.co")),
    ("gfx942", include_bytes!("../../kernels/memory-gfx942.co")),
    ("gfx1030", include_bytes!("../../kernels/memory-gfx1030.co")),
    ("gfx1100", include_bytes!("../../kernels/memory-gfx1100.co")),
    ("gfx1201", include_bytes!("../../kernels/memory-gfx1201.co")),
];

/// Whether there are device kernels for this chip.
pub(super) fn known(chip: &str) -> bool {
    code(chip).is_some()
}

fn code(chip: &str) -> Option<&'static [u8]> {
    CODE.iter().find(|(name, _)| *name == chip).map(|(_, bytes)| *bytes)
}

/// A kernel that can be launched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Kernel {
    /// Address of its descriptor.
    pub(super) object: u64,
    /// LDS of a work-group.
    pub(super) group_bytes: u32,
    /// Private memory of a work-item.
    pub(super) private_bytes: u32,
}

/// All of them, and the executable that they are in.
#[derive(Clone, Copy, Debug)]
pub(super) struct Kernels {
    executable: Executable,
    pub(super) compare: Kernel,
    pub(super) copy: Kernel,
    pub(super) hash: Kernel,
}

impl Kernels {
    /// Loads the chip's code object; `None` when there is none for it.
    ///
    /// # Errors
    /// [`AgentError::Failed`] when the runtime does not load it.
    pub(super) fn load(api: &Api, agent: AgentHandle, chip: &str) -> Result<Option<Kernels>, AgentError> {
        let Some(bytes) = code(chip) else { return Ok(None) };
        let executable = load(api, agent, bytes)?;
        let find = |name: &CStr| symbol(api, executable, agent, name);
        Ok(Some(Kernels {
            executable,
            compare: find(c"kreplay_compare.kd")?,
            copy: find(c"kreplay_copy.kd")?,
            hash: find(c"kreplay_hash.kd")?,
        }))
    }

    /// Destroys the executable. No kernel of it is running.
    pub(super) fn unload(self, api: &Api) {
        // SAFETY: the executable is live, and nothing launches its kernels any more. A failure leaks it.
        unsafe { (api.executable_destroy)(self.executable) };
    }
}

/// Loads a code object.
pub(super) fn load(api: &Api, agent: AgentHandle, bytes: &'static [u8]) -> Result<Executable, AgentError> {
    let mut reader = Reader::default();
    // SAFETY: the bytes are static.
    let status = unsafe { (api.reader_from_memory)(bytes.as_ptr().cast(), bytes.len(), &raw mut reader) };
    check("hsa_code_object_reader_create_from_memory", status)?;
    let mut executable = Executable::default();
    // SAFETY: `executable` is a place for the handle; there are no options.
    let status =
        unsafe { (api.executable_create)(PROFILE_FULL, ROUNDING_DEFAULT, std::ptr::null(), &raw mut executable) };
    check("hsa_executable_create_alt", status)?;
    // SAFETY: reader and executable are live; no options and no handle are asked for.
    let status = unsafe { (api.executable_load)(executable, agent, reader, std::ptr::null(), std::ptr::null_mut()) };
    check("hsa_executable_load_agent_code_object", status)?;
    // SAFETY: the executable is live and was not frozen yet.
    check("hsa_executable_freeze", unsafe { (api.executable_freeze)(executable, std::ptr::null()) })?;
    // SAFETY: loading is over, so nobody uses the reader any more. A failure leaks it.
    unsafe { (api.reader_destroy)(reader) };
    Ok(executable)
}

/// A kernel of an executable.
pub(super) fn symbol(api: &Api, executable: Executable, agent: AgentHandle, name: &CStr) -> Result<Kernel, AgentError> {
    let mut symbol = Symbol::default();
    // SAFETY: the name ends with a zero; agent and symbol are places.
    let status = unsafe { (api.executable_symbol)(executable, name.as_ptr(), &raw const agent, &raw mut symbol) };
    check("hsa_executable_get_symbol_by_name", status)?;
    let mut kernel = Kernel { object: 0, group_bytes: 0, private_bytes: 0 };
    let ask = |attribute, place: *mut std::ffi::c_void| {
        // SAFETY: each attribute is asked with a variable of its documented type.
        check("hsa_executable_symbol_get_info", unsafe { (api.symbol_get_info)(symbol, attribute, place) })
    };
    ask(SYMBOL_INFO_KERNEL_OBJECT, (&raw mut kernel.object).cast())?;
    ask(SYMBOL_INFO_GROUP_BYTES, (&raw mut kernel.group_bytes).cast())?;
    ask(SYMBOL_INFO_PRIVATE_BYTES, (&raw mut kernel.private_bytes).cast())?;
    Ok(kernel)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_code_object_is_an_amdgpu_elf() {
        for (chip, bytes) in CODE {
            assert_eq!(&bytes[..4], b"\x7fELF", "{chip}");
            assert_eq!(u16::from_le_bytes([bytes[18], bytes[19]]), 224, "{chip}: EM_AMDGPU");
            assert!(known(chip));
        }
        assert!(!known("gfx803"));
    }
}
