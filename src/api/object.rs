//! Objects and their identity.

use crate::source::Span;
use crate::yaml::{Map, Node, Origin};
use ecow::{EcoString, eco_format};
use std::fmt;

/// Metadata that a server sets.
pub const SET_BY_SERVER: [&str; 6] =
    ["creationTimestamp", "generation", "managedFields", "resourceVersion", "selfLink", "uid"];

/// A typed value with who wrote it.
#[derive(Clone, Debug)]
pub struct Field<T> {
    /// The value.
    pub value: T,
    /// Who wrote it.
    pub origin: Origin,
}

impl<T> Field<T> {
    /// A value with its origin.
    pub fn new(value: T, origin: Origin) -> Self {
        Self { value, origin }
    }

    /// The place in a text, if a text wrote it.
    pub fn span(&self) -> Option<Span> {
        self.origin.span()
    }
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
    /// Kubernetes itself and what runs beside the three: Nodes, ConfigMaps, Kueue.
    Cluster,
}

impl Api {
    /// How many there are; the cluster is the last.
    pub(crate) const COUNT: usize = Self::Cluster as usize + 1;

    /// The word used in JSON output.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Ome => "ome",
            Self::KServe => "kserve",
            Self::Kthena => "kthena",
            Self::Cluster => "cluster",
        }
    }

    /// The name as its project writes it.
    pub fn title(self) -> &'static str {
        match self {
            Self::Ome => "OME",
            Self::KServe => "KServe",
            Self::Kthena => "Kthena",
            Self::Cluster => "Kubernetes",
        }
    }
}

/// Where an object lives. Declaration order is the documented order of discovery: namespace before
/// cluster (OME docs, Serving Runtime, Runtime Discovery; docs/decisions.md#ranking).
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Scope {
    /// In a namespace.
    Namespace(EcoString),
    /// Everywhere.
    Cluster,
}

impl Scope {
    /// The namespace, of a namespaced object.
    pub fn namespace(&self) -> Option<&EcoString> {
        match self {
            Self::Namespace(namespace) => Some(namespace),
            Self::Cluster => None,
        }
    }
}

/// Identity of an object: key of every index.
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
    /// `Kind/name` or `Kind/namespace/name`.
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
    /// The whole document in its text.
    pub span: Span,
    /// From the built-in catalog.
    pub builtin: bool,
    /// False when its file is read as context only.
    pub reported: bool,
}

impl Object {
    /// A value under `metadata`.
    pub fn metadata(&self, key: &str) -> Option<&Node> {
        self.node.at(&["metadata", key])
    }

    /// The labels; empty when there are none.
    pub fn labels(&self) -> Map {
        self.metadata("labels").and_then(Node::as_map).cloned().unwrap_or_default()
    }

    /// The annotations; empty when there are none.
    pub fn annotations(&self) -> Map {
        self.metadata("annotations").and_then(Node::as_map).cloned().unwrap_or_default()
    }

    /// One annotation.
    pub fn annotation(&self, key: &str) -> Option<&Node> {
        self.metadata("annotations").and_then(|annotations| annotations.get(key))
    }

    /// A value under `spec`.
    pub fn spec(&self, key: &str) -> Option<&Node> {
        self.node.at(&["spec", key])
    }

    /// `metadata.creationTimestamp` as written; RFC 3339 in UTC sorts as text.
    pub fn created(&self) -> Option<&str> {
        self.metadata("creationTimestamp").and_then(Node::as_str)
    }

    /// Where its name is.
    pub fn name_span(&self) -> Span {
        self.metadata("name").and_then(|name| name.origin.span()).unwrap_or(self.span)
    }

    /// Its name as people are shown it: `builtin:NAME` of a built-in object.
    pub fn shown_name(&self) -> EcoString {
        if self.builtin { eco_format!("builtin:{}", self.id.name) } else { self.id.name.clone() }
    }

    /// `namespace/name` or `name`.
    pub fn qualified_name(&self) -> EcoString {
        match &self.id.scope {
            Scope::Namespace(namespace) => eco_format!("{namespace}/{}", self.id.name),
            Scope::Cluster => self.id.name.clone(),
        }
    }
}
