//! Tables of text.

use super::cell::Cell;
use super::screen::{Draw, printable};
use comfy_table::{Attribute, ColumnConstraint, ContentArrangement, Table, Width, presets};
use std::fmt::Write;
use std::io;
use unicode_width::UnicodeWidthStr;

/// The look of text.
#[derive(Clone, Copy, Debug)]
pub struct Style {
    /// Color and bold.
    pub color: bool,
    /// Width of the terminal; `None` means no limit.
    pub width: Option<u16>,
}

/// Minimum width of columns of prose.
const PROSE: usize = 16;

/// Number of blanks between two columns.
const PADDING: u16 = 2;

/// Number of rows to draw at a time.
const PIECE: usize = 1000;

/// A table without a frame, as in kubectl. Words are never broken: columns of prose share the width
/// that the others leave. If the table does not fit, it has as many of the first columns as fit,
/// and the other cells follow each row as lines. If not even the first column fits, each row is a
/// block.
pub fn table(header: &[&str], rows: impl IntoIterator<Item = Vec<Cell>>, style: Style) -> String {
    laid_out(header, rows, style, true)
}

/// A table with columns of one kind: if they do not fit, each row is a block.
pub(super) fn grid(
    header: &[&str],
    rows: impl IntoIterator<Item = Vec<Cell>>,
    style: Style,
) -> String {
    laid_out(header, rows, style, false)
}

/// A table. If it does not fit, it has as many columns as fit, or a block per row.
fn laid_out(
    header: &[&str],
    rows: impl IntoIterator<Item = Vec<Cell>>,
    style: Style,
    keeps_columns: bool,
) -> String {
    let mut widths = extents(header);
    let widened = rows.into_iter().map(|row| {
        let cells = printed(&row);
        widen(&mut widths, &cells);
        cells
    });
    // All rows are needed before the first is drawn, since the widest decides.
    let rows: Vec<Vec<Cell>> = widened.collect();
    if !fit(&widths, style) {
        return match fitting(&widths, style) {
            // Blocks part the cells of one row, which a matrix does not need to have together.
            columns if columns > 0 && keeps_columns => stacked(header, &rows, columns, style),
            _ => blocks(header, &rows, style),
        };
    }
    let mut table = filled(header, [], style);
    for cells in rows {
        table.add_row(cells.into_iter().map(|cell| colored(cell, style)));
    }
    for (column, (word, whole)) in table.column_iter_mut().zip(widths) {
        column.set_padding((0, PADDING));
        // A column that is short enough is never wrapped; one of prose may shrink to its longest
        // word.
        column.set_constraint(if whole <= word.max(PROSE) {
            ColumnConstraint::ContentWidth
        } else {
            let least = u16::try_from(word.max(PROSE)).unwrap_or(u16::MAX);
            ColumnConstraint::LowerBoundary(Width::Fixed(least.saturating_add(PADDING)))
        });
    }
    lines(&table)
}

/// Whether the lines of a table fit the terminal without broken words.
pub(super) fn fits(
    header: &[&str],
    rows: impl IntoIterator<Item = Vec<Cell>>,
    style: Style,
) -> bool {
    fit(&printed_widths(header, rows), style)
}

/// Whether a table fits the terminal with every cell on one line.
pub(super) fn fits_unwrapped(
    header: &[&str],
    rows: impl IntoIterator<Item = Vec<Cell>>,
    style: Style,
) -> bool {
    let widths = printed_widths(header, rows);
    fitting(&widths, style) == widths.len()
}

/// The widths of columns that hold every cell as it is printed.
fn printed_widths(
    header: &[&str],
    rows: impl IntoIterator<Item = Vec<Cell>>,
) -> Vec<(usize, usize)> {
    let mut widths = extents(header);
    for row in rows {
        widen(&mut widths, &printed(&row));
    }
    widths
}

