//! Checks the expectations of a case: every operator returns the lines of its differences.

use super::value::{
    Step, contains, differences, equal, fits, lookup, matches, normalize, remove, short, steps,
    text,
};
use serde_json::{Map, Value};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// Operators that read stdout as JSON.
const JSON_OPERATORS: [&str; 6] = ["json", "selection", "objects", "object", "finding", "steps"];

/// The output of a run.
pub(super) struct Printed<'a> {
    /// stdout.
    pub(super) stdout: &'a str,
    /// stderr.
    pub(super) stderr: &'a str,
}

/// Checks every expectation; answers with what differs.
pub(super) fn check(
    case: &Path,
    expectations: &[Map<String, Value>],
    ignore: &[String],
    printed: &Printed<'_>,
) -> Vec<String> {
    let mut document = Value::Null;
    if expectations
        .iter()
        .any(|rule| JSON_OPERATORS.iter().any(|operator| rule.contains_key(*operator)))
    {
        match serde_json::from_str(printed.stdout) {
            Ok(value) => document = value,
            Err(error) => {
                let head = |text: &str, length: usize| {
                    text.trim().chars().take(length).collect::<String>()
                };
                return vec![format!(
                    "stdout is not JSON: {error}: {:?} {:?}",
                    head(printed.stdout, 120),
                    head(printed.stderr, 200)
                )];
            }
        }
    }
    expectations.iter().flat_map(|rule| one(case, rule, ignore, &document, printed)).collect()
}

fn one(
    case: &Path,
    rule: &Map<String, Value>,
    ignore: &[String],
    document: &Value,
    printed: &Printed<'_>,
) -> Vec<String> {
    let absent = rule.get("absent").and_then(Value::as_bool).unwrap_or(false);
    let name = |operator: &str| rule.get(operator).map(text);
    let file = |name: &str| -> Value {
        let read = std::fs::read_to_string(case.join(name))
            .unwrap_or_else(|error| panic!("{}/{name}: {error}", case.display()));
        serde_json::from_str(&read)
            .unwrap_or_else(|error| panic!("{}/{name}: {error}", case.display()))
    };
    if let Some(pattern) = name("object") {
        let objects = objects(document);
        let found = objects.iter().find(|object| {
            fits(&key(object), &pattern)
                && rule
                    .get("apiVersion")
                    .is_none_or(|version| object.get("apiVersion") == Some(version))
        });
        return match found {
            Some(_) if absent && !rule.contains_key("json") => {
                vec![format!("{pattern}: want absent")]
            }
            None if absent && !rule.contains_key("json") => Vec::new(),
            None => vec![format!(
                "{pattern}: no such object; have {}",
                short(&objects.iter().map(|object| key(object)).collect())
            )],
            Some(object) if rule.contains_key("json") => {
                value_at(object, rule, &format!("{pattern} "))
            }
            Some(_) => Vec::new(),
        };
    }
    if rule.contains_key("json") {
        return value_at(document, rule, "");
    }
    if let Some(wanted) = name("selection") {
        return selection(&file(&wanted), document);
    }
    if let Some(wanted) = name("objects") {
        return all_objects(&file(&wanted), document, ignore);
    }
    if let Some(wanted) = name("steps") {
        return rows(&file(&wanted), document, &name("key").unwrap_or_else(|| "steps".to_owned()));
    }
    if let Some(code) = name("finding") {
        return finding(&code, absent, rule.get("count").and_then(Value::as_u64), document);
    }
    for (operator, stream) in [("stdout", printed.stdout), ("stderr", printed.stderr)] {
        if let Some(wanted) = name(operator) {
            return if stream.contains(&wanted) == absent {
                vec![format!("{operator} {} {wanted:?}", if absent { "has" } else { "lacks" })]
            } else {
                Vec::new()
            };
        }
    }
    vec![format!("an expectation names no operator: {}", short(&Value::Object(rule.clone())))]
}

