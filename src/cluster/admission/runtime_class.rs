//! RuntimeClasses (plugin/pkg/admission/runtimeclass): overhead, node selector and tolerations that
//! they add to a pod.

use super::limits::child;
use super::shipped::{RUNTIMES, ReadClass, Unread};
use super::{name_of, text};
use crate::yaml::Node;
use ecow::{EcoString, eco_format};
use std::borrow::Cow;
use std::collections::BTreeMap;

/// The RuntimeClasses of the input.
#[derive(Clone, Debug, Default)]
pub(super) struct RuntimeClasses {
    classes: BTreeMap<EcoString, Node>,
    /// The classes outside the input that may exist; they change nothing.
    unread: Unread,
}

impl RuntimeClasses {
    pub(super) fn partial() -> Self {
        Self { unread: Unread::any(&RUNTIMES), ..Self::default() }
    }

    pub(super) fn complete(&mut self) {
        self.unread.complete();
    }

    /// Whether a class is only taken to exist, outside the objects that were read.
    pub(super) fn is_assumed(&self, name: &str) -> bool {
        self.unread.may_have(name) && !name.is_empty() && !self.classes.contains_key(name)
    }

    /// A class that was read, where a class that pods name does not exist beside it.
    pub(super) fn lacks(&self, name: &str) -> Option<&ReadClass> {
        let exists = name.is_empty() || self.classes.contains_key(name) || self.is_assumed(name);
        self.unread.first().filter(|_| !exists)
    }

    pub(super) fn add(&mut self, class: &Node) {
        let name = name_of(class);
        self.unread.read(&name, class);
        self.classes.insert(name, class.clone());
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
            return if self.is_assumed(&name) {
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
