//! A recorded launch: everything it needs, owned.

use super::boxes::{CopyBox, FillRows};
use crate::tables::driver_structs::{LaunchAttribute, LaunchConfig, attribute};
use crate::tables::{CudaError, Driver, Function, Stream};
use std::ffi::c_void;
use std::sync::Arc;

/// Where each parameter lies in the packed argument bytes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct ParameterLayout {
    /// Offset and bytes of each parameter, in order.
    pub(crate) parameters: Vec<(usize, usize)>,
}

impl ParameterLayout {
    /// Bytes of the packed arguments.
    pub(crate) fn bytes(&self) -> usize {
        self.parameters.iter().map(|(offset, bytes)| offset + bytes).max().unwrap_or(0)
    }

    /// Asks the driver for a function's parameters.
    ///
    /// # Errors
    /// The driver's status, for instance from a driver that does not have the question.
    pub(crate) fn of(driver: &Driver, function: Function) -> Result<Self, CudaError> {
        /// No kernel has more: parameters are at most 32 764 bytes.
        const MOST: usize = 32_764;
        let mut parameters = Vec::new();
        while parameters.len() < MOST
            && let Some(parameter) = driver.parameter(function, parameters.len())?
        {
            parameters.push(parameter);
        }
        Ok(Self { parameters })
    }
}

/// How the arguments are handed to the driver again.
#[derive(Clone, Debug)]
pub(crate) enum LaunchForm {
    /// By pointers to each parameter.
    Pointers(Arc<ParameterLayout>),
    /// Packed, as the program did.
    Packed,
}

/// A kernel launch.
#[derive(Clone, Debug)]
pub(crate) struct Launch {
    /// The function or kernel.
    pub(crate) function: Function,
    /// Blocks.
    pub(crate) grid: [u32; 3],
    /// Threads of a block.
    pub(crate) block: [u32; 3],
    /// Dynamic shared memory, in bytes.
    pub(crate) shared: u32,
    /// Attributes, without those that tie a launch to others.
    pub(crate) attributes: Vec<LaunchAttribute>,
    /// The packed arguments.
    pub(crate) arguments: Arc<[u8]>,
    /// How they are handed over.
    pub(crate) form: LaunchForm,
}

/// What can be submitted again.
#[derive(Clone, Debug)]
pub(crate) enum CudaWork {
    /// A kernel launch.
    Launch(Launch),
    /// A copy within the device.
    Copy {
        /// Destination.
        to: u64,
        /// Source.
        from: u64,
        /// Length.
        bytes: u64,
    },
    /// A copy to the device, of bytes that were saved when the program made it.
    Upload {
        /// Destination.
        to: u64,
        /// The bytes; their storage is got where it can be refused.
        content: Arc<Vec<u8>>,
    },
    /// Several, one after another.
    All(Arc<[CudaWork]>),
    /// A copy within the device of many rows.
    CopyBox(CopyBox),
    /// A fill of many rows.
    FillRows(FillRows),
    /// A fill with a value of one, two or four bytes.
    Fill {
        /// Destination.
        to: u64,
        /// The value.
        value: u32,
        /// Its bytes.
        element: u8,
        /// How many.
        count: u64,
    },
}

// SAFETY: attributes hold numbers and handles that the driver takes on any thread; the rest is owned, or shared and never
// changed.
unsafe impl Send for CudaWork {}

/// The attributes that a launch of ours keeps: all but those that order it with other launches or record events of the
/// program's. After a drain there is nothing to order it with.
pub(crate) fn kept_attributes(attributes: &[LaunchAttribute]) -> Vec<LaunchAttribute> {
    let tied = [
        attribute::PROGRAMMATIC_SERIALIZATION,
        attribute::PROGRAMMATIC_EVENT,
        attribute::COMPLETION_EVENT,
        attribute::DEVICE_UPDATABLE_NODE,
    ];
    attributes.iter().filter(|attribute| !tied.contains(&attribute.id)).copied().collect()
}

