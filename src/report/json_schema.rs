//! Kinds as JSON Schemas, and as the OpenAPI definitions that Kustomize uses for merges.
//!
//! In: the tables of [`crate::schema`], as the API server has them; fields that are only in
//! documents are left out, because a server rejects them. Out: self-contained documents with every
//! type inlined, like published CustomResourceDefinitions.

use crate::schema::{Definition, Field, Item, Rules, Schema, Type};
use crate::yaml::{FieldPath, Segment};
use serde_json::{Map, Value, json};

/// The dialect of all schemas.
pub const DIALECT: &str = "https://json-schema.org/draft/2020-12/schema";

/// A quantity, as `k8s.io/apimachinery/pkg/api/resource` reads it.
const QUANTITY: &str =
    r"^(\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))(([KMGTPE]i)|[numkMGTPE]|([eE](\+|-)?[0-9]+))?$";

/// The consumer of a schema.
#[derive(Clone, Copy, PartialEq, Eq)]
enum For {
    /// Validators and editors.
    Validators,
    /// Kustomize, which reads OpenAPI 2 and the extensions for strategic merges.
    Kustomize,
}

/// The schema of a kind.
pub fn kind(schema: &Schema) -> Value {
    let mut out = head();
    out.insert("$id".into(), format!("urn:ome:schema:{}", file(schema)).into());
    out.insert("title".into(), format!("{} {}", schema.api_version, schema.kind).into());
    out.extend(root(schema, For::Validators));
    out.into()
}

/// The schema of a field of a kind; `None` if there is no such field.
pub fn field(schema: &Schema, path: &FieldPath) -> Option<Value> {
    let mut ty = schema.root();
    let mut of = None;
    for segment in &path.0 {
        ty = match (segment, ty) {
            // A map takes any key, so that its fields are not looked up by name.
            (Segment::Field(_), Type::Map(item)) => &item.ty,
            (Segment::Field(name), ty) => {
                let inner = ty.item().map_or(ty, |item| &item.ty);
                // A field below a list is one of its elements.
                let Type::Object(definition) = inner else { return None };
                let found = definition.server().fields.iter().find(|field| field.name == *name)?;
                of = Some(found);
                &found.ty
            }
            (_, ty) => {
                of = None;
                &ty.item()?.ty
            }
        };
    }
    let mut out = head();
    let id = format!("urn:ome:schema:{}:{path}", file(schema));
    out.insert("$id".into(), id.into());
    let value = match of {
        Some(field) => of_field(field, For::Validators, &mut Vec::new()),
        None => of_type(ty, For::Validators, &mut Vec::new()),
    };
    out.extend(value);
    describe(&mut out, schema.describe(path));
    Some(out.into())
}

/// The path of a kind's schema in a directory of schemas. The template for kubeconform is
/// `{{.Group}}/{{.ResourceKind}}_{{.ResourceAPIVersion}}.json`.
pub fn file(schema: &Schema) -> String {
    let (group, kind) = (schema.group(), schema.kind.to_ascii_lowercase());
    let version = schema.api_version.rsplit('/').next().unwrap_or_default();
    // kubeconform uses the version as the name of the core group.
    let folder = if group.is_empty() { version } else { group };
    format!("{folder}/{kind}_{version}.json")
}

/// One schema for files of any kind: each document is validated by the schema of its kind;
/// documents of other kinds are not validated.
pub fn all(schemas: &[Schema]) -> Value {
    let choices = schemas.iter().map(|schema| {
        json!({
            "if": {
                "required": ["apiVersion", "kind"],
                "properties": {
                    "apiVersion": { "const": schema.api_version },
                    "kind": { "const": schema.kind },
                },
            },
            "then": { "$ref": file(schema) },
        })
    });
    let mut out = head();
    out.insert("title".into(), "every kind, by apiVersion and kind".into());
    out.insert("type".into(), "object".into());
    out.insert("allOf".into(), choices.collect());
    out.into()
}

/// The catalog of a directory of schemas, for editors.
pub fn catalog(schemas: &[Schema]) -> Value {
    let entry = |schema: &Schema| {
        json!({
            "name": format!("{} {}", schema.api_version, schema.kind),
            "description": schema.describe(&FieldPath::default()).map_or_else(
                || format!("{} of {}", schema.kind, schema.api_version),
                ToOwned::to_owned,
            ),
            "url": file(schema),
        })
    };
    json!({
        "$schema": "https://json.schemastore.org/schema-catalog.json",
        "version": 1,
        "schemas": schemas.iter().map(entry).collect::<Vec<_>>(),
    })
}

