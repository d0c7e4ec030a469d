//! What an API server makes of a pod before the scheduler sees it: values that admission adds, and
//! pods that it refuses.
//!
//! In: PriorityClasses, RuntimeClasses, LimitRanges, Namespaces and ResourceQuotas; the spec of a
//! pod. Out: the spec as it is stored, a refusal in the server's words, and what the pod counts in
//! quotas. Quotas themselves are charged where pods are created ([`quota::Ledger`]). It must not
//! depend on a scheduler.

pub(crate) mod limits;
pub(crate) mod priority;
pub(crate) mod quota;
pub(crate) mod resources;
pub(crate) mod runtime_class;
pub(crate) mod security;
mod shipped;
pub(crate) mod tolerations;
pub(crate) mod usage;

pub use priority::PriorityClasses;
pub use quota::{Ledger, QuotaStatus, Receipt};
pub use shipped::ReadClass;
pub use usage::Usage;

use crate::quantity::names;
use crate::yaml::Node;
use ecow::{EcoString, eco_format};
use limits::Limits;
use runtime_class::RuntimeClasses;
use security::Enforced;
use std::borrow::Cow;
use std::collections::BTreeSet;
use std::sync::Arc;

/// Why the server does not create an object, in its words.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Refused {
    /// A plugin of admission refuses it.
    Forbidden(EcoString),
    /// A LimitRange refuses it.
    Limits(EcoString),
    /// Pod Security refuses it.
    Security(EcoString),
    /// It is invalid after admission added values.
    Invalid(EcoString),
}

impl Refused {
    /// The reason, without the object.
    pub fn why(&self) -> &EcoString {
        match self {
            Self::Forbidden(why) | Self::Limits(why) | Self::Security(why) | Self::Invalid(why) => {
                why
            }
        }
    }

    /// The server's answer for a pod of this name.
    pub fn of_pod(&self, name: &str) -> EcoString {
        let name = if name.is_empty() { "*" } else { name };
        match self {
            Self::Forbidden(why) | Self::Limits(why) | Self::Security(why) => {
                eco_format!("pods \"{name}\" is forbidden: {why}")
            }
            Self::Invalid(why) => eco_format!("Pod \"{name}\" is invalid: {why}"),
        }
    }
}

/// A pod as the server stores it.
#[derive(Clone, Debug)]
pub struct Admitted<'n> {
    /// Its spec.
    pub spec: Cow<'n, Node>,
    /// The server creates no such pod.
    pub refused: Option<Refused>,
    /// What it counts in the quotas of its namespace; none where there is no quota.
    pub usage: Option<Arc<Usage>>,
}

/// The objects that the admission of pods reads.
#[derive(Clone, Debug, Default)]
pub struct Admission {
    /// PriorityClasses.
    pub priorities: PriorityClasses,
    runtime_classes: RuntimeClasses,
    limits: Limits,
    enforced: Enforced,
    /// Namespaces that are being deleted.
    ending: BTreeSet<EcoString>,
    /// Namespaces with a ResourceQuota.
    quotas: BTreeSet<EcoString>,
    /// The plugin ExtendedResourceToleration is on.
    pub extended_toleration: bool,
}

/// Name of an object.
pub(super) fn name_of(object: &Node) -> EcoString {
    text(object.at(&["metadata", "name"]))
}

/// Namespace of an object; `default` where it states none.
pub(super) fn namespace_of(object: &Node) -> EcoString {
    let stated = text(object.at(&["metadata", "namespace"]));
    if stated.is_empty() { "default".into() } else { stated }
}

fn text(node: Option<&Node>) -> EcoString {
    node.and_then(Node::scalar_text).unwrap_or_default()
}

impl Admission {
    /// The objects are a part of a cluster's: a class that was not read may exist as long as none
    /// of its kind was read.
    pub fn partial() -> Self {
        Self {
            priorities: PriorityClasses::partial(),
            runtime_classes: RuntimeClasses::partial(),
            ..Self::default()
        }
    }

    /// From now on no PriorityClass and no RuntimeClass exists that was not read: the objects are
    /// all of a cluster's.
    pub fn complete(&mut self) {
        self.priorities.complete();
        self.runtime_classes.complete();
    }

    /// Adds an object that admission reads; others change nothing.
    pub fn add(&mut self, object: &Node) {
        match text(object.get("kind")).as_str() {
            "PriorityClass" => {
                // One class in the input means that its kind was read: a class that is missing
                // does not exist, unless others make it by themselves.
                self.priorities.add(object);
            }
            "RuntimeClass" => {
                self.runtime_classes.add(object);
            }
            "LimitRange" => self.limits.add(object),
            "Namespace" => {
                self.enforced.add(object);
                // The plugin NamespaceLifecycle reads the phase.
                if text(object.at(&["status", "phase"])) == "Terminating" {
                    self.ending.insert(name_of(object));
                }
            }
            "ResourceQuota" => _ = self.quotas.insert(namespace_of(object)),
            _ => {}
        }
    }

