//! Memory of other processes that is opened by a handle. The driver counts: a handle that is opened again gives the same address, and the
//! memory goes when it was closed as often.

use super::{Interceptor, locked};
use crate::tables::callback::CallbackData;
use crate::tables::driver_structs::FreeParams;
use std::collections::HashMap;
use std::sync::Mutex;

/// How often what begins at an address is open.
#[derive(Debug, Default)]
pub(super) struct Opened(Mutex<HashMap<u64, u64>>);

impl Opened {
    /// Once more. Whether it was not open before.
    pub(super) fn open(&self, base: u64) -> bool {
        let mut opened = locked(&self.0);
        let times = opened.entry(base).or_default();
        *times += 1;
        *times == 1
    }

    /// Once less. Whether it is not open any more.
    fn close(&self, base: u64) -> bool {
        let mut opened = locked(&self.0);
        match opened.get_mut(&base) {
            Some(times) if *times > 1 => {
                *times -= 1;
                false
            }
            _ => {
                opened.remove(&base);
                true
            }
        }
    }

    /// It is gone, however often it was opened.
    pub(super) fn forget(&self, base: u64) {
        locked(&self.0).remove(&base);
    }
}

impl Interceptor {
    /// *Enter* of `cuIpcCloseMemHandle`.
    pub(super) fn ipc_closing(&self, data: &CallbackData) {
        // SAFETY: CUPTI hands the parameters of this function, which begin with the address.
        let base = unsafe { data.parameters.cast::<FreeParams>().read() }.pointer;
        if self.opened.close(base) {
            self.free_enter(data);
        }
    }

    /// *Exit* of it, when it failed.
    pub(super) fn ipc_stays(&self, data: &CallbackData) {
        // SAFETY: as above.
        self.opened.open(unsafe { data.parameters.cast::<FreeParams>().read() }.pointer);
    }
}
