//! Numbers and names for people.

use kreplay_protocol::{Value, Way};
use kreplay_store::way_name;
use unicode_width::UnicodeWidthStr;

/// A value: counts exactly, other numbers with six significant digits.
pub(crate) fn value(value: Value) -> String {
    match value {
        Value::Count(count) => count.to_string(),
        Value::Real(number) => real(number),
    }
}

/// A number with six significant digits, whole numbers without a point.
pub(crate) fn real(number: f64) -> String {
    if !number.is_finite() {
        return number.to_string();
    }
    if number == number.trunc() && number.abs() < 1e15 {
        return format!("{number:.0}");
    }
    let magnitude = number.abs().log10().floor();
    if (-4.0..6.0).contains(&magnitude) {
        format!("{number:.*}", (5.0 - magnitude) as usize)
    } else {
        format!("{number:.5e}")
    }
}

/// A mean beside the least and the greatest of what it is of. Where these are whole and are written so, six digits of a large
/// one could lie past both.
pub(crate) fn mean(mean: f64, least: f64, greatest: f64) -> String {
    let whole = |number: f64| number == number.trunc();
    real(if mean.abs() >= 1e6 && whole(least) && whole(greatest) { mean.round() } else { mean })
}

/// Bytes in the largest binary unit that leaves at least one.
pub(crate) fn bytes(bytes: u64) -> String {
    const UNITS: [(&str, u32); 4] = [("TiB", 40), ("GiB", 30), ("MiB", 20), ("KiB", 10)];
    match UNITS.into_iter().find(|(_, shift)| bytes >> shift > 0) {
        Some((unit, shift)) => format!("{:.1} {unit}", bytes as f64 / (1u64 << shift) as f64),
        None => format!("{bytes} B"),
    }
}

/// Nanoseconds in a unit that leaves at least one.
pub(crate) fn time(nanoseconds: u64) -> String {
    match nanoseconds {
        0..1_000 => format!("{nanoseconds} ns"),
        1_000..1_000_000 => format!("{:.1} µs", nanoseconds as f64 / 1e3),
        1_000_000..1_000_000_000 => format!("{:.1} ms", nanoseconds as f64 / 1e6),
        _ => format!("{:.2} s", nanoseconds as f64 / 1e9),
    }
}

/// A name of at most `most` characters: the middle of a longer one is left out. Control characters, which a program may
/// put into a name, never reach the terminal.
pub(crate) fn name(name: &str, most: usize) -> String {
    let clean: Vec<char> = clean(name).chars().collect();
    if clean.len() <= most {
        return clean.into_iter().collect();
    }
    let head = (most - 1) / 2;
    let tail = most - 1 - head;
    clean[..head].iter().chain(&['…']).chain(&clean[clean.len() - tail..]).collect()
}

/// A whole name without its control characters.
pub(crate) fn clean(name: &str) -> String {
    name.chars().map(|c| if c.is_control() { '\u{fffd}' } else { c }).collect()
}

/// The beginning of a name, in at most `columns` of a terminal.
pub(crate) fn begin(name: &str, columns: usize) -> String {
    if name.width() <= columns {
        return name.to_owned();
    }
    let mut begin = String::new();
    for c in name.chars() {
        begin.push(c);
        if begin.width() + 1 > columns {
            begin.pop();
            break;
        }
    }
    begin + "…"
}

/// Lines of at most `columns`, as far as their words allow: none is broken, nor a number from what it counts. What goes on
/// is indented.
pub(crate) fn fold(text: &str, columns: usize) -> String {
    let mut folded = String::new();
    for line in text.lines() {
        let mut at = 0;
        let words: Vec<&str> = line.split(' ').collect();
        let together = words.chunk_by(|word, _| word.ends_with(|c: char| c.is_ascii_digit()));
        for word in together.map(|words| words.join(" ")) {
            let width = word.width();
            if at > 0 && at + 1 + width > columns {
                folded.push_str("\n  ");
                at = 2;
            } else if at > 0 {
                folded.push(' ');
                at += 1;
            }
            folded.push_str(&word);
            at += width;
        }
        folded.push('\n');
    }
    folded
}

