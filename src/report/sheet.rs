//! A page of headings, facts and tables, as text for a terminal, as Markdown for a comment, or as a
//! single HTML page.
//!
//! In: parts in order. Out: the same content in each format.

use super::cell::Cell;
use super::fill::fill;
use super::markdown;
use super::screen::{Page, line, printable};
use super::table::{Style, table, wrapped};
use serde_json::{Value, json};

/// A page under construction.
#[derive(Debug, Default)]
pub struct Sheet(Vec<Part>);

#[derive(Debug)]
enum Part {
    /// The first words of a page: what a comment begins with, and the sentence.
    Title(String, String),
    /// A sentence apart from what is around it.
    Paragraph(String),
    /// A sentence about the table above it.
    Below(String),
    /// The subject of the page, or of the rest of it.
    Heading(String),
    /// The answer below a heading, one line each.
    Answer(Vec<String>),
    /// A name and its lines; the first line is next to the name.
    Fact(String, Vec<String>),
    /// A table.
    Table(Vec<String>, Vec<Vec<Cell>>),
    /// Sentences, one line each.
    Lines(Vec<String>),
    /// An empty line between parts of a text.
    Gap,
    /// A preformatted text, such as arithmetic.
    Drawn(String),
}

impl Sheet {
    /// A page for a comment that begins with `lead`, which is Markdown of this tool.
    pub(super) fn titled(lead: impl Into<String>, text: impl Into<String>) -> Self {
        Self(vec![Part::Title(lead.into(), text.into())])
    }

    pub(super) fn paragraph(&mut self, text: impl Into<String>) {
        self.gap();
        self.0.push(Part::Paragraph(text.into()));
    }

    pub(super) fn below(&mut self, text: impl Into<String>) {
        self.0.push(Part::Below(text.into()));
    }

    pub(super) fn heading(&mut self, text: impl Into<String>) {
        self.0.push(Part::Heading(text.into()));
    }

    pub(super) fn answer(&mut self, lines: impl IntoIterator<Item = String>) {
        self.0.push(Part::Answer(lines.into_iter().collect()));
    }

    pub(super) fn fact(&mut self, name: &str, text: impl Into<String>) {
        self.0.push(Part::Fact(name.to_owned(), vec![text.into()]));
    }

    /// Adds a line to the last fact.
    pub(super) fn more(&mut self, text: impl Into<String>) {
        // Without a fact before it the line has no subject.
        if let Some(Part::Fact(_, lines)) = self.0.last_mut() {
            lines.push(text.into());
        }
    }

    pub(super) fn table(&mut self, header: &[&str], rows: impl IntoIterator<Item = Vec<Cell>>) {
        // A table stands apart from what is above it, as in each other page.
        self.gap();
        let header = header.iter().map(ToString::to_string).collect();
        self.0.push(Part::Table(header, rows.into_iter().collect()));
    }

    /// Adds sentences, one line each.
    pub fn lines(&mut self, lines: impl IntoIterator<Item = String>) {
        self.0.push(Part::Lines(lines.into_iter().collect()));
    }

    /// Appends another page below this one.
    pub fn append(&mut self, other: Self) {
        self.gap();
        self.0.extend(other.0);
    }

    /// Whether it has no part.
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Adds an empty line, unless the last part is one.
    pub fn gap(&mut self) {
        if !matches!(self.0.last(), None | Some(Part::Gap)) {
            self.0.push(Part::Gap);
        }
    }

    pub(super) fn drawn(&mut self, text: String) {
        if !text.is_empty() {
            self.gap();
            self.0.push(Part::Drawn(text));
        }
    }

