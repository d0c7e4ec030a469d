use super::*;
use crate::quantity::recordings;
use crate::template::value::ServerFields;

/// Compares the expected result of a row with the actual one; returns a message when they differ.
fn compare(expected: &Json, key: &str, seen: Result<Json, String>) -> Option<String> {
    match (expected.get(key), expected.get("error").and_then(Json::as_str), seen) {
        (Some(expected), _, Ok(seen)) if *expected == seen => None,
        // When the JSON is invalid between strings, the message differs from Go's.
        (None, Some(expected), Err(seen))
            if expected == seen || seen.starts_with("the expanded container is no JSON") =>
        {
            None
        }
        (_, _, seen) => Some(format!("expected {expected}\n     got {seen:?}")),
    }
}

#[test]
fn every_row_recorded_from_go_agrees() {
    let mut rows: Vec<Json> = recordings::rows("apimachinery/go-template");
    assert!(rows.len() > 100, "the table has {} rows", rows.len());
    rows.extend(recordings::rows::<Json>("apimachinery/go-template-metadata"));
    let mut wrong = Vec::new();
    let mut agreed = 0;
    for row in &rows {
        let pairs = |key: &str| -> Pairs<'_> {
            let map = row["data"].get(key).and_then(Json::as_object).into_iter().flatten();
            map.map(|(key, value)| (key.as_str(), value.as_str().unwrap())).collect()
        };
        let data = |key: &str| row["data"][key].as_str().unwrap_or_default();
        let (name, namespace) = (data("name"), data("namespace"));
        let object = Node::from_json(&serde_json::json!({"metadata": row["data"]}), at(0));
        let metadata = Metadata { server: ServerFields::Unset, ..Metadata::of(&object) };
        let values = DomainValues {
            name,
            namespace,
            ingress_domain: "example.com",
            labels: pairs("labels"),
            annotations: pairs("annotations"),
        };
        let template = row["template"].as_str().unwrap_or_default();
        let mut check = |what: &str, difference: Option<String>| match difference {
            None => agreed += 1,
            Some(difference) => wrong.push(format!(
                "{what} {}\n{difference}",
                row.get("template").unwrap_or(&row["container"])
            )),
        };
        let words =
            |outcome: Result<String, Error>| outcome.map(Json::from).map_err(|error| error.message);
        match row["use"].as_str().unwrap() {
            "template" => {
                let plain = |outcome: Result<String, Failure>| {
                    outcome.map(Json::from).map_err(|failure| failure.message)
                };
                let domain =
                    text(template, Flavour::Text, "domain-template", Root::Domain(&values));
                check("text", compare(&row["text"], "ok", plain(domain)));
                let path =
                    text(template, Flavour::Text, "url-template", Root::Path { name, namespace });
                check("text_path", compare(&row["text_path"], "ok", plain(path)));
                let html =
                    text(template, Flavour::Html, "container-tmpl", Root::Metadata(&metadata));
                check("html", compare(&row["html"], "ok", plain(html)));
            }
            "domain" => check("domain", compare(row, "result", words(domain(template, &values)))),
            "path" => check("path", compare(row, "result", words(path(template, name, namespace)))),
            "container" => {
                let container = Node::from_json(&row["container"], at(0));
                let expanded = expand_container(&container, &metadata, Mode::Controller)
                    .map_err(|errors| errors[0].message.clone());
                // Go writes the empty `resources` of its struct.
                let expanded = expanded.map(|node| {
                    let mut json = node.to_json();
                    json.as_object_mut()
                        .unwrap()
                        .entry("resources")
                        .or_insert_with(|| serde_json::json!({}));
                    json
                });
                check("container", compare(row, "result", expanded));
            }
            other => panic!("unknown use {other}"),
        }
    }
    assert!(wrong.is_empty(), "{agreed} agree, {} differ:\n{}", wrong.len(), wrong.join("\n"));
}