/// Definitions for the field `openapi` of a kustomization.
pub fn openapi<'a>(schemas: impl IntoIterator<Item = &'a Schema>) -> Value {
    let definitions: Map<String, Value> = schemas
        .into_iter()
        .map(|schema| {
            let version = schema.api_version.rsplit('/').next().unwrap_or_default();
            let mut name: Vec<&str> = schema.group().split('.').rev().collect();
            // The name of a definition is the group backwards, as kube-openapi names them.
            if schema.group().is_empty() {
                name = vec!["io", "k8s", "api", "core"];
            }
            name.extend([version, schema.kind]);
            let mut out = root(schema, For::Kustomize);
            out.insert(
                "x-kubernetes-group-version-kind".into(),
                json!([{ "group": schema.group(), "version": version, "kind": schema.kind }]),
            );
            (name.join("."), out.into())
        })
        .collect();
    json!({ "definitions": definitions })
}

fn head() -> Map<String, Value> {
    let mut out = Map::new();
    out.insert("$schema".into(), DIALECT.into());
    out
}

/// A whole object of a kind.
fn root(schema: &Schema, reader: For) -> Map<String, Value> {
    let mut out = of_type(schema.root(), reader, &mut Vec::new());
    let names = [("apiVersion", schema.api_version), ("kind", schema.kind)];
    // A schema without these two would be closed against them.
    if let Some(properties) = out.get_mut("properties").and_then(Value::as_object_mut) {
        for (name, value) in names {
            let properties = properties.entry(name).or_insert_with(|| json!({ "type": "string" }));
            // Kustomize reads types and merges, and `const` is no part of OpenAPI 2.
            if reader == For::Validators {
                properties["const"] = value.into();
            }
        }
    }
    let mut required: Vec<Value> = names.iter().map(|(name, _)| (*name).into()).collect();
    let listed = out.get("required").and_then(Value::as_array).into_iter().flatten();
    // Both are in the list already, in the order of all objects.
    required.extend(listed.filter(|name| *name != "apiVersion" && *name != "kind").cloned());
    if reader == For::Validators {
        out.insert("required".into(), required.into());
    }
    out
}

/// A type. `within` holds the definitions around it: a recursive definition is left open.
fn of_type(ty: &Type, reader: For, within: &mut Vec<&'static str>) -> Map<String, Value> {
    match ty {
        Type::Object(definition) => of_definition(definition, reader, within),
        Type::Map(item) => {
            let mut out = of_rules(&item.rules, "minProperties", "maxProperties");
            out.insert("type".into(), "object".into());
            out.insert("additionalProperties".into(), of_type(&item.ty, reader, within).into());
            out
        }
        Type::List(item) => of_list(item, reader, within),
        Type::Str(rules) => typed("string", rules.as_deref(), "minLength", "maxLength"),
        Type::Int(rules) => typed("integer", rules.as_deref(), "minimum", "maximum"),
        Type::Int32(rules) => {
            let mut out = typed("integer", rules.as_deref(), "minimum", "maximum");
            out.insert("format".into(), "int32".into());
            out
        }
        Type::Number(rules) => typed("number", rules.as_deref(), "minimum", "maximum"),
        Type::Bool => typed("boolean", None, "", ""),
        Type::Time => {
            let mut out = typed("string", None, "", "");
            out.insert("format".into(), "date-time".into());
            out
        }
        Type::Bytes => {
            let mut out = typed("string", None, "", "");
            out.insert("format".into(), "byte".into());
            out
        }
        Type::Any => Map::new(),
        // In OpenAPI 2, a value has one type.
        Type::Quantity | Type::IntOrString(_) | Type::Loose if reader == For::Kustomize => {
            let mut out = typed("string", None, "", "");
            out.insert("format".into(), "int-or-string".into());
            out
        }
        Type::Quantity => {
            let mut out = Map::new();
            out.insert("type".into(), json!(["string", "number"]));
            out.insert("pattern".into(), QUANTITY.into());
            out
        }
        Type::IntOrString(rules) => {
            let mut out = typed("integer", rules.as_deref(), "minimum", "maximum");
            out.insert("type".into(), json!(["integer", "string"]));
            out
        }
        Type::Loose => {
            let mut out = Map::new();
            out.insert("type".into(), json!(["string", "number"]));
            out
        }
    }
}

fn typed(name: &str, rules: Option<&Rules>, least: &str, most: &str) -> Map<String, Value> {
    let mut out = Map::new();
    out.insert("type".into(), name.into());
    if let Some(rules) = rules {
        out.extend(of_rules(rules, least, most));
    }
    out
}

fn of_rules(rules: &Rules, least: &str, most: &str) -> Map<String, Value> {
    let mut out = Map::new();
    let parsed = |text: &&str| serde_json::from_str(text).unwrap_or_else(|_| (*text).into());
    if !rules.choices.is_empty() {
        out.insert("enum".into(), rules.choices.iter().map(parsed).collect());
    }
    if let Some(pattern) = &rules.pattern {
        out.insert("pattern".into(), parsed(pattern));
    }
    for (key, bound) in [(least, rules.min), (most, rules.max)] {
        if let Some(bound) = bound {
            out.insert(key.into(), bound.into());
        }
    }
    out
}

