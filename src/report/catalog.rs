//! The catalog as lists, items and JSON (docs/json.md, `catalog-list`, `catalog-show`).

use super::cell::{Cell, row};
use super::screen::{Page, line};
use super::table::{Style, fits, table as plain_table};
use crate::api::{
    self, AcceleratorClass, Api, ComponentKind, FormatEntry, Model, Object, Runtime, Scope,
    Semantics,
};
use crate::cluster as machines;
use crate::schema::names_kind;
use crate::workspace::World;
use crate::yaml::Node;
use clap::ValueEnum;
use ecow::EcoString;
use serde_json::{Value, json};

/// Kinds of items.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, ValueEnum)]
pub enum ItemKind {
    /// ServingRuntimes and ClusterServingRuntimes.
    #[value(alias = "runtimes")]
    Runtime,
    /// BaseModels and ClusterBaseModels.
    #[value(alias = "models")]
    Model,
    /// AcceleratorClasses.
    #[value(alias = "accelerators")]
    Accelerator,
}

/// Where items come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ItemSource {
    /// Embedded in the binary.
    Builtin,
    /// Read.
    User,
    /// In an OpenShift Template that was read.
    Template,
}

/// Which names a list shows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Names {
    /// Object names.
    #[default]
    Object,
    /// File names of the documentation, such as `mistral-7b-instruct-rt`.
    #[value(name = "seed")]
    Documented,
}

/// One item.
#[derive(Clone, Copy, Debug)]
pub enum Item<'a> {
    /// A runtime.
    Runtime(&'a Runtime),
    /// A model.
    Model(&'a Model),
    /// An accelerator class.
    Accelerator(&'a Object),
}

/// All items of a world whose object `keep` accepts.
pub fn items(world: &World, keep: impl Fn(&Object) -> bool) -> Vec<Item<'_>> {
    let catalog = &world.catalog;
    let all = catalog
        .all_runtimes()
        .map(Item::Runtime)
        .chain(catalog.models().map(Item::Model))
        .chain(catalog.accelerator_classes().map(Item::Accelerator));
    all.filter(|item| keep(item.object())).collect()
}

impl<'a> Item<'a> {
    /// The object.
    pub fn object(&self) -> &'a Object {
        match self {
            Self::Runtime(runtime) => &runtime.object,
            Self::Model(model) => &model.object,
            Self::Accelerator(object) => object,
        }
    }

    /// Whether it is of a kind. `kind` is the name of an item kind, or a kind as kubectl accepts
    /// it: singular or plural, in any case.
    pub fn is_of(&self, kind: &str) -> bool {
        let id = &self.object().id.kind;
        // Kinds that end in `s` have another plural, as `AcceleratorClass`.
        let plural = if id.ends_with('s') { format!("{id}es") } else { format!("{id}s") };
        [id.as_str(), plural.as_str()].iter().any(|name| name.eq_ignore_ascii_case(kind))
            || names_kind(kind, &self.object().api_version, id)
            || ItemKind::from_str(kind, true) == Ok(self.kind())
    }

    /// Its kind.
    pub fn kind(&self) -> ItemKind {
        match self {
            Self::Runtime(_) => ItemKind::Runtime,
            Self::Model(_) => ItemKind::Model,
            Self::Accelerator(_) => ItemKind::Accelerator,
        }
    }

    /// Where it comes from.
    pub fn source(&self) -> ItemSource {
        let object = self.object();
        match (object.builtin, &object.template) {
            (true, _) => ItemSource::Builtin,
            (false, Some(_)) => ItemSource::Template,
            (false, None) => ItemSource::User,
        }
    }

    /// Order of lists: kind, namespace, name, byte order.
    pub fn listing_key(&self) -> (&'a str, &'a str, &'a str) {
        let object = self.object();
        (
            &object.id.kind,
            object.id.scope.namespace().map_or("", |namespace| namespace),
            &object.id.name,
        )
    }

    /// Path of its source; `engine/file name` of a built-in runtime is derived from it.
    fn path(&self, world: &'a World) -> &'a str {
        &world.sources.get(self.object().span.source).name
    }

    /// The release that ships it, as `--release` accepts it; `None` for items of the input, and for
    /// the built-in catalog, which is made from the documents.
    fn release(&self, world: &'a World) -> Option<&'a str> {
        let path = self.path(world).strip_prefix("builtin:shipped/")?;
        path.split_once('/').map(|(release, _)| release)
    }

    /// For a built-in runtime: the directory that contains it, `sglang` or `vllm`.
    pub fn engine(&self) -> Option<&'a str> {
        self.builtin_parts().map(|(engine, _)| engine)
    }

    /// File name in the documentation's tables, of a built-in runtime.
    pub fn documented_name(&self) -> Option<&'a str> {
        // The documents of KServe name runtimes by their objects, and not by files.
        if let Self::Runtime(runtime) = self
            && runtime.object.builtin
            && is_of_kserve(runtime)
        {
            return Some(&runtime.object.id.name);
        }
        self.builtin_parts().map(|(_, name)| name)
    }

    /// For a built-in runtime: `sglang/mistral-7b-instruct-rt`.
    pub fn alias(&self) -> Option<String> {
        self.builtin_parts().map(|(engine, name)| format!("{engine}/{name}"))
    }

    fn builtin_parts(&self) -> Option<(&'a str, &'a str)> {
        let Self::Runtime(runtime) = self else { return None };
        if !runtime.object.builtin {
            return None;
        }
        crate::builtin::alias(&runtime.object.id.name)
    }

    /// Whether a runtime lists a protocol.
    pub fn lists_protocol(&self, protocol: &str) -> bool {
        matches!(self, Self::Runtime(runtime) if runtime.protocols.iter().any(|listed| listed.value == protocol))
    }

    /// The documented JSON format.
    pub fn json(&self, world: &World) -> Value {
        let object = self.object();
        let mut out = json!({
            "kind": object.id.kind.as_str(),
            "namespace": object.id.scope.namespace().map(EcoString::as_str),
            "name": object.id.name.as_str(),
            "api": object.api.as_str(),
            "source": object.source(),
            "release": object.builtin.then(|| self.release(world).unwrap_or("documents")),
            "overridesBuiltin": world.catalog.overrides_builtin(object),
            "file": self.path(world),
        });
        match self {
            Self::Runtime(runtime) => runtime_fields(&mut out, runtime, self),
            Self::Model(model) => model_fields(&mut out, model),
            Self::Accelerator(object) => accelerator_fields(&mut out, object, world),
        }
        // Values of manifests are shown, and one of them may hold a token.
        crate::secret::shown_json(out)
    }
}

