//! What becomes of each object of the input.
//!
//! In: what every document was read as. Out: a row per kind with how it is handled, the devices that
//! its pod templates request, and a few examples. Nothing that was read is missing here: what no
//! other answer mentions is named by this table.

use crate::api::Object;
use crate::catalog::Item;
use crate::diag::{Code, Diagnostic};
use crate::load::kinds;
pub(crate) use crate::load::operated::makes_pods;
use crate::operators;
use crate::quantity::{Quantity, is_accelerator};
use crate::schema;
use crate::source::{SourceId, SourceMap, Span};
use crate::workspace::read::dispatch::Read;
use crate::yaml::{Node, Value};
use ecow::EcoString;
use indexmap::IndexMap;
use std::collections::BTreeMap;
use std::sync::Arc;

/// How the objects of a kind are handled, from the most to the least.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Handling {
    /// A service of an operator: decided, composed and rendered.
    Planned,
    /// It has pods, which are counted and placed.
    Workload,
    /// It changes answers.
    Used,
    /// Its objects are in the other rows: an overlay that was built without being named.
    Built,
    /// Its schema is checked, and nothing is made of it.
    Checked,
    /// Nothing of it is used.
    Unread,
}

impl Handling {
    /// The word of JSON.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Planned => "planned",
            Self::Workload => "workload",
            Self::Used => "used",
            Self::Built => "built",
            Self::Checked => "checked",
            Self::Unread => "unread",
        }
    }
}

/// An object of a row.
#[derive(Clone, Debug)]
pub struct Example {
    /// Its namespace; `None` for an object of the cluster.
    pub namespace: Option<EcoString>,
    /// Its name.
    pub name: EcoString,
    /// Where its name is.
    pub span: Span,
}

/// The objects of a kind.
#[derive(Clone, Debug)]
pub struct InputRow {
    /// `apiVersion`; empty in the row of all kinds that are neither read nor request devices.
    pub api_version: EcoString,
    /// The kind; `*` in that row.
    pub kind: EcoString,
    /// How many.
    pub count: usize,
    /// How they are handled: the most of any.
    pub handling: Handling,
    /// Devices in their pod templates, each template once.
    pub devices: BTreeMap<EcoString, i64>,
    /// How many of them request devices.
    pub requesting: usize,
    /// At most three of them; of a kind that nothing counts, those that request devices first.
    pub examples: Vec<Example>,
    /// In the row of all other kinds, how many there are of each.
    pub kinds: BTreeMap<EcoString, usize>,
}

impl InputRow {
    /// The group of the kind.
    pub fn group(&self) -> &str {
        self.api_version.split_once('/').map_or("", |(group, _)| group)
    }

    /// Whether nothing is made of these objects although an operator reads their group, or although
    /// they have the kind of a service in a group of somebody else.
    pub fn is_passed_over(&self) -> bool {
        self.handling >= Handling::Checked
            && (kinds::is_of_operator(self.group()) || self.is_like_service())
    }

    /// The group, if it is what tells the kind from that of an operator.
    pub fn foreign_group(&self) -> Option<&str> {
        self.is_like_service().then(|| self.group())
    }

    /// Whether they are services of a group that had another name.
    pub fn is_older(&self) -> bool {
        kinds::is_older(&self.api_version, &self.kind)
    }

    /// Whether the kind is that of a service, in a group that no operator reads.
    fn is_like_service(&self) -> bool {
        operators::is_service(&self.kind) && !kinds::is_of_operator(self.group())
    }

    /// Whether an operator makes pods of them that no answer counts, and that they do not state.
    pub fn is_operated(&self) -> bool {
        self.handling >= Handling::Checked
            && self.devices.is_empty()
            && makes_pods(self.group(), &self.kind)
    }

    /// Whether they request devices that no other answer counts.
    pub fn requests_uncounted_devices(&self) -> bool {
        self.handling >= Handling::Checked && !self.devices.is_empty()
    }
}

/// How many objects of a row are named.
pub const NAMED: usize = 3;

