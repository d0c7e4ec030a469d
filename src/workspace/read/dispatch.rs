//! One document as a typed object, by the operator that its group belongs to.

use crate::api::{Api, Completion, Field, Object, PerReading, Semantics, Views};
use crate::catalog::Item;
use crate::diag::{Code, Diagnostic, Severity};
use crate::load::{Document, kinds};
use crate::operator::{Operator, Services};
use crate::operators;
use crate::operators::kserve::read as kserve;
use crate::operators::kserve::{LLM_KIND, llm};
use crate::operators::kthena::{booster, read as kthena};
use crate::operators::kueue::read as kueue;
use crate::operators::ome::read as ome;
use crate::operators::servings;
use crate::source::SourceMap;
use crate::workspace::pruning;
use crate::workspace::read::identity::object;
use crate::workspace::read::related::{CONFIG_MAP, Settings};
use crate::workspace::read::{ReadOptions, api_of, followed};
use crate::workspace::read::{mutating, newer};
use crate::yaml::{Node, Origin, Rule};
use crate::{cluster as machines, schema};
use ecow::EcoString;

static PROTOCOL_FLAG: Rule = Rule {
    id: "protocol-flag",
    text: "the protocol of `--protocol`, over every service",
    cite: "OME docs, Serving Runtime, Protocol Version Support; docs/decisions.md#protocols",
};

/// The classification of a document.
#[derive(Clone)]
pub(in crate::workspace) enum Read {
    /// An object of the catalog.
    Item(Item),
    /// Settings of an operator, and their ConfigMap.
    Settings(Settings, Object),
}

/// The definitions of the input for a document.
#[derive(Clone, Copy)]
pub(super) struct Schemas<'s> {
    pub(super) definitions: &'s schema::Definitions,
    /// What they refuse is in error.
    pub(super) judged: bool,
    /// Of several definitions the nearest was not read: it may have fields that no release has.
    pub(super) unread: bool,
    /// The MutatingWebhookConfiguration that changes objects of the kind before they are checked.
    pub(super) webhook: Option<&'s EcoString>,
}

pub(super) fn typed(
    mut document: Document,
    given: &ReadOptions,
    sources: &SourceMap,
    definitions: Schemas<'_>,
    completed: impl FnOnce() -> Completion,
    diagnostics: &mut Vec<Diagnostic>,
) -> Option<Read> {
    let schema = schema::kind(&document.api_version, &document.kind);
    let Schemas { definitions, unread, judged, webhook } = definitions;
    let definition = definitions.of(&document.api_version, &document.kind);
    let is_model_serving = kthena::is_model_serving(&document.api_version, &document.kind);
    // Before the schema, which knows only the spelling of the CRD.
    if is_model_serving {
        kthena::prepare(&mut document.node, servings::followed(&given.readings), diagnostics);
    }
    if definition.is_none() && booster::is_model_booster(&document.api_version, &document.kind) {
        booster::prepare(&mut document.node, servings::followed(&given.readings), diagnostics);
    }
    // Before the check: what the server prunes is neither unknown nor invalid to it.
    if let Some(release) = followed(api_of(document.group()), given) {
        if !pruning::is_known(&document.kind, release) {
            diagnostics.push(pruning::unknown_kind(&document.kind, document.span, release));
            return None;
        }
        pruning::stored(&mut document.node, &document.kind, release, diagnostics);
    }
    let retired = kserve::not_served(&document.api_version, &document.kind);
    diagnostics.extend(retired.map(|serves| not_served(&document, serves)));
    // A version that is not served has another schema, whose findings would mislead.
    if let Some(schema) = schema.filter(|_| retired.is_none()) {
        let mut found = checked(&mut document, schema, definition, given, sources);
        if unread {
            let unknown = found.iter_mut().filter(|finding| finding.code == Code::UnknownField);
            unknown.for_each(|finding| finding.severity = finding.severity.min(Severity::Warning));
        }
        diagnostics.append(&mut found);
        // A field that is null is not set, and readers below must not tell the two apart.
        schema.drop_nulls(&mut document.node);
    }
    if let Some(definition) = definition.filter(|_| schema.is_none() && judged && !document.builtin)
    {
        let mut found = Vec::new();
        definition.check(&document.node, &mut found);
        mutating::grade(&mut found, &document, webhook);
        diagnostics.append(&mut found);
    }
    if is_model_serving {
        let rules = servings::followed(&given.readings);
        kthena::check(&document.node, rules, given.checks_fields, diagnostics);
    }
    // Whether a server ever gets it is not known: other programs use the form of objects, too.
    let is_stranger = schema.is_none()
        && definition.is_none()
        && kinds::is_stranger(&document.api_version, &document.kind);
    let is_of_client = kinds::is_of_client(&document.api_version);
    let before = diagnostics.len();
    let object = object(document, schema, given, sources, diagnostics)?;
    if is_of_client {
        diagnostics.truncate(before);
    } else if is_stranger {
        for finding in &mut diagnostics[before..] {
            finding.severity = finding.severity.min(Severity::Warning);
        }
    }
    // A release before or after the known ones writes other objects for the kind.
    let shape = definition.map(|definition| definition.has("spec.backend"));
    if let Some(finding) =
        shape.and_then(|has_backend| booster::of_another_shape(&object, has_backend))
    {
        diagnostics.push(finding);
        return Some(Read::Item(Item::Other(object)));
    }
    let before = diagnostics.len();
    let read = read(object, schema.is_some(), given, completed, diagnostics);
    if retired.is_some() {
        // What is wrong with it in the version that is served means nothing.
        diagnostics.truncate(before);
    }
    read
}