fn text(node: Option<&Node>) -> Value {
    node.map_or(Value::Null, |node| {
        node.scalar_text().map_or(Value::Null, |text| text.as_str().into())
    })
}

/// Whether KServe reads the runtime: its catalog has other names, containers and protocols.
fn is_of_kserve(runtime: &Runtime) -> bool {
    runtime.object.api == Api::KServe
}

/// The image of the engine: that of the leader if the engine spans nodes, otherwise that of the
/// runner, otherwise that of the first container.
fn image(runtime: &Runtime) -> Option<&Node> {
    if is_of_kserve(runtime) {
        let containers = runtime.object.spec("containers")?.items();
        let main = api::model_container(containers, &[api::SERVING_CONTAINER]);
        return containers.get(main)?.get("image");
    }
    let engine = runtime.config(ComponentKind::Engine)?;
    let of = |node: &'_ Node| -> Option<Node> {
        node.at(&["runner", "image"])
            .or_else(|| node.get("containers")?.items().first()?.get("image"))
            .cloned()
    };
    // A leader without an image of its own takes that of the engine.
    let holder = engine.get("leader").filter(|leader| of(leader).is_some()).unwrap_or(engine);
    holder
        .at(&["runner", "image"])
        .or_else(|| holder.get("containers")?.items().first()?.get("image"))
}

