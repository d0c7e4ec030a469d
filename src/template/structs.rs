//! Objects as data of a template: Go structs read from trees by the names of their Go fields, and
//! functions that a program adds to the built-in ones.
//!
//! In: a tree and its type. Out: values with Go's rules for pointers: a nil pointer is false, prints
//! `<nil>`, and a field of it is an error.

use super::error::{Error, Failure, Kind};
use super::exec::execute_with;
use super::parse::parse_with;
use super::value::{Metadata, Root, Value};
use crate::quantity::Quantity;
use crate::schema::Type;
use crate::yaml::{Node, Value as Tree};
use ecow::EcoString;
use std::rc::Rc;

/// Functions of a program besides the built-in ones.
pub(super) trait Functions {
    /// The number of arguments of a function; `None` when there is no such function.
    fn arity(&self, name: &str) -> Option<usize>;

    /// The value of a function; the number of arguments is right.
    ///
    /// # Errors
    /// When an argument has another type.
    fn call(&self, name: &str, values: &[Value<'_>]) -> Result<Value<'static>, Failure>;
}

/// A struct, or a pointer to one: a part of an object.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Struct<'a> {
    /// The tree; none when it is not set.
    node: Option<&'a Node>,
    ty: &'static Type,
    pointer: bool,
    /// Go's type.
    name: &'static str,
}

/// JSON names whose Go names are more than the name with a capital letter.
const SPELLED: [(&str, &str); 15] = [
    ("uri", "URI"),
    ("lora", "LoRA"),
    ("kvCacheOffloading", "KVCacheOffloading"),
    ("cpu", "CPU"),
    ("pvc", "PVC"),
    ("http", "HTTP"),
    ("wva", "WVA"),
    ("keda", "KEDA"),
    ("hpa", "HPA"),
    ("dnsPolicy", "DNSPolicy"),
    ("dnsConfig", "DNSConfig"),
    ("os", "OS"),
    ("tty", "TTY"),
    ("tcpSocket", "TCPSocket"),
    ("httpGet", "HTTPGet"),
];

/// Go's type of a field that holds a struct, by the field's Go name.
const TYPES: [(&str, &str); 15] = [
    ("Model", "v1alpha2.LLMModelSpec"),
    ("LoRA", "*v1alpha2.LoRASpec"),
    ("Parallelism", "*v1alpha2.ParallelismSpec"),
    ("Prefill", "*v1alpha2.WorkloadSpec"),
    ("Template", POD),
    ("Worker", POD),
    ("KVCacheOffloading", KV_CACHE),
    ("Router", "*v1alpha2.RouterSpec"),
    ("Route", "*v1alpha2.GatewayRoutesSpec"),
    ("Gateway", "*v1alpha2.GatewaySpec"),
    ("Scheduler", "*v1alpha2.SchedulerSpec"),
    ("Scaling", "*v1alpha2.ScalingSpec"),
    ("Tracing", "*v1alpha2.TracingSpec"),
    ("StorageInitializer", "*v1alpha2.StorageInitializerSpec"),
    ("RolloutStrategy", "*v1alpha2.RolloutStrategy"),
];
const POD: &str = "*v1.PodSpec";
const KV_CACHE: &str = "*v1alpha2.KVCacheOffloadingSpec";

/// Whether a JSON name is that of a Go field.
fn is_named(json: &str, go: &str) -> bool {
    if let Some((_, spelled)) = SPELLED.iter().find(|(name, _)| *name == json) {
        return *spelled == go;
    }
    let (mut a, mut b) = (json.chars(), go.chars());
    a.next().map(|first| first.to_ascii_uppercase()) == b.next() && a.as_str() == b.as_str()
}

impl<'a> Struct<'a> {
    /// The struct of a type that a tree holds.
    pub(crate) fn new(node: &'a Node, ty: &'static Type, name: &'static str) -> Self {
        Self { node: Some(node), ty, pointer: false, name }
    }

    pub(super) fn type_name(&self) -> &'static str {
        self.name
    }

    /// Whether it is a nil pointer.
    pub(super) fn is_nil(&self) -> bool {
        self.pointer && self.node.is_none()
    }

    fn described(&self, go: &str) -> Option<&'static crate::schema::Field> {
        let fields = &self.ty.object()?.fields;
        fields.iter().find(|field| is_named(field.name, go))
    }

    /// Whether the type has this field.
    pub(super) fn has(&self, go: &str) -> bool {
        self.described(go).is_some()
    }

    /// The value of a field that the type has.
    pub(super) fn field(&self, go: &str) -> Result<Value<'a>, Failure> {
        let Some(field) = self.described(go) else { return Ok(Value::Absent) };
        let node = self.node.and_then(|node| node.get(field.name));
        value(node, &field.ty, field.pointer, go)
    }
}

