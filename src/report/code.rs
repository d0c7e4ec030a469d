//! The reference of codes: one code on the terminal, or all of them as a page.

use super::markdown;
use super::table::{Style, wrapped};
use crate::diag::{CODES, CodeDoc, Topic, addresses};
use std::fmt::Write;

/// One code as text: its meaning, why it matters, an example, the fix, the source.
pub fn one(doc: &CodeDoc) -> String {
    let entry = doc.entry();
    let mut out = format!("{} ({})\n\n{}.\n", doc.id, kind(doc), capitalized(doc.summary));
    // The closure borrows the text, so that it is made twice around the example.
    let mut part = |title: &str, text: &str| {
        let _ = write!(out, "\n{title}\n{}", set_in(text));
    };
    part("Why it matters", entry.why);
    part("Example", &format!("$ {}", entry.run));
    for (name, text) in &entry.files {
        let _ = writeln!(out, "\n  {name}:");
        for line in text.lines() {
            let _ = writeln!(out, "    {line}");
        }
    }
    let mut part = |title: &str, text: &str| {
        let _ = write!(out, "\n{title}\n{}", set_in(text));
    };
    part("What to do", entry.fix);
    part("Source", entry.source);
    for address in addresses(entry.source) {
        let _ = writeln!(out, "  {address}");
    }
    out
}

/// Each code with its meaning.
pub fn list(style: Style) -> String {
    let name = CODES.iter().map(|doc| doc.id.len()).max().unwrap_or(0);
    // Lines of a long summary begin below the first one.
    let indent = " ".repeat(name + 2);
    let line = |doc: &CodeDoc| {
        wrapped(&format!("{:name$}  {}", doc.id, doc.summary), style.width, &indent)
    };
    CODES.iter().map(line).collect()
}

/// Lines of at most 80 columns, indented by two.
fn set_in(text: &str) -> String {
    wrapped(&format!("  {text}"), Some(80), "  ")
}

fn kind(doc: &CodeDoc) -> String {
    match doc.topic {
        Topic::Finding => format!("finding, {}", doc.severity.as_str()),
        Topic::Reason => "reason of a rejected candidate".into(),
        Topic::Note => "note on a decision".into(),
    }
}

/// The reference page, in Markdown.
pub fn page() -> String {
    let mut out = String::from(
        "# Codes\n\nEvery finding, reason and note has a code that never changes. `ome code CODE` prints its entry. Each example gives its code as it\nstands here: a test runs them. This page is generated from the same list (`cargo run --example docs`).\n",
    );
    for (title, topic) in [
        ("Findings", Topic::Finding),
        ("Reasons of rejected candidates", Topic::Reason),
        ("Notes on decisions", Topic::Note),
    ] {
        let _ = write!(out, "\n## {title}\n");
        for doc in CODES.iter().filter(|doc| doc.topic == topic) {
            let severity = if topic == Topic::Finding {
                format!(" ({})", doc.severity.as_str())
            } else {
                String::new()
            };
            let entry = doc.entry();
            let _ = write!(
                out,
                "\n### `{}`{severity}\n\n{}. {}\n\nExample: `{}`\n",
                doc.id,
                capitalized(doc.summary),
                entry.why,
                entry.run,
            );
            for (name, text) in &entry.files {
                let _ = write!(out, "\n`{name}`:\n\n{}", markdown::block(text));
            }
            let _ = write!(out, "\nWhat to do: {}\n\nSource: {}", entry.fix, entry.source);
            for address in addresses(entry.source) {
                let _ = write!(out, "\n<{address}>");
            }
            out.push('\n');
        }
    }
    out
}

fn capitalized(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map(|first| first.to_uppercase().chain(chars).collect()).unwrap_or_default()
}
