//! Objects and their identity.

use crate::source::Span;
use crate::yaml::{Map, Node, Origin};
use ecow::{EcoString, eco_format};
use std::fmt;
use std::sync::Arc;

/// Metadata that a server sets.
pub const SET_BY_SERVER: [&str; 6] =
    ["creationTimestamp", "generation", "managedFields", "resourceVersion", "selfLink", "uid"];

/// A typed value with its origin.
#[derive(Clone, Debug)]
pub struct Field<T> {
    /// The value.
    pub value: T,
    /// The place that set it.
    pub origin: Origin,
}

impl<T> Field<T> {
    /// A value with its origin.
    pub fn new(value: T, origin: Origin) -> Self {
        Self { value, origin }
    }

    /// Returns the place in a source text, if the value comes from one.
    pub fn span(&self) -> Option<Span> {
        self.origin.span()
    }
}

/// Whether a cluster had an object before it was written down: it has a uid or a status.
pub(crate) fn was_in_cluster(object: &Node) -> bool {
    object.at(&["metadata", "uid"]).is_some() || object.get("status").is_some()
}

/// The project whose API an object belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Api {
    /// OME, group `ome.io`.
    Ome,
    /// KServe, group `serving.kserve.io`.
    KServe,
    /// Kthena, group `workload.serving.volcano.sh`.
    Kthena,
    /// Kubernetes itself and Kueue: Nodes, ConfigMaps, queues.
    Cluster,
}

impl Api {
    /// Number of variants; `Cluster` is the last.
    pub(crate) const COUNT: usize = Self::Cluster as usize + 1;

    /// Returns whether an operator reads its objects.
    pub fn is_of_operator(self) -> bool {
        !matches!(self, Self::Cluster)
    }

    /// Returns whether its services name models that are objects of their own.
    pub fn has_model_objects(self) -> bool {
        matches!(self, Self::Ome)
    }

    /// Returns whether the operator's chart installs the built-in runtimes.
    pub fn has_stock_runtimes(self) -> bool {
        matches!(self, Self::KServe)
    }

    /// Returns the value used in JSON output.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Ome => "ome",
            Self::KServe => "kserve",
            Self::Kthena => "kthena",
            Self::Cluster => "cluster",
        }
    }

    /// Returns what follows the name of a service where services of several operators are shown:
    /// nothing for OME, whose services are the default.
    pub fn behind_name(self) -> &'static str {
        match self {
            Self::KServe => " (KServe)",
            Self::Ome | Self::Kthena | Self::Cluster => "",
        }
    }

    /// Returns the name as its project spells it.
    pub fn title(self) -> &'static str {
        match self {
            Self::Ome => "OME",
            Self::KServe => "KServe",
            Self::Kthena => "Kthena",
            Self::Cluster => "Kubernetes",
        }
    }
}

/// The scope of an object. Declaration order is the documented order of discovery: namespace before
/// cluster (OME docs, Serving Runtime, Runtime Discovery; docs/decisions.md#ranking).
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Scope {
    /// In a namespace.
    Namespace(EcoString),
    /// Cluster-scoped.
    Cluster,
}

impl Scope {
    /// Returns the namespace of a namespaced object.
    pub fn namespace(&self) -> Option<&EcoString> {
        match self {
            Self::Namespace(namespace) => Some(namespace),
            Self::Cluster => None,
        }
    }
}

/// Identity of an object; every index uses it as key.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ObjectRef {
    /// Kind, e.g. `ClusterServingRuntime`.
    pub kind: EcoString,
    /// Namespace or cluster.
    pub scope: Scope,
    /// Name.
    pub name: EcoString,
}

impl fmt::Display for ObjectRef {
    /// Writes `Kind/name` or `Kind/namespace/name`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.scope {
            Scope::Namespace(namespace) => write!(f, "{}/{namespace}/{}", self.kind, self.name),
            Scope::Cluster => write!(f, "{}/{}", self.kind, self.name),
        }
    }
}

/// One object of the input.
#[derive(Clone, Debug)]
pub struct Object {
    /// Project.
    pub api: Api,
    /// `group/version`.
    pub api_version: EcoString,
    /// Identity.
    pub id: ObjectRef,
    /// The whole tree, as read.
    pub node: Node,
    /// Span of the whole document in its source text.
    pub span: Span,
    /// True when it comes from the built-in catalog.
    pub builtin: bool,
    /// False when its file is read as context only.
    pub reported: bool,
    /// The OpenShift Template that has it in its `objects`: a cluster has it once that is processed.
    pub template: Option<Arc<Template>>,
}

/// An OpenShift Template.
#[derive(Debug, PartialEq, Eq)]
pub struct Template {
    /// Its name.
    pub name: EcoString,
    /// The file that it is in.
    pub file: Arc<str>,
}

/// What stands before the names of objects that no manifest of the input creates.
const BUILTIN: &str = "builtin:";
const TEMPLATE: &str = "template:";

/// Returns the name of an object by the name that pages show.
pub fn name_of_shown(shown: &str) -> &str {
    let name = shown.strip_prefix(BUILTIN).or_else(|| shown.strip_prefix(TEMPLATE));
    name.unwrap_or(shown)
}

impl Object {
    /// Returns its API group; empty for the core group.
    pub fn group(&self) -> &str {
        self.api_version.split_once('/').map_or("", |(group, _)| group)
    }

    /// Returns a value under `metadata`.
    pub fn metadata(&self, key: &str) -> Option<&Node> {
        self.node.at(&["metadata", key])
    }

    /// Returns the labels; empty when there are none.
    pub fn labels(&self) -> Map {
        self.metadata("labels").and_then(Node::as_map).cloned().unwrap_or_default()
    }

    /// Returns the annotations; empty when there are none.
    pub fn annotations(&self) -> Map {
        self.metadata("annotations").and_then(Node::as_map).cloned().unwrap_or_default()
    }

    /// Returns one annotation.
    pub fn annotation(&self, key: &str) -> Option<&Node> {
        self.metadata("annotations").and_then(|annotations| annotations.get(key))
    }

    /// Returns a value under `spec`.
    pub fn spec(&self, key: &str) -> Option<&Node> {
        self.node.at(&["spec", key])
    }

    /// Returns `metadata.creationTimestamp` as written. RFC 3339 times in UTC sort as text.
    pub fn created(&self) -> Option<&str> {
        self.metadata("creationTimestamp").and_then(Node::as_str)
    }

    /// Returns the span of its name, else of the whole document.
    pub fn name_span(&self) -> Span {
        self.metadata("name").and_then(|name| name.origin.span()).unwrap_or(self.span)
    }

    /// Returns the name for output: `builtin:NAME` for a built-in object, `template:NAME` for one of an
    /// OpenShift Template.
    pub fn shown_name(&self) -> EcoString {
        match (self.builtin, &self.template) {
            (true, _) => eco_format!("{BUILTIN}{}", self.id.name),
            (false, Some(_)) => eco_format!("{TEMPLATE}{}", self.id.name),
            (false, None) => self.id.name.clone(),
        }
    }

    /// Returns where it comes from, as JSON has it.
    pub fn source(&self) -> &'static str {
        match (self.builtin, &self.template) {
            (true, _) => "builtin",
            (false, Some(_)) => "template",
            (false, None) => "user",
        }
    }

    /// Returns `namespace/name` or `name`.
    pub fn qualified_name(&self) -> EcoString {
        match &self.id.scope {
            Scope::Namespace(namespace) => eco_format!("{namespace}/{}", self.id.name),
            Scope::Cluster => self.id.name.clone(),
        }
    }
}
