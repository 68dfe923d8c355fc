//! Tables of the docs that come from the code.
//!
//! In a page such a table stands between two lines, which stay:
//!
//! ```text
//! <!-- generated: NAME -->
//! …
//! <!-- end -->
//! ```

use anyhow::{Context, Result};
use kreplay_engine::Decline;

use crate::r#gen::Mode;
use crate::shell;

/// Writes or compares every table.
///
/// # Errors
/// When a page lacks its markers, or see [`Mode::apply`].
pub(crate) fn run(mode: Mode) -> Result<()> {
    let page = shell::root().join("docs/captured.md");
    let text = std::fs::read_to_string(&page).with_context(|| format!("{} could not be read", page.display()))?;
    let text = replace(&text, "declines", &declines()).with_context(|| format!("in {}", page.display()))?;
    mode.apply("gen", &page, text.as_bytes())
}

/// The decline reasons, with what they mean and what to do.
fn declines() -> String {
    let mut table = String::from("| reason | what it means | what to do |\n|---|---|---|\n");
    for reason in Decline::ALL {
        let explanation = reason.explanation();
        let (what, advice) = explanation.split_once("; ").unwrap_or((explanation, ""));
        table.push_str(&format!("| `{}` | {what} | {advice} |\n", reason.name()));
    }
    table
}

/// `page` with what stands between the markers of `name` replaced.
///
/// # Errors
/// When the markers are missing.
pub(crate) fn replace(page: &str, name: &str, content: &str) -> Result<String> {
    let opening = format!("<!-- generated: {name} -->\n");
    let (before, rest) = page.split_once(&opening).with_context(|| format!("there is no line {}", opening.trim()))?;
    let (_, after) = rest
        .split_once("<!-- end -->")
        .with_context(|| format!("`<!-- end -->` is missing after {}", opening.trim()))?;
    Ok(format!("{before}{opening}{content}<!-- end -->{after}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_marked_part_is_replaced() {
        let page = "a\n<!-- generated: x -->\nold\n<!-- end -->\nb\n<!-- generated: y -->\nkept\n<!-- end -->\n";
        let expected = "a\n<!-- generated: x -->\nnew\n<!-- end -->\nb\n<!-- generated: y -->\nkept\n<!-- end -->\n";
        assert_eq!(replace(page, "x", "new\n").expect("x is there"), expected);
        assert!(replace(page, "z", "").is_err());
    }

    #[test]
    fn every_decline_reason_has_a_full_row() {
        for row in declines().lines().skip(2) {
            let cells: Vec<&str> = row.split('|').map(str::trim).collect();
            assert!(cells.len() == 5 && cells[1..4].iter().all(|cell| !cell.is_empty()), "{row}");
        }
    }
}
