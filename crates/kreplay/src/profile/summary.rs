//! What is said when a profile has ended.

use std::io::{self, Write};
use std::path::Path;

use kreplay_report::write_summary;
use kreplay_store::Reader;

use crate::output::{note, terminal_width};

/// Writes the summary to stderr, unless `quiet`. What went wrong is said all the same.
pub(super) fn write(file: &Path, quiet: bool, left_running: usize, left_unread: usize) {
    if left_running > 0 {
        note(&format!(
            "kreplay: {left_running} processes of the program still run and are no longer recorded; --linger waits longer"
        ));
    }
    if left_unread > 0 {
        note(&format!("kreplay: {left_unread} processes have ended, and not all that they had sent could be taken in"));
    }
    if quiet {
        return;
    }
    let reader = match Reader::open(file) {
        Ok(reader) => reader,
        Err(error) => return note(&format!("kreplay: {error}")),
    };
    let mut text = Vec::new();
    let width = terminal_width(&io::stderr());
    match write_summary(&reader, width, &mut text) {
        Ok(()) => {
            let _ = io::stderr().write_all(&text);
        }
        Err(error) => note(&format!("kreplay: {error}")),
    }
    note(&format!("profile: {}   (kreplay report {})", file.display(), for_a_shell(&file.to_string_lossy())));
}

/// A name as a shell takes it for one word, and the command for no option.
fn for_a_shell(name: &str) -> String {
    let name = if name.starts_with('-') { format!("./{name}") } else { name.to_owned() };
    let plain = |c: char| c.is_alphanumeric() || "/-_.,:+=@%".contains(c);
    if name.chars().all(plain) { name } else { format!("'{}'", name.replace('\'', "'\\''")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_one_word_for_a_shell() {
        for (name, word) in [
            ("run.kreplay", "run.kreplay"),
            ("/a/b-2/größe_1.kreplay", "/a/b-2/größe_1.kreplay"),
            ("my run.kreplay", "'my run.kreplay'"),
            ("it's $HOME", r"'it'\''s $HOME'"),
            ("-o", "./-o"),
        ] {
            assert_eq!(for_a_shell(name), word);
        }
    }
}
