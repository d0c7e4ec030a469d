//! Kinds that the input defines itself: structural schemas of CustomResourceDefinitions.
//!
//! In: definitions and objects that were read. Out: findings of what an API server with these
//! definitions refuses. Source: apiextensions-apiserver, pkg/apiserver/schema (structural schemas,
//! pruning, list types) and pkg/apiserver/validation. Rules that this program cannot evaluate
//! refuse nothing.

use super::cel::{Outcome, evaluate, parse};
use super::pattern::matches;
use crate::diag::{Code, Diagnostic, nearest};
use crate::yaml::{FieldPath, Node, Segment, Value};
use ecow::EcoString;
use std::collections::{BTreeMap, HashSet};

/// The schemas of definitions, by apiVersion and kind.
#[derive(Clone, Debug, Default)]
pub struct Definitions(BTreeMap<(EcoString, EcoString), Kept>);

/// A schema, and whether objects keep fields that it lacks.
#[derive(Clone, Debug)]
struct Kept {
    schema: Node,
    preserves: bool,
}

/// How deep a schema and an object are followed.
const DEEPEST: usize = 64;

impl Definitions {
    /// Reads a definition; other objects change nothing.
    pub fn add(&mut self, object: &Node) {
        let text = |node: &Node, keys: &[&str]| node.at(keys).and_then(Node::scalar_text);
        let is_definition = text(object, &["kind"]).as_deref() == Some("CustomResourceDefinition");
        let (Some(group), Some(kind)) =
            (text(object, &["spec", "group"]), text(object, &["spec", "names", "kind"]))
        else {
            return;
        };
        // Definitions of v1beta1 prune nothing unless they ask for it
        // (apiextensions-apiserver, pkg/apis/apiextensions/v1beta1/defaults.go).
        let is_old =
            text(object, &["apiVersion"]).as_deref() == Some("apiextensions.k8s.io/v1beta1");
        let prunes = object.at(&["spec", "preserveUnknownFields"]).and_then(Node::as_bool);
        let preserves = prunes.unwrap_or(is_old);
        for version in object.at(&["spec", "versions"]).map(Node::items).unwrap_or_default() {
            // A version that is not served cannot be applied, so that its schema judges nothing.
            let is_served = version.get("served").and_then(Node::as_bool) != Some(false);
            let schema = version.at(&["schema", "openAPIV3Schema"]);
            if let (true, true, Some(name), Some(schema)) =
                (is_definition, is_served, text(version, &["name"]), schema)
            {
                let key = (ecow::eco_format!("{group}/{name}"), kind.clone());
                self.0.insert(key, Kept { schema: schema.clone(), preserves });
            }
        }
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The definition of a kind.
    pub fn of(&self, api_version: &str, kind: &str) -> Option<Definition<'_>> {
        self.0.get(&(api_version.into(), kind.into())).map(Definition)
    }
}

/// The schema of a kind.
#[derive(Clone, Copy, Debug)]
pub struct Definition<'s>(&'s Kept);

impl Definition<'_> {
    /// Adds a finding for everything that the server refuses of an object.
    pub fn check(self, object: &Node, found: &mut Vec<Diagnostic>) {
        let mut check = Check { found: Vec::new(), judges_fields: !self.0.preserves };
        check.value(&self.0.schema, object, &FieldPath::root(), true);
        found.append(&mut check.found);
    }

    /// Whether the definition has a field.
    pub fn has(self, path: &str) -> bool {
        let Ok(path) = FieldPath::parse(path) else { return false };
        if self.0.preserves {
            return true;
        }
        let mut schema = &self.0.schema;
        for segment in &path.0 {
            if preserves(schema) {
                return true;
            }
            let next = match segment {
                Segment::Field(name) => {
                    let named = schema.get("properties").and_then(|property| property.get(name));
                    // Free keys have the schema of every value.
                    named.or_else(|| schema.get("additionalProperties"))
                }
                _ => schema.get("items"),
            };
            let Some(next) = next else { return false };
            schema = next;
        }
        true
    }
}

