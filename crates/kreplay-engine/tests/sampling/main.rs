//! Attribution of samples to dispatches, against a simulated device whose true counts are known.

mod device;
mod faults;
mod right;
