//! What becomes of each object of the input, as JSON and as one line.

use crate::source::SourceMap;
use crate::workspace::accounting::{InputRow, names};
use ecow::EcoString;
use serde_json::{Map, Value, json};

/// The rows of JSON.
pub fn json(rows: &[InputRow], sources: &SourceMap) -> Value {
    rows.iter().map(|row| of_row(row, sources)).collect()
}

fn of_row(row: &InputRow, sources: &SourceMap) -> Value {
    let mut out = json!({
        "kind": row.kind.as_str(),
        "count": row.count,
        "handling": row.handling.as_str(),
    });
    if !row.api_version.is_empty() {
        out["apiVersion"] = row.api_version.as_str().into();
    }
    if !row.devices.is_empty() {
        let devices = row.devices.iter().map(|(name, count)| (name.to_string(), (*count).into()));
        out["devices"] = devices.collect::<Map<_, Value>>().into();
    }
    if !row.examples.is_empty() {
        out["examples"] = row
            .examples
            .iter()
            .map(|own| {
                let place = sources.locate(own.span);
                json!({
                    "namespace": own.namespace.as_ref().map(EcoString::as_str),
                    "name": own.name.as_str(),
                    "file": &*place.file,
                    "line": place.line,
                })
            })
            .collect();
    }
    out
}

/// What a comparison leaves out, in one line; `None` if that is nothing.
pub fn not_compared(rows: &[InputRow]) -> Option<String> {
    let left_out =
        rows.iter().filter(|row| row.is_passed_over() || row.requests_uncounted_devices());
    let left_out: Vec<String> = left_out.map(names).collect();
    (!left_out.is_empty()).then(|| format!("not compared: {}", left_out.join(", ")))
}

/// Up to how many kinds the objects of each are named.
const WITH_NAMES: usize = 8;

/// How many kinds that nothing reads are named.
const OTHERS: usize = 5;

/// The kinds of an input, in one line; `None` if it has no object.
pub fn kinds(rows: &[InputRow]) -> Option<String> {
    let (others, own): (Vec<&InputRow>, Vec<&InputRow>) =
        rows.iter().filter(|row| !row.is_passed_over()).partition(|row| row.kind == "*");
    // Of many kinds each is only counted.
    let is_short = own.len() <= WITH_NAMES;
    let count = |row: &InputRow| format!("{} {}", row.count, row.kind);
    let named = |row: &InputRow| if is_short { names(row) } else { count(row) };
    let mut kinds: Vec<String> = own.into_iter().map(named).collect();
    let mut others: Vec<(&EcoString, &usize)> =
        others.into_iter().flat_map(|row| &row.kinds).collect();
    others.sort_by_key(|(_, count)| std::cmp::Reverse(**count));
    let shown = others.iter().take(OTHERS).map(|(kind, count)| format!("{count} {kind}"));
    kinds.extend(shown);
    if others.len() > OTHERS {
        kinds.push(format!("{} more kinds", others.len() - OTHERS));
    }
    (!kinds.is_empty()).then(|| format!("the input has {}", kinds.join(", ")))
}

/// What is not planned and what is not counted, in one line; `None` if that is nothing.
pub fn line(rows: &[InputRow]) -> Option<String> {
    let passed: Vec<String> = rows.iter().filter(|row| row.is_passed_over()).map(names).collect();
    let uncounted: Vec<String> = rows
        .iter()
        .filter(|row| row.requests_uncounted_devices() && !row.is_passed_over())
        .map(|row| {
            let devices: Vec<&str> = row.devices.keys().map(EcoString::as_str).collect();
            format!("{} {} (requests {})", row.count, row.kind, devices.join(", "))
        })
        .collect();
    let parts: Vec<String> = [("not planned", passed), ("not counted", uncounted)]
        .into_iter()
        .filter(|(_, names)| !names.is_empty())
        .map(|(what, names)| format!("{what}: {}", names.join(", ")))
        .collect();
    (!parts.is_empty()).then(|| parts.join(" · "))
}
