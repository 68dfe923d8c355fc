//! The interpreter on compiled kernels: results against references on the host, at every optimisation level.
//!
//! The kernels are compiled here, by clang for gfx90a; without it, or without ROCm's device libraries, the tests say so
//! and pass, unless `KREPLAY_NO_SKIP` is set.

#![allow(unreachable_pub)] // a test is a crate of its own; nothing in it can be reached from outside

mod basic;
mod matrix;
mod mode;
mod numeric;
mod speed;
mod support;
mod wave;