fn preserves(schema: &Node) -> bool {
    is_set(schema, "x-kubernetes-preserve-unknown-fields")
}

fn is_set(schema: &Node, key: &str) -> bool {
    schema.get(key).and_then(Node::as_bool) == Some(true)
}

struct Check {
    found: Vec<Diagnostic>,
    /// Whether fields that the schema lacks are reported: not within `anyOf` and its like.
    judges_fields: bool,
}

fn number(node: &Node) -> Option<f64> {
    match &node.value {
        Value::Int(_) | Value::Float(_) | Value::Big(_) => node.scalar_text()?.parse().ok(),
        _ => None,
    }
}

fn kind_of(node: &Node) -> &'static str {
    match &node.value {
        Value::Map(_) => "object",
        Value::List(_) => "array",
        Value::Str(_) => "string",
        Value::Bool(_) => "boolean",
        Value::Int(_) | Value::Big(_) => "integer",
        Value::Float(_) => "number",
        Value::Null => "null",
    }
}

impl Check {
    fn say(&mut self, code: Code, node: &Node, path: &FieldPath, message: String, help: &str) {
        self.found.push(
            Diagnostic::new(code, message)
                .at(node.origin.span())
                .path(path.to_string())
                .help(help.to_owned()),
        );
    }

    fn value(&mut self, schema: &Node, node: &Node, path: &FieldPath, is_object: bool) {
        // The server drops nulls, or takes them for absent, before it validates.
        if path.0.len() > DEEPEST || node.is_null() {
            return;
        }
        let wanted = schema.get("type").and_then(Node::as_str).unwrap_or_default();
        let kind = kind_of(node);
        let either = is_set(schema, "x-kubernetes-int-or-string");
        let fits = wanted.is_empty()
            || wanted == kind
            // JSON has one kind of number.
            || (wanted == "number" && kind == "integer")
            || (either && matches!(kind, "integer" | "string"));
        if !fits {
            let message = format!("`{path}` must be {wanted}, not {kind}");
            self.say(Code::InvalidType, node, path, message, "write it as the definition requires");
            return;
        }
        self.bounds(schema, node, path);
        match &node.value {
            Value::Map(_) => self.map(schema, node, path, is_object),
            Value::List(_) => self.list(schema, node, path),
            _ => {}
        }
        // After the types: an alternative of a value of the wrong type would only add noise.
        self.junctions(schema, node, path);
        self.rules(schema, node, path);
    }

    fn map(&mut self, schema: &Node, node: &Node, path: &FieldPath, is_object: bool) {
        let properties = schema.get("properties");
        // `additionalProperties: false` allows no free keys, and a structural schema has no schema
        // there.
        let more = schema
            .get("additionalProperties")
            .filter(|additional_properties| additional_properties.as_bool() != Some(false));
        let embedded = is_object || is_set(schema, "x-kubernetes-embedded-resource");
        for entry in node.entries() {
            let path = path.field(entry.key.clone());
            // The server validates these itself, whatever the definition states about them.
            if embedded && matches!(entry.key.as_str(), "apiVersion" | "kind" | "metadata") {
                continue;
            }
            let node = properties.and_then(|property| property.get(&entry.key)).or(more);
            if let Some(node) = node {
                self.value(node, &entry.node, &path, false);
            } else if self.judges_fields && !preserves(schema) && !schema.is_empty() {
                let names = properties.map(Node::entries).into_iter().flatten();
                let near = nearest(&entry.key, names.map(|entry| entry.key.as_str()));
                let help = near.map_or_else(
                    || "delete it: the definition in the input has no such field".to_owned(),
                    |near| format!("did you mean `{near}`?"),
                );
                let message = format!("unknown field `{path}`");
                self.found.push(
                    Diagnostic::new(Code::UnknownField, message)
                        .at(entry.key_origin.span())
                        .path(path.to_string())
                        .help(help),
                );
            }
        }
        for name in schema.texts("required") {
            // Defaults are filled in before required fields are checked.
            let has_default = properties
                .and_then(|property| property.get(&name))
                .is_some_and(|property| property.get("default").is_some());
            let is_there = node.get(&name).is_some_and(|node| !node.is_null());
            let is_implied = embedded && name == "metadata";
            if !(is_there || has_default || is_implied) {
                let path = path.field(name);
                let message = format!("`{path}` is required");
                self.say(Code::RequiredField, node, &path, message, "add it");
            }
        }
    }

