//! Keeping what a program controls (names, arguments, long lists) within a frame.

/// The longest text that a sender puts into a message, in bytes of UTF-8.
pub const MAX_TEXT: usize = 64 << 10;

/// The most write-set ranges that a sender puts into one [`crate::Dispatch`].
pub const MAX_RANGES: usize = 64 << 10;

/// `text`, cut at a character boundary and ended with `…` when it is longer than [`MAX_TEXT`].
pub fn bounded_text(text: &str) -> String {
    if text.len() <= MAX_TEXT {
        return text.to_owned();
    }
    let mut end = MAX_TEXT - '…'.len_utf8();
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    format!("{}…", &text[..end])
}

/// The leading items of `items` whose bytes fit into [`MAX_TEXT`] together; a last item `…` tells that some are missing.
pub fn bounded_list<S: AsRef<str>>(items: impl IntoIterator<Item = S>) -> Vec<String> {
    let mut left = MAX_TEXT;
    let mut kept = Vec::new();
    for item in items {
        // An empty argument counts too, so that a million of them cannot fill a frame.
        let cost = item.as_ref().len() + 1;
        if cost > left {
            kept.push("…".to_owned());
            break;
        }
        left -= cost;
        kept.push(item.as_ref().to_owned());
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_text_is_kept_and_long_text_is_cut_at_a_character() {
        assert_eq!(bounded_text("kernel"), "kernel");
        let long = "ä".repeat(MAX_TEXT);
        let cut = bounded_text(&long);
        assert!(cut.len() <= MAX_TEXT);
        assert!(cut.ends_with('…'));
        assert!(cut.trim_end_matches('…').chars().all(|c| c == 'ä'));
    }

    #[test]
    fn lists_are_cut_with_a_mark() {
        assert_eq!(bounded_list(["a", "b"]), ["a", "b"]);
        let many = bounded_list(std::iter::repeat_n("", MAX_TEXT * 2));
        assert_eq!(many.len(), MAX_TEXT + 1);
        assert_eq!(many.last().map(String::as_str), Some("…"));
    }
}
