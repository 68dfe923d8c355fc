//! The software GPU's switches, in the thunk library of this process. Part of the test programs, not of the harness.

use std::error::Error;
use std::ffi::{CString, c_char, c_int, c_void};

/// The functions that the thunk library documents in `instruments`.
pub(crate) struct Switches {
    inject: unsafe extern "C" fn(*const c_char) -> c_int,
    clear: extern "C" fn() -> c_int,
    write: unsafe extern "C" fn(u64, *const c_void, usize) -> c_int,
}

impl Switches {
    /// Finds them; an error where the process does not run on the software GPU.
    pub(crate) fn find() -> Result<Self, Box<dyn Error>> {
        let symbol = |name: &str| -> Result<*mut c_void, Box<dyn Error>> {
            let name = CString::new(name)?;
            // SAFETY: the name ends with a zero byte; every loaded library is searched.
            let address = unsafe { libc::dlsym(libc::RTLD_DEFAULT, name.as_ptr()) };
            if address.is_null() {
                Err(format!("this is not the software GPU: no {name:?}").into())
            } else {
                Ok(address)
            }
        };
        let (inject, clear) = (symbol("softgpu_fault_inject")?, symbol("softgpu_fault_clear")?);
        let write = symbol("softgpu_foreign_write")?;
        // SAFETY: the thunk library documents the three functions with these types.
        unsafe {
            Ok(Self {
                inject: std::mem::transmute::<*mut c_void, unsafe extern "C" fn(*const c_char) -> c_int>(inject),
                clear: std::mem::transmute::<*mut c_void, extern "C" fn() -> c_int>(clear),
                write: std::mem::transmute::<*mut c_void, unsafe extern "C" fn(u64, *const c_void, usize) -> c_int>(
                    write,
                ),
            })
        }
    }

    /// Puts a fault in; it counts from now.
    pub(crate) fn inject(&self, specification: &str) -> Result<(), Box<dyn Error>> {
        let text = CString::new(specification)?;
        // SAFETY: the text ends with a zero byte.
        match unsafe { (self.inject)(text.as_ptr()) } {
            0 => Ok(()),
            _ => Err(format!("the software GPU refuses the fault {specification}").into()),
        }
    }

    /// Takes all faults out.
    #[allow(dead_code, reason = "not every program that is built from this part needs it")]
    pub(crate) fn clear(&self) {
        (self.clear)();
    }

    /// Writes into the GPU's memory behind everybody's back.
    #[allow(dead_code, reason = "not every program that is built from this part needs it")]
    pub(crate) fn write(&self, address: u64, bytes: &[u8]) -> Result<(), Box<dyn Error>> {
        // SAFETY: the bytes are readable; the software GPU checks the address.
        match unsafe { (self.write)(address, bytes.as_ptr().cast(), bytes.len()) } {
            0 => Ok(()),
            _ => Err(format!("{address:#x} is no memory of the software GPU").into()),
        }
    }
}