/// The rows under construction.
#[derive(Debug, Default)]
pub(super) struct Accounting {
    rows: BTreeMap<(EcoString, EcoString), InputRow>,
}

impl Accounting {
    /// Counts an object by what it was read as; `None` if it became no object.
    pub(super) fn note(&mut self, api_version: &EcoString, kind: &EcoString, read: Option<&Read>) {
        let (handling, object) = match read {
            None => (Handling::Unread, None),
            Some(Read::Settings(_, object)) => (Handling::Used, Some(object)),
            Some(Read::Item(Item::Other(object))) => (of_other(object), Some(object)),
            Some(Read::Item(item)) if item.is_planned() => (Handling::Planned, Some(item.object())),
            Some(Read::Item(item)) => (Handling::Used, Some(item.object())),
        };
        let key = (api_version.clone(), kind.clone());
        let row = self.rows.entry(key).or_insert_with(|| InputRow {
            api_version: api_version.clone(),
            kind: kind.clone(),
            count: 0,
            handling,
            devices: BTreeMap::new(),
            requesting: 0,
            examples: Vec::new(),
            kinds: BTreeMap::new(),
        });
        row.count += 1;
        // The best of all objects: a kind is passed over only if each of its objects is.
        row.handling = row.handling.min(handling);
        let Some(object) = object else { return };
        // Pods of planned services are counted by their plans, and would be counted twice.
        let is_counted =
            matches!(handling, Handling::Workload | Handling::Checked | Handling::Unread);
        let mut requested = BTreeMap::new();
        let makes_none = OF_TESTS.contains(&object.group()) || is_template(object);
        if is_counted && !makes_none {
            devices(&object.node, &mut requested);
        }
        let requests = !requested.is_empty();
        add(&mut row.devices, requested);
        // Three examples are enough for a reader; a dump may have thousands.
        let first = requests && handling >= Handling::Checked && row.requesting < NAMED;
        if first || row.examples.len() < NAMED {
            let example = Example {
                namespace: object.id.scope.namespace().cloned(),
                name: object.id.name.clone(),
                span: object.name_span(),
            };
            let at = if first { row.requesting } else { row.examples.len() };
            row.examples.insert(at.min(row.examples.len()), example);
            row.examples.truncate(NAMED);
        }
        row.requesting += usize::from(requests);
    }

    /// The rows, by group, version and kind, then built overlays; kinds that nobody asks about are
    /// one row, the last.
    pub(super) fn finish(self, sources: &SourceMap) -> Vec<InputRow> {
        let is_foreign = |row: &InputRow| {
            row.handling == Handling::Unread
                && row.devices.is_empty()
                && !row.is_operated()
                && !kinds::is_of_operator(row.group())
                && !row.is_like_service()
        };
        let (foreign, mut rows): (Vec<_>, Vec<_>) = self.rows.into_values().partition(is_foreign);
        rows.extend(overlays(sources));
        if !foreign.is_empty() {
            // A cluster has hundreds of kinds that no reader of this table looks for.
            let mut kinds: BTreeMap<EcoString, usize> = BTreeMap::new();
            for row in &foreign {
                *kinds.entry(row.kind.clone()).or_default() += row.count;
            }
            rows.push(InputRow {
                api_version: EcoString::new(),
                kind: "*".into(),
                count: foreign.iter().map(|row| row.count).sum(),
                handling: Handling::Unread,
                devices: BTreeMap::new(),
                requesting: 0,
                examples: Vec::new(),
                kinds,
            });
        }
        rows
    }
}

/// The row of the overlays that were built without being named.
fn overlays(sources: &SourceMap) -> Option<InputRow> {
    let built: Vec<(SourceId, &Arc<str>)> =
        sources.iter().filter_map(|(id, source)| Some((id, source.overlay.as_ref()?))).collect();
    let example = |(source, directory): &(SourceId, &Arc<str>)| Example {
        namespace: None,
        name: EcoString::from(&***directory),
        span: Span { source: *source, start: 0, end: 0 },
    };
    (!built.is_empty()).then(|| InputRow {
        api_version: "kustomize.config.k8s.io/v1beta1".into(),
        kind: "Kustomization".into(),
        count: built.len(),
        handling: Handling::Built,
        devices: BTreeMap::new(),
        requesting: 0,
        examples: built.iter().take(NAMED).map(example).collect(),
        kinds: BTreeMap::new(),
    })
}

