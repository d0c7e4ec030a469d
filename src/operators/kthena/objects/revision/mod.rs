//! Revisions: Kthena's term for a version of the role templates.
//!
//! In: roles as the API server stores them, and the struct of a release. Out: the hash in the
//! labels of pods and in the name of a ControllerRevision. Upstream prints the Go structs with
//! go-spew and hashes the text (pkg/model-serving-controller/utils/revision_util.go). The text
//! names every field of every struct, so each release of Kthena that changed `Role` gives all
//! ModelServings another revision, and so does another version of k8s.io/api. `go_types.txt` has
//! the declarations.

mod quantity;
mod types;

use crate::operators::kthena::rules::RoleStruct;
use crate::yaml::{Map, Node, Value};
use ecow::EcoString;
use std::fmt::Write as _;
use types::{Kind, Struct};

/// Fields of a role that do not count: changing them is no update.
const NOT_COUNTED: [&str; 3] = ["replicas", "maxUnavailable", "partition"];

/// Revision of a list of roles.
pub fn of_roles<'a>(roles: impl IntoIterator<Item = &'a Node>, declared: RoleStruct) -> EcoString {
    let mut printer = Printer::new(declared, "([]v1alpha1.Role)[");
    for (index, role) in roles.into_iter().enumerate() {
        if index > 0 {
            printer.text.push(' ');
        }
        printer.role(role);
    }
    printer.text.push(']');
    safe(fnv1(printer.text.as_bytes()))
}

/// Hash of one role.
pub fn of_role(role: &Node, declared: RoleStruct) -> EcoString {
    let mut printer = Printer::new(declared, "(v1alpha1.Role)");
    printer.role(role);
    safe(fnv1(printer.text.as_bytes()))
}

/// Hash of a value of a Go struct, or of a pointer to one (`*`).
pub(crate) fn of(go_type: &'static str, node: &Node) -> EcoString {
    let mut printer = Printer::new(RoleStruct::Head, "(");
    printer.text.push_str(go_type);
    printer.text.push(')');
    let name = go_type.trim_start_matches('*');
    printer.structure(types::structure(name), node.as_map());
    safe(fnv1(printer.text.as_bytes()))
}

/// FNV-1 of 32 bits: multiply, then exclusive or.
fn fnv1(bytes: &[u8]) -> u32 {
    bytes
        .iter()
        .fold(2_166_136_261, |hash: u32, byte| hash.wrapping_mul(16_777_619) ^ u32::from(*byte))
}

/// A number in digits that cannot form words (`rand.SafeEncodeString` of apimachinery).
fn safe(hash: u32) -> EcoString {
    const DIGITS: [char; 10] = ['4', '5', '6', '7', '8', '9', 'b', 'c', 'd', 'f'];
    hash.to_string().bytes().map(|digit| DIGITS[usize::from(digit - b'0')]).collect()
}

/// Writes values as go-spew prints them for a hash.
struct Printer {
    text: String,
    declared: RoleStruct,
}

impl Printer {
    fn new(declared: RoleStruct, start: &str) -> Self {
        let mut text = String::with_capacity(4096);
        text.push_str(start);
        Self { text, declared }
    }

    fn role(&mut self, role: &Node) {
        let mut counted = role.as_map().cloned().unwrap_or_default();
        // Scaling is no update: these fields are emptied before the struct is printed.
        counted.retain(|entry| !NOT_COUNTED.contains(&entry.key.as_str()));
        self.structure(types::role(self.declared), Some(&counted));
    }

    /// The fields of a struct; an absent mapping is a struct of zero values.
    fn structure(&mut self, structure: &'static Struct, map: Option<&Map>) {
        self.text.push('{');
        // k8s.io/api v0.33 lacks these fields, so their names are not in its text.
        let recent = self.declared != RoleStruct::V0_1;
        let fields = structure.fields.iter().filter(|field| recent || !field.recent);
        for (index, field) in fields.enumerate() {
            if index > 0 {
                self.text.push(' ');
            }
            self.text.push_str(&field.name);
            self.text.push_str(":(");
            self.text.push_str(field.spelled);
            self.text.push(')');
            match (&field.kind, field.json) {
                // An embedded struct has the fields of its owner.
                (Kind::Struct(name), None) => self.structure(types::structure(name), map),
                (kind, json) => self.value(
                    kind,
                    json.and_then(|json| map?.get(json)).filter(|node| !node.is_null()),
                ),
            }
        }
        self.text.push('}');
    }