/// Whether columns of these widths fit the terminal.
fn fit(widths: &[(usize, usize)], style: Style) -> bool {
    let Some(width) = style.width else {
        let whole = widths.iter().map(|(_, whole)| whole + usize::from(PADDING));
        // Without a terminal the limit is that of the library's numbers.
        return whole.sum::<usize>() <= WIDEST;
    };
    let least = widths.iter().map(|(word, whole)| (*whole).min((*word).max(PROSE)));
    least.map(|column| column + usize::from(PADDING)).sum::<usize>() <= usize::from(width)
}

/// How many of the first columns fit the terminal if every cell is on one line.
fn fitting(widths: &[(usize, usize)], style: Style) -> usize {
    let Some(width) = style.width else { return 0 };
    let ends = widths.iter().scan(0, |end, (_, whole)| {
        *end += whole + usize::from(PADDING);
        Some(*end)
    });
    ends.take_while(|end| *end <= usize::from(width)).count()
}

/// A table of the first columns. The other cells follow below each row, each after its title, as
/// many per line as fit.
fn stacked(header: &[&str], rows: &[Vec<Cell>], columns: usize, style: Style) -> String {
    let first = rows.iter().map(|cells| cells[..columns].to_vec());
    let drawn = table(&header[..columns], first, style);
    // The drawing is a line for each row, since every cell is on one line.
    let mut lines = drawn.lines();
    let mut out = String::new();
    let mut put = |line: &str| {
        out.push_str(line);
        out.push('\n');
    };
    put(lines.next().unwrap_or_default());
    for (line, cells) in lines.zip(rows) {
        put(line);
        let cells = header.iter().zip(cells).skip(columns);
        let cells = cells.filter(|(_, cell)| !cell.text.is_empty());
        for line in packed(cells.map(|(title, cell)| (printable(title), cell)), style) {
            put(&line);
        }
    }
    out
}

/// Cells after their titles, indented, as many per line as fit; a longer cell is wrapped.
fn packed<'a>(cells: impl Iterator<Item = (String, &'a Cell)>, style: Style) -> Vec<String> {
    const GAP: &str = "   ";
    let most = style.width.map_or(usize::MAX, usize::from);
    let mut lines: Vec<String> = Vec::new();
    let mut width = most;
    for (title, cell) in cells {
        let before = if title.is_empty() { title } else { title + " " };
        let text = &cell.text;
        let count = before.width() + text.width();
        let paint = painter(cell, style);
        match lines.last_mut() {
            Some(line) if width + GAP.len() + count <= most => {
                line.push_str(&(GAP.to_owned() + &before + &paint(text)));
                width += GAP.len() + count;
            }
            _ if 2 + count <= most => {
                lines.push(format!("  {before}{}", paint(text)));
                width = 2 + count;
            }
            _ => {
                let text = wrapped(&format!("  {before}{text}"), style.width, "    ");
                lines.extend(text.lines().map(paint));
                // A wrapped cell fills its last line by chance, so nothing is put behind it.
                width = most;
            }
        }
    }
    lines
}

/// A block per row: one line per non-empty cell, after its title.
fn blocks(header: &[&str], rows: &[Vec<Cell>], style: Style) -> String {
    let longest = header.iter().map(|title| title.width()).max().unwrap_or(0);
    let mut out = String::new();
    for (place, cells) in rows.iter().enumerate() {
        if place > 0 {
            out.push('\n');
        }
        for (title, cell) in header.iter().zip(cells).filter(|(_, cell)| !cell.text.is_empty()) {
            let left = style.width.map(|width| {
                usize::from(width).saturating_sub(longest + 2).try_into().unwrap_or(u16::MAX)
            });
            let paint = painter(cell, style);
            for (place, line) in wrapped(&cell.text, left, "").lines().enumerate() {
                let title = if place == 0 { printable(title) } else { String::new() };
                let _ = writeln!(out, "{title:<longest$}  {}", paint(line));
            }
        }
    }
    out
}

