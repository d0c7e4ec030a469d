//! The answer on a terminal.

use super::shown::Shown;
use crate::report::table::Style;
use std::fmt::Write;

/// Groups with their causes and objects, and a line that sums up.
pub(super) fn text(shown: &Shown, style: Style) -> String {
    let paint = |marker: &str, text: &str| {
        let color = match marker {
            _ if !style.color => return text.to_owned(),
            "+" => "32",
            "~" => "33",
            _ => "31",
        };
        format!("\u{1b}[{color}m{text}\u{1b}[0m")
    };
    let bold = |text: &str| {
        if style.color { format!("\u{1b}[1m{text}\u{1b}[0m") } else { text.to_owned() }
    };
    let mut out = String::new();
    // Writing into a string cannot fail.
    let _ = writeln!(
        out,
        "semantics: {} · base: {} · {}\n",
        shown.semantics, shown.base, shown.compared
    );
    for group in &shown.groups {
        let facts =
            if group.facts.is_empty() { String::new() } else { format!(" · {}", group.facts) };
        let _ =
            writeln!(out, "{} {}{facts}", paint(group.marker, group.marker), bold(&group.title));
        let more =
            if group.more == 0 { String::new() } else { format!(" and {} more", group.more) };
        let _ = writeln!(out, "  {}{more}", group.services.join(", "));
        if let Some(error) = &group.error {
            let _ = writeln!(out, "  {}", paint("-", error));
        }
        for choice in &group.choices {
            let _ = writeln!(out, "  {}: {} → {}", choice.what, choice.from, choice.to);
        }
        for rule in &group.rules {
            let _ = writeln!(out, "  {}", rule.title);
            let _ = writeln!(out, "    before the upgrade: {}", rule.action);
        }
        for cause in &group.causes {
            let field =
                if cause.field.is_empty() { String::new() } else { format!(" {}:", cause.field) };
            let _ = writeln!(
                out,
                "  because {}{field} {}  {}",
                cause.object, cause.change, cause.place
            );
        }
        if group.more_causes > 0 {
            let _ = writeln!(out, "  … {} more causes · show with --all", group.more_causes);
        }
        for object in &group.objects {
            let note =
                if object.note.is_empty() { String::new() } else { format!("  {}", object.note) };
            let _ =
                writeln!(out, "    {} {}{note}", paint(object.marker, object.marker), object.name);
            for line in &object.lines {
                let _ = writeln!(out, "        {} {}", paint(line.marker, line.marker), line.text);
            }
            if object.more > 0 {
                let _ = writeln!(out, "        … {} more fields · show with --all", object.more);
            }
        }
        out.push('\n');
    }
    let _ = writeln!(out, "{}", bold(&shown.headline));
    out
}
