//! The reference of codes: for one code on the terminal, for all of them as a page.

use crate::diag::{CODES, CodeDoc, Topic};
use std::fmt::Write;

/// One code for people.
pub fn one(doc: &CodeDoc) -> String {
    let mut out = format!("{} ({})\n\n{}.\n", doc.id, kind(doc), capitalised(doc.summary));
    if !doc.detail.is_empty() {
        let _ = writeln!(out, "{}", doc.detail);
    }
    if !doc.example.is_empty() {
        out.push_str("\nExample:\n");
        for line in doc.example.lines() {
            let _ = writeln!(out, "    {line}");
        }
    }
    if !doc.fix.is_empty() {
        let _ = write!(out, "\nWhat to do: {}.\n", doc.fix);
    }
    out
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
        "# Codes\n\nEvery finding, reason and note has a code that never changes. `ome code CODE` prints its entry. This page is generated from the\nsame list (`cargo run --example docs`).\n",
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
            let _ = write!(out, "\n### `{}`{severity}\n\n{}.", doc.id, capitalised(doc.summary));
            if !doc.detail.is_empty() {
                let _ = write!(out, " {}", doc.detail);
            }
            out.push('\n');
            if !doc.example.is_empty() {
                let _ = write!(out, "\n```\n{}\n```\n", doc.example);
            }
            if !doc.fix.is_empty() {
                let _ = write!(out, "\nWhat to do: {}.\n", doc.fix);
            }
        }
    }
    out
}

fn capitalised(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map(|first| first.to_uppercase().chain(chars).collect()).unwrap_or_default()
}
