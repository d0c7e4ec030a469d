//! Types as the tables describe them.

use super::{overlay, table};
use crate::source::Span;
use crate::yaml::{FieldPath, Node, Segment, Value};
use std::fmt;
use std::sync::OnceLock;

/// One kind: its API group and its type.
#[derive(Debug)]
pub struct Schema {
    /// Group and version, or the version alone for the core group.
    pub api_version: &'static str,
    /// Kind.
    pub kind: &'static str,
    /// Lower-case plural, as in paths of the API.
    pub plural: &'static str,
    /// Whether objects live in a namespace.
    pub namespaced: bool,
    root: &'static str,
}

impl Schema {
    /// Reads a line of the table of kinds.
    pub(super) fn parse(line: &'static str) -> Option<Self> {
        let mut words = line.split_ascii_whitespace();
        let (api_version, kind, plural, scope, root) =
            (words.next()?, words.next()?, words.next()?, words.next()?, words.next()?);
        Some(Self { api_version, kind, plural, namespaced: scope == "Namespaced", root })
    }

    /// The type of the whole object.
    pub fn root(&self) -> &'static Type {
        // A test proves that every root is in its table.
        table::definition(self.root).map_or(&Type::Any, Definition::whole)
    }

    /// The API group; empty for the core group.
    pub fn group(&self) -> &'static str {
        self.api_version.split_once('/').map_or("", |(group, _)| group)
    }
}

/// The type of a value.
#[derive(Debug)]
pub enum Type {
    /// A mapping with known fields.
    Object(&'static Definition),
    /// A mapping with free keys.
    Map(Box<Item>),
    /// A list.
    List(Box<Item>),
    /// Text.
    Str(Option<Box<Rules>>),
    /// An integer of 64 bits.
    Int(Option<Box<Rules>>),
    /// An integer of 32 bits.
    Int32(Option<Box<Rules>>),
    /// A number.
    Number(Option<Box<Rules>>),
    /// True or false.
    Bool,
    /// A Kubernetes quantity, written as a number or as text.
    Quantity,
    /// An integer or text, such as a port or a percentage; the rules are those of the integer.
    IntOrString(Option<Box<Rules>>),
    /// A moment, RFC 3339.
    Time,
    /// Bytes in base64.
    Bytes,
    /// Text that the documents also write as a number, such as a size.
    Loose,
    /// Anything.
    Any,
}

impl Type {
    /// The fields of an object type, including those of the documents only.
    pub fn object(&self) -> Option<&'static Object> {
        match self {
            Self::Object(definition) => Some(definition.documented()),
            _ => None,
        }
    }

    /// The field of an object type. As Go's decoder does, an exact match wins over one that differs
    /// in case.
    pub fn field(&self, name: &str) -> Option<&'static Field> {
        let fields = &self.object()?.fields;
        fields
            .iter()
            .find(|field| field.name == name)
            .or_else(|| fields.iter().find(|field| field.name.eq_ignore_ascii_case(name)))
    }

    /// The type at a chain of fields; map keys and list elements are passed through without a step
    /// for the list.
    pub fn at(&self, names: &[&str]) -> Option<&Type> {
        names.iter().try_fold(self, |ty, name| match ty.item() {
            Some(item) if matches!(ty, Self::List(_)) => item.ty.field(name).map(|field| &field.ty),
            Some(item) => Some(&item.ty),
            None => ty.field(name).map(|field| &field.ty),
        })
    }

    /// The type at a path as users write it; a list may be passed through without a step for its
    /// elements.
    pub fn select(&self, path: &FieldPath) -> Option<&Type> {
        path.0.iter().try_fold(self, |ty, segment| match segment {
            // A map takes the step as its key; a list is passed through to its elements.
            Segment::Field(name) => match ty.item() {
                Some(item) if matches!(ty, Self::Map(_)) => Some(&item.ty),
                Some(item) => item.ty.field(name).map(|field| &field.ty),
                None => ty.field(name).map(|field| &field.ty),
            },
            Segment::Index(_) | Segment::Keyed(..) | Segment::All => ty.item().map(|item| &item.ty),
        })
    }

    /// The type of the value that is written at a place, looked for in a tree of this type.
    pub fn under<'t>(&'t self, tree: &Node, place: Span) -> Option<&'t Type> {
        // The place is compared and not contained: a mapping spans its children, too.
        let here = tree.origin.span();
        if here == Some(place) {
            return Some(self);
        }
        match &tree.value {
            Value::Map(map) => map.iter().find_map(|entry| {
                let ty = match self {
                    Self::Map(item) => &item.ty,
                    _ => &self.object()?.fields.iter().find(|field| field.name == entry.key)?.ty,
                };
                ty.under(&entry.node, place)
            }),
            Value::List(items) => {
                items.iter().find_map(|element| self.item()?.ty.under(element, place))
            }
            _ => None,
        }
    }

    /// The element type of a list or of a map with free keys.
    pub fn item(&self) -> Option<&Item> {
        match self {
            Self::List(item) | Self::Map(item) => Some(item),
            _ => None,
        }
    }
}

/// Element type of a list or a map, with the rules of the whole.
#[derive(Debug)]
pub struct Item {
    /// The type of every element.
    pub ty: Type,
    /// Rules of the list or map: keys, least and greatest length.
    pub rules: Rules,
}