/// The finding about a version that no server takes.
fn not_served(document: &Document, serves: &str) -> Diagnostic {
    let place = document.node.get("apiVersion").and_then(|node| node.origin.span());
    let message = format!("{} is not served ({serves} is)", document.api_version);
    Diagnostic::new(Code::UnknownKind, message)
        .at(place.unwrap_or(document.span))
        .path("apiVersion")
        .help("`ome convert` writes it in the version that is served, and names what is lost")
}

/// The findings about the fields of a document of a known kind. Where a webhook decodes it before it
/// is checked, it has the fields that this writes.
fn checked(
    document: &mut Document,
    schema: &schema::Schema,
    definition: Option<schema::CustomDefinition<'_>>,
    given: &ReadOptions,
    sources: &SourceMap,
) -> Vec<Diagnostic> {
    // Kthena has a second group, for its routes.
    let owner = match document.group() {
        kthena::ROUTES => Api::Kthena,
        group => api_of(group),
    };
    let server = match owner {
        // A release without tables of its CRD is checked as the documents define.
        Api::Kthena => servings::followed(&given.readings).admits_as_server(),
        api => given.readings.mode(api) == Semantics::Controller,
    };
    // A text in a ConfigMap is decoded by its reader, and no API server checks it.
    let strictness = if server && !document.embedded {
        schema::Strictness::Server
    } else {
        schema::Strictness::Documented
    };
    if document.kind == LLM_KIND {
        // The defaulting webhook decodes and encodes the object before it is checked.
        schema.fill_zeroes(&mut document.node);
    }
    let mut found = Vec::new();
    // Others are checked as the webhook encodes them, and read as their owner wrote them.
    let is_encoded = server && operators::is_encoded(owner, &document.kind);
    let encoded = is_encoded.then(|| {
        let mut encoded = document.node.clone();
        schema.fill_zeroes(&mut encoded);
        encoded
    });
    let judged = encoded.as_ref().unwrap_or(&document.node);
    schema.check(judged, strictness, sources, &mut found);
    newer::grade(&mut found, owner, server, given);
    newer::grade_platform(&mut found, document.group());
    if let Some(definition) = definition {
        // The definition in the input is what the cluster has; the tables are of one release.
        by_definition(definition, &document.node, server, &mut found);
    }
    found
}

