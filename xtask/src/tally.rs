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
    /// Did not run, or found something missing.
    pub(crate) skipped: u64,
}

impl Tally {
    /// So many of the tests that ended well were skipped.
    pub(crate) fn skip(&mut self, tests: u64) {
        self.passed = self.passed.saturating_sub(tests);
        self.skipped += tests;
    }
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

/// What a test writes at the beginning of a line that finds something missing.
const SKIPPED: &str = "skipped: ";

/// Tests that say that they were skipped, in the report of `cargo nextest`.
pub(crate) fn skips_in_report(xml: &str) -> u64 {
    let says =
        |test: &&str| test.lines().any(|line| line.rsplit('>').next().is_some_and(|text| text.starts_with(SKIPPED)));
    xml.split("<testcase ").skip(1).filter(says).count() as u64
}

/// The same in what `cargo test` writes when it shows the output of each test.
pub(crate) fn skips_in_lines(lines: &[String]) -> u64 {
    let mut tests = 0;
    let mut said = true;
    for line in lines.iter().map(|line| without_colour(line)) {
        if line.starts_with("---- ") && line.ends_with(" stdout ----") {
            said = false;
        } else if line.starts_with(SKIPPED) && !said {
            (tests, said) = (tests + 1, true);
        }
    }
    tests
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
    fn tests_that_say_that_they_were_skipped_are_counted_once_each() {
        let xml = "<testsuite><testcase name=\"a\"><system-out>skipped: no GPU\nskipped: no GPU</system-out></testcase>\n\
            <testcase name=\"b\"><system-out>running 1 test\nskipped: no &quot;tool&quot;\n\ntest b ... ok</system-out>\
            </testcase>\n<testcase name=\"skipped: c\"><system-out>nothing was skipped: good</system-out></testcase>";
        assert_eq!(skips_in_report(xml), 2);
        let text = "skipped: not of a test\n---- a stdout ----\nskipped: no GPU\nskipped: no GPU\n---- b stdout ----\nfine\n\
            ---- c stdout ----\nfirst\nskipped: no tool\n";
        assert_eq!(skips_in_lines(&text.lines().map(str::to_owned).collect::<Vec<_>>()), 2);
        let mut tally = Tally { passed: 5, failed: 1, skipped: 1 };
        tally.skip(2);
        assert_eq!(tally, Tally { passed: 3, failed: 1, skipped: 3 });
    }

    #[test]
    fn other_lines_count_nothing() {
        assert_eq!(tally("12 passed, 0 failed\nerror: 3 failed"), Tally::default());
    }
}
