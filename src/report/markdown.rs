//! Builds Markdown whose structure comes only from this tool, for comments on pull requests.
//!
//! In: names, messages and values. Out: text in which they cannot form a cell, a link, a tag, a
//! mention or an emphasis.

use super::cell::Cell;
use super::screen::{Page, line, printable};

/// Escapes a text so that it is not read as Markdown, HTML or a mention. `|` is always escaped,
/// because a table cell is a text too.
pub(super) fn text(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut before = ' ';
    let text = printable(text);
    let mut rest = text.chars().peekable();
    while let Some(c) = rest.next() {
        // A word's own underscores stay, since names of fields have them.
        let inner = before.is_alphanumeric() && rest.peek().is_some_and(|c| c.is_alphanumeric());
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '@' => out.push_str("&#64;"),
            // An underscore inside a word is no emphasis.
            '_' if inner => out.push('_'),
            '\\' | '|' | '`' | '*' | '_' | '~' | '[' | ']' => out.extend(['\\', c]),
            // At the beginning of a line, these would make a heading or a list element.
            '#' | '+' | '-' if out.is_empty() => out.extend(['\\', c]),
            c => out.push(c),
        }
        before = c;
    }
    out
}

/// A code span with any content.
pub(super) fn code(text: &str) -> String {
    let text = printable(text);
    match longest_run(&text) {
        0 => format!("`{text}`"),
        // A span may hold backquotes if its fence has more of them; blanks part the two.
        run => {
            let fence = "`".repeat(run + 1);
            format!("{fence} {text} {fence}")
        }
    }
}

/// A code span in a table cell; empty for an empty text.
pub(super) fn code_cell(text: &str) -> String {
    if text.is_empty() { String::new() } else { code(text).replace('|', "\\|") }
}

/// The fence of a block that contains these lines.
pub(super) fn fence<'a>(lines: impl IntoIterator<Item = &'a str>) -> String {
    // At least three make a block.
    "`".repeat(lines.into_iter().map(longest_run).max().unwrap_or(0).max(2) + 1)
}

/// A block with an unchanged text.
pub fn block(text: &str) -> String {
    let fence = fence(text.lines());
    format!("{fence}\n{text}{fence}\n")
}

/// Lines of text as lines of Markdown.
pub fn lines(drawn: &str) -> String {
    drawn.lines().map(|line| text(line) + "\n").collect()
}

/// The longest run of backticks.
fn longest_run(text: &str) -> usize {
    text.split(|c| c != '`').map(str::len).max().unwrap_or(0)
}

/// A table.
pub(super) fn table<R: AsRef<[Cell]>>(
    out: &mut Page,
    titles: &[&str],
    rows: impl IntoIterator<Item = R>,
) {
    let row = |out: &mut Page, cells: &mut dyn Iterator<Item = &str>| {
        let cells: Vec<String> = cells.map(text).collect();
        line!(out, "| {} |", cells.join(" | "));
    };
    row(out, &mut titles.iter().copied());
    line!(out, "|{}", "---|".repeat(titles.len()));
    for cells in rows {
        row(out, &mut cells.as_ref().iter().map(|cell| cell.text.as_str()));
    }
}

/// A list.
pub(super) fn list<T: AsRef<str>>(out: &mut Page, items: impl IntoIterator<Item = T>) {
    for item in items {
        line!(out, "- {}", text(item.as_ref()));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn input_text_is_escaped_in_markdown() {
        for (given, expected) in [
            ("llama-3_1-70b: ok", "llama-3_1-70b: ok"),
            ("a|<img src=x>@acme", "a\\|&lt;img src=x&gt;&#64;acme"),
            (
                "# **x** `y` [z](u) _w_ ~~v~~",
                "\\# \\*\\*x\\*\\* \\`y\\` \\[z\\](u) \\_w\\_ \\~\\~v\\~\\~",
            ),
            ("- a\n- b\u{200b}&lt;", "\\- a\\\\n- b\\\\u{200b}&amp;lt;"),
        ] {
            assert_eq!(text(given), expected);
        }
        assert_eq!(code_cell("a|`b`\n"), "`` a\\|`b`\\n ``");
    }

    #[test]
    fn cell_text_cannot_add_table_columns() {
        let mut page = Page::default();
        table(&mut page, &["a", "b"], [["x|y".into(), "z\nw".into()]]);
        assert_eq!(page.finish(), "| a | b |\n|---|---|\n| x\\|y | z\\\\nw |\n");
    }
}
