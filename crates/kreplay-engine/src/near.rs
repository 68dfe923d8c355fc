//! Names like a mistyped one, for [`PlanError::Unknown`](crate::PlanError::Unknown).

/// How many names are worth telling.
const AT_MOST: usize = 4;

/// The names nearest to `name`, best first: those that differ only in case, then by edits, then those that hold it.
pub fn near_names<'a>(name: &str, names: impl Iterator<Item = &'a str>) -> Vec<String> {
    let wanted = name.to_ascii_uppercase();
    let tolerated = (wanted.len() / 3).clamp(2, 6);
    let mut found: Vec<(usize, &str)> = names
        .filter_map(|candidate| {
            let upper = candidate.to_ascii_uppercase();
            let edits = distance(&wanted, &upper);
            if edits <= tolerated {
                Some((edits, candidate))
            } else {
                (wanted.len() >= 3 && upper.contains(&wanted)).then_some((tolerated + edits, candidate))
            }
        })
        .collect();
    found.sort_unstable();
    found.into_iter().take(AT_MOST).map(|(_, name)| name.to_owned()).collect()
}

/// Insertions, deletions and replacements that make one the other (Levenshtein), by bytes.
fn distance(a: &str, b: &str) -> usize {
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, left) in a.bytes().enumerate() {
        let mut corner = row[0];
        row[0] = i + 1;
        for (j, right) in b.bytes().enumerate() {
            let replaced = corner + usize::from(left != right);
            corner = row[j + 1];
            row[j + 1] = replaced.min(corner + 1).min(row[j] + 1);
        }
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distances_are_known() {
        for (a, b, edits) in
            [("", "", 0), ("A", "", 1), ("KITTEN", "SITTING", 3), ("SQ_WAVE", "SQ_WAVES", 1), ("AB", "BA", 2)]
        {
            assert_eq!(distance(a, b), edits, "{a} {b}");
            assert_eq!(distance(b, a), edits, "{b} {a}");
        }
    }

    #[test]
    fn the_nearest_come_first() {
        let names = ["SQ_WAVES", "SQ_WAVE_CYCLES", "TCC_HIT", "SQ_INSTS_VALU", "GRBM_COUNT"];
        assert_eq!(near_names("sq_waves", names.into_iter())[0], "SQ_WAVES");
        assert_eq!(near_names("SQ_WAVS", names.into_iter())[0], "SQ_WAVES");
        assert_eq!(near_names("VALU", names.into_iter()), ["SQ_INSTS_VALU"]);
        assert!(near_names("nothing_like_it_at_all", names.into_iter()).is_empty());
    }
}
