//! Makes the tables in `src/schema/tables/` from the upstream schemas, or proves them current.
//!
//! `cargo run --example schema -- ../shared/upstream [--check]`. In: every CustomResourceDefinition
//! below `ome/crd`, `kserve/crd`, `kthena/crd` and `crds`, and `kubernetes/openapi-merge-keys.json`
//! (the Go structs of the built-in kinds). Out: the tables, whose grammar `src/schema/table.rs`
//! documents. With `--check` nothing is written; the exit code is 1 when a table is stale.
//!
//! Not in the tables: descriptions, CEL rules but for the two that [`Cel`] knows, alternatives
//! (`oneOf`; `examples/rules.rs` has both), and the status of custom resources, which nobody writes.

#![expect(
    clippy::disallowed_methods,
    clippy::print_stderr,
    reason = "a generator reads and writes files and reports on the terminal"
)]

use serde_json::{Map, Value};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// The tables of custom resources: name, folder below `upstream`. Types of more than one of them go
/// to `shared`.
const GROUPS: &[(&str, &str)] = &[
    ("ome", "ome/crd"),
    ("kserve", "kserve/crd"),
    ("kthena", "kthena/crd"),
    ("operators", "crds"),
];

/// Built-in kinds: apiVersion, plural, scope, Go type.
const BUILT_IN: &[(&str, &str, &str, &str)] = &[
    ("v1", "configmaps", "Namespaced", "io.k8s.api.core.v1.ConfigMap"),
    ("v1", "namespaces", "Cluster", "io.k8s.api.core.v1.Namespace"),
    ("v1", "nodes", "Cluster", "io.k8s.api.core.v1.Node"),
    ("v1", "persistentvolumes", "Cluster", "io.k8s.api.core.v1.PersistentVolume"),
    ("v1", "persistentvolumeclaims", "Namespaced", "io.k8s.api.core.v1.PersistentVolumeClaim"),
    ("v1", "pods", "Namespaced", "io.k8s.api.core.v1.Pod"),
    ("v1", "secrets", "Namespaced", "io.k8s.api.core.v1.Secret"),
    ("v1", "services", "Namespaced", "io.k8s.api.core.v1.Service"),
    ("v1", "serviceaccounts", "Namespaced", "io.k8s.api.core.v1.ServiceAccount"),
    ("apps/v1", "deployments", "Namespaced", "io.k8s.api.apps.v1.Deployment"),
    ("apps/v1", "statefulsets", "Namespaced", "io.k8s.api.apps.v1.StatefulSet"),
    ("batch/v1", "jobs", "Namespaced", "io.k8s.api.batch.v1.Job"),
    (
        "autoscaling/v2",
        "horizontalpodautoscalers",
        "Namespaced",
        "io.k8s.api.autoscaling.v2.HorizontalPodAutoscaler",
    ),
    ("policy/v1", "poddisruptionbudgets", "Namespaced", "io.k8s.api.policy.v1.PodDisruptionBudget"),
    ("networking.k8s.io/v1", "ingresses", "Namespaced", "io.k8s.api.networking.v1.Ingress"),
    ("rbac.authorization.k8s.io/v1", "roles", "Namespaced", "io.k8s.api.rbac.v1.Role"),
    (
        "rbac.authorization.k8s.io/v1",
        "rolebindings",
        "Namespaced",
        "io.k8s.api.rbac.v1.RoleBinding",
    ),
];

/// The source has templates of pods and no pods. The status is the cluster's to write.
const POD: &str =
    " apiVersion str\n kind str\n metadata ObjectMeta ~\n spec PodSpec ~\n status any\n";

/// Fields of operators' structs that are plain Go values with `omitempty`: their zero value
/// vanishes when the struct is marshalled. All other optional fields are pointers.
/// `pkg/apis/ome/v1beta1/{component,kedaconfig}.go`.
const PLAIN: &[&str] = &[
    "maxReplicas",
    "enableKeda",
    "promServerAddress",
    "customPromQuery",
    "scalingThreshold",
    "scalingOperator",
    "authModes",
    "expert",
    "evictionPolicy",
    "variantCost",
];

