//! The backend of a stored ModelBooster, as the controller reads it.

use crate::quantity::{Quantity, parse_go_float};
use crate::yaml::{Node, Value};
use ecow::{EcoString, eco_format};
use serde_json::Value as Json;
use std::fmt::Write as _;

/// The port of engines whose configuration has none.
const PORT: i32 = 8000;

/// Types of workers that serve.
pub(super) const SERVING: [&str; 3] = ["server", "prefill", "decode"];

/// A backend; views over the stored tree.
#[derive(Clone, Copy)]
pub(super) struct Backend<'a> {
    pub(super) node: &'a Node,
}

/// A worker of a backend.
#[derive(Clone, Copy)]
pub(super) struct Worker<'a> {
    pub(super) node: &'a Node,
}

/// Why workers have no common port.
pub(super) struct PortError {
    /// The worker, by its place.
    pub(super) worker: usize,
    /// The value as the webhook prints it.
    pub(super) value: String,
    /// The webhook's sentence.
    pub(super) message: String,
}

impl<'a> Backend<'a> {
    pub(super) fn text(self, key: &str) -> &'a str {
        self.node.get(key).and_then(Node::as_str).unwrap_or_default()
    }

    pub(super) fn name(self) -> &'a str {
        self.text("name")
    }

    pub(super) fn disaggregated(self) -> bool {
        self.text("type") == "vLLMDisaggregated"
    }

    pub(super) fn workers(self) -> impl DoubleEndedIterator<Item = Worker<'a>> + Clone {
        self.node.items_of("workers").iter().map(|node| Worker { node })
    }

    /// The worker of a type; of several the last one (convert/model_serving.go, mapWorkers).
    pub(super) fn worker(self, ty: &str) -> Option<Worker<'a>> {
        self.workers().rev().find(|worker| worker.ty() == ty)
    }

    /// The first variable of a name (env/env.go, GetEnvValueOrDefault).
    pub(super) fn variable(self, name: &str) -> Option<&'a Node> {
        let mut variables = self.node.items_of("env").iter();
        variables.find(|variable| variable.get("name").and_then(Node::as_str) == Some(name))
    }

    /// The literal value of a variable that is there.
    pub(super) fn value(self, name: &str) -> Option<&'a str> {
        let value = self.variable(name)?.get("value");
        Some(value.and_then(Node::as_str).unwrap_or_default())
    }

    /// A variable that is a 32-bit number: a value that is no number counts as absent, one of more
    /// bits is cut off.
    pub(super) fn number(self, name: &str) -> Option<i64> {
        // Go parses 64 bits and converts to 32, which keeps the low ones.
        let number: i64 = self.value(name)?.parse().ok()?;
        let bytes = number.to_le_bytes();
        Some(i32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]).into())
    }

    /// A variable that is a boolean of Go's `strconv.ParseBool`.
    pub(super) fn flag(self, name: &str) -> bool {
        matches!(self.value(name), Some("1" | "t" | "T" | "true" | "TRUE" | "True"))
    }

    /// Whether the limits of any worker have an NVIDIA GPU (convert/model_serving.go, hasGPU).
    pub(super) fn has_gpu(self) -> bool {
        // Of several workers of a type only the last one is looked at.
        let last = |worker: &Worker<'a>| {
            // By address: two workers of a type can be equal in all fields.
            self.worker(worker.ty()).is_some_and(|last| std::ptr::eq(last.node, worker.node))
        };
        self.workers().filter(last).any(|worker| worker.limit("nvidia.com/gpu") > 0)
    }

    /// The port of all workers (utils/common.go, GetEnginePort).
    pub(super) fn port(self) -> Result<i32, PortError> {
        let mut common = None;
        for (place, worker) in self.workers().enumerate() {
            // Workers of other types have no port that requests go to.
            if !SERVING.contains(&worker.ty()) {
                continue;
            }
            let error =
                |value: String, message: String| PortError { worker: place, value, message };
            let port = match worker.config() {
                None => PORT,
                Some(Json::Object(config)) => match config.get("port") {
                    None => PORT,
                    Some(value) => {
                        let text = go_text(value);
                        // Go's parser takes a plus sign.
                        let number = text.strip_prefix('+').unwrap_or(&text).parse::<i32>();
                        let port = number.ok().filter(|port| (1..=65535).contains(port));
                        port.ok_or_else(|| {
                            let message =
                                format!("invalid port \"{text}\" for worker {}", worker.ty());
                            error(value.to_string(), message)
                        })?
                    }
                },
                Some(other) => {
                    let message = format!(
                        "failed to get port for worker {}: {}",
                        worker.ty(),
                        no_map(&other)
                    );
                    return Err(error("null".to_owned(), message));
                }
            };
            // The first port counts: the error is at the worker that differs from it.
            if let Some(common) = common.filter(|common| *common != port) {
                let message = format!("workers use different engine ports: {common} and {port}");
                return Err(error(port.to_string(), message));
            }
            common = Some(port);
        }
        Ok(common.unwrap_or(PORT))
    }
}