/// A table in pieces, for tables of any length. Rows are made again on every pass and dropped once
/// they are drawn. If lines have to fit a terminal, all rows determine the widths of the columns,
/// and the table is drawn as one.
///
/// # Errors
/// The error of `draw`.
pub(super) fn pieces<R: Iterator<Item = Vec<Cell>>>(
    header: &[&str],
    rows: impl Fn() -> R,
    style: Style,
    draw: &mut Draw<'_>,
) -> io::Result<()> {
    // With a limit, widths are shared among columns, for which all rows must be known.
    if style.width.is_some() || rows().nth(PIECE).is_none() {
        return draw(&table(header, rows(), style));
    }
    // One pass for the widths and one for the drawing: memory stays that of one piece.
    let mut widths = filled(header, [], style).column_max_content_widths();
    let mut all = rows().peekable();
    while all.peek().is_some() {
        let piece = filled(&[], all.by_ref().take(PIECE), style);
        for (widths, width) in widths.iter_mut().zip(piece.column_max_content_widths()) {
            *widths = width.max(*widths);
        }
    }
    let (mut all, mut titles) = (rows().peekable(), header);
    while all.peek().is_some() {
        let mut piece = filled(std::mem::take(&mut titles), all.by_ref().take(PIECE), style);
        for (column, width) in piece.column_iter_mut().zip(&widths) {
            column.set_padding((0, PADDING));
            let width = Width::Fixed(width.saturating_add(PADDING));
            column.set_constraint(ColumnConstraint::Absolute(width));
        }
        draw(&lines(&piece))?;
    }
    Ok(())
}

/// A table with titles and rows, before the widths of its columns are set.
fn filled(header: &[&str], rows: impl IntoIterator<Item = Vec<Cell>>, style: Style) -> Table {
    let mut table = Table::new();
    table.load_style(presets::NOTHING);
    match style.width {
        Some(width) => {
            table.set_content_arrangement(ContentArrangement::Dynamic).set_width(width);
        }
        None => {
            table.set_content_arrangement(ContentArrangement::Disabled);
        }
    }
    if style.color {
        // The library looks for a terminal by itself, and its answer would depend on where it runs.
        table.enforce_styling();
    } else {
        table.force_no_tty();
    }
    if !header.is_empty() {
        table.set_header(header.iter().map(|title| {
            let cell = comfy_table::Cell::new(printable(title));
            if style.color { cell.add_attribute(Attribute::Bold) } else { cell }
        }));
    }
    for row in rows {
        table.add_row(printed(&row).into_iter().map(|cell| colored(cell, style)));
    }
    table
}

/// Number of characters of a cell. More is no table any more, and beyond 65,535 columns there is no
/// width for it; data formats have the whole text.
const LONGEST: usize = 4096;

/// Width of a table that is drawn as one; a wider one is drawn as blocks.
const WIDEST: usize = 60_000;

fn printed(row: &[Cell]) -> Vec<Cell> {
    row.iter().map(|cell| cell.with(capped(printable(&cell.text)))).collect()
}

/// The beginning of a long text, and its length.
fn capped(text: String) -> String {
    // Characters are counted only where the bytes leave a doubt.
    if text.len() <= LONGEST || text.chars().nth(LONGEST).is_none() {
        return text;
    }
    let begin: String = text.chars().take(LONGEST).collect();
    format!("{begin}… ({} characters)", text.chars().count())
}

fn lines(table: &Table) -> String {
    let mut out = String::new();
    for line in table.lines() {
        // The padding of the last column is of no use.
        out.push_str(line.trim_end());
        out.push('\n');
    }
    out
}

/// The width of the longest word and of the longest cell of each column, at first of its title.
fn extents(header: &[&str]) -> Vec<(usize, usize)> {
    header.iter().map(|title| extent(title)).collect()
}

/// Extends the widths by the cells of one more row.
fn widen(widths: &mut [(usize, usize)], cells: &[Cell]) {
    for ((word, whole), cell) in widths.iter_mut().zip(cells) {
        let (own_word, own_whole) = extent(&cell.text);
        (*word, *whole) = ((*word).max(own_word), (*whole).max(own_whole));
    }
}

