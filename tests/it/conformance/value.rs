//! JSON values as the cases see them: paths into them, what carries no meaning, and where two of
//! them differ.

use fancy_regex::Regex;
use serde_json::{Map, Value};
use std::cmp::Ordering;
use std::collections::{BTreeSet, HashMap};
use std::sync::{LazyLock, RwLock};

/// Keys of `metadata` that only a server sets.
const SERVER_METADATA: [&str; 7] = [
    "ownerReferences",
    "creationTimestamp",
    "uid",
    "resourceVersion",
    "generation",
    "managedFields",
    "selfLink",
];
/// Keys whose empty mapping means something.
const MEANT_EMPTY: [&str; 5] =
    ["emptyDir", "podSelector", "namespaceSelector", "labelSelector", "rayStartParams"];
/// Keys whose children are quantities.
const QUANTITY_PARENTS: [&str; 7] =
    ["requests", "limits", "capacity", "allocatable", "minResources", "overhead", "hard"];
/// Keys that are quantities themselves.
const QUANTITY_FIELDS: [&str; 5] =
    ["sizeLimit", "divisor", "storage", "targetAverageValue", "averageValue"];

/// One step of a path such as `a.b[0].c[name=x]`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Step {
    /// A key.
    Field(String),
    /// The text between brackets.
    Index(String),
}

/// The steps of a path; `\.` escapes a dot in a key.
pub(super) fn steps(path: &str) -> Vec<Step> {
    let mut found = Vec::new();
    let mut rest = path.chars().peekable();
    while let Some(next) = rest.next() {
        match next {
            '.' => {}
            '[' => found.push(Step::Index(rest.by_ref().take_while(|c| *c != ']').collect())),
            mut c => {
                let mut name = String::new();
                loop {
                    match c {
                        '\\' => match rest.next() {
                            Some(escaped @ ('.' | '[')) => name.push(escaped),
                            Some(other) => name.extend(['\\', other]),
                            None => {}
                        },
                        c => name.push(c),
                    }
                    match rest.peek() {
                        None | Some('.' | '[') => break,
                        Some(next) => c = *next,
                    }
                    rest.next();
                }
                found.push(Step::Field(name));
            }
        }
    }
    found
}

/// The value at a path; `None` when it leads nowhere.
pub(super) fn lookup(value: &Value, path: &str) -> Option<Value> {
    let mut value = value.clone();
    for step in steps(path) {
        value = match (step, value) {
            (Step::Field(name), Value::Array(items)) => {
                items.iter().filter_map(|item| item.as_object()?.get(&name).cloned()).collect()
            }
            (Step::Field(name), Value::Object(mut map)) => map.remove(&name)?,
            (Step::Index(index), Value::Object(map)) if index == "*" => {
                map.into_iter().map(|(_, value)| value).collect()
            }
            (Step::Index(index), value) if index == "*" => value,
            (Step::Index(index), Value::Array(items)) => element(&items, &index)?,
            (Step::Field(_) | Step::Index(_), _) => return None,
        };
    }
    Some(value)
}

/// The element at `0`, `-1` or `name=x`.
fn element(items: &[Value], index: &str) -> Option<Value> {
    if let Some((key, wanted)) = index.split_once('=') {
        let named = |item: &&Value| {
            item.as_object().is_some_and(|map| text(map.get(key).unwrap_or(&Value::Null)) == wanted)
        };
        return items.iter().find(named).cloned();
    }
    let index: isize = index.trim().parse().ok()?;
    // A negative index counts from the end.
    let index = if index < 0 {
        items.len().checked_sub(index.unsigned_abs())?
    } else {
        index.unsigned_abs()
    };
    items.get(index).cloned()
}