    /// Admits a pod of a namespace, as the server does: values are added first, then the pod is
    /// validated, then the plugins that only refuse decide.
    pub fn admit<'n>(&self, namespace: &str, spec: &'n Node) -> Admitted<'n> {
        let mut stored = Cow::Borrowed(spec);
        let refused = self.change(namespace, &mut stored).err();
        let refused = refused.or_else(|| self.validate(namespace, &stored));
        let usage = self.quotas.contains(namespace).then(|| Arc::new(Usage::of_pod(&stored)));
        Admitted { spec: stored, refused, usage }
    }

    /// The classes that a pod names and that are only taken to exist: kind and field.
    pub fn assumed<'n>(&self, spec: &'n Node) -> Vec<(&'static str, &'n Node)> {
        let of = |kind, key, is_assumed: &dyn Fn(&str) -> bool| {
            let name = spec.get(key)?;
            is_assumed(&name.scalar_text()?).then_some((kind, name))
        };
        let priority =
            of("PriorityClass", "priorityClassName", &|name| self.priorities.is_assumed(name));
        let runtime =
            of("RuntimeClass", "runtimeClassName", &|name| self.runtime_classes.is_assumed(name));
        priority.into_iter().chain(runtime).collect()
    }

    /// The classes that a pod names and that do not exist beside one of their kind that was read: kind,
    /// field, and that one.
    pub fn missing<'n>(&self, spec: &'n Node) -> Vec<(&'static str, &'n Node, &ReadClass)> {
        let name = |key| spec.get(key).map(|name| (name, text(Some(name))));
        let priority = name("priorityClassName")
            .and_then(|(name, text)| Some(("PriorityClass", name, self.priorities.lacks(&text)?)));
        let runtime = name("runtimeClassName").and_then(|(name, text)| {
            Some(("RuntimeClass", name, self.runtime_classes.lacks(&text)?))
        });
        priority.into_iter().chain(runtime).collect()
    }

    /// Why nothing is created in a namespace
    /// (k8s.io/apiserver/pkg/admission/plugin/namespace/lifecycle/admission.go).
    fn ends(&self, namespace: &str) -> Option<EcoString> {
        self.ending.contains(namespace).then(|| {
            eco_format!(
                "unable to create new content in namespace {namespace} because it is being terminated"
            )
        })
    }

    fn change(&self, namespace: &str, spec: &mut Cow<'_, Node>) -> Result<(), Refused> {
        // NamespaceLifecycle is first in the order of the plugins.
        if let Some(why) = self.ends(namespace) {
            return Err(Refused::Forbidden(why));
        }
        let limited = self.limits.apply(namespace, spec);
        let class = text(spec.get("priorityClassName"));
        // A name that no class can have is a placeholder, which is filled in before a server sees it.
        let is_name = names::dns1123_subdomain(&class).is_empty();
        if is_name && self.priorities.of(&class).is_none() {
            let why = eco_format!("no PriorityClass with name {class} was found");
            return Err(Refused::Forbidden(why));
        }
        if let Some(why) = self.priorities.contradicted(&class, spec) {
            return Err(Refused::Forbidden(why));
        }
        if let (true, Some(default)) = (class.is_empty(), self.priorities.default_name()) {
            // Quotas select pods by the name of their class, the default one too.
            let origin = spec.origin;
            if let Some(map) = spec.to_mut().as_map_mut() {
                map.insert("priorityClassName", Node::str(default.clone(), origin));
            }
        }
        if self.extended_toleration {
            tolerations::extended(spec);
        }
        self.runtime_classes.apply(spec).map_err(Refused::Forbidden)?;
        // Without filled in values the spec was valid as it was written.
        if limited { resources::checked(spec).map_err(Refused::Invalid) } else { Ok(()) }
    }

    fn validate(&self, namespace: &str, spec: &Node) -> Option<Refused> {
        let limited = self.limits.refuse(namespace, spec).map(Refused::Limits);
        limited.or_else(|| self.enforced.refuse(namespace, spec).map(Refused::Security))
    }

    /// Whether Pod Security refuses pods of a namespace for what they may do.
    pub fn restricts(&self, namespace: &str) -> bool {
        self.enforced.restricts(namespace)
    }

    /// Why a claim of a namespace is refused for its size.
    pub fn refused_claim(&self, namespace: &str, claim: &Node) -> Option<EcoString> {
        self.ends(namespace).or_else(|| self.limits.refuse_claim(namespace, claim))
    }
}

#[cfg(test)]
mod tests;
