//! Plain text tables, printed row by row as their rows become known.

use std::io::Write;

use dally::contract::words::grouped;

/// The widths of the columns of a table.
pub struct Table {
    widths: Vec<usize>,
    /// How many columns are names, which are flush left.
    names: usize,
}

impl Table {
    /// A table with these headings, wide enough for them and for cells of these widths. The first
    /// `names` columns are flush left. Prints the headings.
    pub fn new(names: usize, columns: &[(&str, usize)]) -> Table {
        let widths = columns.iter().map(|(heading, width)| (*width).max(heading.len())).collect();
        let table = Table { widths, names };
        table.row(columns.iter().map(|(heading, _)| (*heading).to_owned()));
        table
    }

    /// Prints a row.
    pub fn row(&self, cells: impl IntoIterator<Item = String>) {
        let mut line = String::new();
        for (i, (cell, &width)) in cells.into_iter().zip(&self.widths).enumerate() {
            let space = " ".repeat(width.saturating_sub(cell.chars().count()));
            line += if i == 0 { "" } else { "  " };
            line += &if i < self.names { cell + &space } else { space + &cell };
        }
        println!("{}", line.trim_end());
        let _ = std::io::stdout().flush();
    }
}

/// An amount of memory in MiB.
pub fn mebibytes(bytes: u64) -> String {
    format!("{} MiB", grouped(bytes.div_ceil(1 << 20)))
}