/// Drops what carries no meaning and brings quantities to one form. `key` and `parent` are the two
/// names above the value.
pub(super) fn normalize(value: &Value, key: Option<&str>, parent: Option<&str>) -> Value {
    match value {
        Value::Object(map) => {
            let mut out = Map::new();
            for (name, child) in map {
                let dropped = (name == "status" && key.is_none() && parent.is_none())
                    || (key == Some("metadata") && SERVER_METADATA.contains(&name.as_str()))
                    || (key == Some("ownerReferences") && name == "uid");
                if dropped {
                    continue;
                }
                let child = normalize(child, Some(name), key);
                let empty = match &child {
                    Value::Null => true,
                    Value::Array(items) => items.is_empty(),
                    Value::Object(map) => map.is_empty() && !MEANT_EMPTY.contains(&name.as_str()),
                    _ => false,
                };
                if !empty {
                    out.insert(name.clone(), child);
                }
            }
            Value::Object(out)
        }
        Value::Array(items) => items.iter().map(|item| normalize(item, key, parent)).collect(),
        Value::Number(_) | Value::String(_)
            if parent.is_some_and(|parent| QUANTITY_PARENTS.contains(&parent))
                || key.is_some_and(|key| QUANTITY_FIELDS.contains(&key)) =>
        {
            quantity(&text(value)).map_or_else(|| value.clone(), Value::String)
        }
        other => other.clone(),
    }
}

/// A quantity as a plain decimal number, so that `1000m` and `1` are equal; `None` for other text.
pub(super) fn quantity(written: &str) -> Option<String> {
    let (sign, unsigned) = match written.strip_prefix(['+', '-']) {
        Some(rest) => (if written.starts_with('-') { "-" } else { "" }, rest),
        None => ("", written),
    };
    let end = unsigned.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(unsigned.len());
    let (number, suffix) = unsigned.split_at(end);
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    if fraction.contains('.') || (whole.is_empty() && fraction.is_empty()) {
        return None;
    }
    let mut mantissa: u128 = format!("{whole}{fraction}").parse().ok()?;
    let mut exponent = -i32::try_from(fraction.len()).ok()?;
    let decimal = |suffix: &str| {
        ["n", "u", "m", "", "k", "M", "G", "T", "P", "E"].iter().position(|known| *known == suffix)
    };
    let binary = |suffix: &str| {
        ["Ki", "Mi", "Gi", "Ti", "Pi", "Ei"].iter().position(|known| *known == suffix)
    };
    if let Some(power) = decimal(suffix) {
        exponent += 3 * (i32::try_from(power).ok()? - 3);
    } else if let Some(power) = binary(suffix) {
        mantissa = mantissa.checked_mul(1 << (10 * (power + 1)))?;
    } else {
        let digits = suffix.strip_prefix(['e', 'E'])?;
        if !digits.trim_start_matches(['+', '-']).starts_with(|c: char| c.is_ascii_digit()) {
            return None;
        }
        exponent = exponent.checked_add(digits.parse().ok()?)?;
    }
    while mantissa != 0 && mantissa.is_multiple_of(10) {
        mantissa /= 10;
        exponent += 1;
    }
    let digits = mantissa.to_string();
    let plain = match usize::try_from(exponent) {
        _ if mantissa == 0 => "0".to_owned(),
        Ok(zeros) if zeros <= 64 => digits + &"0".repeat(zeros),
        Ok(_) => return None,
        Err(_) => {
            let places = exponent.unsigned_abs() as usize;
            if places > 64 {
                return None;
            }
            let padded = format!("{digits:0>width$}", width = places + 1);
            let (whole, fraction) = padded.split_at(padded.len() - places);
            format!("{whole}.{fraction}")
        }
    };
    Some(format!("q:{sign}{plain}"))
}

/// Where two values differ, a line each.
pub(super) fn differences(want: &Value, got: &Value, path: &str) -> Vec<String> {
    let mut found = Vec::new();
    compare(want, got, path, &mut found);
    found
}