fn runtime_fields(out: &mut Value, runtime: &Runtime, item: &Item<'_>) {
    out["engine"] = item.engine().into();
    out["seedName"] = item.documented_name().into();
    out["alias"] = item.alias().into();
    out["disabled"] = runtime.disabled.as_ref().is_some_and(|disabled| disabled.value).into();
    out["image"] = text(image(runtime));
    out["components"] = ComponentKind::OME
        .into_iter()
        .filter(|kind| runtime.config(*kind).is_some())
        .map(ComponentKind::as_str)
        .collect();
    out["protocols"] = runtime.protocols.iter().map(|protocol| protocol.value.as_str()).collect();
    out["sizeRange"] = runtime.size_range.as_ref().map_or(
        Value::Null,
        |range| json!({ "min": range.min.as_ref().map(|min| min.value.text.as_str()), "max": range.max.as_ref().map(|max| max.value.text.as_str()) }),
    );
    let engine = runtime.config(ComponentKind::Engine);
    let replicas = |key: &str| engine.and_then(|engine| engine.get(key)).and_then(Node::as_int);
    out["replicas"] = json!({ "min": replicas("minReplicas"), "max": replicas("maxReplicas") });
    out["formats"] =
        runtime.formats.iter().enumerate().map(|(index, entry)| format(index, entry)).collect();
    if is_of_kserve(runtime) {
        let lists =
            |protocol: &str| runtime.protocols.iter().any(|listed| listed.value == protocol);
        out["v2"] = json!({ "rest": lists("v2"), "grpc": lists("grpc-v2") });
        // KServe's documents write names of formats otherwise than the objects do.
        for format in out["formats"].as_array_mut().into_iter().flatten() {
            format["displayName"] = format["format"].as_str().and_then(display_name).into();
        }
    }
}

/// The name of a format in the documents (KServe docs, Serving Runtimes, supported formats;
/// docs/decisions.md#spelling-of-names).
fn display_name(format: &str) -> Option<&'static str> {
    const NAMES: [&str; 10] = [
        "SKLearn",
        "XGBoost",
        "LightGBM",
        "MLflow",
        "Paddle",
        "PMML",
        "TensorFlow",
        "PyTorch",
        "ONNX",
        "TensorRT",
    ];
    NAMES.into_iter().find(|name| name.to_ascii_lowercase() == format)
}

fn format(index: usize, entry: &FormatEntry) -> Value {
    let name = entry.format.as_ref().map(|format| &format.name).or(entry.legacy_name.as_ref());
    let version = entry
        .format
        .as_ref()
        .and_then(|format| format.version.as_ref())
        .or(entry.legacy_version.as_ref());
    json!({
        "index": index,
        "format": name.map(|name| name.value.as_str()),
        "formatVersion": version.map(|version| version.value.text()),
        "framework": entry.framework.as_ref().map(|framework| framework.name.value.as_str()),
        "frameworkVersion": entry.framework.as_ref().and_then(|framework| framework.version.as_ref()).map(|version| version.value.text()),
        "architecture": entry.architecture.as_ref().map(|architecture| architecture.value.as_str()),
        "quantization": entry.quantization.as_ref().map(|quantization| quantization.value.as_str()),
        "autoSelect": entry.auto_select.as_ref().is_some_and(|auto_select| auto_select.value),
        "priority": entry.priority.as_ref().map(|priority| priority.value),
    })
}

fn model_fields(out: &mut Value, model: &Model) {
    let named = |named: Option<&crate::api::NamedVersion>| {
        named.map_or((Value::Null, Value::Null), |named| {
            (
                named.name.value.as_str().into(),
                named.version.as_ref().map_or(Value::Null, |version| version.value.text().into()),
            )
        })
    };
    (out["format"], out["formatVersion"]) = named(model.format.as_ref());
    (out["framework"], out["frameworkVersion"]) = named(model.framework.as_ref());
    out["architecture"] =
        model.architecture.as_ref().map(|architecture| architecture.value.as_str()).into();
    out["quantization"] =
        model.quantization.as_ref().map(|quantization| quantization.value.as_str()).into();
    out["size"] = model.size.as_ref().map(|size| size.value.text.as_str()).into();
    out["disabled"] = model.disabled.into();
    out["storageUri"] = text(model.storage("storageUri"));
    out["path"] = text(model.storage("path"));
}