    /// The page for a terminal.
    pub fn text(&self, style: Style) -> String {
        let mut out = Page::default();
        let paragraph = |text: &str, indent: &str, out: &mut Page| {
            out.draw(&wrapped(&printable(text), style.width, indent));
        };
        for part in &self.0 {
            match part {
                Part::Heading(text) | Part::Title(_, text) | Part::Paragraph(text) => {
                    paragraph(text, "  ", &mut out);
                }
                Part::Below(text) => line!(out, "{text}"),
                Part::Answer(lines) => {
                    for text in lines {
                        paragraph(&format!("  {text}"), "    ", &mut out);
                    }
                }
                Part::Fact(name, lines) => {
                    for (index, text) in lines.iter().enumerate() {
                        let name = if index == 0 { name.as_str() } else { "" };
                        paragraph(&format!("{name:<8} {text}"), "         ", &mut out);
                    }
                }
                Part::Table(header, rows) => {
                    let header: Vec<&str> = header.iter().map(String::as_str).collect();
                    out.draw(&table(&header, rows.iter().cloned(), style));
                }
                Part::Lines(lines) => {
                    for text in lines {
                        paragraph(text, "  ", &mut out);
                    }
                }
                Part::Gap => out.end_line(),
                Part::Drawn(text) => out.draw(text),
            }
        }
        out.finish()
    }

    /// The page as text without color, without a maximum width, after an empty line.
    pub(super) fn plain(&self) -> String {
        format!("\n{}", self.text(Style { color: false, width: None }))
    }

    /// The page for a comment or an HTML page.
    pub fn markdown(&self) -> String {
        let mut out = Page::default();
        // Columns of a comment have small letters, as its sentences.
        let is_comment = matches!(self.0.first(), Some(Part::Title(..)));
        for part in &self.0 {
            match part {
                Part::Title(lead, text) => line!(out, "{lead}{}", markdown::text(text)),
                Part::Paragraph(text) => line!(out, "{}", markdown::text(text)),
                Part::Below(text) => line!(out, "\n{}", markdown::text(text)),
                Part::Heading(text) => {
                    line!(out, "### {}", markdown::text(text));
                    out.end_line();
                }
                Part::Answer(lines) => {
                    for text in lines {
                        line!(out, "**{}**", markdown::text(text));
                        out.end_line();
                    }
                }
                Part::Fact(name, lines) => {
                    let lines: Vec<String> =
                        lines.iter().map(|text| markdown::text(text)).collect();
                    line!(out, "- **{}**: {}", markdown::text(name), lines.join("; "));
                }
                Part::Table(header, rows) => {
                    let lower = |title: &String| title.to_lowercase();
                    let header: Vec<String> = if is_comment {
                        header.iter().map(lower).collect()
                    } else {
                        header.clone()
                    };
                    let header: Vec<&str> = header.iter().map(String::as_str).collect();
                    markdown::table(&mut out, &header, rows.iter());
                }
                Part::Lines(lines) => {
                    // Indentation is the list's own.
                    markdown::list(&mut out, lines.iter().map(|text| text.trim()));
                }
                Part::Gap => out.end_line(),
                Part::Drawn(text) => out.draw(&markdown::block(text)),
            }
        }
        out.finish()
    }

    /// The page as a single HTML page: below `lead` what is above the first heading, and a section per
    /// heading.
    ///
    /// # Errors
    /// The error in the template.
    pub(super) fn html(&self, title: &str, lead: &Cell) -> Result<String, String> {
        let mut above = Vec::new();
        let mut sections: Vec<(&str, Vec<Value>)> = Vec::new();
        // Facts in a row are one list, so that their names are one column.
        let mut facts: Vec<Value> = Vec::new();
        for part in self.0.iter().map(Some).chain([None]) {
            if let Some(Part::Fact(name, lines)) = part {
                let lines: Vec<&str> = lines.iter().map(|line| line.trim()).collect();
                facts.push(json!({ "name": name, "lines": lines }));
                continue;
            }
            let parts = sections.last_mut().map_or(&mut above, |(_, parts)| parts);
            if !facts.is_empty() {
                parts.push(json!({ "kind": "facts", "facts": std::mem::take(&mut facts) }));
            }
            match part {
                Some(Part::Heading(text)) => sections.push((text, Vec::new())),
                Some(part) => parts.extend(part.data()),
                None => {}
            }
        }
        let section = |(heading, parts)| json!({ "heading": heading, "parts": parts });
        let sections: Vec<Value> = sections.into_iter().map(section).collect();
        let data = json!({ "title": title, "lead": lead, "above": above, "sections": sections });
        fill("sheet.html", include_str!("page/sheet.html"), &data)
    }
}