    /// Appends an element of a list or map; one behind a pointer is marked as such.
    fn element(&mut self, kind: &Kind, node: &Node) {
        // go-spew shows the pointer of an element, not that of a field.
        if matches!(kind, Kind::Pointer(_)) && !node.is_null() {
            self.text.push_str("<*>");
        }
        self.value(kind, Some(node).filter(|node| !node.is_null()));
    }

    /// Appends a value without its type. An absent value or one of another type is the zero value.
    fn value(&mut self, kind: &Kind, node: Option<&Node>) {
        match kind {
            Kind::Pointer(inner) => match node {
                Some(node) => self.value(inner, Some(node)),
                None => self.text.push_str("<nil>"),
            },
            Kind::List(inner) => match node.map(|node| &node.value) {
                Some(Value::List(items)) => {
                    self.text.push('[');
                    for (index, item) in items.iter().enumerate() {
                        if index > 0 {
                            self.text.push(' ');
                        }
                        self.element(inner, item);
                    }
                    self.text.push(']');
                }
                _ => self.text.push_str("<nil>"),
            },
            Kind::Map(inner) => match node.map(|node| &node.value) {
                Some(Value::Map(map)) => {
                    let mut entries: Vec<_> = map.iter().collect();
                    // go-spew sorts the keys of maps for a hash.
                    entries.sort_by(|a, b| a.key.cmp(&b.key));
                    self.text.push_str("map[");
                    for (index, entry) in entries.iter().enumerate() {
                        if index > 0 {
                            self.text.push(' ');
                        }
                        self.text.push_str(&entry.key);
                        self.text.push(':');
                        self.element(inner, &entry.node);
                    }
                    self.text.push(']');
                }
                _ => self.text.push_str("<nil>"),
            },
            Kind::Struct(name) => {
                self.structure(types::structure(name), node.and_then(Node::as_map));
            }
            Kind::Text => self.text.push_str(node.and_then(Node::as_str).unwrap_or_default()),
            Kind::Bytes => match node.and_then(Node::as_str) {
                Some(text) => {
                    self.text.push('[');
                    for (index, byte) in text.bytes().enumerate() {
                        let gap = if index > 0 { " " } else { "" };
                        _ = write!(self.text, "{gap}{byte}");
                    }
                    self.text.push(']');
                }
                None => self.text.push_str("<nil>"),
            },
            Kind::Integer => {
                _ = write!(self.text, "{}", node.and_then(Node::as_int).unwrap_or_default());
            }
            Kind::Bool => {
                _ = write!(self.text, "{}", node.and_then(Node::as_bool).unwrap_or_default());
            }
            Kind::Quantity => {
                quantity::push(&mut self.text, node.and_then(Node::scalar_text).as_deref());
            }
            Kind::IntOrString => {
                // A text sets the other member of the union; both are printed.
                let (kind, number, word) = match node.map(|node| &node.value) {
                    Some(Value::Str(word)) => (1, 0, word.as_str()),
                    _ => (0, node.and_then(Node::as_int).unwrap_or_default(), ""),
                };
                _ = write!(
                    self.text,
                    "{{Type:(intstr.Type){kind} IntVal:(int32){number} StrVal:(string){word}}}"
                );
            }
            // A time is never set in a template: creationTimestamp of a volume claim is set by the
            // server.
            Kind::Time => self.text.push_str(
                "{Time:(time.Time){wall:(uint64)0 ext:(int64)0 loc:(*time.Location)<nil>}}",
            ),
        }
    }
}

#[cfg(test)]
mod tests;