/// One, two or three sizes, without trailing ones.
pub(crate) fn sizes(sizes: [u32; 3]) -> String {
    match sizes {
        [x, 1, 1] => x.to_string(),
        [x, y, 1] => format!("{x}×{y}"),
        [x, y, z] => format!("{x}×{y}×{z}"),
    }
}

/// Where a value comes from and how far it can be believed: measured or simulated, in which way, computed or not, exact
/// or approximate.
pub(crate) fn source(simulated: bool, way: Option<Way>, derived: bool, bound: Option<f64>) -> String {
    let mut source = String::from(if simulated { "simulated" } else { "measured" });
    if let Some(way) = way {
        source.push_str(", ");
        source.push_str(way_name(way));
    }
    if derived {
        source.push_str(", derived");
    }
    if let Some(bound) = bound {
        source.push_str(&format!(", approximate ±{} %", percent(bound)));
    }
    source
}

/// A share in per cent, with two significant digits, rounded up: a bound stays one.
fn percent(share: f64) -> String {
    let percent = share * 100.0;
    if !percent.is_finite() || percent <= 0.0 {
        return percent.to_string();
    }
    let digits = (1.0 - percent.log10().floor()).clamp(0.0, 9.0);
    let scale = 10f64.powf(digits);
    // What rounding of the multiplication adds is no reason to round up.
    let rounded = (percent * scale * (1.0 - 1e-12)).ceil() / scale;
    format!("{rounded}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_short_and_counts_exact() {
        assert_eq!(value(Value::Count(u64::MAX)), "18446744073709551615");
        assert_eq!(real(0.123_456_789), "0.123457");
        assert_eq!(real(1234.5), "1234.50");
        assert_eq!(real(3.0), "3");
        assert_eq!(real(1.5e-7), "1.50000e-7");
        assert_eq!(real(f64::NAN), "NaN");
        assert_eq!(real(0.0), "0");
    }

    #[test]
    fn a_mean_lies_where_its_values_do() {
        assert_eq!(mean(123_456_789.5, 123_456_789.0, 123_456_790.0), "123456790");
        assert_eq!(mean(1234.5, 1234.0, 1235.0), "1234.50");
        assert_eq!(mean(12_345_678.9, 12_345_678.8, 12_345_679.0), "1.23457e7");
        assert_eq!(mean(f64::INFINITY, 1.0, f64::INFINITY), "inf");
    }

    #[test]
    fn what_is_approximate_says_so_with_its_bound() {
        assert_eq!(source(false, None, false, None), "measured");
        assert_eq!(source(true, Some(Way::Sampling), true, None), "simulated, sampling, derived");
        assert_eq!(source(false, Some(Way::Sampling), false, Some(0.05)), "measured, sampling, approximate ±5 %");
        assert_eq!(percent(0.1234), "13");
        assert_eq!(percent(0.001_01), "0.11");
        assert_eq!(percent(2.5), "250");
        assert_eq!(percent(f64::INFINITY), "inf");
        assert_eq!(percent(0.0), "0");
    }

    #[test]
    fn sizes_and_times_have_units() {
        assert_eq!(bytes(1023), "1023 B");
        assert_eq!(bytes(3 << 29), "1.5 GiB");
        assert_eq!(time(999), "999 ns");
        assert_eq!(time(2_500_000), "2.5 ms");
        assert_eq!(super::sizes([4, 1, 1]), "4");
        assert_eq!(super::sizes([4, 1, 2]), "4×1×2");
    }

    #[test]
    fn names_lose_their_middle_and_their_escapes() {
        assert_eq!(name("short", 8), "short");
        assert_eq!(name("abcdefghij", 5), "ab…ij");
        assert_eq!(name("a\x1b[31mb", 20), "a\u{fffd}[31mb");
    }

    #[test]
    fn names_keep_their_beginning_and_lines_their_words() {
        assert_eq!(begin("abcdef", 6), "abcdef");
        assert_eq!(begin("abcdef", 5), "abcd…");
        assert_eq!(begin("日本語", 5), "日本…");
        assert_eq!(fold("one two three\nfour\n\n", 9), "one two\n  three\nfour\n\n");
        assert_eq!(fold("passes 15.0 µs", 11), "passes\n  15.0 µs\n");
        assert_eq!(fold("unbreakable word", 4), "unbreakable\n  word\n");
    }
}