fn compare(want: &Value, got: &Value, path: &str, found: &mut Vec<String>) {
    let here = if path.is_empty() { "." } else { path };
    match (want, got) {
        (Value::Object(want), Value::Object(got)) => {
            let keys: BTreeSet<&String> = want.keys().chain(got.keys()).collect();
            for key in keys {
                let at = if path.is_empty() { key.clone() } else { format!("{path}.{key}") };
                match (want.get(key), got.get(key)) {
                    (Some(want), Some(got)) => compare(want, got, &at, found),
                    (Some(want), None) => {
                        found.push(format!("{at}: missing, want {}", short(want)));
                    }
                    (None, Some(got)) => found.push(format!("{at}: unexpected {}", short(got))),
                    (None, None) => {}
                }
            }
        }
        (Value::Array(wanted), Value::Array(have)) if wanted.len() == have.len() => {
            for (index, (want, got)) in wanted.iter().zip(have).enumerate() {
                compare(want, got, &format!("{path}[{index}]"), found);
            }
        }
        (Value::Array(wanted), Value::Array(have)) => {
            found.push(format!(
                "{here}: want {} items, got {}: want {}, got {}",
                wanted.len(),
                have.len(),
                short(want),
                short(got)
            ));
        }
        _ if !same(want, got) => {
            found.push(format!("{here}: want {}, got {}", short(want), short(got)));
        }
        _ => {}
    }
}

/// Whether two scalars are equal; numbers within one millionth when one of them has a fraction.
fn same(want: &Value, got: &Value) -> bool {
    match (want, got) {
        (Value::Number(a), Value::Number(b)) if a.is_f64() || b.is_f64() => {
            match (a.as_f64(), b.as_f64()) {
                (Some(a), Some(b)) => (a - b).abs() <= 1e-6 * a.abs().max(1.0),
                _ => false,
            }
        }
        _ => want == got,
    }
}

/// Whether two values are equal; 1 equals 1.0.
pub(super) fn equal(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Number(a), Value::Number(b)) => {
            a == b
                || a.as_f64()
                    .zip(b.as_f64())
                    .is_some_and(|(a, b)| a.total_cmp(&b) == Ordering::Equal)
        }
        (Value::Array(a), Value::Array(b)) => {
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| equal(a, b))
        }
        (Value::Object(a), Value::Object(b)) => {
            a.len() == b.len() && a.iter().all(|(key, a)| b.get(key).is_some_and(|b| equal(a, b)))
        }
        _ => a == b,
    }
}

/// A list has the element, a mapping the sub-mapping, a string the substring.
pub(super) fn contains(have: &Value, want: &Value) -> bool {
    match have {
        Value::Array(items) => items.iter().any(|item| equal(item, want) || covers(item, want)),
        Value::Object(_) => covers(have, want),
        Value::String(have) => have.contains(&text(want)),
        _ => false,
    }
}

fn covers(have: &Value, want: &Value) -> bool {
    match want {
        Value::Object(want) => have.as_object().is_some_and(|have| {
            want.iter().all(|(key, want)| have.get(key).is_some_and(|have| covers(have, want)))
        }),
        _ => equal(have, want),
    }
}

/// A value as the patterns of the cases read it: text as it is, everything else as Python writes
/// it.
pub(super) fn text(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => literal(other),
    }
}

fn literal(value: &Value) -> String {
    match value {
        Value::Null => "None".to_owned(),
        Value::Bool(true) => "True".to_owned(),
        Value::Bool(false) => "False".to_owned(),
        Value::Number(number) => number.to_string(),
        Value::String(text) => {
            let quote = if text.contains('\'') && !text.contains('"') { '"' } else { '\'' };
            let mut out = String::from(quote);
            for c in text.chars() {
                match c {
                    '\n' => out.push_str("\\n"),
                    '\r' => out.push_str("\\r"),
                    '\t' => out.push_str("\\t"),
                    '\\' => out.push_str("\\\\"),
                    c if c == quote => out.extend(['\\', c]),
                    c if c.is_control() => out.extend(c.escape_default()),
                    c => out.push(c),
                }
            }
            out.push(quote);
            out
        }
        Value::Array(items) => {
            format!("[{}]", items.iter().map(literal).collect::<Vec<_>>().join(", "))
        }
        Value::Object(map) => {
            let entries: Vec<String> = map
                .iter()
                .map(|(key, value)| {
                    format!("{}: {}", literal(&Value::String(key.clone())), literal(value))
                })
                .collect();
            format!("{{{}}}", entries.join(", "))
        }
    }
}