/// Required fields of operators' structs that have `omitempty` or `omitzero`: absent ones are not
/// printed. The last names of their paths.
/// `api/v1/inferencepool_types.go` of the Gateway API inference extension.
const OMITTED: &[&[&str]] = &[
    &["pool", "spec", "endpointPickerRef"],
    &["pool", "spec", "targetPorts"],
    &["endpointPickerRef", "name"],
    &["endpointPickerRef", "port", "number"],
    &["pool", "spec", "selector", "matchLabels"],
    &["targetPorts", "number"],
];

fn main() -> ExitCode {
    let mut check = false;
    let mut upstream = None;
    for argument in std::env::args().skip(1) {
        if argument == "--check" {
            check = true;
        } else {
            upstream = Some(PathBuf::from(argument));
        }
    }
    let Some(upstream) = upstream else {
        eprintln!("usage: schema UPSTREAM [--check]");
        return ExitCode::FAILURE;
    };
    match run(&upstream, check) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

fn run(upstream: &Path, check: bool) -> Result<bool, String> {
    let target = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/schema/tables");
    let mut current = true;
    for (name, text) in tables(upstream)? {
        let path = target.join(&name);
        let same = std::fs::read_to_string(&path).is_ok_and(|old| old == text);
        if check && !same {
            eprintln!(
                "{} is stale: run `cargo run --example schema -- {}`",
                path.display(),
                upstream.display()
            );
            current = false;
        } else if !same {
            std::fs::write(&path, &text).map_err(|error| format!("{}: {error}", path.display()))?;
            eprintln!("{}: {} bytes", path.display(), text.len());
        }
    }
    Ok(current)
}

/// Every table with its file name.
fn tables(upstream: &Path) -> Result<Vec<(String, String)>, String> {
    let go = Go::read(&upstream.join("kubernetes/openapi-merge-keys.json"))?;
    let mut kinds = BTreeSet::new();
    let mut out = Vec::new();

    let mut text = head("the Go structs of Kubernetes' own kinds, from openapi-merge-keys.json");
    let mut lines = BTreeMap::new();
    for name in go.types.keys() {
        lines.insert(short(name).to_owned(), go.lines(name)?);
    }
    lines.insert("Pod".to_owned(), POD.to_owned());
    for (name, body) in lines {
        let _ = write!(text, "{name}\n{body}");
    }
    out.push(("kubernetes.txt".to_owned(), text));
    for (api_version, plural, scope, name) in BUILT_IN {
        kinds.insert(format!("{api_version} {} {plural} {scope} {}", short(name), short(name)));
    }

    let mut pool = Pool { go: &go, objects: Vec::new(), ids: HashMap::new() };
    let mut roots = Vec::new();
    for (group, folder) in GROUPS {
        for file in yaml_files(&upstream.join(folder))? {
            for document in read_yaml(&file)? {
                if document["kind"] == "CustomResourceDefinition" {
                    pool.definition(group, &document["spec"], &mut roots)
                        .map_err(|error| format!("{}: {error}", file.display()))?;
                }
            }
        }
    }
    let names = pool.names();
    for root in &roots {
        let Root { api_version, kind, plural, scope, id } = root;
        kinds.insert(format!("{api_version} {kind} {plural} {scope} {}", names[*id]));
    }
    for group in GROUPS.iter().map(|(group, _)| *group).chain(["shared"]) {
        let about = if group == "shared" {
            "types of custom resources of more than one table"
        } else {
            "types of custom resources"
        };
        let mut text = head(about);
        let mut lines = BTreeMap::new();
        for (id, object) in pool.objects.iter().enumerate() {
            if table_of(object) == group {
                lines.insert(names[id].clone(), object.text(&names));
            }
        }
        for (name, body) in lines {
            let _ = write!(text, "{name}{body}");
        }
        out.push((format!("{group}.txt"), text));
    }

    let mut text = head("apiVersion, kind, plural, scope, root type");
    for line in kinds {
        let _ = writeln!(text, "{line}");
    }
    out.push(("kinds.txt".to_owned(), text));
    Ok(out)
}

fn head(about: &str) -> String {
    format!("# Made by examples/schema.rs: {about}. Grammar: src/schema/table.rs.\n")
}

fn short(name: &str) -> &str {
    name.rsplit('.').next().unwrap_or(name)
}

fn yaml_files(folder: &Path) -> Result<Vec<PathBuf>, String> {
    let entries =
        std::fs::read_dir(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    let mut files: Vec<PathBuf> =
        entries.filter_map(|entry| entry.ok().map(|entry| entry.path())).collect();
    files.retain(|file| file.extension().is_some_and(|extension| extension == "yaml"));
    files.sort();
    Ok(files)
}

fn read_yaml(file: &Path) -> Result<Vec<Value>, String> {
    use serde::Deserialize as _;
    let text =
        std::fs::read_to_string(file).map_err(|error| format!("{}: {error}", file.display()))?;
    serde_yaml::Deserializer::from_str(&text)
        .map(|document| {
            Value::deserialize(document).map_err(|error| format!("{}: {error}", file.display()))
        })
        .collect()
}

/// The Go structs.
struct Go {
    types: BTreeMap<String, Value>,
    by_short: BTreeMap<String, String>,
}

impl Go {
    fn read(file: &Path) -> Result<Self, String> {
        let text = std::fs::read_to_string(file)
            .map_err(|error| format!("{}: {error}", file.display()))?;
        let value: Value =
            serde_json::from_str(&text).map_err(|error| format!("{}: {error}", file.display()))?;
        let types: BTreeMap<String, Value> = value["types"]
            .as_object()
            .into_iter()
            .flatten()
            .map(|(name, value)| (name.clone(), value.clone()))
            .collect();
        let by_short: BTreeMap<String, String> =
            types.keys().map(|name| (short(name).to_owned(), name.clone())).collect();
        if by_short.len() == types.len() {
            Ok(Self { types, by_short })
        } else {
            Err("two Go types of one short name".into())
        }
    }

    fn fields(&self, name: &str) -> Option<&Map<String, Value>> {
        self.types.get(self.by_short.get(name).map_or(name, String::as_str))?["fields"].as_object()
    }

    fn field(&self, name: &str, field: &str) -> Option<&Value> {
        self.fields(name)?.get(field)
    }

    /// The lines of one struct of the table `kubernetes`.
    fn lines(&self, name: &str) -> Result<String, String> {
        let mut text = String::new();
        let info = &self.types[name];
        let required: Vec<&str> =
            info["required"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
        let mut fields: Vec<(&String, &Value)> =
            info["fields"].as_object().into_iter().flatten().collect();
        fields.sort_by_key(|(field, _)| root_rank(field));
        for (field, info) in fields {
            let ty = go_type(info)?;
            let mut flags =
                if required.contains(&field.as_str()) { "!".to_owned() } else { String::new() };
            flags += &go_flags(info);
            let _ = write!(text, " {field} {ty}");
            if !flags.is_empty() {
                let _ = write!(text, " {flags}");
            }
            text += &patch(info);
            // The published schema defaults the protocol, and it is part of list keys.
            if field == "protocol" && matches!(short(name), "ContainerPort" | "ServicePort") {
                text += " = \"TCP\"";
            }
            text.push('\n');
        }
        Ok(text)
    }
}

/// Root keys come in the order that kubectl prints; all others keep theirs.
fn root_rank(field: &str) -> usize {
    ["apiVersion", "kind", "metadata"].iter().position(|name| *name == field).unwrap_or(3)
}

/// The type of a field of a Go struct.
fn go_type(info: &Value) -> Result<String, String> {
    let kind = info["kind"].as_str().unwrap_or_default();
    let scalar = |kind: &str| -> Result<String, String> {
        Ok(match kind {
            "string" => "str".into(),
            "boolean" => "bool".into(),
            "int32" | "int64" => kind.into(),
            "intOrString" => "ios".into(),
            "quantity" => "qty".into(),
            "time" => "time".into(),
            "bytes" => "bytes".into(),
            "fieldsV1" => "any".into(),
            "object" => short(info["type"].as_str().ok_or("an object without type")?).into(),
            other => return Err(format!("unknown kind {other}")),
        })
    };
    if let Some(item) = kind.strip_prefix("list of ") {
        Ok(format!(
            "[{}]{}",
            list_rules(info["listType"].as_str(), &info["listMapKeys"]),
            scalar(item)?
        ))
    } else if let Some(item) = kind.strip_prefix("map of ") {
        Ok(format!("{{}}{}", scalar(item)?))
    } else {
        scalar(kind)
    }
}

/// What marshalling does with the field: `~` always emitted, `33` so by v0.33 only, `*` a pointer,
/// `new` unknown to v0.33.
fn go_flags(info: &Value) -> String {
    let on = |name: &str| info[name] == Value::Bool(true);
    let structure =
        matches!(info["kind"].as_str(), Some("object" | "quantity" | "intOrString" | "time"));
    let mut flags = String::new();
    if !on("omitempty") || (structure && !on("pointer") && !on("omitzero")) {
        flags.push('~');
    }
    if structure && !on("pointer") && on("omitzero") {
        flags.push('3');
    }
    if on("pointer") {
        flags.push('*');
    }
    if info.get("notIn").is_some() {
        flags.push('+');
    }
    flags
}

/// The patch strategy of a field, as a flag with a space before it.
fn patch(info: &Value) -> String {
    let Some(strategy) = info["patchStrategy"].as_str() else { return String::new() };
    let strategy = strategy.replace("retainKeys", "retain");
    match info["patchMergeKey"].as_str() {
        Some(key) => format!(" {strategy}:{key}"),
        None => format!(" {strategy}"),
    }
}

fn list_rules(list_type: Option<&str>, keys: &Value) -> String {
    match list_type {
        Some("map") => {
            let keys: Vec<&str> =
                keys.as_array().into_iter().flatten().filter_map(Value::as_str).collect();
            format!("map={}", keys.join("|"))
        }
        Some("set") => "set".into(),
        _ => String::new(),
    }
}

/// Stands before and after the number of an object type that has no name yet. No rule of a table
/// holds it: JSON escapes control characters, so a pattern with `@` stays whole.
const MARK: char = '\u{1}';

/// One field of a type of a custom resource. Object types are numbers between two `MARK`s until
/// they have names.
#[derive(Clone, PartialEq, Eq, Hash)]
struct Field {
    name: String,
    ty: String,
    rest: String,
}

/// One object type of a custom resource.
struct Object {
    /// Names, the first that nobody else has is taken.
    wish: Vec<String>,
    /// How deep below the root it was met first.
    depth: usize,
    groups: BTreeSet<String>,
    open: bool,
    fields: Vec<Field>,
}

impl Object {
    /// The lines after the name.
    fn text(&self, names: &[String]) -> String {
        let mut text = if self.open { " open\n".to_owned() } else { "\n".to_owned() };
        for field in &self.fields {
            let _ = writeln!(text, " {} {}{}", field.name, named(&field.ty, names), field.rest);
        }
        text
    }
}

fn named(ty: &str, names: &[String]) -> String {
    let mut parts = ty.split(MARK);
    let mut text = parts.next().unwrap_or_default().to_owned();
    while let (Some(id), Some(rest)) = (parts.next(), parts.next()) {
        text += id.parse::<usize>().map_or(id, |id| names[id].as_str());
        text += rest;
    }
    text
}

fn table_of(object: &Object) -> &str {
    if object.groups.len() == 1 {
        object.groups.first().map_or("shared", String::as_str)
    } else {
        "shared"
    }
}

/// A kind with its root type.
struct Root {
    api_version: String,
    kind: String,
    plural: String,
    scope: String,
    id: usize,
}

/// All object types of custom resources, each once.
struct Pool<'a> {
    go: &'a Go,
    objects: Vec<Object>,
    ids: HashMap<(bool, Vec<Field>), usize>,
}

/// Where a schema stands.
#[derive(Clone, Copy)]
struct Place<'a> {
    group: &'a str,
    kind: &'a str,
    path: &'a [String],
    /// The Go type of Kubernetes that stands here, as far as it is known.
    go: Option<&'a str>,
}

impl Pool<'_> {
    fn definition(
        &mut self,
        group: &str,
        spec: &Value,
        roots: &mut Vec<Root>,
    ) -> Result<(), String> {
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let kind = text(&spec["names"]["kind"]);
        for version in spec["versions"].as_array().into_iter().flatten() {
            let mut schema = version["schema"]["openAPIV3Schema"].clone();
            if let Some(properties) = schema["properties"].as_object_mut() {
                if properties.contains_key("status") {
                    properties.insert("status".into(), serde_json::json!({"type": "object", "x-kubernetes-preserve-unknown-fields": true}));
                }
                // Every object has these; Istio does not write them down.
                for (name, ty) in
                    [("apiVersion", "string"), ("kind", "string"), ("metadata", "object")]
                {
                    properties.entry(name).or_insert_with(|| serde_json::json!({ "type": ty }));
                }
            }
            // The one custom resource whose Go structs are recorded.
            let go = Some("LeaderWorkerSet").filter(|go| *go == kind);
            let id = self.object(&schema, Place { group, kind: &kind, path: &[], go })?;
            let api_version = format!("{}/{}", text(&spec["group"]), text(&version["name"]));
            roots.push(Root {
                api_version,
                kind: kind.clone(),
                plural: text(&spec["names"]["plural"]),
                scope: text(&spec["scope"]),
                id,
            });
        }
        Ok(())
    }

    fn object(&mut self, schema: &Value, place: Place<'_>) -> Result<usize, String> {
        let empty = Map::new();
        let properties = schema["properties"].as_object().unwrap_or(&empty);
        let required: Vec<&str> =
            schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
        let known: Vec<&str> = place.go.map_or_else(|| inlined(properties).to_vec(), |go| vec![go]);
        // An inlined struct comes first, in the order of Go; then what is there beside it.
        let rank = |name: &str| {
            let mut places = known.iter().enumerate().filter_map(|(nth, go)| {
                Some((nth, self.go.fields(go)?.keys().position(|key| key == name)?))
            });
            places.next().unwrap_or((usize::MAX, 0))
        };
        let mut order: Vec<&String> = properties.keys().collect();
        order.sort_by_key(|name| {
            (if place.path.is_empty() { root_rank(name) } else { 0 }, rank(name))
        });

        let mut fields = Vec::new();
        for name in order {
            let property = &properties[name];
            let mut path = place.path.to_vec();
            path.push(name.clone());
            let info = known.iter().find_map(|go| self.go.field(go, name));
            let go = info.and_then(|info| info["type"].as_str()).map(short);
            let ty = if place.path.is_empty() && name == "metadata" {
                "ObjectMeta".to_owned()
            } else {
                self.ty(property, Place { path: &path, go, ..place })?
            };
            let mut flags = String::new();
            if required.contains(&name.as_str()) {
                flags.push('!');
            }
            if property["nullable"] == Value::Bool(true) {
                flags.push('?');
            }
            match info {
                // Where an operator inlines a copy of PodSpec, `containers` is optional.
                Some(_) if name == "containers" && place.go.is_none() => {}
                Some(info) => flags += &go_flags(info),
                None if required.contains(&name.as_str()) => {
                    let is_omitted = |tail: &&[&str]| {
                        let tail = tail.iter().rev();
                        path.iter().rev().zip(tail.clone()).filter(|(a, b)| a == *b).count()
                            == tail.len()
                    };
                    if !OMITTED.iter().any(is_omitted) {
                        flags.push('~');
                    }
                }
                None if !PLAIN.contains(&name.as_str()) && !ty.starts_with(['[', '{']) => {
                    flags.push('*');
                }
                None => {}
            }
            let mut rest = if flags.is_empty() { String::new() } else { format!(" {flags}") };
            rest += &info.map(patch).unwrap_or_default();
            if let Some(default) = property.get("default") {
                let _ = write!(rest, " = {default}");
            }
            fields.push(Field { name: name.clone(), ty, rest });
        }
        let open = schema["x-kubernetes-preserve-unknown-fields"] == Value::Bool(true);
        let key = (open, fields);
        let id = if let Some(id) = self.ids.get(&key) {
            *id
        } else {
            let whole = known.iter().find(|go| {
                self.go
                    .fields(go)
                    .is_some_and(|fields| properties.keys().all(|name| fields.contains_key(name)))
            });
            let mut wish: Vec<String> = whole.map(|go| vec![(*go).to_owned()]).unwrap_or_default();
            // `Kind.field`, then with more of the path, until nobody else has the name.
            wish.extend((1..=place.path.len()).map(|parts| {
                format!("{}.{}", place.kind, place.path[place.path.len() - parts..].join("."))
            }));
            if place.path.is_empty() {
                wish = vec![place.kind.to_owned()];
            }
            self.objects.push(Object {
                wish,
                depth: place.path.len(),
                groups: BTreeSet::new(),
                open,
                fields: key.1.clone(),
            });
            self.ids.insert(key, self.objects.len() - 1);
            self.objects.len() - 1
        };
        self.objects[id].groups.insert(place.group.to_owned());
        Ok(id)
    }

    fn ty(&mut self, schema: &Value, place: Place<'_>) -> Result<String, String> {
        let free = schema["x-kubernetes-preserve-unknown-fields"] == Value::Bool(true);
        if schema["x-kubernetes-int-or-string"] == Value::Bool(true) {
            let quantity =
                schema["pattern"].as_str().is_some_and(|pattern| pattern.contains("[KMGTPE]i"));
            return Ok(if quantity { "qty".into() } else { "ios".into() });
        }
        let rules = |names: &[&str]| rules(schema, names);
        Ok(match schema["type"].as_str() {
            Some("object") => {
                if let Some(values) =
                    schema.get("additionalProperties").filter(|values| values.is_object())
                {
                    let item = self.ty(values, Place { go: place.go, ..place })?;
                    format!("{{{}}}{item}", rules(&["minProperties", "maxProperties"])?)
                } else if free && schema.get("properties").is_none() {
                    "{}any".into()
                } else {
                    format!("{MARK}{}{MARK}", self.object(schema, place)?)
                }
            }
            Some("array") => {
                let mut text = list_rules(
                    schema["x-kubernetes-list-type"].as_str(),
                    &schema["x-kubernetes-list-map-keys"],
                );
                let more = rules(&["minItems", "maxItems"])?;
                if !text.is_empty() && !more.is_empty() {
                    text.push(' ');
                }
                let mut items = schema["items"].clone();
                for rule in schema["x-kubernetes-validations"]
                    .as_array()
                    .into_iter()
                    .flatten()
                    .filter_map(|rule| rule["rule"].as_str())
                {
                    match cel(rule) {
                        Some(Cel::Unique(key)) if text.is_empty() => text = format!("map={key} "),
                        Some(Cel::OneOf(field, words)) => {
                            items["properties"][field]["enum"] = words.into();
                        }
                        _ => {}
                    }
                }
                format!("[{}]{}", format!("{text}{more}").trim_end(), self.ty(&items, place)?)
            }
            Some("string") => match schema["format"].as_str() {
                Some("date-time") => "time".into(),
                Some("byte") => "bytes".into(),
                _ => with("str", &rules(&["minLength", "maxLength", "enum", "pattern"])?),
            },
            Some("integer") => {
                let base = schema["format"]
                    .as_str()
                    .filter(|format| matches!(*format, "int32" | "int64"))
                    .unwrap_or("int");
                with(base, &rules(&["minimum", "maximum", "enum"])?)
            }
            Some("number") => with("num", &rules(&["minimum", "maximum", "enum"])?),
            Some("boolean") => "bool".into(),
            None if free => "any".into(),
            other => return Err(format!("{}: type {other:?}", place.path.join("."))),
        })
    }

    /// A name for every object type: unique, and the same from run to run.
    fn names(&self) -> Vec<String> {
        let mut taken = BTreeSet::new();
        let mut names = vec![String::new(); self.objects.len()];
        let mut order: Vec<usize> = (0..names.len()).collect();
        order.sort_by_key(|id| self.objects[*id].depth);
        for id in order {
            let object = &self.objects[id];
            let table = table_of(object);
            let base = object
                .wish
                .iter()
                .map(|wish| format!("{table}/{wish}"))
                .find(|name| !taken.contains(name))
                .unwrap_or_else(|| {
                    let wish = object.wish.first().map_or("type", String::as_str);
                    (2..1000)
                        .map(|count| format!("{table}/{wish}~{count}"))
                        .find(|name| !taken.contains(name))
                        .unwrap_or_default()
                });
            taken.insert(base.clone());
            names[id] = base;
        }
        names
    }
}