    fn list(&mut self, schema: &Node, node: &Node, path: &FieldPath) {
        let items = node.items();
        if let Some(item) = schema.get("items") {
            for (index, element) in items.iter().enumerate() {
                self.value(item, element, &path.index(index), false);
            }
        }
        let keys: Vec<EcoString> = schema.texts("x-kubernetes-list-map-keys").collect();
        let identity = |item: &Node| match schema.get("x-kubernetes-list-type")?.as_str()? {
            "set" => Some(item.to_json().to_string()),
            "map" => {
                // JSON keeps `1` and `"1"` apart, which are different keys.
                let all = keys.iter().map(|key| item.get(key).map(Node::to_json));
                Some(format!("{:?}", all.collect::<Vec<_>>()))
            }
            _ => None,
        };
        let mut seen = HashSet::new();
        for (index, item) in items.iter().enumerate() {
            if identity(item).is_some_and(|identity| !seen.insert(identity)) {
                let message = format!("`{path}` has element {index} twice");
                self.say(Code::InvalidValue, item, path, message, "delete one of the two");
            }
        }
    }

    fn bounds(&mut self, schema: &Node, node: &Node, path: &FieldPath) {
        let limit = |key: &str| schema.get(key).and_then(number);
        let mut broken = Vec::new();
        let allowed = schema.get("enum").map(Node::items).unwrap_or_default();
        if !allowed.is_empty() && allowed.iter().all(|allowed| allowed.to_json() != node.to_json())
        {
            let all: Vec<String> =
                allowed.iter().map(|allowed| allowed.to_json().to_string()).collect();
            broken.push(format!("one of {}", all.join(", ")));
        }
        if let Some(value) = number(node) {
            let strict = |key: &str| is_set(schema, key);
            if let Some(least) = limit("minimum")
                && (value < least || strict("exclusiveMinimum") && value <= least)
            {
                let word = if strict("exclusiveMinimum") { "more than" } else { "at least" };
                broken.push(format!("{word} {least}"));
            }
            if let Some(most) = limit("maximum")
                && (value > most || strict("exclusiveMaximum") && value >= most)
            {
                let word = if strict("exclusiveMaximum") { "less than" } else { "at most" };
                broken.push(format!("{word} {most}"));
            }
            if let Some(step) = limit("multipleOf").filter(|step| *step > 0.0)
                && (value / step).fract() != 0.0
            {
                broken.push(format!("a multiple of {step}"));
            }
        }
        #[expect(clippy::cast_precision_loss, reason = "no text and no list is that long")]
        let mut sized = |size: usize, least: &str, most: &str, what: &str| {
            if let Some(least) = limit(least).filter(|least| (size as f64) < *least) {
                broken.push(format!("of at least {least} {what}"));
            }
            if let Some(most) = limit(most).filter(|most| size as f64 > *most) {
                broken.push(format!("of at most {most} {what}"));
            }
        };
        match &node.value {
            Value::Str(text) => {
                // OpenAPI counts characters and not bytes.
                sized(text.chars().count(), "minLength", "maxLength", "characters");
                let pattern = schema.get("pattern").and_then(Node::as_str);
                if let Some(pattern) = pattern.filter(|pattern| !matches(pattern, text)) {
                    broken.push(format!("text that matches `{pattern}`"));
                }
            }
            Value::List(_) => sized(node.items().len(), "minItems", "maxItems", "elements"),
            Value::Map(map) => sized(map.len(), "minProperties", "maxProperties", "fields"),
            _ => {}
        }
        for must in broken {
            let is_plain = !matches!(node.value, Value::Map(_) | Value::List(_));
            let not = if is_plain { format!(", not {}", node.to_json()) } else { String::new() };
            let message = format!("`{path}` must be {must}{not}");
            self.say(
                Code::InvalidValue,
                node,
                path,
                message,
                "write it as the definition requires",
            );
        }
    }