/// A value on one short line.
pub(super) fn short(value: &Value) -> String {
    let text = value.to_string();
    if text.chars().count() < 160 {
        text
    } else {
        text.chars().take(157).chain("...".chars()).collect()
    }
}

/// Whether a name fits a shell pattern of `*`, `?` and `[…]`.
pub(super) fn fits(name: &str, pattern: &str) -> bool {
    if !pattern.contains(['*', '?', '[']) {
        return name == pattern;
    }
    let mut regex = String::from("(?s)^");
    let mut rest = pattern.chars();
    while let Some(c) = rest.next() {
        match c {
            '*' => regex.push_str(".*"),
            '?' => regex.push('.'),
            '[' if rest.as_str().contains(']') => {
                let class: String = rest.by_ref().take_while(|c| *c != ']').collect();
                regex.push('[');
                match class.strip_prefix('!') {
                    Some(others) => regex.extend(["^", others]),
                    None => regex.push_str(&class),
                }
                regex.push(']');
            }
            c => regex.push_str(&fancy_regex::escape(&c.to_string())),
        }
    }
    regex.push('$');
    matches(name, &regex)
}

/// The patterns so far: to compile one takes as long as to find it a thousand times.
static PATTERNS: LazyLock<RwLock<HashMap<String, Regex>>> = LazyLock::new(RwLock::default);

/// Whether a pattern is found in a text.
pub(super) fn matches(text: &str, pattern: &str) -> bool {
    let known = PATTERNS.read().expect("no test holds it").get(pattern).cloned();
    let regex = known.unwrap_or_else(|| {
        let new = Regex::new(pattern).unwrap_or_else(|error| panic!("pattern {pattern}: {error}"));
        let mut all = PATTERNS.write().expect("no test holds it");
        all.entry(pattern.to_owned()).or_insert(new).clone()
    });
    regex.is_match(text).unwrap_or_else(|error| panic!("pattern {pattern}: {error}"))
}

/// Removes the values at a dotted path of shell patterns; lists are traversed.
pub(super) fn remove(value: &mut Value, path: &str) {
    let mut parts = vec![String::new()];
    let mut rest = path.chars();
    while let Some(c) = rest.next() {
        let last = parts.last_mut().expect("one part is always there");
        match c {
            '\\' => last.extend(rest.next()),
            '.' => parts.push(String::new()),
            c => last.push(c),
        }
    }
    remove_parts(value, &parts);
}