/// The structs of Kubernetes that these properties contain, whole or inlined into an operator's
/// struct.
fn inlined(properties: &Map<String, Value>) -> &'static [&'static str] {
    let all = |names: &[&str]| names.iter().all(|name| properties.contains_key(*name));
    if all(&["volumes", "volumeMounts", "tolerations"]) {
        &["PodSpec", "Container"]
    } else if all(&["containers", "volumes"]) || all(&["containers", "nodeSelector"]) {
        &["PodSpec"]
    } else if all(&["image", "command", "targetContainerName"]) {
        &["EphemeralContainer"]
    } else if all(&["image", "command", "env", "volumeMounts"]) {
        &["Container"]
    } else if all(&["nodeAffinity", "podAffinity", "podAntiAffinity"]) {
        &["Affinity"]
    } else if all(&["matchExpressions", "matchLabels"]) {
        &["LabelSelector"]
    } else if properties.len() == 2 && all(&["metadata", "spec"]) {
        &["PodTemplateSpec"]
    } else if all(&["rollingUpdate", "type"]) && properties.len() == 2 {
        &["DeploymentStrategy"]
    } else if all(&["effect", "key", "operator", "tolerationSeconds", "value"]) {
        &["Toleration"]
    } else if all(&["name", "value", "valueFrom"]) && properties.len() == 3 {
        &["EnvVar"]
    } else if all(&["claims", "limits", "requests"]) && properties.len() == 3 {
        &["ResourceRequirements"]
    } else {
        &[]
    }
}

