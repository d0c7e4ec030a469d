//! The answer as text on a terminal.

use super::shown::{NAMES, Shown};
use crate::report::meaning::{self, Meaning};
use crate::report::screen::{Page, line, printable};
use crate::report::table::{Style, wrapped};
use unicode_width::UnicodeWidthStr;

/// Groups with their causes and objects, and a summary line.
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
    // Sentences are wrapped, values are not.
    let prose = |out: &mut Page, indent: &str, text: &str| {
        // Lines below the first are indented by two more than it.
        let count = text.len() - text.trim_start().len();
        let text = format!("{indent}{}", printable(text));
        out.draw(&wrapped(&text, style.width, &" ".repeat(indent.len() + count + 2)));
    };
    // Remarks after a text, each with its separator. If the line is too long, each gets its own
    // line.
    let remarks =
        |out: &mut Page, taken: usize, indent: &str, text: &str, more: [(&str, &str); 2]| {
            let text = printable(text);
            let more = more.map(|(before, remark)| (before, printable(remark)));
            let more = || more.iter().filter(|(_, remark)| !remark.is_empty());
            let line: String =
                more().flat_map(|(before, remark)| [*before, remark.as_str()]).collect();
            let line = format!("{text}{line}\n");
            // One more for the line feed, which takes no column.
            if style.width.is_none_or(|width| taken + line.width() <= usize::from(width) + 1) {
                return out.draw(&line);
            }
            out.draw(&text);
            out.end_line();
            for (before, remark) in more() {
                // A value is not wrapped.
                let columns = style.width.filter(|_| *before != " ");
                out.draw(&wrapped(&format!("{indent}{remark}"), columns, indent));
            }
        };
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
        prose(&mut out, "  ", &format!("{}{more}", group.services.join(", ")));
        if let Some(error) = &group.error {
            let text = format!("  {}", meaning::shown(error, style.color));
            out.draw(&wrapped(&text, style.width, "    "));
        }
        for choice in &group.choices {
            line!(out, "  {}: {} → {}", choice.what, choice.from, choice.to);
        }
        for line in &group.rollout {
            prose(&mut out, "  ", line);
        }
        for rule in &group.rules {
            prose(&mut out, "  ", &rule.title);
            if let Some(action) = rule.action {
                prose(&mut out, "    ", &format!("before the upgrade: {action}"));
            }
            for line in &rule.edit {
                prose(&mut out, "    ", line);
            }
        }
        for line in &group.edits {
            prose(&mut out, "  ", line);
        }
        for line in &group.patch {
            line!(out, "    {line}");
        }
        for cause in &group.causes {
            let field =
                if cause.field.is_empty() { String::new() } else { format!(" {}:", cause.field) };
            let because = format!("because {}{field}", cause.object);
            out.push_str("  ");
            let more = [(" ", cause.change.as_str()), ("  ", cause.place.as_str())];
            remarks(&mut out, 2, "    ", &because, more);
            if let Some(turned) = &cause.turned {
                prose(&mut out, "    ", turned);
            }
        }
        if group.more_causes > 0 {
            line!(out, "  … {} more causes · show with --all", group.more_causes);
        }
        for object in &group.objects {
            out.push_str("    ");
            out.draw(&paint(object.marker, object.marker));
            out.push_str(" ");
            let taken = 5 + object.marker.width();
            let more = [("  ", object.note.as_str()), ("", "")];
            remarks(&mut out, taken, "        ", &object.name, more);
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
    if let Some(served) = &shown.served {
        out.draw(&paint("+", "+"));
        out.push_str(" ");
        out.draw(&bold(&served.title));
        line!(out, " · {}", served.facts);
        for line in served.lines.iter().take(NAMES) {
            prose(&mut out, "  ", line);
        }
        if served.lines.len() > NAMES {
            let more = served.lines.len() - NAMES;
            line!(out, "  … {more} more services · show with --all");
        }
        out.end_line();
    }
    for note in &shown.notes {
        prose(&mut out, "", &note.title);
        prose(&mut out, "  ", &format!("affects {}", note.reaches));
        if let Some(action) = note.action {
            prose(&mut out, "  ", &format!("before the upgrade: {action}"));
        }
    }
    if let Some(basis) = &shown.basis {
        prose(&mut out, "", basis);
    }
    if !shown.notes.is_empty() || shown.basis.is_some() {
        out.end_line();
    }
    for line in &shown.capacity {
        out.draw(&wrapped(&meaning::shown(line, style.color), style.width, "  "));
    }
    if !shown.capacity.is_empty() {
        out.end_line();
    }
    // The lines are bold one by one, since escapes over a line end color the margin.
    for line in wrapped(&shown.headline, style.width, "  ").lines() {
        out.draw(&bold(line));
        out.end_line();
    }
    out.finish()
}