/// Corrects findings by the definition of the input: it has the fields of its own release, and no
/// others.
fn by_definition(
    definition: schema::CustomDefinition<'_>,
    node: &Node,
    server: bool,
    found: &mut Vec<Diagnostic>,
) {
    // Fields that only the definition knows, which it checks.
    let mut only_defined: Vec<String> = Vec::new();
    found.retain(|finding| {
        let Some(path) = finding.path.as_deref() else { return true };
        match finding.code {
            Code::UnknownField | Code::NewerThanKnown | Code::RemovedField
                if definition.has(path) =>
            {
                only_defined.push(path.to_owned());
                false
            }
            // A field that the definition lacks cannot be required in that cluster.
            Code::RequiredField => definition.has(path),
            _ => true,
        }
    });
    // Under the documents the definition adds only what concerns its own fields.
    if !server && only_defined.is_empty() {
        return;
    }
    let places: Vec<_> = found.iter().map(Diagnostic::span).collect();
    let mut more = Vec::new();
    definition.check(node, &mut more);
    found.extend(more.into_iter().filter(|finding| {
        let is_new =
            // Two findings at one place would be the same mistake in two sentences.
            finding.code != Code::UnknownField && !places.contains(&finding.span()) && server;
        let path = finding.path.as_deref().unwrap_or_default();
        is_new || only_defined.iter().any(|field| path.starts_with(field.as_str()))
    }));
}

/// An object by its kind.
fn read(
    object: Object,
    has_schema: bool,
    given: &ReadOptions,
    completed: impl FnOnce() -> Completion,
    diagnostics: &mut Vec<Diagnostic>,
) -> Option<Read> {
    let is_model_serving = kthena::is_model_serving(&object.api_version, &object.id.kind);
    let semantics = given.readings.mode(object.api);
    let operator = operators::services(object.api);
    let kinds = operators::operator(object.api).map(Operator::kinds).unwrap_or_default();
    // Without a table of the kind the objects are those of another version.
    let is_kueue = has_schema && object.api_version.split('/').next() == Some(kueue::GROUP);
    let item = match (object.api, object.id.kind.as_str()) {
        (Api::Ome, "BaseModel" | "ClusterBaseModel") => {
            Item::Model(Box::new(ome::model(object, completed(), semantics, diagnostics)))
        }
        (Api::Ome, "FineTunedWeight") => Item::Weight(Box::new(ome::fine_tuned_weight(object))),
        (Api::Ome, "AcceleratorClass") => {
            Item::AcceleratorClass(Box::new(PerReading::read(semantics, |semantics| {
                ome::accelerator::accelerator_class(object.clone(), semantics)
            })))
        }
        (Api::Kthena, "ModelServing") if is_model_serving => {
            let serving = kthena::model_serving(object, servings::followed(&given.readings));
            diagnostics.extend(crate::operators::kthena::objects::too_many_pods(&serving));
            Item::ModelServing(Box::new(serving))
        }
        (Api::Kthena, "ModelBooster")
            if booster::is_model_booster(&object.api_version, "ModelBooster") =>
        {
            let serving =
                booster::model_serving(object, servings::followed(&given.readings), diagnostics);
            diagnostics.extend(crate::operators::kthena::objects::too_many_pods(&serving));
            Item::ModelServing(Box::new(serving))
        }
        (_, "ServingRuntime" | "ClusterServingRuntime") if operator.is_some() => {
            Item::Runtime(Box::new(operator?.read_runtime(object, semantics, diagnostics)))
        }
        (_, kind) if operator.is_some() && kinds.contains(&kind) => {
            Item::Service(Box::new(services(operator?, &object, given, diagnostics)))
        }
        (Api::KServe, llm::CONFIG) => Item::Other(llm::read::config(object, diagnostics)),
        (Api::Cluster, "Node") => {
            diagnostics.extend(labels_of_node(&object));
            Item::Node(object)
        }
        (Api::Cluster, "ResourceFlavor") if is_kueue => {
            Item::Flavor(Box::new(kueue::resource_flavor(object)))
        }
        (Api::Cluster, "ClusterQueue") if is_kueue => {
            Item::ClusterQueue(Box::new(kueue::cluster_queue(object)))
        }
        (Api::Cluster, "LocalQueue") if is_kueue => {
            Item::LocalQueue(Box::new(kueue::local_queue(object)))
        }
        // Both operators read a ConfigMap of this name; keys tell which of them it belongs to.
        (Api::Cluster, "ConfigMap") if object.id.name == CONFIG_MAP => {
            let settings = if kserve::is_config(&object) {
                Settings::KServe(Box::new(kserve::config(&object, diagnostics)))
            } else {
                Settings::Ome(Box::new(ome::config(&object, diagnostics)))
            };
            return Some(Read::Settings(settings, object));
        }
        _ => Item::Other(object),
    };
    Some(Read::Item(item))
}

