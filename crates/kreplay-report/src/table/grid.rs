//! Columns that line up, in lines that never break within a cell.

use std::collections::BTreeSet;

use unicode_width::UnicodeWidthStr;

use crate::text;

/// Least columns that a kernel's name is cut to beside other cells; below, it takes a line of its own.
const LEAST_NAME: usize = 24;

/// Columns between two cells.
const GAP: usize = 2;

/// Columns by which what does not fit goes in below its row.
const FOLDED: usize = 4;

/// Narrower last columns that are tried: each looks at all rows.
const TRIED: usize = 8;

/// What becomes of a cell for which there is no room.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Fit {
    /// It keeps its place; what is then too long for the line goes on the next.
    Fixed,
    /// It is cut down to its beginning.
    Begin,
    /// It stays whole, and takes a line of its own.
    Whole,
}

/// Where a column is.
#[derive(Debug, Clone, Copy)]
struct Place {
    start: usize,
    width: usize,
    right: bool,
    /// A longer cell is cut to this.
    cut: Option<usize>,
    /// A longer cell has a line of its own.
    alone: bool,
}

/// How wide columns are.
#[derive(Debug)]
pub(super) struct Widths(Vec<usize>);

impl Widths {
    /// With no rows yet.
    pub(super) fn of(columns: &[(&str, bool, Fit)]) -> Widths {
        Widths(columns.iter().map(|(name, ..)| name.width()).collect())
    }

    pub(super) fn add(&mut self, row: &[String]) {
        for (width, cell) in self.0.iter_mut().zip(row) {
            *width = (*width).max(cell.width());
        }
    }
}

/// The places of the columns of some rows.
#[derive(Debug)]
pub(super) struct Grid {
    indent: usize,
    room: usize,
    places: Vec<Place>,
    /// How wide the rows are with nothing cut.
    pub(super) natural: usize,
}

impl Grid {
    /// Places for rows with these columns (name, whether numbers, fit), in lines of `room` columns that begin behind
    /// `indent` spaces.
    pub(super) fn new<'a>(
        columns: &[(&str, bool, Fit)],
        rows: impl Iterator<Item = &'a [String]> + Clone,
        indent: usize,
        room: usize,
    ) -> Grid {
        let mut widths = Widths::of(columns);
        let mut lasts = BTreeSet::new();
        for row in rows.clone() {
            widths.add(row);
            lasts.insert(row.last().map_or(0, |cell| cell.width()));
        }
        let Widths(widths) = widths;
        let grid = Grid::fitted(columns, &widths, indent, room);
        if grid.natural <= room {
            return grid;
        }
        // A few long cells at the end may cost less where they go below their rows.
        let header = columns.last().map_or(0, |(name, ..)| name.width());
        let others = lasts.into_iter().rev().skip(1).take(TRIED).map(|width| {
            let widths = widths.iter().take(widths.len() - 1).copied().chain([width.max(header)]);
            Grid { natural: grid.natural, ..Grid::fitted(columns, &widths.collect::<Vec<_>>(), indent, room) }
        });
        let least = others.min_by_key(|other| other.lines(rows.clone()));
        match least {
            Some(other) if other.lines(rows.clone()) < grid.lines(rows) => other,
            _ => grid,
        }
    }

    /// Places for rows that are as wide as they get.
    pub(super) fn wide(columns: &[(&str, bool, Fit)], widths: &Widths) -> Grid {
        Grid::fitted(columns, &widths.0, 0, usize::MAX)
    }

    fn fitted(columns: &[(&str, bool, Fit)], widths: &[usize], indent: usize, room: usize) -> Grid {
        let natural = indent + widths.iter().map(|width| width + GAP).sum::<usize>().saturating_sub(GAP);
        let mut over = natural.saturating_sub(room);
        let mut start = indent;
        let mut places = Vec::new();
        for ((name, right, fit), natural) in columns.iter().zip(widths) {
            let left = natural.saturating_sub(over);
            let (width, cut) = match fit {
                Fit::Fixed => (*natural, None),
                Fit::Whole => (left.max(name.width()), None),
                Fit::Begin if left < LEAST_NAME.min(*natural) => (name.width(), Some(room.saturating_sub(start))),
                Fit::Begin => (left, Some(left)),
            };
            let alone = *fit != Fit::Fixed && cut != Some(width);
            places.push(Place { start, width, right: *right, cut, alone });
            over = over.saturating_sub(natural - width);
            start += width + GAP;
        }
        Grid { indent, room, places, natural }
    }

    fn lines<'a>(&self, rows: impl Iterator<Item = &'a [String]>) -> usize {
        rows.map(|row| self.row(row.iter().map(String::as_str)).lines().count()).sum()
    }

    /// One row: one line wherever it fits.
    pub(super) fn row<'a>(&self, cells: impl Iterator<Item = &'a str>) -> String {
        let (mut lines, mut line) = (String::new(), String::new());
        let mut folded = false;
        for (place, cell) in self.places.iter().zip(cells).filter(|(_, cell)| !cell.is_empty()) {
            let cell = text::begin(cell, place.cut.unwrap_or(usize::MAX));
            let width = cell.width();
            let alone = place.alone && width > place.width;
            let mut at = place.start + if place.right { place.width.saturating_sub(width) } else { 0 };
            if folded {
                at = line.width() + GAP;
            }
            if at + width > self.room && !alone {
                end(&mut lines, &mut line);
                folded = true;
                at = at.min(self.indent + FOLDED);
            }
            line.extend(std::iter::repeat_n(' ', at.saturating_sub(line.width())));
            line.push_str(&cell);
            if alone {
                end(&mut lines, &mut line);
            }
        }
        end(&mut lines, &mut line);
        lines
    }
}

