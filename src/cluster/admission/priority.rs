//! Classes of priority (plugin/pkg/admission/priority).

use super::shipped::{PRIORITIES, ReadClass, Unread};
use super::{name_of, text};
use crate::yaml::Node;
use ecow::{EcoString, eco_format};
use std::collections::BTreeMap;

/// The PriorityClasses of the input.
#[derive(Clone, Debug, Default)]
pub struct PriorityClasses {
    classes: BTreeMap<EcoString, (i32, bool)>,
    default: Option<EcoString>,
    /// The classes outside the input that may exist: their pods have priority 0.
    unread: Unread,
}

impl PriorityClasses {
    /// An incomplete set: pods of a class that was not added have priority 0.
    pub fn partial() -> Self {
        Self { unread: Unread::any(&PRIORITIES), ..Self::default() }
    }

    /// From now on no class exists that is not added.
    pub fn complete(&mut self) {
        self.unread.complete();
    }

    /// A class that was read, where a class that pods name does not exist beside it.
    pub(super) fn lacks(&self, name: &str) -> Option<&ReadClass> {
        self.unread.first().filter(|_| self.of(name).is_none())
    }

    /// Adds a `scheduling.k8s.io/v1` PriorityClass.
    pub fn add(&mut self, class: &Node) {
        let name = name_of(class);
        let value = class.get("value").and_then(Node::as_int).unwrap_or(0);
        let never = text(class.get("preemptionPolicy")) == "Never";
        if class.get("globalDefault").and_then(Node::as_bool) == Some(true) {
            // Of several the lowest is taken (plugin/pkg/admission/priority), the first by name of
            // those.
            let lower = |other: &EcoString| {
                let class = self.classes.get(other).map(|(class, _)| i64::from(*class));
                class.is_none_or(|class| (class, other) > (value, &name))
            };
            if self.default.as_ref().is_none_or(lower) {
                self.default = Some(name.clone());
            }
        }
        self.unread.read(&name, class);
        self.classes.insert(name, (clamp(value), never));
    }

    /// The class of pods that name none.
    pub fn default_name(&self) -> Option<&EcoString> {
        self.default.as_ref()
    }

    /// Whether a class is only taken to exist, outside the objects that were read.
    pub(super) fn is_assumed(&self, name: &str) -> bool {
        let is_built_in = matches!(name, "system-node-critical" | "system-cluster-critical");
        self.unread.may_have(name)
            && !name.is_empty()
            && !is_built_in
            && !self.classes.contains_key(name)
    }

    /// Why a pod that names this class, or none, is refused: it states another priority or policy than
    /// the class has (`admitPod`).
    pub(super) fn contradicted(&self, name: &str, spec: &Node) -> Option<EcoString> {
        // The default class may be one that was not read, and the values of a pod that has a node are
        // those that admission gave it.
        let is_open = self.is_assumed(name) || (name.is_empty() && self.unread.is_any());
        if is_open || spec.get("nodeName").is_some() {
            return None;
        }
        let (value, never) = self.of(name)?;
        let stated = spec.get("priority").and_then(Node::as_int);
        if let Some(stated) = stated.filter(|stated| *stated != i64::from(value)) {
            return Some(eco_format!(
                "the integer value of priority ({stated}) must not be provided in pod spec; priority \
                 admission controller computed {value} from the given PriorityClass name"
            ));
        }
        let policy = if never { "Never" } else { "PreemptLowerPriority" };
        let stated = text(spec.get("preemptionPolicy"));
        (!stated.is_empty() && stated != policy).then(|| {
            eco_format!(
                "the string value of PreemptionPolicy ({stated}) must not be provided in pod spec; priority \
                 admission controller computed {policy} from the given PriorityClass name"
            )
        })
    }

    /// Value and `preemptionPolicy: Never` of the class that a pod names, or of the default class.
    pub fn of(&self, name: &str) -> Option<(i32, bool)> {
        match name {
            "" => Some(
                self.default
                    .as_ref()
                    .and_then(|name| self.classes.get(name))
                    .copied()
                    .unwrap_or((0, false)),
            ),
            // Every cluster has these two (pkg/apis/scheduling/v1/helpers.go).
            "system-node-critical" => Some((2_000_001_000, false)),
            "system-cluster-critical" => Some((2_000_000_000, false)),
            name => {
                let may_exist = || self.unread.may_have(name).then_some((0, false));
                self.classes.get(name).copied().or_else(may_exist)
            }
        }
    }
}

/// A priority within the 32 bits of the API.
pub(crate) fn clamp(value: i64) -> i32 {
    i32::try_from(value).unwrap_or(if value < 0 { i32::MIN } else { i32::MAX })
}
