//! libhsakmt.so.1 of the software GPU: the thunk functions that ROCr imports.
