//! Which tables are known.

use super::TablesError;
use std::mem::{offset_of, size_of};

/// `ApiTableVersion`, the beginning of every table.
#[repr(C)]
pub(crate) struct Version {
    pub(crate) major: u32,
    pub(crate) bytes: u32,
    step: u32,
    reserved: u32,
}
const _: () = assert!(size_of::<Version>() == 16);

/// `HsaApiTable`, the root.
#[repr(C)]
pub(crate) struct Root {
    version: Version,
    core: *mut Version,
    amd: *mut Version,
    finalizer: *mut Version,
    image: *mut Version,
}
const _: () = assert!(offset_of!(Root, core) == 16 && offset_of!(Root, amd) == 24 && offset_of!(Root, image) == 40);

/// The two layouts of the AMD extension's table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AmdLayout {
    /// ROCr 5.2: major 1, 400 bytes.
    One,
    /// ROCm 6 and 7: major 2.
    Two,
}

/// The size of the extension's table in ROCr 5.2, the only one of major 1 whose layout is known.
const AMD_ONE_BYTES: u32 = 400;

/// Functions of the core, extension (layout two) and image tables of which it was decided what they mean to windows.
pub(super) const KNOWN: [u16; 3] = [125, 82, 14];

/// Tables whose versions are known.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RawTables {
    pub(super) core: *mut Version,
    pub(super) amd: *mut Version,
    /// The image extension's; null where the runtime has none that is known. Its functions have never moved.
    pub(super) image: *mut Version,
    pub(crate) layout: AmdLayout,
}

impl RawTables {
    /// How many functions this runtime has that nobody has looked at.
    pub(crate) fn unknown(&self) -> u32 {
        let tables = [self.core, self.amd, self.image].into_iter().zip(KNOWN);
        let more = tables.filter(|(table, _)| !table.is_null()).map(|(table, known)| {
            // SAFETY: a table begins with its version, and lives as long as the runtime.
            let bytes = unsafe { (*table).bytes };
            (bytes.saturating_sub(size_of::<Version>() as u32) / size_of::<*mut ()>() as u32)
                .saturating_sub(known.into())
        });
        more.sum()
    }
}

/// Checks the tables behind `root`.
///
/// # Errors
/// [`TablesError`] when a version is not known; nothing was touched then.
///
/// # Safety
/// `root` must be null or what the runtime handed to `OnLoad`.
pub(crate) unsafe fn open(root: *mut Root) -> Result<RawTables, TablesError> {
    if root.is_null() {
        return Err(TablesError::Missing { table: "root" });
    }
    // SAFETY: the runtime's table lives as long as the runtime; its version comes first in every version.
    let (major, bytes) = unsafe { ((*root).version.major, (*root).version.bytes) };
    if !(1..=3).contains(&major) || (bytes as usize) < size_of::<Root>() {
        return Err(TablesError::Unknown { table: "root", major, bytes });
    }
    // SAFETY: the root is at least as large as our declaration of it.
    let (core, amd, image) = unsafe { ((*root).core, (*root).amd, (*root).image) };
    if core.is_null() {
        return Err(TablesError::Missing { table: "core" });
    }
    if amd.is_null() {
        return Err(TablesError::Missing { table: "AMD extension" });
    }
    // SAFETY: both tables begin with their version.
    let (core_version, amd_version) = unsafe { (&*core, &*amd) };
    if !(1..=2).contains(&core_version.major) {
        return Err(TablesError::Unknown { table: "core", major: core_version.major, bytes: core_version.bytes });
    }
    let layout = match (amd_version.major, amd_version.bytes) {
        (1, AMD_ONE_BYTES) => AmdLayout::One,
        (2, _) => AmdLayout::Two,
        (major, bytes) => return Err(TablesError::Unknown { table: "AMD extension", major, bytes }),
    };
    // A runtime without images has a table of version 0, or none.
    // SAFETY: the table begins with its version.
    let known = !image.is_null() && (1..=2).contains(&unsafe { (*image).major });
    Ok(RawTables { core, amd, image: if known { image } else { std::ptr::null_mut() }, layout })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn version(major: u32, bytes: u32) -> Version {
        Version { major, bytes, step: 0, reserved: 0 }
    }

    fn check(root: u32, core: u32, amd: (u32, u32)) -> Result<AmdLayout, TablesError> {
        opened(root, core, amd, None).map(|tables| tables.layout)
    }

    /// The tables must not be read any more.
    fn opened(root: u32, core: u32, amd: (u32, u32), image: Option<u32>) -> Result<RawTables, TablesError> {
        let mut core = version(core, 1016);
        let mut amd = version(amd.0, amd.1);
        let mut image = image.map(|major| version(major, 120));
        let mut root = Root {
            version: version(root, 48),
            core: &raw mut core,
            amd: &raw mut amd,
            finalizer: std::ptr::null_mut(),
            image: image.as_mut().map_or(std::ptr::null_mut(), std::ptr::from_mut),
        };
        // SAFETY: all of them live on this stack frame.
        unsafe { open(&raw mut root) }
    }

    #[test]
    fn a_runtime_without_images_is_no_worse() {
        for (image, known) in [(None, false), (Some(0), false), (Some(1), true), (Some(2), true), (Some(3), false)] {
            let tables = opened(1, 1, (1, 400), image).expect("the other tables are known");
            assert_eq!(!tables.image.is_null(), known, "{image:?}");
        }
    }

    #[test]
    fn functions_that_nobody_knows_are_counted() {
        let table = |major, functions: u32| version(major, 16 + 8 * functions);
        let (mut core, mut amd, mut image, mut older) = (table(2, 126), table(2, 84), table(2, 13), version(1, 400));
        let mut tables =
            RawTables { core: &raw mut core, amd: &raw mut amd, image: &raw mut image, layout: AmdLayout::Two };
        assert_eq!(tables.unknown(), 1 + 2);
        (tables.amd, tables.image) = (&raw mut older, std::ptr::null_mut());
        assert_eq!(tables.unknown(), 1);
    }

    #[test]
    fn known_versions_open_and_others_are_refused() {
        assert_eq!(check(1, 1, (1, 400)), Ok(AmdLayout::One));
        assert_eq!(check(3, 2, (2, 616)), Ok(AmdLayout::Two));
        assert!(matches!(check(4, 2, (2, 616)), Err(TablesError::Unknown { table: "root", .. })));
        assert!(matches!(check(3, 3, (2, 616)), Err(TablesError::Unknown { table: "core", .. })));
        assert!(matches!(check(1, 1, (1, 416)), Err(TablesError::Unknown { table: "AMD extension", bytes: 416, .. })));
        assert!(matches!(check(1, 1, (3, 400)), Err(TablesError::Unknown { .. })));
        // SAFETY: null is allowed.
        assert!(matches!(unsafe { open(std::ptr::null_mut()) }, Err(TablesError::Missing { table: "root" })));
    }
}