/// Rules of a value beside its type.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Rules {
    /// Least value, length or number of elements.
    pub min: Option<i64>,
    /// Greatest value, length or number of elements.
    pub max: Option<i64>,
    /// The accepted values, as JSON writes them; empty: all.
    pub choices: Vec<&'static str>,
    /// Regular expression of text, as a JSON string.
    pub pattern: Option<&'static str>,
    /// Fields that together identify an element of a list; empty: none.
    pub keys: Vec<&'static str>,
    /// Whether the elements of a list are unique scalars.
    pub set: bool,
}

impl Rules {
    /// Reads one rule.
    pub(super) fn add(&mut self, rule: &'static str) {
        match rule.split_once('=') {
            Some(("min", number)) => self.min = number.parse().ok(),
            Some(("max", number)) => self.max = number.parse().ok(),
            Some(("enum", words)) => self.choices = words.split('|').collect(),
            Some(("pattern", pattern)) => self.pattern = Some(pattern),
            Some(("map", keys)) => self.keys = keys.split('|').collect(),
            _ => self.set |= rule == "set",
        }
    }

    /// The rules in a box, if there are any.
    pub(super) fn boxed(self) -> Option<Box<Self>> {
        if self == Self::default() { None } else { Some(Box::new(self)) }
    }
}

/// One field of an object type.
#[derive(Debug)]
#[expect(clippy::struct_excessive_bools, reason = "flags of the tables")]
pub struct Field {
    /// Name.
    pub name: &'static str,
    /// The type of its value.
    pub ty: Type,
    /// Default of the CRD, as JSON.
    pub default: Option<&'static str>,
    /// How a strategic merge patch treats it.
    pub patch: Patch,
    /// Whether the server refuses an object without it.
    pub required: bool,
    /// Whether `null` is a value of its own.
    pub nullable: bool,
    /// Whether a Go struct prints it when it has its zero value.
    pub always: bool,
    /// Whether Go structs of libraries before v0.34 did so.
    pub formerly_always: bool,
    /// Whether the Go field is a pointer, so that a zero value that is set is printed.
    pub pointer: bool,
    /// Whether libraries before v0.34 lack it.
    pub recent: bool,
    /// Whether the documents do without it although the server requires it.
    pub lenient: bool,
    /// Whether it is in the documents only, and in no shipped schema.
    pub documented: bool,
    /// A field that stands in for this one where it is required.
    pub or: Option<&'static str>,
}

impl Field {
    /// Whether an object without it is refused: a required field with a default is filled in before
    /// anyone looks.
    pub fn needed(&self) -> bool {
        self.required && self.default.is_none()
    }
}

/// How a strategic merge patch treats a field: the Go tags `patchStrategy` and `patchMergeKey`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Patch {
    /// Lists are merged element by element.
    pub merge: bool,
    /// Mappings are replaced as a whole.
    pub replace: bool,
    /// A patch may name the keys that stay; without the directive `$retainKeys` it changes
    /// nothing.
    pub retain: bool,
    /// Field that identifies an element of a merged list.
    pub key: Option<&'static str>,
}

/// The fields of an object type.
#[derive(Debug)]
pub struct Object {
    /// Fields in the order in which they are printed.
    pub fields: Vec<Field>,
    /// Whether unknown fields are kept.
    pub open: bool,
    /// How many fields are needed.
    pub(super) needed: usize,
}

impl Object {
    /// An object type of these fields.
    pub(super) fn new(fields: Vec<Field>, open: bool) -> Self {
        let needed = fields.iter().filter(|field| field.needed()).count();
        Self { fields, open, needed }
    }
}

/// An object type with its name; its fields are read when they are first needed.
pub struct Definition {
    /// Name in the table.
    pub name: &'static str,
    open: bool,
    body: &'static str,
    server: OnceLock<Object>,
    documented: OnceLock<Option<Object>>,
    whole: OnceLock<Type>,
}

impl Definition {
    /// From the head line and the lines of the fields.
    pub(super) fn new(head: &'static str, body: &'static str) -> Self {
        let (name, open) =
            head.split_once(' ').map_or((head, false), |(name, flag)| (name, flag == "open"));
        Self {
            name,
            open,
            body,
            server: OnceLock::new(),
            documented: OnceLock::new(),
            whole: OnceLock::new(),
        }
    }

    /// Whether it is a Go struct of Kubernetes itself and no schema of a CustomResourceDefinition.
    pub(super) fn is_built_in(&self) -> bool {
        !self.name.contains('/')
    }

    /// Whether unknown fields are kept.
    pub(super) fn open(&self) -> bool {
        self.open
    }

    /// The lines of the fields.
    pub(super) fn body(&self) -> &'static str {
        self.body
    }

    /// The fields of the server.
    pub fn server(&self) -> &Object {
        self.server.get_or_init(|| table::object(self.body, self.open))
    }

    /// The fields of the documents: those of the server and those of the overlay.
    pub fn documented(&self) -> &Object {
        self.documented
            .get_or_init(|| overlay::apply(self.name, self.body, self.open))
            .as_ref()
            .unwrap_or_else(|| self.server())
    }

    /// The type that has these fields.
    pub fn whole(&'static self) -> &'static Type {
        self.whole.get_or_init(|| Type::Object(self))
    }
}

impl fmt::Debug for Definition {
    /// The name alone: types refer to each other.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}
