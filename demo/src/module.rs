//! The code object, loaded.

use std::ffi::CString;

use crate::error::Error;
use crate::gpu::{Gpu, Memory};
use crate::hsa::{self, Handle, check};

/// The kernels, built from `kernels/demo.hip`; `cargo xtask gen` rebuilds them.
static CODE_OBJECT: &[u8] = include_bytes!("../kernels/demo-gfx90a.co");

/// The loaded code object.
#[derive(Debug)]
pub struct Module {
    executable: Handle,
    reader: Handle,
}

/// A kernel that can be launched.
#[derive(Clone, Copy, Debug)]
pub struct Kernel {
    pub(crate) name: &'static str,
    /// Where its descriptor lies.
    pub object: u64,
    pub(crate) kernarg_bytes: u32,
    pub(crate) group_bytes: u32,
    pub(crate) private_bytes: u32,
}

impl Module {
    /// Loads the code object onto the GPU.
    ///
    /// # Errors
    /// [`Error::Call`].
    pub fn load(gpu: &Gpu) -> Result<Self, Error> {
        let (mut reader, mut executable) = (0, 0);
        let hsa = &gpu.hsa;
        // SAFETY: the bytes are static, so they outlive the reader.
        check("hsa_code_object_reader_create_from_memory", unsafe {
            (hsa.hsa_code_object_reader_create_from_memory)(CODE_OBJECT.as_ptr().cast(), CODE_OBJECT.len(), &mut reader)
        })?;
        let options = std::ptr::null();
        // SAFETY: `executable` is writable; options may be null.
        check("hsa_executable_create_alt", unsafe {
            (hsa.hsa_executable_create_alt)(hsa::PROFILE_FULL, hsa::ROUNDING_DEFAULT, options, &mut executable)
        })?;
        // SAFETY: the handles were made above; the loaded object's handle is not asked for.
        check("hsa_executable_load_agent_code_object", unsafe {
            (hsa.hsa_executable_load_agent_code_object)(executable, gpu.agent, reader, options, std::ptr::null_mut())
        })?;
        // SAFETY: the executable was made above and is not frozen yet.
        check("hsa_executable_freeze", unsafe { (hsa.hsa_executable_freeze)(executable, options) })?;
        Ok(Self { executable, reader })
    }

    /// A kernel by its name in the source.
    ///
    /// # Errors
    /// [`Error::Call`] when there is none.
    pub fn kernel(&self, gpu: &Gpu, name: &'static str) -> Result<Kernel, Error> {
        let symbol = self.symbol(gpu, &format!("{name}.kd"))?;
        let word = |attribute| info::<u32>(gpu, symbol, attribute);
        Ok(Kernel {
            name,
            object: info::<u64>(gpu, symbol, hsa::SYMBOL_KERNEL)?,
            kernarg_bytes: word(hsa::SYMBOL_KERNARG_BYTES)?,
            group_bytes: word(hsa::SYMBOL_GROUP_BYTES)?,
            private_bytes: word(hsa::SYMBOL_PRIVATE_BYTES)?,
        })
    }

    /// A 32-bit variable by its name in the source.
    ///
    /// # Errors
    /// [`Error::Call`] when there is none.
    pub fn variable(&self, gpu: &Gpu, name: &str) -> Result<Memory, Error> {
        let symbol = self.symbol(gpu, name)?;
        Ok(Memory { address: info::<u64>(gpu, symbol, hsa::SYMBOL_ADDRESS)?, bytes: size_of::<u32>() })
    }

    /// Unloads the code object; no kernel of it may run any more.
    pub fn unload(self, gpu: &Gpu) {
        // SAFETY: both handles were made in `load` and are not used after this.
        unsafe { (gpu.hsa.hsa_executable_destroy)(self.executable) };
        // SAFETY: see above.
        unsafe { (gpu.hsa.hsa_code_object_reader_destroy)(self.reader) };
    }

    fn symbol(&self, gpu: &Gpu, name: &str) -> Result<Handle, Error> {
        let name = CString::new(name).expect("names in the source hold no zero byte");
        let mut symbol = 0;
        // SAFETY: the executable is frozen, the name ends with a zero byte, the agent is the one loaded for.
        check("hsa_executable_get_symbol_by_name", unsafe {
            (gpu.hsa.hsa_executable_get_symbol_by_name)(self.executable, name.as_ptr(), &gpu.agent, &mut symbol)
        })?;
        Ok(symbol)
    }
}

/// An attribute of a symbol; `T` is as wide as the manual says.
fn info<T: Default>(gpu: &Gpu, symbol: Handle, attribute: u32) -> Result<T, Error> {
    let mut value = T::default();
    // SAFETY: the caller names the type that the attribute has: 64 bits for addresses and kernels, else 32.
    let status = unsafe { (gpu.hsa.hsa_executable_symbol_get_info)(symbol, attribute, (&raw mut value).cast()) };
    check("hsa_executable_symbol_get_info", status)?;
    Ok(value)
}
