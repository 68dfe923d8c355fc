//! Code objects on their way into executables: what each says of its kernels' arguments.

use super::guard;
use super::metadata::{Pointers, pointers};
use super::state::{Backend, backend};
use crate::abi::{AgentHandle, Executable, LoadedCodeObject, Reader, Status};
use std::collections::HashMap;
use std::ffi::{c_char, c_int, c_void};
use std::fs::File;
use std::io;
use std::os::fd::BorrowedFd;
use std::os::unix::fs::FileExt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// What code objects say, by the readers that read them and by the executables that they were loaded into.
#[derive(Default)]
pub(crate) struct CodeObjects {
    readers: Mutex<HashMap<u64, Arc<Pointers>>>,
    loaded: Mutex<HashMap<u64, Vec<Arc<Pointers>>>>,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl CodeObjects {
    /// Where the pointers are among the arguments of this executable's kernel. Nothing where it is not known.
    pub(super) fn pointers(&self, executable: Executable, symbol: &str) -> Arc<[u32]> {
        let loaded = lock(&self.loaded);
        let mut objects = loaded.get(&executable.handle).into_iter().flatten();
        objects.find_map(|object| object.get(symbol).cloned()).unwrap_or_default()
    }

    /// The executable is gone.
    pub(super) fn destroyed(&self, executable: Executable) {
        lock(&self.loaded).remove(&executable.handle);
    }

    fn load(&self, executable: Executable, reader: Reader) {
        let read = lock(&self.readers).get(&reader.handle).cloned();
        if let Some(read) = read {
            lock(&self.loaded).entry(executable.handle).or_default().push(read);
        }
    }
}

impl Backend {
    /// # Safety
    /// When `status` is a success, `reader` was filled, or is null.
    unsafe fn read(&self, place: &'static str, status: Status, reader: *mut Reader, object: impl FnOnce() -> Pointers) {
        if status.is_ok() && self.is_on() && !reader.is_null() {
            // SAFETY: the caller's.
            let reader = unsafe { *reader };
            guard(place, || lock(&self.code_objects.readers).insert(reader.handle, Arc::new(object())), || None);
        }
    }

    fn loads(&self, place: &'static str, status: Status, executable: Executable, reader: Reader) -> Status {
        if status.is_ok() && self.is_on() {
            guard(place, || self.code_objects.load(executable, reader), || ());
        }
        status
    }
}

/// `hsa_code_object_reader_create_from_memory`.
pub(super) unsafe extern "C" fn reader_from_memory(code: *const c_void, bytes: usize, reader: *mut Reader) -> Status {
    let Some(backend) = backend() else { return Status::ERROR };
    // SAFETY: the program's own arguments.
    let status = unsafe { (backend.api.reader_from_memory)(code, bytes, reader) };
    // SAFETY: a code object of that length is there, or the call would have failed.
    let object = || pointers(unsafe { std::slice::from_raw_parts(code.cast::<u8>(), bytes) });
    // SAFETY: that was the call.
    unsafe { backend.read("hsa_code_object_reader_create_from_memory", status, reader, object) };
    status
}

/// `hsa_code_object_reader_create_from_file`.
pub(super) unsafe extern "C" fn reader_from_file(file: c_int, reader: *mut Reader) -> Status {
    let Some(backend) = backend() else { return Status::ERROR };
    // SAFETY: the program's own arguments.
    let status = unsafe { (backend.api.reader_from_file)(file, reader) };
    // SAFETY: the call that read the file succeeded, so it is open.
    let object = || contents(unsafe { BorrowedFd::borrow_raw(file) }).map(|code| pointers(&code)).unwrap_or_default();
    // SAFETY: that was the call.
    unsafe { backend.read("hsa_code_object_reader_create_from_file", status, reader, object) };
    status
}

/// All that is in a file, wherever it stands.
fn contents(file: BorrowedFd<'_>) -> io::Result<Vec<u8>> {
    let file = File::from(file.try_clone_to_owned()?);
    let mut code = vec![0; file.metadata()?.len() as usize];
    file.read_exact_at(&mut code, 0)?;
    Ok(code)
}

/// `hsa_code_object_reader_destroy`.
pub(super) unsafe extern "C" fn reader_destroy(reader: Reader) -> Status {
    let Some(backend) = backend() else { return Status::ERROR };
    if backend.is_on() {
        let ours = || lock(&backend.code_objects.readers).remove(&reader.handle);
        guard("hsa_code_object_reader_destroy", ours, || None);
    }
    // SAFETY: the program's own argument.
    unsafe { (backend.api.reader_destroy)(reader) }
}

/// `hsa_executable_load_agent_code_object`.
pub(super) unsafe extern "C" fn executable_load(
    executable: Executable,
    agent: AgentHandle,
    reader: Reader,
    options: *const c_char,
    object: *mut LoadedCodeObject,
) -> Status {
    let Some(backend) = backend() else { return Status::ERROR };
    // SAFETY: the program's own arguments.
    let status = unsafe { (backend.api.executable_load)(executable, agent, reader, options, object) };
    backend.loads("hsa_executable_load_agent_code_object", status, executable, reader)
}

/// `hsa_executable_load_program_code_object`.
pub(super) unsafe extern "C" fn executable_load_program(
    executable: Executable,
    reader: Reader,
    options: *const c_char,
    object: *mut LoadedCodeObject,
) -> Status {
    let Some(backend) = backend() else { return Status::ERROR };
    // SAFETY: the program's own arguments.
    let status = unsafe { (backend.api.executable_load_program)(executable, reader, options, object) };
    backend.loads("hsa_executable_load_program_code_object", status, executable, reader)
}