/// Adds counts of devices. A count in a manifest may be any number, and a sum must not wrap.
pub fn add(sum: &mut BTreeMap<EcoString, i64>, more: BTreeMap<EcoString, i64>) {
    for (resource, count) in more {
        let all = sum.entry(resource).or_default();
        *all = all.saturating_add(count);
    }
}

/// The handling of an object without an index of its own.
fn of_other(object: &Object) -> Handling {
    let group = object.group();
    let kind = object.id.kind.as_str();
    if kinds::runs_pods(group, kind) {
        Handling::Workload
    } else if kinds::changes_answers(group, kind) || is_written_by_operator(object) {
        Handling::Used
    } else if schema::kind(&object.api_version, kind).is_some() {
        Handling::Checked
    } else {
        Handling::Unread
    }
}

/// Whether an operator wrote the object for one of its own: what it is written from is planned, and
/// `drift` compares the two.
fn is_written_by_operator(object: &Object) -> bool {
    let owners = object.metadata("ownerReferences").map(Node::items).unwrap_or_default();
    owners.iter().any(|owner| {
        let text = |key: &str| owner.get(key).and_then(Node::as_str);
        let group = text("apiVersion").and_then(|version| version.split_once('/'));
        group.is_some_and(|(group, _)| kinds::is_of_operator(group))
            && text("kind").is_some_and(operators::is_service)
    })
}

/// Groups of files that test tools read: objects in them are applied while a test runs.
const OF_TESTS: [&str; 2] = ["chainsaw.kyverno.io", "kuttl.dev"];

/// Whether an object is a template that another one names, from which no controller makes pods.
fn is_template(object: &Object) -> bool {
    match object.id.kind.as_str() {
        "PodTemplate" => object.api_version == "v1",
        "TrainingRuntime" | "ClusterTrainingRuntime" => object.group() == "trainer.kubeflow.org",
        _ => false,
    }
}

/// Adds the devices that are requested below a node: by a list `containers` whose items have a name and
/// an image, and by `limits` or `requests` in other fields for resources (`resources`,
/// `resourcesPerNode`), from which a controller makes pods.
pub(crate) fn devices(node: &Node, sum: &mut BTreeMap<EcoString, i64>) {
    match &node.value {
        Value::List(items) => items.iter().for_each(|item| devices(item, sum)),
        Value::Map(map) => {
            // As `gpu` of a SparkApplication (kubeflow/spark-operator, GPUSpec).
            let count = map.get("quantity").and_then(Node::as_int).filter(|count| *count > 0);
            let named = count.and_then(|_| map.get("name")?.scalar_text());
            if let (Some(name), Some(count)) = (named.filter(|name| is_accelerator(name)), count) {
                let all = sum.entry(name).or_default();
                *all = all.saturating_add(count);
            }
            for entry in map {
                if entry.key == "containers" {
                    for container in entry.node.items() {
                        // A list of this name in another object may be something else.
                        let is_container =
                            ["name", "image"].iter().all(|key| container.get(key).is_some());
                        if let Some(resources) = container.get("resources").filter(|_| is_container)
                        {
                            of_resources(resources, sum);
                        }
                    }
                } else if is_of_resources(&entry.key)
                    && ["requests", "limits"].iter().any(|layer| entry.node.get(layer).is_some())
                {
                    of_resources(&entry.node, sum);
                // Not below resources: their own maps have no containers.
                } else {
                    devices(&entry.node, sum);
                }
            }
        }
        _ => {}
    }
}

/// Whether the name of a field has the word `resource`.
fn is_of_resources(name: &str) -> bool {
    const WORD: &[u8] = b"resource";
    name.as_bytes().windows(WORD.len()).any(|part| part.eq_ignore_ascii_case(WORD))
}

