//! Templates of configurations: an object as the data, and the functions of KServe beside the
//! built-in ones.

use super::ast::Program;
use super::container::{EachAction, Encoder, with_origins};
use super::error::{Error, Failure, Kind};
use super::exec::{Output, Ran, execute_with};
use super::parse::parse_with;
use super::value::{Functions, KV_CACHE, ObjectValues, POD, Root, Value};
use crate::quantity::{Quantity, go_json};
use crate::yaml::Value as tree;
use crate::yaml::{Entry, Map, Node};
use ecow::EcoString;
use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;

/// A tree as JSON, which is one template. Functions besides the built-in ones are those of KServe's
/// LLMInferenceServiceConfigs (pkg/controller/v1alpha2/llmisvc/config_merge.go, ReplaceVariables).
pub(crate) struct Whole {
    tree: Node,
    encoder: Encoder,
}

impl Whole {
    /// Writes a tree; its keys are sorted.
    pub(crate) fn new(tree: &Node) -> Self {
        let mut encoder = Encoder::default();
        let tree = sorted(tree);
        // Sorted as Go sorts the fields of a map: the order of actions decides which failure is met
        // first.
        encoder.node(&tree);
        Self { tree, encoder }
    }

    /// Expands it. Each action is passed to `each`, with the origin of the text that it begins
    /// in.
    ///
    /// # Errors
    /// Go's message where the controller fails, else `UnknownAtPlanTime` or `Unsupported`.
    pub(crate) fn expand(
        &self,
        values: &ObjectValues<'_>,
        each: &mut EachAction<'_>,
    ) -> Result<String, Error> {
        let text = &self.encoder.json;
        let output = parse_with("config", text, &OWN)
            .and_then(|program| execute_with(&program, &ConfigFunctions, Root::Object(values)));
        let output = output.map_err(|failure| failure.into_error(text))?;
        self.encoder.each_action(&output, each);
        Ok(output.text)
    }

    /// The tree of the expanded text: values keep the origins of those that they replace.
    pub(crate) fn read(&self, json: &serde_json::Value) -> Node {
        with_origins(json, Some(&self.tree), self.tree.origin)
    }
}

fn sorted(node: &Node) -> Node {
    let value = match &node.value {
        tree::List(items) => tree::List(items.iter().map(sorted).collect()),
        tree::Map(map) => {
            let entries =
                map.iter().map(|entry| Entry { node: sorted(&entry.node), ..entry.clone() });
            let mut map: Map = entries.collect();
            map.sort();
            tree::Map(map)
        }
        other => other.clone(),
    };
    Node::new(value, node.origin)
}

/// Most texts that a thread keeps parsed.
const MAX_KEPT: usize = 1 << 10;
/// Longest text that is kept, in bytes.
const MAX_TEXT: usize = 64 << 10;

/// A text that was parsed. It is kept, so that no other text is at its place.
type Kept = (EcoString, Option<Rc<Alone>>);

thread_local! {
    /// The parsed templates by their texts: a fleet has few configurations.
    static KEPT: RefCell<HashMap<EcoString, Option<Rc<Alone>>>> = RefCell::default();
    /// The same by place and length. Merged configurations share the texts of those that they are
    /// made of, and a script has thousands of characters to hash.
    static PLACED: RefCell<HashMap<(usize, usize), Kept>> = RefCell::default();
}

/// The place of a text of which clones have the same one; none of a short text, which is copied.
fn place(text: &EcoString) -> Option<(usize, usize)> {
    (text.len() > EcoString::INLINE_LIMIT).then(|| (text.as_ptr() as usize, text.len()))
}

/// A text that is a template of its own: its branches begin and end in it.
pub(crate) struct Alone {
    program: Program,
}

impl Alone {
    /// Parses a text as it is within the quotes of JSON, or takes what an earlier call parsed;
    /// `None` for a text that is no template of its own.
    pub(crate) fn of(text: &EcoString) -> Option<Rc<Self>> {
        let place = place(text);
        let placed = place.and_then(|place| {
            PLACED.with_borrow(|kept| kept.get(&place).map(|(_, parsed)| parsed.clone()))
        });
        if let Some(parsed) = placed {
            return parsed;
        }
        // Another copy of a text may have been parsed before.
        let parsed = Self::by_text(text);
        if let Some(place) = place.filter(|_| text.len() <= MAX_TEXT) {
            PLACED.with_borrow_mut(|kept| {
                if kept.len() >= MAX_KEPT {
                    kept.clear();
                }
                kept.insert(place, (text.clone(), parsed.clone()));
            });
        }
        parsed
    }

    fn by_text(text: &EcoString) -> Option<Rc<Self>> {
        if let Some(existing) = KEPT.with_borrow(|kept| kept.get(text).cloned()) {
            return existing;
        }
        // Texts that are no template are remembered, too: most of a configuration are.
        let parsed = Self::parsed(text).map(Rc::new);
        if text.len() <= MAX_TEXT {
            KEPT.with_borrow_mut(|kept| {
                if kept.len() >= MAX_KEPT {
                    kept.clear();
                }
                kept.insert(text.clone(), parsed.clone());
            });
        }
        parsed
    }

