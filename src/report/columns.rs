//! Columns of a table that say the same in every row are one line above it.

use super::cell::Cell;

/// The column that is always shown, even if it is the same in every row.
const SERVICE: usize = 1;

/// Folds the columns: returns those with the same value in every row, as `title value`, and the
/// indices of the others. An empty column is omitted. For a single service no column is folded,
/// except a class that it does not have.
pub(super) fn folded(
    titles: &[&'static str],
    rows: impl Iterator<Item = Vec<Cell>>,
) -> (Vec<String>, Vec<usize>) {
    let mut services = 0;
    // For each column its first non-empty cell, and whether all other cells are equal to it.
    let mut columns: Vec<Option<(Cell, bool)>> = vec![None; titles.len()];
    for row in rows {
        services += usize::from(!row[SERVICE].text.is_empty());
        // A service in error has no value where the others agree.
        let is_failed = row.iter().any(Cell::is_bad);
        let counts = |cell: &Cell| !(cell.text.is_empty() || is_failed && cell.is_none());
        for (column, cell) in columns.iter_mut().zip(row).filter(|(_, cell)| counts(cell)) {
            match column {
                Some((first, alike)) => *alike &= *first == cell,
                None => *column = Some((cell, true)),
            }
        }
    }
    let (mut words, mut kept) = (Vec::new(), Vec::new());
    for (at, column) in columns.into_iter().enumerate() {
        // The code of an error stays next to its service.
        let folds = |first: &Cell| services > 1 || (titles[at] == "CLASS" && first.is_none());
        match column {
            None if at != SERVICE => {}
            Some((first, true)) if at != SERVICE && folds(&first) && !is_verdict(&first) => {
                words.extend((!first.is_none()).then(|| phrase(titles[at], &first.text)));
            }
            _ => kept.push(at),
        }
    }
    (words, kept)
}

/// A title and the value of all rows in a line of text.
fn phrase(title: &str, value: &str) -> String {
    match title {
        "DECIDED BY" if value.starts_with("named ") => format!("runtime {value}"),
        _ => format!("{} {value}", small(title)),
    }
}

/// Whether a cell says why a service has no values: such a cell stays next to it.
fn is_verdict(cell: &Cell) -> bool {
    cell.is_bad() || cell.text.starts_with("not planned")
}

/// The cells of some columns.
pub(super) fn taken(row: Vec<Cell>, kept: &[usize]) -> Vec<Cell> {
    let cells = row.into_iter().enumerate();
    cells.filter(|(at, _)| kept.contains(at)).map(|(_, cell)| cell).collect()
}

/// A title in a line of text.
pub(super) fn small(title: &str) -> String {
    title.to_lowercase().replace("gpus", "GPUs")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_of_all_rows_is_a_phrase() {
        let rows = |decided: &str| {
            ["a", "b"].map(|name| vec!["ml".into(), name.into(), decided.into()]).into_iter()
        };
        let titles = ["NAMESPACE", "SERVICE", "DECIDED BY"];
        let words = |decided: &str| folded(&titles, rows(decided)).0.join(" · ");
        assert_eq!(words("named by the service"), "namespace ml · runtime named by the service");
        assert_eq!(words("highest priority"), "namespace ml · decided by highest priority");
    }
}
