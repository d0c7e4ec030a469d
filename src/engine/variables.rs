//! The environment of a container: variables with the values that are known offline.

use super::flags::{Named, named};
use super::identity::Engine;
use crate::yaml::{Node, Origin};
use ecow::EcoString;
use std::collections::HashMap;

/// Marks a part of a text that is not known offline. Manifests cannot contain it: YAML and
/// Kubernetes refuse the character.
pub(super) const UNKNOWN: char = '\0';

/// Variables that manifests alone set: KServe's shipped configurations pass them on to the server
/// (kserve/kserve, config/llmisvcconfig).
const OF_MANIFESTS: [&str; 1] = ["VLLM_ADDITIONAL_ARGS"];

/// Whether a text is nothing, or flags that no engine's settings depend on, with their values.
fn sets_nothing(text: &str) -> bool {
    let is_other = |word: &str| {
        let name = word.split('=').next().unwrap_or(word);
        Engine::ALL.iter().all(|engine| matches!(named(*engine, name), Named::Other))
    };
    let mut words = text.split_whitespace();
    words.clone().next().is_none_or(|first| first.starts_with('-'))
        && words.all(|word| !word.starts_with('-') || is_other(word))
}

/// The variables of a container; the value of a variable with another source is unknown.
#[derive(Clone, Debug, Default)]
pub(super) struct Variables {
    values: HashMap<EcoString, (Option<EcoString>, Option<Origin>)>,
    /// A script was read in that can set any variable.
    pub(super) opaque: bool,
}

impl Variables {
    /// The `env` of a container, in order: a value can contain earlier variables.
    pub(super) fn of(container: &Node) -> Self {
        let mut variables = Self::default();
        for entry in container.get("env").map(Node::items).unwrap_or_default() {
            let Some(name) = entry.get("name").and_then(Node::as_str) else { continue };
            let value = match (entry.get("value"), entry.get("valueFrom")) {
                (Some(value), _) if !value.is_null() => {
                    value.scalar_text().map(|text| variables.expanded(&text))
                }
                // A variable with a name alone is set and empty.
                (_, None) => Some(EcoString::new()),
                _ => None,
            };
            // The value depends on the cluster: the variable is set, and its value unknown.
            let value = value.filter(|text| !text.contains(UNKNOWN));
            variables.values.insert(name.into(), (value, Some(entry.origin)));
        }
        // `envFrom` may set any of them.
        if container.get("envFrom").is_none_or(Node::is_empty) {
            for name in OF_MANIFESTS {
                variables.values.entry(name.into()).or_insert((Some(EcoString::new()), None));
            }
        }
        variables
    }

    /// The value of a variable, if it is set and known.
    pub(super) fn get(&self, name: &str) -> Option<&EcoString> {
        self.values.get(name)?.0.as_ref()
    }

    /// Whether a variable is set, with whatever value.
    pub(super) fn is_set(&self, name: &str) -> bool {
        self.values.contains_key(name)
    }

    /// Where a variable was set.
    pub(super) fn origin(&self, name: &str) -> Option<Origin> {
        self.values.get(name)?.1
    }

    /// Sets a variable; a value with unknown parts is unknown.
    pub(super) fn set(&mut self, name: &str, value: &str, origin: Origin) {
        let value = (!value.contains(UNKNOWN)).then(|| value.into());
        self.values.insert(name.into(), (value, Some(origin)));
    }

    /// Makes a variable unknown.
    pub(super) fn forget(&mut self, name: &str) {
        self.values.insert(name.into(), (None, None));
    }

    /// Makes the variables unknown whose value differs from the one before, unless both set
    /// nothing that an engine's settings depend on.
    pub(super) fn unlike(&mut self, before: &Self) {
        for (name, variable) in &mut self.values {
            let was = before.values.get(name).map(|before| &before.0);
            let are_alike = match (was, &variable.0) {
                (Some(Some(was)), Some(text)) => {
                    was == text || (sets_nothing(was) && sets_nothing(text))
                }
                (was, text) => was == Some(text),
            };
            if !are_alike {
                *variable = (None, None);
            }
        }
    }

    /// A text of `command`, `args` or `env` with its `$(NAME)` replaced as the kubelet does
    /// (k8s.io/kubernetes/third_party/forked/golang/expansion, Expand).
    pub(super) fn expanded(&self, text: &str) -> EcoString {
        if !text.contains('$') {
            return text.into();
        }
        let mut out = EcoString::new();
        let mut rest = text;
        while let Some(at) = rest.find('$') {
            out.push_str(&rest[..at]);
            rest = &rest[at + 1..];
            // `$$` is an escaped dollar, so that `$$(NAME)` stays as text.
            if let Some(after) = rest.strip_prefix('$') {
                out.push('$');
                rest = after;
            } else if let Some((name, after)) =
                rest.strip_prefix('(').and_then(|inner| inner.split_once(')'))
            {
                match self.get(name) {
                    Some(value) => out.push_str(value),
                    // `envFrom` and Services of the namespace add variables that are not seen here.
                    None if self.is_set(name) || name.chars().all(is_of_key) => out.push(UNKNOWN),
                    // No variable has such a name, so that the text stays, for a shell:
                    // `$(nproc --all)`.
                    None => {
                        out.push_str("$(");
                        out.push_str(name);
                        out.push(')');
                    }
                }
                rest = after;
            } else {
                out.push('$');
            }
        }
        out.push_str(rest);
        out
    }
}

/// Whether a character can be in a key of a ConfigMap or a Secret, of which `envFrom` makes
/// variables.
fn is_of_key(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.')
}
