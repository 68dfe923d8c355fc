//! Declaring the vendor's structures with their layout checked at compile time.

/// A C structure with every member at a stated offset. `passed / whole`: the size that goes into its `structSize`
/// member (the end of its last member), and `sizeof`. Members `size` and `private` come first in all of these.
macro_rules! sized_struct {
    ($(#[$meta:meta])* $name:ident: $passed:literal / $whole:literal { $($field:ident @ $offset:literal: $type:ty,)* }) => {
        $(#[$meta])*
        #[repr(C)]
        #[derive(Debug)]
        pub(crate) struct $name {
            pub(crate) size: usize,
            pub(crate) private: *mut std::ffi::c_void,
            $(pub(crate) $field: $type,)*
        }
        const _: () = {
            assert!(std::mem::size_of::<$name>() == $whole);
            assert!(std::mem::offset_of!($name, size) == 0);
            assert!(std::mem::offset_of!($name, private) == 8);
            $(assert!(std::mem::offset_of!($name, $field) == $offset);)*
        };
        impl Default for $name {
            /// All members zero but the size.
            fn default() -> Self {
                // SAFETY: a C structure of integers and pointers, for which all-zero bytes are a value.
                let mut zeroed: Self = unsafe { std::mem::zeroed() };
                zeroed.size = $passed;
                zeroed
            }
        }
    };
}

/// A C structure without a size member.
macro_rules! plain_struct {
    ($(#[$meta:meta])* $name:ident: $whole:literal { $($field:ident @ $offset:literal: $type:ty,)* }) => {
        $(#[$meta])*
        #[repr(C)]
        #[derive(Clone, Copy, Debug)]
        pub(crate) struct $name {
            $(pub(crate) $field: $type,)*
        }
        const _: () = {
            assert!(std::mem::size_of::<$name>() == $whole);
            $(assert!(std::mem::offset_of!($name, $field) == $offset);)*
        };
    };
}

pub(crate) use {plain_struct, sized_struct};