impl<'a> Worker<'a> {
    pub(super) fn ty(self) -> &'a str {
        self.node.get("type").and_then(Node::as_str).unwrap_or_default()
    }

    pub(super) fn count(self, key: &str) -> i64 {
        self.node.get(key).and_then(Node::as_int).unwrap_or_default()
    }

    /// A resource of its limits, rounded up.
    fn limit(self, resource: &str) -> i64 {
        let limit = self.node.at(&["resources", "limits", resource]).and_then(Node::scalar_text);
        let quantity = limit.and_then(|text| Quantity::parse_field(&text).ok());
        quantity.and_then(|quantity| quantity.value()).unwrap_or_default()
    }

    /// Devices that its limits have (utils/common.go, GetDeviceNum).
    pub(super) fn devices(self) -> i64 {
        let kinds = ["nvidia.com/gpu", "huawei.com/ascend-1980"];
        kinds.iter().fold(0, |sum: i64, kind| sum.saturating_add(self.limit(kind)))
    }

    /// Its configuration, in which every number is a float.
    pub(super) fn config(self) -> Option<Json> {
        let config = self.node.get("config").filter(|config| !config.is_null())?;
        Some(config.to_json())
    }

    /// The connector that its configuration names for the engine's dependencies
    /// (convert/model_serving.go, getKvConnectorFromConfig).
    pub(super) fn connector(self) -> Option<String> {
        let config = self.config()?;
        let transfer: Json =
            serde_json::from_str(config.get("kv-transfer-config")?.as_str()?).ok()?;
        transfer.get("kv_connector")?.as_str().map(str::to_owned)
    }

    /// The flags of its configuration (utils/template.go, ConvertVLLMArgsFromJson).
    pub(super) fn flags(self) -> Result<Vec<EcoString>, String> {
        let config = match self.config() {
            None => return Ok(Vec::new()),
            Some(Json::Object(config)) => config,
            Some(other) => return Err(no_map(&other)),
        };
        let mut fields: Vec<(&String, &Json)> = config.iter().collect();
        // Go's map has no order, so upstream sorts the keys by bytes.
        fields.sort_by_key(|(key, _)| key.as_bytes());
        let mut flags = Vec::with_capacity(fields.len() * 2);
        for (key, value) in fields {
            flags.push(eco_format!("--{}", key.replace('_', "-")));
            let text = go_text(value);
            // An empty value is a flag without one.
            if !text.is_empty() {
                flags.push(text.into());
            }
        }
        Ok(flags)
    }
}

/// Go's error when a JSON value is no object.
fn no_map(value: &Json) -> String {
    let found = match value {
        Json::Null => "null",
        Json::Bool(_) => "bool",
        Json::Number(_) => "number",
        Json::String(_) => "string",
        Json::Array(_) => "array",
        Json::Object(_) => "object",
    };
    format!(
        "failed to unmarshal config: json: cannot unmarshal {found} into Go value of type map[string]interface {{}}"
    )
}

/// A decoded JSON value as Go's `%v` prints it.
pub(super) fn go_text(value: &Json) -> String {
    let mut text = String::new();
    push_go(&mut text, value);
    text
}

fn push_go(out: &mut String, value: &Json) {
    match value {
        Json::Null => out.push_str("<nil>"),
        Json::Bool(yes) => _ = write!(out, "{yes}"),
        Json::Number(number) => {
            // Decoded without a type, every number is a float64.
            let number = parse_go_float(&number.to_string()).unwrap_or_default();
            out.push_str(&go_float(number));
        }
        Json::String(text) => out.push_str(text),
        Json::Array(items) => {
            out.push('[');
            for (index, item) in items.iter().enumerate() {
                if index > 0 {
                    out.push(' ');
                }
                push_go(out, item);
            }
            out.push(']');
        }
        Json::Object(fields) => {
            let mut fields: Vec<_> = fields.iter().collect();
            fields.sort_by_key(|(key, _)| key.as_bytes());
            out.push_str("map[");
            for (index, (key, value)) in fields.into_iter().enumerate() {
                if index > 0 {
                    out.push(' ');
                }
                _ = write!(out, "{key}:");
                push_go(out, value);
            }
            out.push(']');
        }
    }
}

/// A float as Go's `%v` prints it: with the fewest digits, and with an exponent unless that is from
/// -4 to 5 (strconv, FormatFloat with `g` and -1).
fn go_float(number: f64) -> String {
    let shortest = format!("{number:e}");
    let (digits, exponent) = shortest.split_once('e').unwrap_or((&shortest, "0"));
    let power: i32 = exponent.parse().unwrap_or_default();
    if (-4..6).contains(&power) {
        return format!("{number}");
    }
    let sign = if power < 0 { '-' } else { '+' };
    format!("{digits}e{sign}{:02}", power.abs())
}

/// The text of a scalar that is inserted where Go expects text.
pub(super) fn as_text(node: &Node) -> Option<EcoString> {
    match &node.value {
        Value::Bool(_) | Value::Int(_) | Value::Big(_) | Value::Float(_) | Value::Str(_) => {
            node.scalar_text()
        }
        _ => None,
    }
}