fn value<'a>(
    node: Option<&'a Node>,
    ty: &'static Type,
    pointer: bool,
    go: &str,
) -> Result<Value<'a>, Failure> {
    let pointed = |value: Value<'a>| if pointer { Value::Pointer(Rc::new(value)) } else { value };
    Ok(match (ty, node.map(|node| &node.value)) {
        (Type::Object(_), _) => {
            let known = TYPES.iter().find(|(name, _)| *name == go);
            let name = known.map_or("*v1alpha2.Spec", |(_, name)| name);
            // The model is a struct; every other one of the specification is a pointer.
            Value::Struct(Struct { node, ty, pointer: pointer && go != "Model", name })
        }
        (Type::Str(_), Some(Tree::Str(text))) => pointed(Value::Str(text.clone())),
        (Type::Str(_), None) if pointer => Value::Nil("*string"),
        (Type::Str(_), _) => Value::Str(EcoString::new()),
        (Type::Bool, Some(Tree::Bool(value))) => pointed(Value::Bool(*value)),
        (Type::Bool, None) if pointer => Value::Nil("*bool"),
        (Type::Bool, _) => Value::Bool(false),
        (Type::Int(_) | Type::Int32(_), Some(Tree::Int(number))) => pointed(Value::Int(*number)),
        (Type::Int(_) | Type::Int32(_), None) if pointer => Value::Nil("*int32"),
        (Type::Int(_) | Type::Int32(_), _) => Value::Int(0),
        (Type::List(item), found) => {
            let items = match found {
                Some(Tree::List(items)) => items.as_slice(),
                _ => &[],
            };
            let values = items.iter().map(|item_node| value(Some(item_node), &item.ty, false, go));
            Value::List("[]v1alpha2.Spec", values.collect::<Result<_, _>>()?)
        }
        _ => {
            let message = format!("the field `{go}` in a template is not supported");
            return Err(Failure::new(Kind::Unsupported, message));
        }
    })
}

/// An object as the root of a template, with settings beside it.
#[derive(Clone, Debug)]
pub(crate) struct ObjectValues<'a> {
    pub(crate) metadata: Metadata<'a>,
    pub(crate) spec: Struct<'a>,
    pub(crate) kind: &'a str,
    pub(crate) api_version: &'a str,
    /// Go's type of the root.
    pub(crate) type_name: &'static str,
    /// Texts under `GlobalConfig`, by Go name.
    pub(crate) texts: Vec<(&'static str, EcoString)>,
    /// Switches under `GlobalConfig`, by Go name.
    pub(crate) switches: Vec<(&'static str, bool)>,
    /// Names of both, in Go's order.
    pub(crate) setting_names: &'static [&'static str],
}

impl<'a> ObjectValues<'a> {
    pub(super) fn setting(&self, name: &str) -> Option<Value<'a>> {
        let text = self.texts.iter().find(|(known, _)| *known == name);
        text.map(|(_, text)| Value::Str(text.clone())).or_else(|| {
            let switch = self.switches.iter().find(|(known, _)| *known == name);
            switch.map(|(_, switch)| Value::Bool(*switch))
        })
    }
}

/// Expands a text whose root is an object. Functions besides the built-in ones are those of
/// KServe's LLMInferenceServiceConfigs
/// (pkg/controller/v1alpha2/llmisvc/config_merge.go, ReplaceVariables).
///
/// # Errors
/// Go's message where the controller fails, else `UnknownAtPlanTime` or `Unsupported`.
pub(crate) fn expand(text: &str, values: &ObjectValues<'_>) -> Result<String, Error> {
    let expanded = parse_with("config", text, &OWN).and_then(|program| {
        execute_with(&program, &ConfigFunctions, Root::Object(values)).map(|output| output.text)
    });
    expanded.map_err(|failure| failure.into_error(text))
}

/// Expands a text that is a template of its own: its branches begin and end in it. `None` for any
/// other text, and where an action fails.
pub(crate) fn expand_alone(text: &str, values: &ObjectValues<'_>) -> Option<String> {
    let program = parse_with("config", text, &OWN).ok()?;
    if program.definition.is_some() {
        return None;
    }
    let output = execute_with(&program, &ConfigFunctions, Root::Object(values)).ok()?;
    Some(output.text)
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
            ("shutdownTimeout", [spec, before]) => {
                let before = before.as_int().ok_or_else(|| invalid("int64"))?;
                let grace = match spec {
                    Value::Struct(own) if own.name == POD => own
                        .node
                        .and_then(|node| node.get("terminationGracePeriodSeconds")?.as_int()),
                    _ => None,
                };
                let grace = grace.unwrap_or(60);
                Value::Int(grace.saturating_sub(before).saturating_sub(grace.min(5)).max(0))
            }
            (_, [spec]) => Value::Str(match spec {
                Value::Struct(own) if own.name == KV_CACHE => {
                    own.node.map(kv_transfer).unwrap_or_default()
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
    let quoted = config.to_string().replace('"', r#"\\\""#);
    ecow::eco_format!("--kv-transfer-config '{quoted}'")
}
