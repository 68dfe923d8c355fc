//! Tables of functions that are looked up by name.

/// A table of function pointers: each field is named as the library's symbol. `required` ones must be there; `optional`
/// ones may be missing. `load` takes a look-up, so that a test can hand in functions of its own.
macro_rules! function_table {
    ($(#[$meta:meta])* $table:ident of $library:literal {
        required { $($(#[$rmeta:meta])* fn $required:ident($($rname:ident: $rtype:ty),* $(,)?);)* }
        optional { $($(#[$ometa:meta])* fn $optional:ident($($oname:ident: $otype:ty),* $(,)?);)* }
    }) => {
        $(#[$meta])*
        #[expect(non_snake_case, reason = "fields carry the names of the library's functions")]
        #[derive(Clone, Copy)]
        pub(crate) struct $table {
            $($(#[$rmeta])* pub(crate) $required: unsafe extern "C" fn($($rtype),*) -> i32,)*
            $($(#[$ometa])* pub(crate) $optional: Option<unsafe extern "C" fn($($otype),*) -> i32>,)*
        }

        impl $table {
            /// Looks every function up.
            ///
            /// # Errors
            /// The name of the first required function that is missing.
            pub(crate) fn load(find: &dyn Fn(&std::ffi::CStr) -> *mut std::ffi::c_void) -> Result<Self, &'static str> {
                const fn name(bytes: &'static str) -> &'static std::ffi::CStr {
                    match std::ffi::CStr::from_bytes_with_nul(bytes.as_bytes()) {
                        Ok(name) => name,
                        Err(_) => panic!("a function name holds a NUL"),
                    }
                }
                Ok(Self {
                    $($required: {
                        let found = find(name(concat!(stringify!($required), "\0")));
                        if found.is_null() {
                            return Err(stringify!($required));
                        }
                        // SAFETY: the library documents this name with this signature.
                        unsafe {
                            std::mem::transmute::<*mut std::ffi::c_void, unsafe extern "C" fn($($rtype),*) -> i32>(found)
                        }
                    },)*
                    $($optional: {
                        let found = find(name(concat!(stringify!($optional), "\0")));
                        // SAFETY: as above; a null pointer is `None`.
                        unsafe {
                            std::mem::transmute::<
                                *mut std::ffi::c_void,
                                Option<unsafe extern "C" fn($($otype),*) -> i32>,
                            >(found)
                        }
                    },)*
                })
            }
        }

        impl std::fmt::Debug for $table {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(concat!("functions of ", $library))
            }
        }
    };
}

pub(crate) use function_table;