/// A rule in CEL about the elements of a list that the tables can say.
enum Cel<'a> {
    /// No two elements have one value of the field.
    Unique(&'a str),
    /// The field has one of the words.
    OneOf(&'a str, Vec<&'a str>),
}

fn cel(rule: &str) -> Option<Cel<'_>> {
    let about = rule.strip_prefix("self.all(x, ")?.strip_suffix(')')?;
    if let Some(pair) = about.strip_prefix("self.exists_one(y, y.") {
        let (key, other) = pair.strip_suffix(')')?.split_once(" == x.")?;
        return (key == other).then_some(Cel::Unique(key));
    }
    let (field, words) = about.rsplit_once("x.")?.1.split_once(" in [")?;
    let before = &about[..about.len() - field.len() - " in [".len() - words.len() - "x.".len()];
    if !before.is_empty() && before != format!("!has(x.{field}) || ") {
        return None;
    }
    let words = words.strip_suffix(']')?.split(", ").map(|word| word.trim_matches('\''));
    Some(Cel::OneOf(field, words.collect()))
}

fn with(base: &str, rules: &str) -> String {
    if rules.is_empty() { base.to_owned() } else { format!("{base}({rules})") }
}

fn rules(schema: &Value, names: &[&str]) -> Result<String, String> {
    let mut parts = Vec::new();
    for name in names {
        let Some(value) = schema.get(*name) else { continue };
        let word = match *name {
            "minimum" | "minLength" | "minItems" | "minProperties" => "min",
            "maximum" | "maxLength" | "maxItems" | "maxProperties" => "max",
            other => other,
        };
        if *name == "enum" {
            let words: Vec<String> =
                value.as_array().into_iter().flatten().map(Value::to_string).collect();
            if words.iter().any(|word| word.contains(['|', '\\', ' ', ')'])) {
                return Err(format!("cannot write the enumeration {value}"));
            }
            parts.push(format!("enum={}", words.join("|")));
        } else {
            parts.push(format!("{word}={value}"));
        }
    }
    Ok(parts.join(" "))
}
