//! Counting tests from what the runners write.

use std::fmt;
use std::ops::AddAssign;

/// Tests that ran, by how they ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Tally {
    /// Ended well.
    pub(crate) passed: u64,
    /// Ended badly.
    pub(crate) failed: u64,
    /// Did not run.
    pub(crate) skipped: u64,
}

impl AddAssign for Tally {
    fn add_assign(&mut self, other: Self) {
        self.passed += other.passed;
        self.failed += other.failed;
        self.skipped += other.skipped;
    }
}

impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} passed, {} failed, {} skipped", self.passed, self.failed, self.skipped)
    }
}

/// Adds up the closing lines of `cargo test` (one for each test binary) and of `cargo nextest` (one in all).
pub(crate) fn from_lines(lines: &[String]) -> Tally {
    let mut tally = Tally::default();
    for line in lines {
        let line = without_colour(line);
        let line = line.trim();
        if line.starts_with("test result:") || line.starts_with("Summary [") {
            tally += Tally {
                passed: count(line, "passed"),
                failed: count(line, "failed") + count(line, "timed out"),
                skipped: count(line, "ignored") + count(line, "skipped"),
            };
        }
    }
    tally
}

/// The number before `word`: 12 in `12 passed; 0 failed`.
fn count(line: &str, word: &str) -> u64 {
    let Some(end) = line.find(&format!(" {word}")) else { return 0 };
    let digits = line[..end].rsplit(|c: char| !c.is_ascii_digit()).next().unwrap_or_default();
    digits.parse().unwrap_or(0)
}

/// The line without terminal colour sequences.
fn without_colour(line: &str) -> String {
    let mut plain = String::with_capacity(line.len());
    let mut rest = line;
    while let Some(start) = rest.find("\u{1b}[") {
        plain.push_str(&rest[..start]);
        let sequence = &rest[start + 2..];
        let end = sequence.find(|c: char| c.is_ascii_alphabetic()).map_or(sequence.len(), |end| end + 1);
        rest = &sequence[end..];
    }
    plain.push_str(rest);
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tally(text: &str) -> Tally {
        from_lines(&text.lines().map(str::to_owned).collect::<Vec<_>>())
    }

    #[test]
    fn cargo_test_lines_are_added_up() {
        let text = "running 3 tests\n\
            test result: ok. 3 passed; 0 failed; 1 ignored; 0 measured; 2 filtered out; finished in 0.00s\n\
            test result: FAILED. 10 passed; 2 failed; 0 ignored; 0 measured; 0 filtered out; finished in 1.20s";
        assert_eq!(tally(text), Tally { passed: 13, failed: 2, skipped: 1 });
    }

    #[test]
    fn a_nextest_summary_is_read_through_its_colours() {
        let text = "\u{1b}[32;1m     Summary\u{1b}[0m [  12.345s] \u{1b}[1m9\u{1b}[0m tests run: \
            \u{1b}[1m6\u{1b}[0m \u{1b}[32;1mpassed\u{1b}[0m (1 slow), 2 failed, 1 timed out, 4 skipped";
        assert_eq!(tally(text), Tally { passed: 6, failed: 3, skipped: 4 });
    }

    #[test]
    fn other_lines_count_nothing() {
        assert_eq!(tally("12 passed, 0 failed\nerror: 3 failed"), Tally::default());
    }
}