/// Ends a line, if anything is in it.
fn end(lines: &mut String, line: &mut String) {
    if !line.is_empty() {
        lines.push_str(line);
        lines.push('\n');
        line.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const COLUMNS: [(&str, bool, Fit); 3] =
        [("counter", false, Fit::Whole), ("mean", true, Fit::Fixed), ("unit", false, Fit::Fixed)];

    fn lines(columns: &[(&str, bool, Fit)], rows: &[&[&str]], room: usize) -> Vec<String> {
        let rows: Vec<Vec<String>> = rows.iter().map(|row| row.iter().map(ToString::to_string).collect()).collect();
        let grid = Grid::new(columns, rows.iter().map(Vec::as_slice), 2, room);
        let lines = rows.iter().map(|row| grid.row(row.iter().map(String::as_str)));
        lines.collect::<String>().lines().map(str::to_owned).collect()
    }

    #[test]
    fn a_long_counter_stands_alone_and_the_others_beside_their_values() {
        let rows: [&[&str]; 2] = [&["SQ_WAVES", "7", "waves"], &["l1tex__t_sectors_op_ld.sum", "12", "sectors"]];
        assert_eq!(
            lines(&COLUMNS, &rows, 30),
            ["  SQ_WAVES          7  waves", "  l1tex__t_sectors_op_ld.sum", "                   12  sectors"]
        );
        assert_eq!(lines(&COLUMNS, &rows, 80)[1], "  l1tex__t_sectors_op_ld.sum    12  sectors");
    }

    #[test]
    fn a_name_is_cut_at_its_end_and_alone_where_little_of_it_would_be_left() {
        let columns = [("kernel", false, Fit::Begin), ("dispatches", false, Fit::Fixed)];
        let rows: [&[&str]; 1] = [&["void reduce<float, unsigned int, 512>(float*)", "1 replayed"]];
        assert_eq!(lines(&columns, &rows, 40), ["  void reduce<float, unsign…  1 replayed"]);
        assert_eq!(lines(&columns, &rows, 30), ["  void reduce<float, unsigned…", "          1 replayed"]);
    }

    #[test]
    fn what_fits_nowhere_goes_below_whole() {
        let rows: [&[&str]; 1] = [&["SQ_WAVES", "18446744073709551615", "instructions"]];
        assert_eq!(lines(&COLUMNS, &rows, 34), ["  SQ_WAVES", "           18446744073709551615", "      instructions"]);
    }

    #[test]
    fn one_long_cell_at_the_end_does_not_break_the_other_rows() {
        let rows: [&[&str]; 3] =
            [&["SQ_WAVES", "7", "waves"], &["SQ_INSTS", "8", "instructions of a kind"], &["TCC_READ", "9", "reads"]];
        assert_eq!(
            lines(&COLUMNS, &rows, 34),
            ["  SQ_WAVES     7  waves", "  SQ_INSTS     8", "      instructions of a kind", "  TCC_READ     9  reads"]
        );
    }
}