    fn parsed(text: &str) -> Option<Self> {
        let mut quoted = String::with_capacity(text.len() + 16);
        go_json::string(&mut quoted, text);
        // As within JSON, where a quote in an action has a backslash in front and is an error.
        let program = parse_with("config", &quoted[1..quoted.len() - 1], &OWN).ok()?;
        // A definition would hold for the other texts of the configuration as well.
        program.definition.is_none().then_some(Self { program })
    }

    /// Expands it; `None` where an action fails.
    pub(crate) fn expand(&self, values: &ObjectValues<'_>) -> Option<Expanded> {
        let output = execute_with(&self.program, &ConfigFunctions, Root::Object(values)).ok()?;
        Some(Expanded(output))
    }

    /// The text within the quotes of JSON.
    pub(crate) fn text(&self) -> &str {
        &self.program.text
    }
}

/// The text of a template that is its own.
pub(crate) struct Expanded(Output);

impl Expanded {
    pub(crate) fn text(&self) -> &str {
        &self.0.text
    }

    /// The actions of the template that were executed, with what each printed.
    pub(crate) fn of_actions<'o>(&'o self, template: &'o str) -> impl Iterator<Item = Ran<'o>> {
        self.0.of_actions(template)
    }
}

const OWN: [&str; 3] = ["ChildName", "kvTransferConfig", "shutdownTimeout"];

struct ConfigFunctions;

impl Functions for ConfigFunctions {
    fn arity(&self, name: &str) -> Option<usize> {
        match name {
            "ChildName" | "shutdownTimeout" => Some(2),
            "kvTransferConfig" => Some(1),
            _ => None,
        }
    }

    fn call(&self, name: &str, values: &[Value<'_>]) -> Result<Value<'static>, Failure> {
        let invalid = |what: &str| {
            let message = format!("error calling {name}: wrong type for value; expected {what}");
            Failure::new(Kind::Execution, message)
        };
        Ok(match (name, values) {
            ("ChildName", [parent, suffix]) => {
                let text = |value: &Value<'_>| match value {
                    Value::Str(text) => Ok(text.clone()),
                    Value::Pointer(inner) => match &**inner {
                        Value::Str(text) => Ok(text.clone()),
                        _ => Err(invalid("string")),
                    },
                    _ => Err(invalid("string")),
                };
                Value::Str(crate::quantity::names::child_name(&text(parent)?, &text(suffix)?))
            }
            // In seconds.
            ("shutdownTimeout", [spec, before]) => {
                let before = before.as_int().ok_or_else(|| invalid("int64"))?;
                let grace = match spec {
                    Value::Struct(fields) if fields.name == POD => fields
                        .node
                        .and_then(|node| node.get("terminationGracePeriodSeconds")?.as_int()),
                    _ => None,
                };
                let grace = grace.unwrap_or(60);
                Value::Int(grace.saturating_sub(before).saturating_sub(grace.min(5)).max(0))
            }
            (_, [spec]) => Value::Str(match spec {
                Value::Struct(fields) if fields.name == KV_CACHE => {
                    fields.node.map(kv_transfer).unwrap_or_default()
                }
                _ => EcoString::new(),
            }),
            _ => Value::Absent,
        })
    }
}

/// The argument of vLLM for a cache that leaves the device, quoted for JSON and a shell.
fn kv_transfer(spec: &Node) -> EcoString {
    use serde_json::json;
    let bytes = spec.get("cpu").and_then(Node::scalar_text);
    // An amount as `10Gi` is written in bytes.
    let bytes = bytes.and_then(|text| Quantity::parse_field(&text).ok()?.value());
    let mut extra = serde_json::Map::new();
    extra.insert("cpu_bytes_to_use".into(), json!(bytes.unwrap_or(0)));
    if let Some(policy) = spec.get("evictionPolicy").and_then(Node::as_str)
        && !policy.is_empty()
    {
        extra.insert("eviction_policy".into(), json!(policy));
    }
    let tiers = spec.items_of("secondary").iter().enumerate();
    let tiers: Vec<serde_json::Value> = tiers
        // The number in the path counts all tiers, also those without a directory.
        .filter(|(_, tier)| tier.get("fileSystem").is_some())
        .map(|(index, _)| json!({"root_dir": format!("/mnt/kv-cache-{index}"), "type": "fs"}))
        .collect();
    if !tiers.is_empty() {
        extra.insert("secondary_tiers".into(), tiers.into());
    }
    extra.insert("spec_name".into(), json!("TieringOffloadingSpec"));
    let extra = serde_json::Value::Object(extra);
    let config = json!({
        "kv_connector": "OffloadingConnector",
        "kv_connector_extra_config": extra,
        "kv_role": "kv_both",
    });
    // Escaped twice: for the string of JSON that holds the text, and for the shell that reads it.
    let quoted = config.to_string().replace('"', r#"\\\""#);
    ecow::eco_format!("--kv-transfer-config '{quoted}'")
}