    /// `allOf`, `anyOf`, `oneOf` and `not`, which only restrict values.
    fn junctions(&mut self, schema: &Node, node: &Node, path: &FieldPath) {
        let list = |key: &str| schema.get(key).map(Node::items).unwrap_or_default();
        let holds = |schema: &Node| {
            // Which fields exist is defined by the outer schema alone.
            let mut check = Self { found: Vec::new(), judges_fields: false };
            check.value(schema, node, path, false);
            check.found.is_empty()
        };
        for part in list("allOf") {
            let mut check = Self { found: Vec::new(), judges_fields: false };
            check.value(part, node, path, false);
            self.found.append(&mut check.found);
        }
        let (any, one) = (list("anyOf"), list("oneOf"));
        let wrong = if !any.is_empty() && !any.iter().any(holds) {
            "matches none of the alternatives (`anyOf`)"
        } else if !one.is_empty() && one.iter().filter(|node| holds(node)).count() != 1 {
            "must match exactly one of the alternatives (`oneOf`)"
        } else if schema.get("not").is_some_and(holds) {
            "matches what the definition excludes (`not`)"
        } else {
            return;
        };
        let message = format!("`{path}` {wrong}");
        self.say(Code::InvalidValue, node, path, message, "write it as the definition requires");
    }

    /// Rules in CEL; one about an earlier state of the object, or in words that are not known here,
    /// is left to the server.
    fn rules(&mut self, schema: &Node, node: &Node, path: &FieldPath) {
        let rules = schema.get("x-kubernetes-validations").map(Node::items).unwrap_or_default();
        for rule in rules {
            let Some(text) = rule.get("rule").and_then(Node::as_str) else { continue };
            // Such a rule compares with an earlier object, and there is none offline.
            if text.contains("oldSelf") {
                continue;
            }
            let Some(expression) = parse(text) else { continue };
            if matches!(evaluate(&expression, node), Outcome::Fails) {
                let message = rule.get("message").and_then(Node::as_str);
                let broken = message.map_or_else(
                    || format!("`{path}` breaks a rule of the definition"),
                    |message| format!("`{path}`: {message}"),
                );
                let values = values_of(text, node);
                let values = if values.is_empty() { values } else { format!(" (here {values})") };
                let message = format!("{broken}{values}");
                let help = format!("change it so that `{text}` holds");
                self.say(Code::InvalidValue, node, path, message, &help);
            }
        }
    }
}

/// The longest text that a message shows of an object.
const LONGEST: usize = 60;

/// The scalars of an object that an expression names as `self.a.b`, as `a = 1, b = 2`.
fn values_of(rule: &str, node: &Node) -> String {
    let is_of_name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '.');
    let mut shown: Vec<String> = Vec::new();
    for (at, name) in rule.match_indices("self") {
        let before = rule[..at].chars().next_back();
        // `myself`, or a text: not the variable.
        if before.is_some_and(|c| is_of_name(c) || matches!(c, '"' | '\'')) {
            continue;
        }
        let rest = &rule[at + name.len()..];
        let end = rest.find(|c| !is_of_name(c)).unwrap_or(rest.len());
        let path: Vec<&str> = rest[..end].split('.').filter(|part| !part.is_empty()).collect();
        // `selfish` is another word.
        if !rest[..end].is_empty() && !rest.starts_with('.') {
            continue;
        }
        let Some(value) = node.at(&path).and_then(Node::scalar_text) else { continue };
        // A message stays on one line.
        if value.len() > LONGEST || value.contains('\n') {
            continue;
        }
        let text = match path.as_slice() {
            [] => value.to_string(),
            path => format!("{} = {value}", path.join(".")),
        };
        if !shown.contains(&text) {
            shown.push(text);
        }
    }
    shown.join(", ")
}