fn of_list(item: &Item, reader: For, within: &mut Vec<&'static str>) -> Map<String, Value> {
    let mut out = Map::new();
    out.insert("type".into(), "array".into());
    out.insert("items".into(), of_type(&item.ty, reader, within).into());
    out.extend(of_rules(&item.rules, "minItems", "maxItems"));
    // A set is one to the server alone: Kustomize merges by its own keys.
    if item.rules.set && reader == For::Validators {
        out.insert("uniqueItems".into(), true.into());
    }
    out
}

fn of_definition(
    definition: &'static Definition,
    reader: For,
    within: &mut Vec<&'static str>,
) -> Map<String, Value> {
    let mut out = Map::new();
    out.insert("type".into(), "object".into());
    describe(&mut out, definition.description());
    // A recursive definition would never end.
    if within.contains(&definition.name) {
        return out;
    }
    within.push(definition.name);
    let object = definition.server();
    let properties: Map<String, Value> = object
        .fields
        .iter()
        .map(|field| {
            let mut schema = of_field(field, reader, within);
            describe(&mut schema, definition.describe(field));
            (field.name.to_owned(), schema.into())
        })
        .collect();
    within.pop();
    let required: Vec<Value> = object
        .fields
        .iter()
        .filter(|field| field.needed())
        .map(|field| field.name.into())
        .collect();
    // Patches are partial objects, in which nothing is required.
    if reader == For::Validators && !required.is_empty() {
        out.insert("required".into(), required.into());
    }
    out.insert("properties".into(), properties.into());
    // Fields of later releases must pass through Kustomize.
    if reader == For::Validators && !object.open {
        out.insert("additionalProperties".into(), false.into());
    }
    out
}

fn describe(schema: &mut Map<String, Value>, sentence: Option<&str>) {
    if let Some(sentence) = sentence {
        schema.insert("description".into(), sentence.into());
    }
}

fn of_field(field: &Field, reader: For, within: &mut Vec<&'static str>) -> Map<String, Value> {
    let mut out = of_type(&field.ty, reader, within);
    if reader == For::Kustomize {
        // Only lists have a strategy that differs from that of their type.
        if matches!(field.ty, Type::List(_)) && field.patch.merge {
            if let Some(key) = field.patch.key {
                out.insert("x-kubernetes-patch-merge-key".into(), key.into());
            }
            let strategy = if field.patch.retain { "merge,retainKeys" } else { "merge" };
            out.insert("x-kubernetes-patch-strategy".into(), strategy.into());
        }
        return out;
    }
    if let Some(default) = field.default {
        let value = serde_json::from_str(default).unwrap_or_else(|_| default.into());
        out.insert("default".into(), value);
    }
    // A server accepts null for a nullable field, and drops it from every other field.
    if field.nullable
        && let Some(Value::String(name)) = out.get("type")
    {
        let types = json!([name, "null"]);
        out.insert("type".into(), types);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schema::kinds;

    #[test]
    fn every_kind_has_its_own_schema_file() {
        let mut files: Vec<String> = kinds().iter().map(file).collect();
        files.sort();
        files.dedup();
        assert_eq!(files.len(), kinds().len());
        for schema in kinds() {
            let document = kind(schema);
            assert_eq!(document["$schema"], DIALECT, "{}", schema.kind);
            assert_eq!(document["properties"]["kind"]["const"], schema.kind);
            assert!(!document.to_string().contains("$ref"), "{}", schema.kind);
        }
    }

    #[test]
    fn schemas_of_kinds_fields_and_elements_are_described() {
        let service = kinds().iter().find(|kind| kind.kind == "InferenceService").unwrap();
        let document = super::kind(service);
        assert!(document["description"].as_str().unwrap().starts_with("A model that is served"));
        let spec = &document["properties"]["spec"]["properties"];
        let least = &spec["engine"]["properties"]["minReplicas"]["description"];
        assert!(least.as_str().unwrap().starts_with("Least number of replicas"), "{least}");
        // The description of a field, not that of its type.
        assert!(spec["model"]["description"].as_str().unwrap().starts_with("The model to serve"));
        let path = FieldPath::parse("spec.engine.minReplicas").unwrap();
        assert_eq!(field(service, &path).unwrap()["description"], *least);
        let path = FieldPath::parse("spec.model").unwrap();
        assert_eq!(field(service, &path).unwrap()["description"], spec["model"]["description"]);
        let definitions = openapi([service]);
        let definitions = &definitions["definitions"]["io.ome.v1beta1.InferenceService"];
        assert_eq!(definitions["description"], document["description"]);
    }

    #[test]
    fn keyed_lists_have_the_patch_merge_key_extension() {
        let document = openapi(kinds().iter().filter(|schema| schema.kind == "Deployment"));
        let pod = &document["definitions"]["apps.v1.Deployment"]["properties"]["spec"]["properties"]
            ["template"]["properties"]["spec"]["properties"];
        let volumes = &pod["volumes"];
        assert_eq!(volumes["x-kubernetes-patch-merge-key"], "name");
        assert_eq!(volumes["x-kubernetes-patch-strategy"], "merge,retainKeys");
        assert!(pod["tolerations"].get("x-kubernetes-patch-merge-key").is_none());
    }
}
