//! Reads a file of expectations.

use super::{CASE_KEYS, Case, Expected, SERVICE_KEYS, Stated};
use crate::diag::{Code, Diagnostic, nearest};
use crate::pipeline::Each;
use crate::source::Span;
use crate::yaml::{Map, Node, Value};
use ecow::EcoString;

/// Reads the cases of a document.
pub fn cases(root: &Node, found: &mut Vec<Diagnostic>) -> Vec<Case> {
    let mut reader = Reader { found };
    let Some(map) = reader.map(root, "the file") else { return Vec::new() };
    reader.check_keys(map, &["cases"], "");
    let Some(cases) = map.get("cases") else {
        reader.required(root, "cases", "cases");
        return Vec::new();
    };
    let Value::List(items) = &cases.value else {
        reader.wrong(cases, "cases", "a list");
        return Vec::new();
    };
    items.iter().enumerate().filter_map(|(index, item)| reader.case(index, item)).collect()
}

/// Whether a key is valid for a service.
fn is_key(key: &str) -> bool {
    SERVICE_KEYS.contains(&key) || key.strip_prefix("env.").is_some_and(|name| !name.is_empty())
}

struct Reader<'a> {
    found: &'a mut Vec<Diagnostic>,
}

impl Reader<'_> {
    fn map<'n>(&mut self, node: &'n Node, path: &str) -> Option<&'n Map> {
        let map = node.as_map();
        if map.is_none() {
            self.wrong(node, path, "a mapping");
        }
        map
    }

    fn wrong(&mut self, node: &Node, path: &str, expected: &str) {
        let message = format!("`{path}` must be {expected}, not {}", node.kind_name());
        self.found.push(
            Diagnostic::new(Code::InvalidType, message)
                .at(node.origin.span())
                .path(path)
                .help("`ome schema ome-test -o json-schema` prints the schema of the file"),
        );
    }

    fn required(&mut self, node: &Node, path: &str, key: &str) {
        self.found.push(
            Diagnostic::new(Code::RequiredField, format!("`{path}` is missing"))
                .at(node.origin.span())
                .path(path)
                .help(format!("add `{key}`")),
        );
    }

    fn check_keys(&mut self, map: &Map, keys: &[&str], path: &str) {
        for entry in map {
            let key = entry.key.as_str();
            let of_service = keys == SERVICE_KEYS;
            if keys.contains(&key) || (of_service && is_key(key)) {
                continue;
            }
            let help = nearest(key, keys.iter().copied()).map_or_else(
                || format!("known are {}", keys.join(", ")),
                |near| format!("did you mean `{near}`?"),
            );
            let field = if path.is_empty() { key.to_owned() } else { format!("{path}.{key}") };
            self.found.push(
                Diagnostic::new(Code::UnknownField, format!("no expectation has the key `{key}`"))
                    .at(entry.key_origin.span())
                    .path(field)
                    .help(help),
            );
        }
    }

    fn texts(&mut self, node: &Node, path: &str) -> Vec<(EcoString, Span)> {
        let Value::List(items) = &node.value else {
            self.wrong(node, path, "a list");
            return Vec::new();
        };
        let mut texts = Vec::new();
        for item in items {
            match (item.as_str(), item.origin.span()) {
                (Some(text), Some(span)) => texts.push((text.into(), span)),
                _ => self.wrong(item, path, "text"),
            }
        }
        texts
    }

    fn case(&mut self, index: usize, item: &Node) -> Option<Case> {
        let path = format!("cases[{index}]");
        let map = self.map(item, &path)?;
        self.check_keys(map, &CASE_KEYS, &path);
        let name =
            map.get("name").filter(|name| name.as_str().is_some_and(|name| !name.is_empty()));
        let Some(name) = name.filter(|name| name.origin.span().is_some()).and_then(Node::as_str)
        else {
            self.required(item, &format!("{path}.name"), "name");
            return None;
        };
        let files = map.get("files").map(|files| {
            let texts = self.texts(files, &format!("{path}.files"));
            texts.into_iter().map(|(text, _)| text).collect()
        });
        let mut services = self.stated(map, "services", &path);
        for entry in map.get("services").into_iter().flat_map(Node::entries) {
            if let Some(map) = entry.node.as_map() {
                self.check_keys(map, &SERVICE_KEYS, &format!("{path}.services.{}", entry.key));
            }
        }
        let listed = map.iter().find(|entry| entry.key == "services");
        let listed = listed.filter(|entry| entry.node.as_map().is_some_and(Map::is_empty));
        let no_services =
            listed.and_then(|entry| Some((entry.key_origin.span()?, entry.node.origin.span()?)));
        // An unknown key is a finding and is not compared.
        for service in &mut services {
            service.values.retain(|expected| is_key(&expected.key));
        }
        let objects = self.stated(map, "objects", &path);
        let codes = map.get("findings").map(|codes| self.texts(codes, &format!("{path}.findings")));
        let findings = codes.unwrap_or_default();
        for (code, span) in &findings {
            if Code::finding(code).is_none() {
                let codes = crate::diag::CODES.iter().map(|doc| doc.id);
                let help = nearest(code, codes).map(|near| format!("did you mean `{near}`?"));
                self.found.push(
                    Diagnostic::new(
                        Code::InvalidValue,
                        format!("no finding has the code `{code}`"),
                    )
                    .at(*span)
                    .path(format!("{path}.findings"))
                    .help(help.unwrap_or_else(|| "`ome code` lists them".to_owned())),
                );
            }
        }
        let survives = self.survives(map, &path);
        Some(Case { name: name.into(), files, services, no_services, objects, findings, survives })
    }

    /// `survives`: one loss or a list of them.
    fn survives(&mut self, case: &Map, path: &str) -> Vec<(Each, Span)> {
        let Some(node) = case.get("survives") else { return Vec::new() };
        let path = format!("{path}.survives");
        let texts = match (node.as_str(), node.origin.span()) {
            (Some(text), Some(span)) => vec![(text.into(), span)],
            _ => self.texts(node, &path),
        };
        let mut all = Vec::new();
        for (text, span) in texts {
            let each = Each::ALL.into_iter().find(|each| each.as_str() == text);
            if let Some(each) = each {
                all.push((each, span));
                continue;
            }
            let name = Each::ALL.map(Each::as_str).join(", ");
            self.found.push(
                Diagnostic::new(Code::InvalidValue, format!("`{text}` is no loss"))
                    .at(Some(span))
                    .path(path.as_str())
                    .help(format!("known are {name}")),
            );
        }
        all
    }

    fn stated(&mut self, case: &Map, key: &str, path: &str) -> Vec<Stated> {
        let Some(list) = case.get(key) else { return Vec::new() };
        let path = format!("{path}.{key}");
        let Some(map) = self.map(list, &path) else { return Vec::new() };
        let mut stated = Vec::new();
        for entry in map {
            let (Some(span), Some(place)) = (entry.key_origin.span(), entry.node.origin.span())
            else {
                continue;
            };
            let Some(values) = self.map(&entry.node, &format!("{path}.{}", entry.key)) else {
                continue;
            };
            let values = values.iter().filter_map(|value| {
                let (key, node) = (value.key.clone(), value.node.clone());
                Some(Expected { key, span: value.key_origin.span()?, value: node })
            });
            stated.push(Stated { name: entry.key.clone(), span, place, values: values.collect() });
        }
        stated
    }
}
