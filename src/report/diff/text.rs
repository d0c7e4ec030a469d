//! The answer as text on a terminal.

use super::shown::{NAMES, Shown, ShownCause, ShownGroup, ShownObject};
use crate::report::cell::Meaning;
use crate::report::screen::{Page, line, printable};
use crate::report::table::{Style, wrapped};
use unicode_width::UnicodeWidthStr;

/// Groups with their causes and objects, and a summary line.
pub(super) fn text(shown: &Shown, style: Style) -> String {
    let mut text = Text { out: Page::default(), style };
    line!(text.out, "mode: {} · base: {} · {}\n", shown.semantics, shown.base, shown.compared);
    for group in &shown.groups {
        text.group(group);
    }
    text.rest(shown);
    text.out.finish()
}

/// The text so far.
struct Text {
    out: Page,
    style: Style,
}

impl Text {
    fn paint(&mut self, marker: &'static str) {
        let text = printable(marker);
        let painted = if self.style.color { Meaning::of_sign(marker).painted(&text) } else { text };
        self.out.draw(&painted);
    }

    fn bold(&mut self, text: &str) {
        let text = printable(text);
        let bold = if self.style.color { format!("\u{1b}[1m{text}\u{1b}[0m") } else { text };
        self.out.draw(&bold);
    }

    /// A sentence. Sentences are wrapped, values are not.
    fn prose(&mut self, indent: &str, text: &str) {
        // Lines below the first are indented by two more than it.
        let count = text.len() - text.trim_start().len();
        let text = format!("{indent}{}", printable(text));
        self.out.draw(&wrapped(&text, self.style.width, &" ".repeat(indent.len() + count + 2)));
    }

    /// Remarks after a text, each with its separator. If the line is too long, each gets its own
    /// line.
    fn remarks(&mut self, taken: usize, indent: &str, text: &str, more: [(&str, &str); 2]) {
        let text = printable(text);
        let more = more.map(|(before, remark)| (before, printable(remark)));
        let more = || more.iter().filter(|(_, remark)| !remark.is_empty());
        let line: String = more().flat_map(|(before, remark)| [*before, remark.as_str()]).collect();
        let line = format!("{text}{line}\n");
        // One more for the line feed, which takes no column.
        if self.style.width.is_none_or(|width| taken + line.width() <= usize::from(width) + 1) {
            return self.out.draw(&line);
        }
        self.out.draw(&text);
        self.out.end_line();
        for (before, remark) in more() {
            // A value is not wrapped.
            let columns = self.style.width.filter(|_| *before != " ");
            self.out.draw(&wrapped(&format!("{indent}{remark}"), columns, indent));
        }
    }

    /// Services that change alike: what happens to them, why, and their objects.
    fn group(&mut self, group: &ShownGroup) {
        let facts =
            if group.facts.is_empty() { String::new() } else { format!(" · {}", group.facts) };
        self.paint(group.marker);
        self.out.push_str(" ");
        self.bold(&group.title);
        line!(self.out, "{facts}");
        let more =
            if group.more == 0 { String::new() } else { format!(" and {} more", group.more) };
        self.prose("  ", &format!("{}{more}", group.services.join(", ")));
        if let Some(error) = &group.error {
            let text = format!("  {}", error.shown(self.style.color));
            self.out.draw(&wrapped(&text, self.style.width, "    "));
        }
        for choice in &group.choices {
            line!(self.out, "  {}: {} → {}", choice.what, choice.from, choice.to);
        }
        for line in &group.rollout {
            self.prose("  ", line);
        }
        for rule in &group.rules {
            self.prose("  ", &rule.title);
            if let Some(action) = rule.action {
                self.prose("    ", &format!("before the upgrade: {action}"));
            }
            for line in &rule.edit {
                self.prose("    ", line);
            }
        }
        for line in &group.edits {
            self.prose("  ", line);
        }
        for line in &group.patch {
            line!(self.out, "    {line}");
        }
        for cause in &group.causes {
            self.cause(cause);
        }
        if group.more_causes > 0 {
            line!(self.out, "  … {} more causes · show with --all", group.more_causes);
        }
        for object in &group.objects {
            self.object(object);
        }
        self.out.end_line();
    }

    fn cause(&mut self, cause: &ShownCause) {
        let field =
            if cause.field.is_empty() { String::new() } else { format!(" {}:", cause.field) };
        let because = format!("because {}{field}", cause.object);
        self.out.push_str("  ");
        let more = [(" ", cause.change.as_str()), ("  ", cause.place.as_str())];
        self.remarks(2, "    ", &because, more);
        if let Some(turned) = &cause.turned {
            self.prose("    ", turned);
        }
    }

    fn object(&mut self, object: &ShownObject) {
        self.out.push_str("    ");
        self.paint(object.marker);
        self.out.push_str(" ");
        let taken = 5 + object.marker.width();
        let more = [("  ", object.note.as_str()), ("", "")];
        self.remarks(taken, "        ", &object.name, more);
        for line in &object.lines {
            self.out.push_str("        ");
            self.paint(line.marker);
            line!(self.out, " {}", line.text);
        }
        if object.more > 0 {
            line!(self.out, "        … {} more fields · show with --all", object.more);
        }
    }

    /// What is of no group, and the summary.
    fn rest(&mut self, shown: &Shown) {
        if let Some(served) = &shown.served {
            self.paint("+");
            self.out.push_str(" ");
            self.bold(&served.title);
            line!(self.out, " · {}", served.facts);
            for line in served.lines.iter().take(NAMES) {
                self.prose("  ", line);
            }
            if served.lines.len() > NAMES {
                let more = served.lines.len() - NAMES;
                line!(self.out, "  … {more} more services · show with --all");
            }
            self.out.end_line();
        }
        for note in &shown.notes {
            self.prose("", &note.title);
            self.prose("  ", &format!("affects {}", note.reaches));
            if let Some(action) = note.action {
                self.prose("  ", &format!("before the upgrade: {action}"));
            }
        }
        if let Some(basis) = &shown.basis {
            self.prose("", basis);
        }
        if !shown.notes.is_empty() || shown.basis.is_some() {
            self.out.end_line();
        }
        for line in &shown.capacity {
            let text = line.shown(self.style.color);
            self.out.draw(&wrapped(&text, self.style.width, "  "));
        }
        if !shown.capacity.is_empty() {
            self.out.end_line();
        }
        // The lines are bold one by one, since escapes over a line end color the margin.
        for line in wrapped(&shown.headline, self.style.width, "  ").lines() {
            self.bold(line);
            self.out.end_line();
        }
    }
}
