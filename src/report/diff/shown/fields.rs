//! Causes, objects and fields as a page shows them.

use crate::diff::{Action, By, Cause, Change, ObjectChange, Turned};
use crate::report::cell::Meaning;
use crate::report::diff::shown::{Line, ShownCause, ShownObject, left_behind};
use crate::report::diff::{field, values};
use crate::report::phrases::class_decided_by;
use crate::report::screen::printable;
use serde_json::Value;
use similar::{Algorithm, DiffOp, capture_diff_slices};
use std::collections::HashSet;

/// Number of fields of an object to show; the rest is counted.
pub(super) const FIELDS: usize = 12;

/// Maximum length of a value on one line.
const LONGEST: usize = 160;

/// The rule by which a decision turned, in the wording of `explain`.
pub(in crate::report::diff) fn detail(turned: &Turned) -> String {
    match &turned.by {
        By::Rule(_, detail) => detail.to_string(),
        By::Rank(key) => format!("behind another class, decided by {}", class_decided_by(*key)),
    }
}

pub(super) fn cause(cause: &Cause, all: bool) -> ShownCause {
    let (path, from, to) = field(cause);
    let whole = cause.path.0.is_empty();
    // A null value and an absent one are the same to a server.
    let change = match (whole, from.is_null(), to.is_null()) {
        (true, true, _) => "added".to_owned(),
        (true, _, _) => "removed".to_owned(),
        (false, true, _) => format!("set to {}", short(&to, all)),
        (false, _, true) => format!("{} removed", short(&from, all)),
        _ => format!("{} → {}", short(&from, all), short(&to, all)),
    };
    let place = match (&cause.place, &cause.before) {
        (Some(place), _) => place.to_string(),
        (None, Some(before)) => format!("{before} (before)"),
        (None, None) => String::new(),
    };
    let (object, field, place) = (
        printable(&cause.object),
        if whole { String::new() } else { printable(&path) },
        printable(&place),
    );
    let turned = cause
        .turned
        .as_ref()
        .map(|turned| printable(&format!("{}: {}", turned.candidate, detail(turned))));
    ShownCause { object, field, change, place, turned }
}

pub(super) fn object(object: &ObjectChange, most: usize, all: bool) -> ShownObject {
    // GitHub colors a line of a diff by `+`, `-` and `!` only.
    let (marker, sign) = match object.action {
        Action::Create => ("+", "+"),
        Action::Update => ("~", "!"),
        Action::Delete => ("-", "-"),
        Action::Replace => ("-/+", "!"),
    };
    let note = match (object.action, object.restart) {
        (Action::Replace, _) => {
            let fields: Vec<String> =
                object.immutable.iter().map(|path| printable(&path.to_string())).collect();
            format!("must be replaced: {} may not change", fields.join(", "))
        }
        (_, true) => "restarts pods".to_owned(),
        _ if object.left_behind => format!("{}; delete it by hand", left_behind(object)),
        _ => String::new(),
    };
    // Shown first: the fields that are cut off are counted.
    let lines: Vec<Line> =
        object.changes.iter().take(most).flat_map(|change| lines(change, all)).collect();
    ShownObject {
        marker,
        class: Meaning::of_sign(marker).class(),
        sign,
        name: printable(&object.id.to_string()),
        note,
        lines,
        more: object.changes.len().saturating_sub(most),
    }
}

pub(super) fn line(marker: &'static str, text: String) -> Line {
    let sign = if matches!(marker, "+" | "-") { marker } else { "!" };
    Line { marker, class: Meaning::of_sign(marker).class(), sign, text }
}

/// A changed field; for a list of scalars, the elements that differ.
pub(super) fn lines(change: &Change, all: bool) -> Vec<Line> {
    let path = printable(&change.path.to_string());
    let (from, to) = values(change.shown, change.from.as_ref(), change.to.as_ref());
    // Lists of maps are compared field by field elsewhere.
    let words = |value: &Value| -> Option<Vec<String>> {
        let items = value.as_array()?;
        items
            .iter()
            .map(|item| (!item.is_object() && !item.is_array()).then(|| short(item, all)))
            .collect()
    };
    if let (Some(old), Some(new)) = (words(&from), words(&to)) {
        let mut out = vec![line("~", path)];
        out.extend(differing(&old, &new).map(|(sign, word)| line(sign, format!("  {word}"))));
        return out;
    }
    vec![match (&change.from, &change.to) {
        (None, _) => line("+", format!("{path}: {}", short(&to, all))),
        (_, None) => line("-", format!("{path}: {}", short(&from, all))),
        _ => line("~", format!("{path}: {} → {}", short(&from, all), short(&to, all))),
    }]
}

/// The elements that are in one list and not in the other, in order. Of long lists, those that only
/// one of them has are set aside first: comparing them with each other takes the product of both
/// lengths.
fn differing<'w>(
    old: &'w [String],
    new: &'w [String],
) -> impl Iterator<Item = (&'static str, &'w String)> {
    const SHORT: usize = 1_000_000;
    let mut out = Vec::new();
    let mut pieces = |old: &[&'w String], new: &[&'w String], algorithm| {
        for op in capture_diff_slices(algorithm, old, new) {
            let (_, before, after) = op.as_tag_tuple();
            if !matches!(op, DiffOp::Equal { .. }) {
                out.extend(old[before].iter().map(|word| ("-", *word)));
                out.extend(new[after].iter().map(|word| ("+", *word)));
            }
        }
    };
    if old.len().saturating_mul(new.len()) <= SHORT {
        let all = |words: &'w [String]| words.iter().collect::<Vec<_>>();
        pieces(&all(old), &all(new), Algorithm::Myers);
    } else {
        let set = |words: &'w [String]| words.iter().collect::<HashSet<_>>();
        let (has_old, has_new) = (set(old), set(new));
        let (kept, gone): (Vec<&String>, Vec<&String>) =
            old.iter().partition(|word| has_new.contains(word));
        let (also, come): (Vec<&String>, Vec<&String>) =
            new.iter().partition(|word| has_old.contains(word));
        // Equal rests differ in nothing but what one side has alone.
        if kept != also {
            pieces(&kept, &also, Algorithm::Patience);
        }
        out.extend(gone.into_iter().map(|word| ("-", word)));
        out.extend(come.into_iter().map(|word| ("+", word)));
    }
    out.into_iter()
}

/// A value on one line: strings unchanged, other values as JSON.
pub(super) fn short(value: &Value, all: bool) -> String {
    let text = match value.as_str() {
        // Blanks and line ends are seen only in quotes.
        Some(text) if !text.is_empty() && text.trim() == text && !text.contains(['\n', '\t']) => {
            text.to_owned()
        }
        _ => value.to_string(),
    };
    let text = printable(&text);
    if all || text.chars().count() <= LONGEST {
        return text;
    }
    format!("{}…", text.chars().take(LONGEST).collect::<String>())
}
