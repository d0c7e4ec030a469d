//! The answer on a terminal.

use super::shown::Shown;
use crate::report::meaning::{self, Meaning};
use crate::report::screen::{Page, line, printable};
use crate::report::table::Style;

/// Groups with their causes and objects, and a line that sums up.
pub(super) fn text(shown: &Shown, style: Style) -> String {
    let paint = |marker: &str, text: &str| {
        let text = printable(text);
        if style.color { Meaning::of_sign(marker).painted(&text) } else { text }
    };
    let bold = |text: &str| {
        let text = printable(text);
        if style.color { format!("\u{1b}[1m{text}\u{1b}[0m") } else { text }
    };
    let mut out = Page::default();
    line!(out, "mode: {} · base: {} · {}\n", shown.semantics, shown.base, shown.compared);
    for group in &shown.groups {
        let facts =
            if group.facts.is_empty() { String::new() } else { format!(" · {}", group.facts) };
        out.draw(&paint(group.marker, group.marker));
        out.push_str(" ");
        out.draw(&bold(&group.title));
        line!(out, "{facts}");
        let more =
            if group.more == 0 { String::new() } else { format!(" and {} more", group.more) };
        line!(out, "  {}{more}", group.services.join(", "));
        if let Some(error) = &group.error {
            out.push_str("  ");
            out.draw(&meaning::shown(error, style.color));
            out.end_line();
        }
        for choice in &group.choices {
            line!(out, "  {}: {} → {}", choice.what, choice.from, choice.to);
        }
        for line in &group.rollout {
            line!(out, "  {line}");
        }
        for rule in &group.rules {
            line!(out, "  {}", rule.title);
            if let Some(action) = rule.action {
                line!(out, "    before the upgrade: {action}");
            }
            for line in &rule.edit {
                line!(out, "    {line}");
            }
        }
        for line in &group.edits {
            line!(out, "  {line}");
        }
        for line in &group.patch {
            line!(out, "    {line}");
        }
        for cause in &group.causes {
            let field =
                if cause.field.is_empty() { String::new() } else { format!(" {}:", cause.field) };
            line!(out, "  because {}{field} {}  {}", cause.object, cause.change, cause.place);
            if let Some(turned) = &cause.turned {
                line!(out, "    {turned}");
            }
        }
        if group.more_causes > 0 {
            line!(out, "  … {} more causes · show with --all", group.more_causes);
        }
        for object in &group.objects {
            let note =
                if object.note.is_empty() { String::new() } else { format!("  {}", object.note) };
            out.push_str("    ");
            out.draw(&paint(object.marker, object.marker));
            line!(out, " {}{note}", object.name);
            for line in &object.lines {
                out.push_str("        ");
                out.draw(&paint(line.marker, line.marker));
                line!(out, " {}", line.text);
            }
            if object.more > 0 {
                line!(out, "        … {} more fields · show with --all", object.more);
            }
        }
        out.end_line();
    }
    for note in &shown.notes {
        line!(out, "{}", note.title);
        line!(out, "  reaches {}", note.reaches);
        if let Some(action) = note.action {
            line!(out, "  before the upgrade: {action}");
        }
    }
    if let Some(basis) = &shown.basis {
        line!(out, "{basis}");
    }
    if !shown.notes.is_empty() || shown.basis.is_some() {
        out.end_line();
    }
    for line in &shown.capacity {
        out.draw(&meaning::shown(line, style.color));
        out.end_line();
    }
    if !shown.capacity.is_empty() {
        out.end_line();
    }
    out.draw(&bold(&shown.headline));
    out.end_line();
    out.finish()
}