fn word(field: Option<&crate::api::Field<EcoString>>) -> Option<&str> {
    field.map(|field| field.value.as_str())
}

const TITLES: [&str; 6] = ["KIND", "NAMESPACE", "NAME", "WHAT", "SOURCE", "WHERE"];

/// The list as text. If it does not fit the terminal, each kind is a table of its own.
pub fn table(items: &[Item<'_>], names: Names, world: &World, style: Style) -> String {
    if !items.is_empty() && items.iter().all(|item| item.kind() == ItemKind::Accelerator) {
        return accelerator_table(items, world, style);
    }
    let mut rows: Vec<Vec<Cell>> = items.iter().map(|item| row(item, names, world)).collect();
    // One table if it fits: names can be compared over all kinds.
    if fits(&TITLES, rows.iter().cloned(), style) {
        return plain_table(&TITLES, rows, style);
    }
    // The order within a kind stays, since the sort is stable.
    rows.sort_by(|one, other| one[0].text.cmp(&other[0].text));
    let mut out = Page::default();
    for (place, row) in rows.chunk_by(|one, next| one[0] == next[0]).enumerate() {
        if place > 0 {
            out.end_line();
        }
        line!(out, "{}", row[0][0].text);
        // Objects of the cluster have no namespace to show.
        let first = if row.iter().all(|row| row[1].is_none()) { 2 } else { 1 };
        let cells = row.iter().map(|row| row[first..].to_vec());
        out.draw(&plain_table(&TITLES[first..], cells, style));
    }
    out.finish()
}

/// The cells of one item: kind, namespace, name, summary, source, location.
fn row(item: &Item<'_>, names: Names, world: &World) -> Vec<Cell> {
    let object = item.object();
    let name = match names {
        Names::Documented => item.documented_name().unwrap_or_default().to_owned(),
        Names::Object => object.id.name.to_string(),
    };
    row![
        &object.id.kind,
        match &object.id.scope {
            Scope::Namespace(namespace) => Cell::from(namespace),
            Scope::Cluster => Cell::none(),
        },
        name,
        summary(item),
        item.release(world)
            .map_or_else(|| object.source().to_owned(), |release| format!("shipped by {release}"),),
        world.sources.locate(object.name_span()).to_string(),
    ]
}

/// A summary of an item in one cell.
fn summary(item: &Item<'_>) -> String {
    match item {
        Item::Runtime(runtime) => {
            let mut architectures: Vec<&str> = runtime
                .formats
                .iter()
                .filter_map(|entry| entry.architecture.as_ref())
                .map(|field| field.value.as_str())
                .collect();
            architectures.dedup();
            let range = runtime.size_range.as_ref().map_or(String::new(), |range| {
                let bound = |bound: &Option<crate::api::Field<crate::api::Size>>| {
                    bound.as_ref().map(|bound| bound.value.text.clone())
                };
                format!(
                    " {}",
                    crate::decision::range_text(
                        bound(&range.min).as_ref(),
                        bound(&range.max).as_ref()
                    )
                )
            });
            format!("{}{range}", architectures.join(", "))
        }
        Item::Model(model) => {
            let architecture =
                model.architecture.as_ref().map_or("", |architecture| architecture.value.as_str());
            format!(
                "{architecture} {}",
                model.size.as_ref().map_or("", |size| size.value.text.as_str())
            )
            .trim()
            .to_owned()
        }
        Item::Accelerator(object) => {
            let field = |node: Option<&Node>| node.and_then(Node::scalar_text).unwrap_or_default();
            format!(
                "{} {} {}",
                field(object.spec("vendor")),
                field(object.spec("family")),
                field(object.node.at(&["spec", "capabilities", "memoryGB"]))
            )
            .trim()
            .to_owned()
        }
    }
}

/// `overridesBuiltin` as `overrides builtin`.
fn words_of(key: &str) -> String {
    let mut out = String::new();
    for c in key.chars() {
        if c.is_ascii_uppercase() {
            out.push(' ');
        }
        out.push(c.to_ascii_lowercase());
    }
    out
}

/// A value of the JSON in words: a list as `a, b`, a range as `500M..75B`, another object as
/// `name value`; `-` where nothing is set.
fn in_words(value: &Value) -> String {
    let list = |words: Vec<String>| {
        if words.is_empty() { "-".to_owned() } else { words.join(", ") }
    };
    match value {
        Value::Null => "-".to_owned(),
        Value::Bool(true) => "yes".to_owned(),
        Value::Bool(false) => "no".to_owned(),
        Value::String(text) => text.clone(),
        Value::Number(number) => number.to_string(),
        Value::Array(items) => list(items.iter().map(in_words).collect()),
        // Only ranges have these two fields and no other.
        Value::Object(fields) => match (fields.get("min"), fields.get("max")) {
            (Some(Value::Null), Some(Value::Null)) => "-".to_owned(),
            (Some(min), Some(max)) if fields.len() == 2 => {
                let end = |end: &Value| if end.is_null() { String::new() } else { in_words(end) };
                format!("{}..{}", end(min), end(max))
            }
            _ => {
                let set = fields.iter().filter(|(_, value)| !value.is_null());
                list(
                    set.map(|(key, value)| format!("{} {}", words_of(key), in_words(value)))
                        .collect(),
                )
            }
        },
    }
}

/// One item as text.
pub fn show(item: &Item<'_>, world: &World, style: Style) -> String {
    let Value::Object(fields) = item.json(world) else { return String::new() };
    let mut out = Page::default();
    let rows: Vec<Vec<Cell>> = fields
        .iter()
        // Formats have a table of their own below.
        .filter(|(key, value)| *key != "formats" && !value.is_null())
        .map(|(key, value)| (words_of(key), in_words(value)))
        .filter(|(_, value)| value != "-")
        .map(|(key, value)| row![key, value])
        .collect();
    out.draw(&plain_table(&["FIELD", "VALUE"], rows, style));
    if let Item::Runtime(runtime) = item {
        out.end_line();
        let rows = runtime.formats.iter().enumerate().map(|(index, entry)| {
            let Value::Object(fields) = format(index, entry) else { return Vec::new() };
            let cell = |key: &str| match fields.get(key) {
                None => Cell::default(),
                Some(Value::Null) => Cell::none(),
                Some(value) => match value.as_str() {
                    Some(text) => text.into(),
                    None => value.to_string().into(),
                },
            };
            let pair = |name: &str, version: &str| {
                let (name, version) = (cell(name), cell(version));
                if version.is_none() {
                    name
                } else {
                    format!("{} {}", name.text, version.text).into()
                }
            };
            row![
                cell("index"),
                pair("format", "formatVersion"),
                pair("framework", "frameworkVersion"),
                cell("architecture"),
                cell("quantization"),
                cell("autoSelect"),
                cell("priority"),
            ]
        });
        out.draw(&plain_table(
            &[
                "ENTRY",
                "FORMAT",
                "FRAMEWORK",
                "ARCHITECTURE",
                "QUANTIZATION",
                "AUTO SELECT",
                "PRIORITY",
            ],
            rows,
            style,
        ));
    }
    out.finish()
}

/// What a class has beside the fields of every item.
fn accelerator_fields(out: &mut Value, object: &Object, world: &World) {
    // A class that is not in the index was not read as one.
    let Some(class) = world.catalog.class_by(Semantics::Documented, &object.id.name) else {
        return;
    };
    out["vendor"] = word(class.vendor.as_ref()).into();
    out["family"] = word(class.family.as_ref()).into();
    out["model"] = word(class.model.as_ref()).into();
    out["memory"] = memory(class).into();
    let capabilities = &class.capabilities;
    out["computeCapability"] = word(capabilities.compute_capability.as_ref()).into();
    out["memoryBandwidthGBps"] =
        capabilities.bandwidth.as_ref().map_or(Value::Null, |bandwidth| number(&bandwidth.value));
    out["features"] = capabilities.features.iter().map(|feature| feature.value.as_str()).collect();
    out["resources"] =
        class.whole_resources().map(|resource| resource.name.value.as_str()).collect();
    out["cost"] = class.cost.as_ref().map_or(Value::Null, |cost| {
        let price = |price: &Option<crate::api::Field<crate::quantity::Quantity>>| price.as_ref().map_or(Value::Null, |price| number(&price.value));
        json!({ "perHour": price(&cost.per_hour), "spotPerHour": price(&cost.spot_per_hour), "perMillionTokens": price(&cost.per_million_tokens), "tier": word(cost.tier.as_ref()) })
    });
    out["nodes"] = nodes(class, world).into();
    out["kueueResourceFlavor"] = word(class.kueue_flavor.as_ref()).into();
    out["volcanoGPUType"] = word(class.volcano_gpu_type.as_ref()).into();
}

/// A number; an integer has no fraction.
fn number(quantity: &crate::quantity::Quantity) -> Value {
    match quantity.value().filter(|_| quantity.is_integer()) {
        Some(whole) => whole.into(),
        None => quantity.as_f64().into(),
    }
}

/// Memory in the unit of its quantity.
fn memory(class: &AcceleratorClass) -> Option<String> {
    class.capabilities.memory.as_ref().map(|memory| memory.value.to_string())
}

/// Number of nodes of a class; `None` if no Node was read.
fn nodes(class: &AcceleratorClass, world: &World) -> Option<usize> {
    let machines = world.catalog.machines();
    // Without nodes, 0 would claim that the class is not in the cluster.
    (!machines.is_empty()).then(|| machines::matching(class, machines).len())
}

/// Accelerator classes as a table (OEP-0003, AcceleratorClass).
fn accelerator_table(items: &[Item<'_>], world: &World, style: Style) -> String {
    let classes = items
        .iter()
        .filter_map(|item| world.catalog.class_by(Semantics::Documented, &item.object().id.name));
    let rows = classes.map(|class| {
        let word = |field| Cell::or_none(word(field));
        let price = class.cost.as_ref().and_then(|cost| cost.per_hour.as_ref());
        row![
            class.name(),
            word(class.vendor.as_ref()),
            word(class.family.as_ref()),
            Cell::or_none(memory(class)),
            Cell::or_none(nodes(class, world).map(|nodes| nodes.to_string())),
            word(class.capabilities.compute_capability.as_ref()),
            Cell::or_none(price.map(|price| price.value.canonical().to_string())),
            if class.object.builtin { "builtin" } else { "user" },
            world.sources.locate(class.object.name_span()).to_string(),
        ]
    });
    plain_table(
        &["NAME", "VENDOR", "FAMILY", "MEMORY", "NODES", "COMPUTE", "$/HOUR", "SOURCE", "WHERE"],
        rows,
        style,
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::load::{Request, load};
    use crate::workspace::{self, ReadOptions};
    use crate::yaml::Limits;
    use std::path::Path;

    #[test]
    fn a_list_that_does_not_fit_is_a_table_of_each_kind() {
        let input = [Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata/quickstart")];
        let request = Request { paths: &input, builtin: &[], ..Request::default() };
        let loaded = load(&request, &mut std::io::empty(), &Limits::default());
        let world = workspace::read(loaded, &ReadOptions::new(Semantics::Documented));
        let items = items(&world, |_| true);
        let text = |width| table(&items, Names::Object, &world, Style { color: false, width });
        let narrow = text(Some(80));
        assert!(
            narrow.starts_with("ClusterBaseModel\nNAME ")
                && narrow.contains("\n\nClusterServingRuntime\nNAME ")
                && narrow.lines().all(|line| line.chars().count() <= 80),
            "{narrow}"
        );
        assert!(text(None).starts_with("KIND  "), "{}", text(None));
    }

    #[test]
    fn values_of_the_json_are_words() {
        for (value, expected) in [
            (json!(["engine", "router"]), "engine, router"),
            (json!([]), "-"),
            (json!({"min": "500M", "max": "75B"}), "500M..75B"),
            (json!({"min": 1, "max": null}), "1.."),
            (json!({"min": null, "max": null}), "-"),
            (json!({"rest": true, "grpcPort": null}), "rest yes"),
            (json!(false), "no"),
            (json!(null), "-"),
        ] {
            assert_eq!(in_words(&value), expected, "{value}");
        }
        assert_eq!(words_of("overridesBuiltin"), "overrides builtin");
    }
}
