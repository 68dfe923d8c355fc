//! libkreplay.so: nothing but the exported entry points.

mod cuda;