fn of_resources(resources: &Node, sum: &mut BTreeMap<EcoString, i64>) {
    let mut entries: BTreeMap<EcoString, i64> = BTreeMap::new();
    // Limits are read last and win: of devices, the server requires both to be equal.
    for layer in ["requests", "limits"] {
        let Some(map) = resources.get(layer).and_then(Node::as_map) else {
            continue;
        };
        for entry in map.iter().filter(|entry| is_accelerator(&entry.key)) {
            let count =
                entry.node.scalar_text().and_then(|text| Quantity::parse(&text).ok()?.value());
            if let Some(count) = count.filter(|count| *count > 0) {
                entries.insert(entry.key.clone(), count);
            }
        }
    }
    add(sum, entries);
}

/// Findings about what is passed over, one for each kind.
pub(super) fn findings(rows: &[InputRow]) -> Vec<Diagnostic> {
    let mut found = Vec::new();
    for row in rows {
        // Without an object there is no place to point at: the finding of its text stands for it.
        let Some(first) = row.examples.first() else { continue };
        if row.requests_uncounted_devices() {
            let request = if row.requesting == 1 { "requests" } else { "request" };
            let message =
                format!("{} {request} {}, which no answer counts", requesting(row), requested(row));
            found.push(
                Diagnostic::new(Code::DevicesNotCounted, message)
                    .at(Some(first.span))
                    .help("count them yourself: the number of pods of this kind is not known"),
            );
        } else if row.is_operated() {
            found.push(
                Diagnostic::new(
                    Code::KindNotRead,
                    format!("{}: its operator makes pods, which no answer counts", names(row)),
                )
                .at(Some(first.span))
                .help("count them yourself: the pods of this kind are not known"),
            );
        } else if row.is_passed_over() {
            found.push(
                Diagnostic::new(
                    Code::KindNotRead,
                    format!("{}: nothing is made of this kind", names(row)),
                )
                .at(Some(first.span))
                .help("`ome plan -o json` lists under `input` what becomes of each kind"),
            );
        }
    }
    found
}

/// `2 InferenceGraph (ns/a, ns/b)`.
pub fn names(row: &InputRow) -> String {
    let whose = row.foreign_group().map(|group| format!(" of {group}")).unwrap_or_default();
    format!("{} {}{whose}{}", row.count, row.kind, named(row, row.count))
}

/// Those of a kind that request devices: `2 of 56 HelmRelease (ns/a, ns/b)`.
pub fn requesting(row: &InputRow) -> String {
    format!("{}{}", count_requesting(row), named(row, row.requesting))
}

/// The same without names.
pub fn count_requesting(row: &InputRow) -> String {
    if row.requesting == row.count {
        format!("{} {}", row.count, row.kind)
    } else {
        format!("{} of {} {}", row.requesting, row.count, row.kind)
    }
}

/// The devices that the objects of a row request.
pub fn requested(row: &InputRow) -> String {
    let devices: Vec<&str> = row.devices.keys().map(EcoString::as_str).collect();
    devices.join(", ")
}

/// The first of a number of objects: ` (ns/a, ns/b, ns/c, and 2 more)`.
fn named(row: &InputRow, count: usize) -> String {
    let examples = row.examples.iter().take(count);
    let left = count - examples.len();
    // Copies in several directories have one name.
    let mut times: IndexMap<String, usize> = IndexMap::new();
    for example in examples {
        let name = match &example.namespace {
            Some(namespace) => format!("{namespace}/{}", example.name),
            None => example.name.to_string(),
        };
        *times.entry(name).or_default() += 1;
    }
    let named = times.into_iter().map(|(name, times)| match times {
        1 => name,
        2 => format!("{name} twice"),
        times => format!("{name} {times} times"),
    });
    let mut names: Vec<String> = named.collect();
    if left > 0 {
        names.push(format!("and {left} more"));
    }
    if names.is_empty() { String::new() } else { format!(" ({})", names.join(", ")) }
}