/// The operators on the value at a path.
fn value_at(value: &Value, rule: &Map<String, Value>, context: &str) -> Vec<String> {
    let path = rule.get("json").map(text).unwrap_or_default();
    let at = format!("{context}{path}");
    let found = lookup(value, &path);
    if rule.get("absent").and_then(Value::as_bool) == Some(true) {
        return match found {
            Some(found) if !is_nothing(&found) => {
                vec![format!("{at}: want absent, got {}", short(&found))]
            }
            _ => Vec::new(),
        };
    }
    let Some(found) = found else { return vec![format!("{at}: missing")] };
    let mut problems = Vec::new();
    if let Some(want) = rule.get("equals") {
        let names: Vec<String> = steps(&path)
            .into_iter()
            .filter_map(|step| if let Step::Field(name) = step { Some(name) } else { None })
            .collect();
        // A value below a path is no whole object: it has a name above it, whatever it is.
        let above =
            |back: usize| names.len().checked_sub(back).map_or("x", |index| names[index].as_str());
        let (key, parent) = (Some(above(1)), Some(above(2)));
        problems.extend(differences(
            &normalize(want, key, parent),
            &normalize(&found, key, parent),
            &at,
        ));
    }
    if let Some(want) = rule.get("contains")
        && !contains(&found, want)
    {
        problems.push(format!("{at}: {} does not contain {}", short(&found), short(want)));
    }
    if let Some(want) = rule.get("length").and_then(Value::as_u64) {
        let length = match &found {
            Value::Array(items) => Some(items.len()),
            Value::Object(map) => Some(map.len()),
            Value::String(text) => Some(text.chars().count()),
            _ => None,
        };
        if length.map(|length| length as u64) != Some(want) {
            problems.push(format!("{at}: want length {want}, got {}", short(&found)));
        }
    }
    if let Some(pattern) = rule.get("matches").map(text)
        && !matches(&text(&found), &pattern)
    {
        problems.push(format!("{at}: {} does not match {pattern}", short(&found)));
    }
    if let Some(allowed) = rule.get("oneof")
        && !allowed.as_array().is_some_and(|allowed| allowed.iter().any(|one| equal(one, &found)))
    {
        problems.push(format!("{at}: {} not one of {}", short(&found), short(allowed)));
    }
    problems
}

fn is_nothing(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::Array(items) => items.is_empty(),
        Value::Object(map) => map.is_empty(),
        _ => false,
    }
}

/// `Kind/namespace/name` of an object.
fn key(object: &Value) -> String {
    let part = |value: Option<&Value>| value.map_or_else(|| "None".to_owned(), text);
    let metadata = object.get("metadata");
    let namespace = metadata
        .and_then(|metadata| metadata.get("namespace"))
        .filter(|namespace| !namespace.is_null())
        .map(text)
        .unwrap_or_default();
    format!(
        "{}/{namespace}/{}",
        part(object.get("kind")),
        part(metadata.and_then(|metadata| metadata.get("name")))
    )
}

fn objects(document: &Value) -> Vec<&Value> {
    match document {
        Value::Object(map) if map.get("kind").is_some_and(|kind| kind == "List") => {
            map.get("items").and_then(Value::as_array).into_iter().flatten().collect()
        }
        Value::Array(items) => items.iter().collect(),
        other => vec![other],
    }
}

/// The full list of objects, as a set.
fn all_objects(want: &Value, got: &Value, ignore: &[String]) -> Vec<String> {
    let prepare = |document: &Value| -> BTreeMap<String, Value> {
        let prepared = objects(document).into_iter().map(|object| {
            let mut object = normalize(object, None, None);
            for rule in ignore {
                let (kind, path) = rule.split_once("/*/").unwrap_or(("*", rule));
                if fits(&text(object.get("kind").unwrap_or(&Value::Null)), kind) {
                    remove(&mut object, path);
                }
            }
            let version = object.get("apiVersion").map_or_else(|| "None".to_owned(), text);
            (format!("{version} {}", key(&object)), normalize(&object, None, None))
        });
        prepared.collect()
    };
    let (want, got) = (prepare(want), prepare(got));
    let names: BTreeSet<&String> = want.keys().chain(got.keys()).collect();
    let mut problems = Vec::new();
    for name in names {
        match (want.get(name), got.get(name)) {
            (Some(want), Some(got)) => problems.extend(
                differences(want, got, "").into_iter().map(|line| format!("{name}: {line}")),
            ),
            (Some(_), None) => problems.push(format!("{name}: missing object")),
            (None, _) => problems.push(format!("{name}: unexpected object")),
        }
    }
    problems
}

/// Rows of a rollout; only the keys of the first wanted row are compared.
fn rows(want: &Value, document: &Value, key: &str) -> Vec<String> {
    let keys: Vec<String> = want
        .get(0)
        .and_then(Value::as_object)
        .map(|row| row.keys().cloned().collect())
        .unwrap_or_default();
    let have: Value = document
        .get(key)
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
        .map(|row| {
            keys.iter()
                .map(|key| (key.clone(), row.get(key).cloned().unwrap_or(Value::Null)))
                .collect::<Map<_, _>>()
        })
        .map(Value::Object)
        .collect();
    differences(want, &have, "steps")
}