fn remove_parts(value: &mut Value, parts: &[String]) {
    let Some((head, tail)) = parts.split_first() else { return };
    match value {
        Value::Array(items) => items.iter_mut().for_each(|item| remove_parts(item, parts)),
        Value::Object(map) if tail.is_empty() => map.retain(|key, _| !fits(key, head)),
        Value::Object(map) => map
            .iter_mut()
            .filter(|(key, _)| fits(key, head))
            .for_each(|(_, child)| remove_parts(child, tail)),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn lookup_resolves_paths_to_values() {
        let value = json!({"a": [{"name": "x", "v": 1}, {"name": "y", "v": 2}], "b": {"k.8s/io": {"c": true}}, "n": null});
        for (path, want) in [
            ("a[0].v", Some(json!(1))),
            ("a[-1].v", Some(json!(2))),
            ("a[name=y].v", Some(json!(2))),
            ("a.v", Some(json!([1, 2]))),
            ("a[*].name", Some(json!(["x", "y"]))),
            ("b[*].c", Some(json!([true]))),
            ("b.k\\.8s/io.c", Some(json!(true))),
            ("n", Some(Value::Null)),
            ("a[2]", None),
            ("a[name=z]", None),
            ("a[first]", None),
            ("n.x", None),
            ("b.k.8s/io", None),
        ] {
            assert_eq!(lookup(&value, path), want, "{path}");
        }
    }

    #[test]
    fn quantities_have_one_form() {
        for (written, want) in [
            ("1000m", Some("q:1")),
            ("1", Some("q:1")),
            ("1024Mi", Some("q:1073741824")),
            ("1Gi", Some("q:1073741824")),
            ("0.5", Some("q:0.5")),
            (".5", Some("q:0.5")),
            ("500m", Some("q:0.5")),
            ("1e3", Some("q:1000")),
            ("1E", Some("q:1000000000000000000")),
            ("12E-1", Some("q:1.2")),
            ("-2k", Some("q:-2000")),
            ("100n", Some("q:0.0000001")),
            ("0.00", Some("q:0")),
            ("", None),
            (".", None),
            ("1ki", None),
            ("ten", None),
            ("1.2.3", None),
        ] {
            assert_eq!(quantity(written).as_deref(), want, "{written}");
        }
    }

    #[test]
    fn normalize_drops_empty_values_and_canonicalizes_quantities() {
        let value = json!({
            "status": {"x": 1},
            "metadata": {"uid": "u", "name": "a", "labels": {}},
            "spec": {"status": "kept", "volumes": [{"emptyDir": {}}], "args": [], "none": null, "limits": {"cpu": "2000m", "gpu": 2}, "cpu": "2000m"},
        });
        let want = json!({
            "metadata": {"name": "a"},
            "spec": {"status": "kept", "volumes": [{"emptyDir": {}}], "limits": {"cpu": "q:2", "gpu": "q:2"}, "cpu": "2000m"},
        });
        assert_eq!(normalize(&value, None, None), want);
    }

    #[test]
    fn differences_lists_every_mismatch_with_its_path() {
        let found = differences(
            &json!({"a": 1, "b": [1, 2], "c": true, "f": 1.0}),
            &json!({"b": [1, 3], "c": 1, "d": null, "f": 1.000_000_1}),
            "",
        );
        assert_eq!(
            found,
            [
                "a: missing, want 1",
                "b[1]: want 2, got 3",
                "c: want true, got 1",
                "d: unexpected null"
            ]
        );
        assert!(differences(&json!(1), &json!(1.0), "").is_empty());
        assert_eq!(
            differences(&json!([1]), &json!([]), "x"),
            ["x: want 1 items, got 0: want [1], got []"]
        );
    }

    #[test]
    fn patterns_match_contains_finds_subsets_remove_deletes_paths() {
        assert!(
            fits("Deployment/default/demo", "Deployment/*/demo")
                && fits("v1", "v[0-9]")
                && fits("a.b", "a.?")
        );
        assert!(
            !fits("Deployment/default/demo", "Deployment/*/dem")
                && !fits("vx", "v[!x]")
                && !fits("axb", "a.b")
        );
        assert!(
            contains(&json!([{"a": 1, "b": 2}]), &json!({"a": 1}))
                && contains(&json!("abc"), &json!("b"))
                && contains(&json!({"a": {"b": 1, "c": 2}}), &json!({"a": {"b": 1}}))
        );
        assert!(!contains(&json!([{"a": 1}]), &json!({"a": 2})) && !contains(&json!(1), &json!(1)));
        assert_eq!(
            text(&json!(["a", "it's", 1, null, {"k": true}])),
            r#"['a', "it's", 1, None, {'k': True}]"#
        );
        let mut value =
            json!({"metadata": {"annotations": {"a.b/c": 1, "d": 2}}, "items": [{"x": 1, "y": 2}]});
        remove(&mut value, "metadata.annotations.a\\.b/c");
        remove(&mut value, "items.x");
        assert_eq!(value, json!({"metadata": {"annotations": {"d": 2}}, "items": [{"y": 2}]}));
    }
}