/// Columns of the longest word, and of the whole cell.
fn extent(cell: &str) -> (usize, usize) {
    (cell.split(' ').map(UnicodeWidthStr::width).max().unwrap_or(0), cell.width())
}

/// What paints the lines of a cell: escapes have no width, and the layout counts characters, so that
/// they come last.
fn painter(cell: &Cell, style: Style) -> impl Fn(&str) -> String {
    let meaning = cell.meaning.filter(|_| style.color);
    move |line| meaning.map_or_else(|| line.to_owned(), |meaning| meaning.painted(line))
}

/// A cell in the color of its meaning.
fn colored(cell: Cell, style: Style) -> comfy_table::Cell {
    let meaning = cell.meaning.filter(|_| style.color);
    let cell = comfy_table::Cell::new(cell.text);
    match meaning {
        Some(meaning) => cell.fg(meaning.color()),
        None => cell,
    }
}

/// Wraps words into lines of at most `columns` characters, with all lines after the first indented;
/// no word is broken.
pub fn wrapped(text: &str, columns: Option<u16>, indent: &str) -> String {
    // A name that is broken cannot be searched for or copied.
    let options = textwrap::Options::new(columns.map_or(usize::MAX, usize::from))
        .break_words(false)
        .word_separator(textwrap::WordSeparator::AsciiSpace)
        .word_splitter(textwrap::WordSplitter::NoHyphenation)
        .wrap_algorithm(textwrap::WrapAlgorithm::FirstFit)
        .subsequent_indent(indent);
    textwrap::fill(text, options) + "\n"
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::cell::row;

    fn drawn(width: u16, color: bool) -> String {
        let rows = vec![
            row![
                "a-name-of-a-service",
                Cell::good("yes"),
                "because of a reason in words that is long",
                "testdata/quickstart/runtimes.yaml:134",
            ],
            row!["b", Cell::bad("no"), Cell::none(), "x.yaml:1"],
        ];
        table(&["SERVICE", "FITS", "DETAIL", "WHERE"], rows, Style { color, width: Some(width) })
    }

    #[test]
    fn no_word_is_broken_at_any_width() {
        for width in [20, 40, 80, 100, 120, 200] {
            let text = drawn(width, false);
            for word in [
                "a-name-of-a-service",
                "because",
                "reason",
                "testdata/quickstart/runtimes.yaml:134",
            ] {
                assert!(text.contains(word), "{width}: {word}\n{text}");
            }
        }
    }

    #[test]
    fn a_table_fits_where_no_line_is_longer_than_the_terminal() {
        let header = ["SERVICE", "DETAIL", "WHERE"];
        let row = ["a-name", "because of a reason in words", "runtimes.yaml:134"];
        let rows = [row.map(Cell::from).to_vec()];
        let fitting: Vec<u16> = (1..80)
            .filter(|width| {
                fits(&header, rows.clone(), Style { color: false, width: Some(*width) })
            })
            .collect();
        // 7 + 16 + 17 characters, and 2 after each column.
        assert_eq!(fitting.first(), Some(&46));
        for width in fitting {
            let text = table(&header, rows.clone(), Style { color: false, width: Some(width) });
            assert!(text.lines().all(|line| line.width() <= usize::from(width)), "{text}");
        }
        assert!(fits(&header, rows, Style { color: false, width: None }));
    }

    #[test]
    fn columns_that_do_not_fit_are_printed_below_their_row() {
        assert_eq!(
            drawn(40, false),
            "SERVICE              FITS\n\
             a-name-of-a-service  ✓ yes\n  \
               DETAIL because of a reason in words\n    that is long\n  \
               WHERE\n    testdata/quickstart/runtimes.yaml:134\n\
             b                    ✗ no\n  \
               DETAIL -   WHERE x.yaml:1\n"
        );
        assert!(drawn(40, true).contains("✗ no"));
    }

    #[test]
    fn where_no_column_fits_each_row_is_a_block() {
        let text = drawn(20, false);
        assert_eq!(
            text,
            "SERVICE  a-name-of-a-service\n\
             FITS     ✓ yes\n\
             DETAIL   because of\n         a reason in\n         words that\n         is long\n\
             WHERE    testdata/quickstart/runtimes.yaml:134\n\
             \n\
             SERVICE  b\n\
             FITS     ✗ no\n\
             DETAIL   -\n\
             WHERE    x.yaml:1\n"
        );
        assert!(drawn(20, true).contains("FITS     \u{1b}[31m✗ no\u{1b}[0m\n"));
    }

    #[test]
    fn cells_and_columns_of_any_length_are_drawn() {
        let style = |width| Style { color: false, width };
        for width in [None, Some(80)] {
            let text =
                table(&["A", "B"], [row!["x".repeat(70_000), "é ".repeat(40_000)]], style(width));
            assert!(text.contains("(70000") && text.len() < 30_000, "{width:?}");
        }
        let titles: Vec<String> =
            (0..4000).map(|at| format!("a-column-with-a-name-{at}")).collect();
        let titles: Vec<&str> = titles.iter().map(String::as_str).collect();
        let text = grid(&titles, [vec![Cell::from("cell"); 4000]], style(None));
        assert_eq!(text.lines().count(), 4000);
    }

    #[test]
    fn a_cell_has_the_color_of_its_meaning() {
        let text = drawn(200, true);
        assert!(text.contains("\u{1b}[38;5;10m✓ yes"), "{text:?}");
        assert!(text.contains("\u{1b}[38;5;9m✗ no"), "{text:?}");
        assert!(!drawn(200, false).contains('\u{1b}'));
    }

    #[test]
    fn a_name_has_no_color_in_any_layout() {
        let names = ["default", "fits", "none", "-", "✗ no"];
        for width in [None, Some(200), Some(24), Some(8)] {
            let style = Style { color: true, width };
            let rows = names.map(|name| row!["a-long-first-column", name]);
            let text = table(&["A", "B"], rows.to_vec(), style);
            let rows = names.map(|name| row!["a-long-first-column", Cell::faint(name)]);
            let gray = table(&["A", "B"], rows.to_vec(), style);
            for name in names {
                let is_painted = |text: &str| text.contains(&format!("m{name}"));
                assert!(text.contains(name) && !is_painted(&text), "{width:?}: {text:?}");
                assert!(is_painted(&gray), "{width:?}: {gray:?}");
            }
        }
    }

    #[test]
    fn a_long_table_is_the_same_in_pieces() {
        for (color, rows) in [(false, PIECE), (true, PIECE + 1), (false, 3 * PIECE + 7)] {
            let row = |at: usize| {
                let word = if at.is_multiple_of(7) { Cell::bad("no") } else { Cell::good("yes") };
                let prose = "because of a reason in words ".repeat(at * 3 / rows);
                row![format!("name-{at}"), word, prose, "", "日本"]
            };
            let style = Style { color, width: None };
            let titles = ["SERVICE", "FITS", "DETAIL", "EMPTY", "W"];
            let mut drawn = String::new();
            let mut draw = |piece: &str| {
                drawn.push_str(piece);
                Ok(())
            };
            pieces(&titles, || (0..rows).map(row), style, &mut draw).unwrap();
            assert!(drawn == table(&titles, (0..rows).map(row), style), "{rows} rows");
        }
    }

    #[test]
    fn text_wraps_at_the_width_with_an_indent() {
        assert_eq!(wrapped("aa bb cc dd", Some(5), " "), "aa bb\n cc\n dd\n");
        assert_eq!(wrapped("  aa bb", Some(80), ""), "  aa bb\n");
        assert_eq!(wrapped("longer-than-it is", Some(4), ""), "longer-than-it\nis\n");
        assert_eq!(wrapped("aa bb", None, ""), "aa bb\n");
    }
}