#[cfg(test)]
mod tests {
    use super::Definitions;
    use crate::testing::node;

    const DEFINITION: &str = "{kind: CustomResourceDefinition, spec: {group: g.example, names: {kind: Tide}, versions: [{name: v1, served: true, schema: {openAPIV3Schema: {type: object, required: [spec], properties: {spec: {type: object, required: [horizon, lanes], properties: {
        horizon: {type: string, enum: [hour, day]}, lanes: {type: integer, minimum: 1, default: 1}, port: {x-kubernetes-int-or-string: true, anyOf: [{type: integer}, {type: string}]},
        name: {type: string, maxLength: 3, pattern: '^a'}, free: {type: object, x-kubernetes-preserve-unknown-fields: true}, labels: {type: object, additionalProperties: {type: string}},
        list: {type: array, maxItems: 2, x-kubernetes-list-type: map, x-kubernetes-list-map-keys: [k], items: {type: object, properties: {k: {type: string}}}},
        range: {type: object, properties: {low: {type: integer}, high: {type: integer}}, x-kubernetes-validations: [{rule: 'self.low <= self.high', message: low is above high}]}, even: {type: integer, x-kubernetes-validations: [{rule: 'self > 1'}]}}}}}}}]}}";

    #[test]
    fn objects_are_held_to_the_definition_that_is_read() {
        let mut definitions = Definitions::default();
        definitions.add(&node(DEFINITION));
        let definition = definitions.of("g.example/v1", "Tide").expect("it was read");
        for (spec, expected) in [
            ("{horizon: day, port: 80, free: {a: {b: 1}}, labels: {x: z}, name: ab}", vec![]),
            ("{horizon: day, lanes: null, port: http, range: {low: 1, high: 2}}", vec![]),
            (
                "{horizon: week}",
                vec!["`spec.horizon` must be one of \"hour\", \"day\", not \"week\""],
            ),
            (
                "{lanes: 0}",
                vec!["`spec.lanes` must be at least 1, not 0", "`spec.horizon` is required"],
            ),
            ("{horizon: day, horizn: day}", vec!["unknown field `spec.horizn`"]),
            ("{horizon: 1}", vec!["`spec.horizon` must be string, not integer"]),
            ("{horizon: day, labels: {x: 1}}", vec!["`spec.labels.x` must be string, not integer"]),
            (
                "{horizon: day, name: bcde}",
                vec![
                    "`spec.name` must be of at most 3 characters, not \"bcde\"",
                    "`spec.name` must be text that matches `^a`, not \"bcde\"",
                ],
            ),
            ("{horizon: day, list: [{k: a}, {k: a}]}", vec!["`spec.list` has element 1 twice"]),
            (
                "{horizon: day, range: {low: 3, high: 2}}",
                vec!["`spec.range`: low is above high (here low = 3, high = 2)"],
            ),
            (
                "{horizon: day, even: 1}",
                vec!["`spec.even` breaks a rule of the definition (here 1)"],
            ),
            (
                "{horizon: day, port: true}",
                vec!["`spec.port` matches none of the alternatives (`anyOf`)"],
            ),
        ] {
            let mut found = Vec::new();
            let object = format!(
                "{{apiVersion: g.example/v1, kind: Tide, metadata: {{name: t}}, spec: {spec}}}"
            );
            definition.check(&node(&object), &mut found);
            let messages: Vec<&str> =
                found.iter().map(|finding| finding.message.as_str()).collect();
            assert_eq!(messages, expected, "{spec}");
        }
        assert!(definition.has("spec.free.a.b") && definition.has("spec.list[0].k"));
        assert!(
            !definition.has("spec.nothing") && definitions.of("g.example/v2", "Tide").is_none()
        );
    }
}