impl Part {
    /// The part for the template of a page; a gap is nothing there, and headings and facts are what
    /// other parts are gathered by.
    fn data(&self) -> Option<Value> {
        let lines = |kind: &str, lines: Vec<&str>| json!({ "kind": kind, "lines": lines });
        Some(match self {
            Self::Title(_, text) | Self::Paragraph(text) | Self::Below(text) => {
                lines("lines", vec![text])
            }
            Self::Answer(all) => lines("answer", all.iter().map(String::as_str).collect()),
            Self::Lines(all) => lines("lines", all.iter().map(|line| line.trim()).collect()),
            Self::Table(titles, rows) => {
                let titles: Vec<String> = titles.iter().map(|title| title.to_lowercase()).collect();
                json!({ "kind": "table", "titles": titles, "rows": rows })
            }
            Self::Drawn(text) => {
                json!({ "kind": "drawn", "lines": text.lines().collect::<Vec<_>>() })
            }
            Self::Heading(_) | Self::Fact(..) | Self::Gap => return None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::cell::row;

    fn sheet() -> Sheet {
        let mut sheet = Sheet::default();
        sheet.heading("ns/chat  in.yaml:3");
        sheet.answer(["sglang (only eligible runtime)".to_owned()]);
        sheet.fact("model", "llama");
        sheet.more("8B");
        sheet.table(&["RUNTIME", "VERDICT"], [row!["sglang", Cell::good("chosen")]]);
        sheet.gap();
        sheet.lines(["a | sentence".to_owned()]);
        sheet
    }

    #[test]
    fn a_sheet_renders_as_text() {
        assert_eq!(
            sheet().text(Style { color: false, width: None }),
            "ns/chat  in.yaml:3\n  sglang (only eligible runtime)\nmodel    llama\n         8B\n\nRUNTIME  VERDICT\nsglang   ✓ chosen\n\na | sentence\n"
        );
    }

    #[test]
    fn a_sheet_renders_as_markdown() {
        assert_eq!(
            sheet().markdown(),
            "### ns/chat  in.yaml:3\n\n**sglang (only eligible runtime)**\n\n- **model**: llama; 8B\n\n| RUNTIME | VERDICT |\n|---|---|\n| sglang | ✓ chosen |\n\n- a \\| sentence\n"
        );
    }

    #[test]
    fn a_sheet_renders_as_html() {
        let mut page = Sheet::default();
        page.lines(["mode: documented".to_owned()]);
        page.append(sheet());
        page.drawn("2 < 3\n".to_owned());
        let html = page.html("ome explain", &Cell::bad("1 of 2 services is in error")).unwrap();
        for expected in [
            "<title>ome explain</title>",
            "<p class=\"lead bad\">✗ 1 of 2 services is in error</p>\n<p>mode: documented</p>\n</header>",
            "<h2>ns&#x2f;chat  in.yaml:3</h2>\n<p><b>sglang (only eligible runtime)</b></p>",
            "<dt>model</dt><dd>llama</dd><dd>8B</dd>",
            "<th scope=\"col\">verdict</th>",
            "class=\"good\">✓ chosen</td>",
            "<p>a | sentence</p>",
            "<pre tabindex=\"0\">2 &lt; 3\n</pre></section>",
        ] {
            assert!(html.contains(expected), "{expected} is not in {html}");
        }
    }
}