fn finding(code: &str, absent: bool, count: Option<u64>, document: &Value) -> Vec<String> {
    let codes: Vec<&str> = document
        .get("findings")
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
        .filter_map(|finding| finding.get("code")?.as_str())
        .collect();
    let found = codes.iter().filter(|found| **found == code).count() as u64;
    match (absent, found, count) {
        (true, 0, _) => Vec::new(),
        (true, ..) => vec![format!("finding {code}: want absent")],
        (false, 0, _) => {
            let codes: BTreeSet<&str> = codes.into_iter().collect();
            vec![format!(
                "finding {code}: missing; have {}",
                short(&codes.into_iter().map(Value::from).collect())
            )]
        }
        (false, found, Some(count)) if found != count => {
            vec![format!("finding {code}: want {count}, got {found}")]
        }
        _ => Vec::new(),
    }
}

/// `Kind/name` or `Kind/namespace/name` of a candidate.
fn reference(candidate: &Value) -> String {
    let part = |key: &str| candidate.get(key).map(text).unwrap_or_default();
    match candidate.get("namespace").filter(|namespace| !namespace.is_null() && *namespace != "") {
        Some(namespace) => format!("{}/{}/{}", part("kind"), text(namespace), part("name")),
        None => format!("{}/{}", part("kind"), part("name")),
    }
}

fn list<'a>(value: Option<&'a Value>, key: &str) -> &'a [Value] {
    value.and_then(|value| value.get(key)).and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

/// Compares services with a `selection.json`; keys that it omits are not compared.
fn selection(want: &Value, document: &Value) -> Vec<String> {
    let mut problems = Vec::new();
    for (name, expected) in want.as_object().into_iter().flatten() {
        let named = |service: &&Value| {
            let part = |key: &str| service.get(key).map_or_else(|| "None".to_owned(), text);
            format!("{}/{}", part("namespace"), part("name")) == *name
        };
        match list(Some(document), "services").iter().rfind(named) {
            Some(service) => one_selection(name, expected, service, &mut problems),
            None => problems.push(format!("{name}: service missing")),
        }
    }
    problems
}