/// The attribute that makes a launch cooperative.
pub(crate) fn cooperative_attribute() -> LaunchAttribute {
    LaunchAttribute { id: attribute::COOPERATIVE, padding: 0, value: [1, 0, 0, 0, 0, 0, 0, 0] }
}

impl CudaWork {
    /// Submits it to a stream.
    pub(crate) fn submit(&self, driver: &Driver, stream: Stream) -> Result<(), CudaError> {
        match self {
            CudaWork::Launch(launch) => launch.submit(driver, stream),
            CudaWork::Copy { to, from, bytes } => driver.copy(*to, *from, *bytes, stream),
            CudaWork::Upload { to, content } => driver.copy(*to, content.as_ptr() as u64, content.len() as u64, stream),
            CudaWork::All(works) => works.iter().try_for_each(|work| work.submit(driver, stream)),
            CudaWork::CopyBox(copy) => copy.submit(driver, stream),
            CudaWork::FillRows(fill) => fill.submit(driver, stream),
            CudaWork::Fill { to, value, element: 1, count } => driver.set_bytes(*to, *value as u8, *count, stream),
            CudaWork::Fill { to, value, element: 2, count } => driver.set_shorts(*to, *value as u16, *count, stream),
            CudaWork::Fill { to, value, count, .. } => driver.set_words(*to, *value, *count, stream),
        }
    }

    /// As [`CudaWork::submit`], where the work may use memory that the program has freed since: copies and memsets of
    /// addresses that the driver does not know fail, rather than being taken for the host's.
    pub(crate) fn submit_to_freed(&self, driver: &Driver, stream: Stream) -> Result<(), CudaError> {
        match self {
            CudaWork::Copy { to, from, bytes } => driver.copy_within(*to, *from, *bytes, stream),
            CudaWork::Upload { to, content } => driver.copy_up(*to, content, stream),
            CudaWork::All(works) => works.iter().try_for_each(|work| work.submit_to_freed(driver, stream)),
            CudaWork::Launch(_) | CudaWork::Fill { .. } | CudaWork::CopyBox(_) | CudaWork::FillRows(_) => {
                self.submit(driver, stream)
            }
        }
    }

    /// Bytes of host memory that it holds.
    pub(crate) fn bytes(&self) -> u64 {
        match self {
            CudaWork::Launch(launch) => launch.arguments.len() as u64 + 128,
            CudaWork::Upload { content, .. } => content.len() as u64,
            CudaWork::All(works) => works.iter().map(CudaWork::bytes).sum(),
            CudaWork::Copy { .. } | CudaWork::Fill { .. } | CudaWork::CopyBox(_) | CudaWork::FillRows(_) => 64,
        }
    }
}

impl Launch {
    fn submit(&self, driver: &Driver, stream: Stream) -> Result<(), CudaError> {
        /// Tags of the packed form.
        const BUFFER_POINTER: usize = 1;
        const BUFFER_SIZE: usize = 2;
        let config = LaunchConfig {
            grid: self.grid,
            block: self.block,
            shared: self.shared,
            stream,
            attributes: if self.attributes.is_empty() { std::ptr::null() } else { self.attributes.as_ptr() },
            attribute_count: self.attributes.len() as u32,
        };
        let base = self.arguments.as_ptr();
        match &self.form {
            LaunchForm::Pointers(layout) => {
                let mut pointers: Vec<*mut c_void> =
                    layout.parameters.iter().map(|(offset, _)| base.wrapping_add(*offset).cast_mut().cast()).collect();
                let pointers = if pointers.is_empty() { std::ptr::null_mut() } else { pointers.as_mut_ptr() };
                driver.launch(&config, self.function, pointers, std::ptr::null_mut())
            }
            LaunchForm::Packed => {
                let mut bytes = self.arguments.len();
                let mut extra: [*mut c_void; 5] = [
                    BUFFER_POINTER as *mut c_void,
                    base.cast_mut().cast(),
                    BUFFER_SIZE as *mut c_void,
                    (&raw mut bytes).cast(),
                    std::ptr::null_mut(),
                ];
                driver.launch(&config, self.function, std::ptr::null_mut(), extra.as_mut_ptr())
            }
        }
    }
}
