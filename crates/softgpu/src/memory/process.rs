//! The process's own mappings, for a GPU that faults pages in: it reaches whatever the host's processor does.

use crate::contract::Mapping;

/// The process's mapping around an address that can be read. Asks the host each time: a program that maps and unmaps has as many.
pub(super) fn mapping(address: u64) -> Option<Mapping> {
    let maps = std::fs::read_to_string("/proc/self/maps").ok()?;
    maps.lines().filter_map(parse).find(|mapping| (mapping.base..mapping.end).contains(&address))
}

/// Whether all of the access is mapped.
pub(super) fn reaches(address: u64, bytes: u64, write: bool) -> bool {
    let Some(end) = address.checked_add(bytes) else { return false };
    let mut reached = address;
    while reached < end {
        match mapping(reached) {
            Some(mapping) if mapping.writable || !write => reached = mapping.end,
            _ => return false,
        }
    }
    true
}

/// A line of `/proc/self/maps`, of memory that can be read.
fn parse(line: &str) -> Option<Mapping> {
    let (range, rest) = line.split_once(' ')?;
    let (base, end) = range.split_once('-')?;
    let number = |text| u64::from_str_radix(text, 16).ok();
    let mut access = rest.bytes();
    let (readable, writable) = (access.next()? == b'r', access.next()? == b'w');
    if readable { Some(Mapping { base: number(base)?, end: number(end)?, writable }) } else { None }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_of_the_hosts_is_read() {
        let line = "7f00dead0000-7f00dead3000 rw-p 00000000 00:00 0          [heap]";
        assert_eq!(parse(line), Some(Mapping { base: 0x7f00_dead_0000, end: 0x7f00_dead_3000, writable: true }));
        assert_eq!(parse("1000-2000 r-xp 0 0 0").map(|mapping| mapping.writable), Some(false));
        assert_eq!(parse("1000-2000 ---p 0 0 0"), None);
        assert_eq!(parse(""), None);
    }

    #[test]
    fn a_variable_is_reached_and_null_is_not() {
        let words = vec![7_u64; 4096];
        let at = words.as_ptr() as u64;
        assert!(reaches(at, 4096 * 8, true) && mapping(at).is_some());
        assert!(!reaches(0, 8, false) && !reaches(u64::MAX, 8, false));
        static CONSTANT: u64 = 7;
        assert!(reaches(&raw const CONSTANT as u64, 8, false) && !reaches(&raw const CONSTANT as u64, 8, true));
    }
}