fn one_selection(name: &str, expected: &Value, service: &Value, problems: &mut Vec<String>) {
    let mut differ = |what: &str, want: &Value, got: &Value| {
        problems.push(format!("{name}.{what}: want {}, got {}", short(want), short(got)));
    };
    let at = |key: &str| service.get(key).filter(|value| !value.is_null());
    let verdict = |candidate: &Value| candidate.get("verdict").map(text).unwrap_or_default();
    let codes = |candidate: &Value| -> Vec<String> {
        list(Some(candidate), "reasons")
            .iter()
            .filter_map(|reason| Some(reason.get("code")?.as_str()?.to_owned()))
            .collect()
    };
    if let Some(want) = expected.get("error") {
        let got = at("error").and_then(|error| error.get("code")).cloned().unwrap_or(Value::Null);
        if *want != got {
            differ("error", want, &got);
        }
    }
    let runtime = at("runtime");
    if let Some(want) = expected.get("runtime") {
        let got = runtime
            .and_then(|runtime| runtime.get("chosen"))
            .filter(|chosen| !chosen.is_null())
            .map_or(Value::Null, |chosen| reference(chosen).into());
        if *want != got {
            differ("runtime", want, &got);
        }
    }
    let candidates = list(runtime, "candidates");
    if let Some(want) = expected.get("eligible") {
        let have: Vec<&Value> =
            candidates.iter().filter(|candidate| verdict(candidate) != "rejected").collect();
        let rows: Vec<&Value> = want.as_array().into_iter().flatten().collect();
        let (names, wanted): (Value, Value) = (
            have.iter().map(|candidate| reference(candidate)).collect(),
            rows.iter().map(|row| row[0].clone()).collect(),
        );
        if names == wanted {
            for (row, candidate) in rows.into_iter().zip(have) {
                let Some(score) = row.get(1).filter(|score| !score.is_null()) else { continue };
                let got = candidate.get("score").unwrap_or(&Value::Null);
                if !score
                    .as_f64()
                    .zip(got.as_f64())
                    .is_some_and(|(want, got)| (want - got).abs() <= 1e-6)
                {
                    differ(&format!("score of {}", text(&row[0])), score, got);
                }
            }
        } else {
            differ("eligible", &wanted, &names);
        }
    }
    if let Some(want) = expected.get("rejected").and_then(Value::as_object) {
        let mut have: BTreeMap<String, Vec<String>> = candidates
            .iter()
            .filter(|candidate| verdict(candidate) == "rejected")
            .map(|candidate| (reference(candidate), codes(candidate)))
            .collect();
        // Runtimes of other namespaces are listed always and may be left out.
        have.retain(|candidate, codes| {
            want.contains_key(candidate) || *codes != ["wrong-namespace"]
        });
        for (candidate, wanted) in want {
            match have.get(candidate) {
                None => differ("rejected", &candidate.clone().into(), &Value::Null),
                Some(found) => {
                    for code in wanted
                        .as_array()
                        .into_iter()
                        .flatten()
                        .filter(|code| !found.iter().any(|found| **code == *found))
                    {
                        differ(&format!("rejected {candidate}"), code, &found.clone().into());
                    }
                }
            }
        }
        for candidate in have.keys().filter(|candidate| !want.contains_key(*candidate)) {
            differ("rejected", &Value::Null, &candidate.clone().into());
        }
    }
    for (component, want) in
        expected.get("accelerators").and_then(Value::as_object).into_iter().flatten()
    {
        let decision = list(Some(service), "accelerators").iter().rfind(|decision| {
            decision.get("component").is_some_and(|name| name == component.as_str())
        });
        if let Some(want) = want.get("chosen") {
            let got = decision
                .and_then(|decision| decision.get("chosen"))
                .cloned()
                .unwrap_or(Value::Null);
            if *want != got {
                differ(&format!("accelerators.{component}"), want, &got);
            }
        }
        for (key, verdicts) in
            [("eligible", ["chosen", "eligible"].as_slice()), ("rejected", &["rejected"])]
        {
            let Some(want) = want.get(key) else { continue };
            let have = list(decision, "candidates")
                .iter()
                .filter(|candidate| verdicts.contains(&verdict(candidate).as_str()));
            let mut have: Vec<String> =
                have.filter_map(|candidate| candidate.get("name").map(text)).collect();
            let mut wanted: Vec<String> = want.as_array().into_iter().flatten().map(text).collect();
            if key == "rejected" {
                have.sort();
                wanted.sort();
            }
            if have != wanted {
                differ(&format!("accelerators.{component}.{key}"), want, &have.into());
            }
        }
    }
    for (component, want) in expected.get("modes").and_then(Value::as_object).into_iter().flatten()
    {
        let found = list(Some(service), "components")
            .iter()
            .rfind(|found| found.get("name").is_some_and(|name| name == component.as_str()));
        let got =
            found.and_then(|found| found.get("deploymentMode")).cloned().unwrap_or(Value::Null);
        if *want != got {
            differ(&format!("modes.{component}"), want, &got);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn lines(rule: Value, stdout: &Value) -> Vec<String> {
        let Value::Object(rule) = rule else { panic!("a rule is a mapping") };
        check(
            Path::new("."),
            &[rule],
            &[],
            &Printed { stdout: &stdout.to_string(), stderr: "warning: x" },
        )
    }

    #[test]
    fn check_operators_report_failing_rules_only() {
        let list = json!({"kind": "List", "items": [{"apiVersion": "v1", "kind": "Service", "metadata": {"name": "a", "namespace": "d"}, "spec": {"ports": [80]}}], "findings": [{"code": "same-priority"}, {"code": "same-priority"}]});
        for (rule, holds) in [
            (json!({"json": "items", "length": 1}), true),
            (json!({"json": "items", "length": 2}), false),
            (json!({"json": "kind", "equals": "List"}), true),
            (json!({"json": "kind", "equals": null}), false),
            (json!({"json": "nothing", "equals": null}), false),
            (json!({"json": "kind", "oneof": ["A", "List"]}), true),
            (json!({"json": "kind", "oneof": ["A"]}), false),
            (json!({"json": "kind", "matches": "^L.*t$"}), true),
            (json!({"json": "kind", "matches": "^(?!.*is)"}), false),
            (json!({"json": "kind", "absent": true}), false),
            (json!({"json": "nothing", "absent": true}), true),
            (json!({"object": "Service/d/*"}), true),
            (json!({"object": "Service/e/*"}), false),
            (json!({"object": "Service/e/*", "absent": true}), true),
            (json!({"object": "Service/*", "absent": true}), false),
            (json!({"object": "Service/*", "apiVersion": "v2"}), false),
            (json!({"object": "Service/*", "json": "spec.ports", "contains": 80}), true),
            (json!({"object": "Service/*", "json": "spec.ports", "contains": 81}), false),
            (json!({"object": "Service/*", "json": "spec.type", "absent": true}), true),
            (json!({"finding": "same-priority", "count": 2}), true),
            (json!({"finding": "same-priority", "count": 1}), false),
            (json!({"finding": "same-priority", "absent": true}), false),
            (json!({"finding": "other"}), false),
            (json!({"finding": "other", "absent": true}), true),
            (json!({"stderr": "warning"}), true),
            (json!({"stderr": "warning", "absent": true}), false),
            (json!({"stdout": "same-priority"}), true),
            (json!({"stdout": "elsewhere"}), false),
            (json!({"unheard": "of"}), false),
        ] {
            let found = lines(rule.clone(), &list);
            assert_eq!(found.is_empty(), holds, "{rule}: {found:?}");
        }
    }

    #[test]
    fn objects_are_compared_as_a_set_without_ignored_paths() {
        let want = json!([{"apiVersion": "v1", "kind": "A", "metadata": {"name": "a"}, "spec": {"x": 1, "y": 2}}, {"apiVersion": "v1", "kind": "B", "metadata": {"name": "b"}}]);
        let got = json!([{"apiVersion": "v1", "kind": "B", "metadata": {"name": "b", "uid": "1"}, "status": {}}, {"apiVersion": "v1", "kind": "A", "metadata": {"name": "a"}, "spec": {"x": 1, "y": 3}}]);
        assert_eq!(all_objects(&want, &got, &[]), ["v1 A//a: spec.y: want 2, got 3"]);
        assert!(all_objects(&want, &got, &["A/*/spec.y".to_owned()]).is_empty());
        assert_eq!(
            all_objects(&want, &json!({"kind": "List", "items": []}), &[]),
            ["v1 A//a: missing object", "v1 B//b: missing object"]
        );
    }

    #[test]
    fn selections_compare_only_the_fields_of_the_expectation() {
        let document = json!({"services": [{"name": "s", "namespace": "d", "error": null, "components": [{"name": "engine", "deploymentMode": "RawDeployment"}],
            "accelerators": [{"component": "engine", "chosen": "h100", "candidates": [{"name": "h100", "verdict": "chosen"}, {"name": "t4", "verdict": "rejected"}]}],
            "runtime": {"chosen": {"kind": "R", "namespace": null, "name": "a"}, "candidates": [
                {"kind": "R", "namespace": null, "name": "a", "verdict": "chosen", "score": 10}, {"kind": "N", "namespace": "d", "name": "b", "verdict": "eligible", "score": 5},
                {"kind": "R", "namespace": null, "name": "c", "verdict": "rejected", "reasons": [{"code": "size-range"}]},
                {"kind": "N", "namespace": "e", "name": "f", "verdict": "rejected", "reasons": [{"code": "wrong-namespace"}]}]}}]});
        let good = json!({"d/s": {"runtime": "R/a", "eligible": [["R/a", 10], ["N/d/b"]], "rejected": {"R/c": ["size-range"]}, "error": null, "modes": {"engine": "RawDeployment"},
            "accelerators": {"engine": {"chosen": "h100", "eligible": ["h100"], "rejected": ["t4"]}}}});
        assert_eq!(selection(&good, &document), Vec::<String>::new());
        for (bad, line) in [
            (json!({"d/t": {}}), "d/t: service missing"),
            (json!({"d/s": {"runtime": null}}), "d/s.runtime: want null, got \"R/a\""),
            (
                json!({"d/s": {"eligible": [["R/a", 11], ["N/d/b"]]}}),
                "d/s.score of R/a: want 11, got 10",
            ),
            (
                json!({"d/s": {"eligible": [["N/d/b"], ["R/a"]]}}),
                "d/s.eligible: want [\"N/d/b\",\"R/a\"], got [\"R/a\",\"N/d/b\"]",
            ),
            (json!({"d/s": {"rejected": {}}}), "d/s.rejected: want null, got \"R/c\""),
            (
                json!({"d/s": {"rejected": {"R/c": ["disabled"]}}}),
                "d/s.rejected R/c: want \"disabled\", got [\"size-range\"]",
            ),
            (json!({"d/s": {"error": "x"}}), "d/s.error: want \"x\", got null"),
            (
                json!({"d/s": {"modes": {"router": "RawDeployment"}}}),
                "d/s.modes.router: want \"RawDeployment\", got null",
            ),
            (
                json!({"d/s": {"accelerators": {"engine": {"rejected": []}}}}),
                "d/s.accelerators.engine.rejected: want [], got [\"t4\"]",
            ),
        ] {
            assert_eq!(selection(&bad, &document), [line], "{bad}");
        }
    }
}
