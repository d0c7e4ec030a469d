//! RuntimeClasses (plugin/pkg/admission/runtimeclass): overhead, node selector and tolerations that
//! they add to a pod.

use super::limits::child;
use super::{name_of, text};
use crate::yaml::Node;
use ecow::{EcoString, eco_format};
use std::borrow::Cow;
use std::collections::BTreeMap;

/// The RuntimeClasses of the input.
#[derive(Clone, Debug, Default)]
pub(super) struct RuntimeClasses {
    classes: BTreeMap<EcoString, Node>,
    /// A class outside the input may exist; it changes nothing.
    lenient: bool,
}

impl RuntimeClasses {
    pub(super) fn partial() -> Self {
        Self { lenient: true, ..Self::default() }
    }

    pub(super) fn complete(&mut self) {
        self.lenient = false;
    }

    /// Whether a class is only taken to exist, outside the objects that were read.
    pub(super) fn is_assumed(&self, name: &str) -> bool {
        self.lenient && !name.is_empty() && !self.classes.contains_key(name)
    }

    pub(super) fn add(&mut self, class: &Node) {
        self.classes.insert(name_of(class), class.clone());
    }

    /// Adds what the class of a pod adds.
    ///
    /// # Errors
    /// A class that does not exist, or that contradicts the pod, in the server's words.
    pub(super) fn apply(&self, spec: &mut Cow<'_, Node>) -> Result<(), EcoString> {
        let name = text(spec.get("runtimeClassName"));
        if name.is_empty() {
            return Ok(());
        }
        let Some(class) = self.classes.get(&name) else {
            return if self.lenient {
                Ok(())
            } else {
                Err(eco_format!("pod rejected: RuntimeClass \"{name}\" not found"))
            };
        };
        if let Some(overhead) = class.at(&["overhead", "podFixed"])
            && let Some(map) = spec.to_mut().as_map_mut()
        {
            // The server refuses pods that state an overhead of their own, so that nothing is lost
            // here.
            map.insert("overhead", overhead.clone());
        }
        for wanted in
            class.at(&["scheduling", "nodeSelector"]).map(Node::entries).into_iter().flatten()
        {
            let value = text(Some(&wanted.node));
            let node_selector =
                spec.at(&["nodeSelector", wanted.key.as_str()]).and_then(Node::scalar_text);
            if node_selector.is_some_and(|name| name != value) {
                return Err(eco_format!(
                    "conflict: runtimeClass.scheduling.nodeSelector[{}] = {value}; \
                     pod.spec.nodeSelector[{}] = {}",
                    wanted.key,
                    wanted.key,
                    text(spec.at(&["nodeSelector", wanted.key.as_str()]))
                ));
            }
            if let Some(map) = child(spec.to_mut(), "nodeSelector").and_then(Node::as_map_mut) {
                map.insert(wanted.key.clone(), wanted.node.clone());
            }
        }
        let tolerations = class.at(&["scheduling", "tolerations"]).map(Node::items);
        super::tolerations::append(spec, tolerations.unwrap_or_default().iter().cloned());
        Ok(())
    }
}
