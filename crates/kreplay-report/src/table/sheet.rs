//! A table of groups (kernels, dispatches) and their values: one flat grid, or the group on a line above its values.

use std::io::Write;

use super::grid::{Fit, Grid, Widths};
use crate::{ReportError, text};

/// Spaces before the values below their group.
const INDENT: usize = 2;

/// Whether a column may be said once for all rows.
#[derive(Debug, Clone, Copy)]
pub(super) enum Once {
    Never,
    /// When all cells are the same, in the words that this makes of them; nothing is said when these are empty.
    Whole(fn(&str) -> String),
    /// The parts, separated by commas, with which every cell begins.
    Parts,
}

#[derive(Debug, Clone, Copy)]
pub(super) struct Column {
    pub(super) name: &'static str,
    pub(super) right: bool,
    pub(super) fit: Fit,
    pub(super) once: Once,
    /// What stands there for a group without values.
    pub(super) absent: &'static str,
}

impl Column {
    pub(super) const fn new(name: &'static str) -> Column {
        Column { name, right: false, fit: Fit::Fixed, once: Once::Never, absent: "-" }
    }

    pub(super) const fn number(name: &'static str) -> Column {
        Column { right: true, ..Column::new(name) }
    }
}

fn places(columns: &[Column]) -> Vec<(&'static str, bool, Fit)> {
    columns.iter().map(|column| (column.name, column.right, column.fit)).collect()
}

/// What has a name, and its values.
#[derive(Debug)]
pub(super) struct Group {
    pub(super) own: Vec<String>,
    pub(super) values: Vec<Vec<String>>,
}

#[derive(Debug)]
pub(super) struct Sheet {
    pub(super) own: Vec<Column>,
    pub(super) values: Vec<Column>,
    pub(super) groups: Vec<Group>,
}

impl Sheet {
    /// Into a terminal of `width` columns, or, for programs, every column and one line a row however wide.
    pub(super) fn write(mut self, width: Option<u16>, out: &mut dyn Write) -> Result<(), ReportError> {
        if self.groups.is_empty() {
            return Ok(());
        }
        let room = width.map_or(usize::MAX, usize::from);
        if width.is_some() {
            self.say_once(room, out)?;
        }
        let rows = self.flat();
        let columns = [places(&self.own), places(&self.values)].concat();
        let flat = Grid::new(&columns, rows.iter().map(Vec::as_slice), 0, room);
        if flat.natural <= room {
            write_names(&flat, &columns, out)?;
            rows.iter().try_for_each(|row| write_row(&flat, row, out))?;
        } else {
            self.nested(room, out)?;
        }
        writeln!(out)?;
        Ok(())
    }

    fn flat(&self) -> Vec<Vec<String>> {
        self.groups.iter().flat_map(|group| rows(group, &self.values)).collect()
    }

    fn nested(&self, room: usize, out: &mut dyn Write) -> Result<(), ReportError> {
        let (own, values) = (places(&self.own), places(&self.values));
        let groups = Grid::new(&own, self.groups.iter().map(|group| group.own.as_slice()), 0, room);
        let rows = self.groups.iter().flat_map(|group| group.values.iter().map(Vec::as_slice));
        let below = Grid::new(&values, rows, INDENT, room);
        write_names(&groups, &own, out)?;
        write_names(&below, &values, out)?;
        for group in &self.groups {
            write_row(&groups, &group.own, out)?;
            group.values.iter().try_for_each(|row| write_row(&below, row, out))?;
        }
        Ok(())
    }

    /// Takes out what all rows have in common, and says it.
    fn say_once(&mut self, room: usize, out: &mut dyn Write) -> Result<(), ReportError> {
        let mut said = String::new();
        // Of one alone nothing is common.
        if self.groups.len() > 1 {
            let rows = self.groups.iter_mut().map(|group| &mut group.own).collect();
            said.push_str(&sentence("Every dispatch", &take_common(&mut self.own, rows)));
        }
        let rows: Vec<_> = self.groups.iter_mut().flat_map(|group| &mut group.values).collect();
        if rows.is_empty() {
            self.values.clear();
        } else {
            said.push_str(&sentence("Every value", &take_common(&mut self.values, rows)));
        }
        if !said.is_empty() {
            writeln!(out, "{}", text::fold(&said, room))?;
        }
        Ok(())
    }
}

