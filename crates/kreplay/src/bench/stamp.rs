//! Of what, where and when a measurement is.

use std::process::{Command, Stdio};
use std::time::{SystemTime, UNIX_EPOCH};

/// What every row of a run has in common.
#[derive(Debug, Clone)]
pub(super) struct Stamp {
    /// The commit of the source tree that this runs in, with `-dirty` when it is changed; `unknown` outside of one.
    pub(super) commit: String,
    /// The processor.
    pub(super) machine: String,
    /// What the figures are about beside kreplay: nothing but this host.
    pub(super) driver: String,
    /// `YYYY-MM-DD`, in UTC.
    pub(super) date: String,
}

impl Stamp {
    pub(super) fn of_this_machine() -> Self {
        let days = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs() / 86_400;
        let (year, month, day) = civil(days);
        Self {
            commit: commit().unwrap_or_else(|| "unknown".into()),
            machine: processor().unwrap_or_else(|| "unknown".into()),
            driver: "none (host only)".into(),
            date: format!("{year:04}-{month:02}-{day:02}"),
        }
    }
}

fn commit() -> Option<String> {
    let git = |arguments: &[&str]| {
        let output = Command::new("git").args(arguments).stderr(Stdio::null()).output().ok()?;
        output.status.success().then(|| String::from_utf8_lossy(&output.stdout).trim().to_owned())
    };
    let commit = git(&["rev-parse", "HEAD"])?;
    let changed = git(&["status", "--porcelain", "--untracked-files=no"])?;
    Some(if changed.is_empty() { commit } else { format!("{commit}-dirty") })
}

fn processor() -> Option<String> {
    let text = std::fs::read_to_string("/proc/cpuinfo").ok()?;
    let cores = text.lines().filter(|line| line.starts_with("processor")).count();
    let name = text.lines().find_map(|line| line.strip_prefix("model name")?.split_once(':'))?.1.trim().to_owned();
    Some(format!("{name}, {cores} processors"))
}

/// The date of a day since 1970-01-01, in the Gregorian calendar. Years begin in March, so that a leap day comes last.
fn civil(days: u64) -> (u64, u64, u64) {
    // 719 468 days lie between 0000-03-01 and 1970-01-01; an era of 400 years has 146 097.
    let shifted = days + 719_468;
    let (era, day_of_era) = (shifted / 146_097, shifted % 146_097);
    let year_of_era = (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted_month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * shifted_month + 2) / 5 + 1;
    let month = if shifted_month < 10 { shifted_month + 3 } else { shifted_month - 9 };
    let year = era * 400 + year_of_era + u64::from(month <= 2);
    (year, month, day)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_become_dates() {
        assert_eq!(civil(0), (1970, 1, 1));
        assert_eq!(civil(59), (1970, 3, 1));
        assert_eq!(civil(11_016), (2000, 2, 29));
        assert_eq!(civil(11_017), (2000, 3, 1));
        assert_eq!(civil(20_454), (2026, 1, 1));
        assert_eq!(civil(20_453), (2025, 12, 31));
    }
}