/// Labels of a node that hold no number although one is read from them.
fn labels_of_node(object: &Object) -> impl Iterator<Item = Diagnostic> {
    machines::unreadable(&object.labels()).into_iter().map(|label| {
        let (what, help) = if label.memory {
            ("amount of memory", "write MiB as a whole number, as the vendor's tool does")
        } else {
            ("number of devices", "write a whole number, as the vendor's tool does")
        };
        Diagnostic::new(
            Code::UnreadableLabel,
            format!("`{}` is not a {what} and was left out", label.text),
        )
        .at(label.span)
        .path("metadata.labels")
        .help(help)
    })
}

/// Annotations that Kustomize and other orchestrators write while functions run, by prefix. They
/// number the items of one run and are not part of the objects.
const ORCHESTRATOR: [&str; 4] = [
    "config.kubernetes.io/",
    "internal.config.kubernetes.io/",
    "kustomize.config.k8s.io/",
    "config.k8s.io/id",
];

/// An object without the annotations of an orchestrator, which would pass to everything made of it.
fn without_orchestrator(object: &Object) -> Object {
    let mut object = object.clone();
    let is_own = |key: &str| !ORCHESTRATOR.iter().any(|prefix| key.starts_with(prefix));
    // Most objects have none, and a copy of the tree is spared.
    if object.annotations().iter().all(|entry| is_own(&entry.key)) {
        return object;
    }
    let metadata = object.node.as_map_mut().and_then(|root| root.get_mut("metadata"));
    if let Some(annotations) = metadata
        .and_then(|metadata| metadata.as_map_mut()?.get_mut("annotations"))
        .and_then(Node::as_map_mut)
    {
        annotations.retain(|entry| is_own(&entry.key));
    }
    object
}

/// Reads a service under both semantics; only the selected one reports findings.
pub(super) fn services(
    operator: &dyn Services,
    object: &Object,
    given: &ReadOptions,
    diagnostics: &mut Vec<Diagnostic>,
) -> Views {
    let object = &without_orchestrator(object);
    let followed = given.readings.mode(object.api);
    Views::read(followed, |semantics| {
        let policy = given
            .readings
            .policy_by(object.api, semantics)
            .expect("services are only read for APIs that decide");
        // The second reading would repeat each finding.
        let mut quiet = Vec::new();
        let sink = if semantics == followed { &mut *diagnostics } else { &mut quiet };
        let mut service = operator.read(object.clone(), policy, sink);
        // Set after the read, so that the flag stands over whatever the service has.
        if let Some(protocol) = &given.protocol {
            service.protocol = Some(Field::new(protocol.clone(), Origin::Flag(&PROTOCOL_FLAG)));
        }
        service
    })
}