/// The rows of a group with all columns; only the first has what belongs to the group.
fn rows(group: &Group, values: &[Column]) -> Vec<Vec<String>> {
    if group.values.is_empty() {
        let absent = values.iter().map(|column| column.absent.to_owned());
        return vec![group.own.iter().cloned().chain(absent).collect()];
    }
    let blank = vec![String::new(); group.own.len()];
    let own = |place| if place == 0 { &group.own } else { &blank };
    group.values.iter().enumerate().map(|(place, values)| [own(place).as_slice(), values].concat()).collect()
}

/// What [`Sheet::write`] writes for programs. The groups are walked twice and none is kept, so that a long file needs little memory.
pub(super) fn write_walked(
    own: &[Column],
    values: &[Column],
    walk: impl Fn(&mut dyn FnMut(Group) -> Result<(), ReportError>) -> Result<(), ReportError>,
    out: &mut dyn Write,
) -> Result<(), ReportError> {
    let columns = [places(own), places(values)].concat();
    let mut widths = Widths::of(&columns);
    let mut any = false;
    walk(&mut |group| {
        any = true;
        rows(&group, values).iter().for_each(|row| widths.add(row));
        Ok(())
    })?;
    if !any {
        return Ok(());
    }
    let grid = Grid::wide(&columns, &widths);
    write_names(&grid, &columns, out)?;
    walk(&mut |group| rows(&group, values).iter().try_for_each(|row| write_row(&grid, row, out)))?;
    writeln!(out)?;
    Ok(())
}

fn write_names(grid: &Grid, columns: &[(&str, bool, Fit)], out: &mut dyn Write) -> Result<(), ReportError> {
    write!(out, "{}", grid.row(columns.iter().map(|(name, ..)| *name)))?;
    Ok(())
}

fn write_row(grid: &Grid, row: &[String], out: &mut dyn Write) -> Result<(), ReportError> {
    write!(out, "{}", grid.row(row.iter().map(String::as_str)))?;
    Ok(())
}

fn sentence(of: &str, said: &[String]) -> String {
    if said.is_empty() { String::new() } else { format!("{of}: {}.\n", said.join("; ")) }
}

/// Removes the columns that say the same in every row, and gives what they say.
fn take_common(columns: &mut Vec<Column>, mut rows: Vec<&mut Vec<String>>) -> Vec<String> {
    let mut said = Vec::new();
    let mut place = 0;
    while place < columns.len() {
        let first = rows[0][place].clone();
        let common = match columns[place].once {
            Once::Never => None,
            Once::Whole(say) => rows.iter().all(|row| row[place] == first).then(|| say(&first)),
            Once::Parts => {
                let parts = rows.iter().map(|row| common_parts(&first, &row[place])).min().unwrap_or(0);
                for row in &mut rows {
                    row[place] = row[place].split(", ").skip(parts).collect::<Vec<_>>().join(", ");
                }
                let common = first.split(", ").take(parts).collect::<Vec<_>>().join(", ");
                if rows.iter().any(|row| !row[place].is_empty()) {
                    said.extend((!common.is_empty()).then_some(common));
                    None
                } else {
                    Some(common)
                }
            }
        };
        let Some(common) = common else {
            place += 1;
            continue;
        };
        said.extend((!common.is_empty()).then_some(common));
        columns.remove(place);
        for row in &mut rows {
            row.remove(place);
        }
    }
    said
}

/// With how many parts both begin.
fn common_parts(one: &str, other: &str) -> usize {
    one.split(", ").zip(other.split(", ")).take_while(|(one, other)| one == other).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_that_is_walked_is_that_of_a_sheet() {
        let (own, values) = (vec![Column::new("kernel")], vec![Column::new("counter"), Column::number("value")]);
        let group = |name: &str, values: &[(&str, &str)]| Group {
            own: vec![name.into()],
            values: values.iter().map(|(counter, value)| vec![(*counter).into(), (*value).into()]).collect(),
        };
        let groups = || vec![group("a", &[("A", "1"), ("a longer one", "22")]), group("a long name", &[])];
        for many in 0..=2 {
            let (mut walked, mut whole) = (Vec::new(), Vec::new());
            let walk = |each: &mut dyn FnMut(Group) -> Result<(), ReportError>| {
                groups().into_iter().take(many).try_for_each(each)
            };
            write_walked(&own, &values, walk, &mut walked).unwrap();
            let groups = groups().into_iter().take(many).collect();
            Sheet { own: own.clone(), values: values.clone(), groups }.write(None, &mut whole).unwrap();
            assert_eq!(String::from_utf8(walked).unwrap(), String::from_utf8(whole).unwrap());
        }
    }
}
