//! Values in templates, with Go's types and Go's printed form.

use super::error::{Failure, Kind};
use super::quote;
use crate::schema::Type;
use crate::yaml::{Node, Value as Tree};
use ecow::{EcoString, eco_format};
use std::collections::BTreeMap;
use std::fmt::Write;
use std::rc::Rc;

/// The finalizer that the controllers of OME and KServe both add to a service before they expand it
/// (pkg/controller/v1beta1/inferenceservice/controller.go, Reconcile).
const FINALIZER: &str = "inferenceservice.finalizers";

/// Labels or annotations; Go prints and iterates over them in byte order of the keys.
pub type Pairs<'a> = BTreeMap<&'a str, &'a str>;

/// Assumption about metadata that only the API server sets, when the object does not contain it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ServerFields {
    /// Unknown: a template that reads it is rejected.
    #[default]
    Unknown,
    /// The object was never stored: each field has Go's zero value.
    Unset,
}

/// The part of a service's metadata that templates can read.
#[derive(Clone, Debug, Default)]
pub struct Metadata<'a> {
    /// `metadata.name`.
    pub name: &'a str,
    /// `metadata.namespace`; the caller sets the default.
    pub namespace: &'a str,
    /// `metadata.generateName`; empty when absent.
    pub generate_name: &'a str,
    /// `metadata.uid` of an object from a cluster.
    pub uid: Option<&'a str>,
    /// `metadata.resourceVersion` of an object from a cluster.
    pub resource_version: Option<&'a str>,
    /// `metadata.generation` of an object from a cluster.
    pub generation: Option<i64>,
    /// `metadata.creationTimestamp` of an object from a cluster.
    pub created: Option<&'a str>,
    /// `metadata.ownerReferences`.
    pub owners: Vec<Owner<'a>>,
    /// `metadata.finalizers`.
    pub finalizers: Vec<&'a str>,
    /// `metadata.labels`.
    pub labels: Pairs<'a>,
    /// `metadata.annotations`.
    pub annotations: Pairs<'a>,
    /// Assumption about UID, timestamps, generation and similar fields.
    pub server: ServerFields,
}

/// An entry of `metadata.ownerReferences`.
#[derive(Clone, Debug, Default)]
pub struct Owner<'a> {
    texts: [&'a str; 4],
    flags: [Option<bool>; 2],
}

/// Fields of `OwnerReference` in Go's order: the texts, then the booleans.
const OWNER_FIELDS: [&str; 6] =
    ["APIVersion", "Kind", "Name", "UID", "Controller", "BlockOwnerDeletion"];

impl<'a> Owner<'a> {
    fn of(owner: &'a Node) -> Self {
        let text = |key| owner.get(key).and_then(Node::as_str).unwrap_or_default();
        let flag = |key| owner.get(key).and_then(Node::as_bool);
        Self {
            texts: ["apiVersion", "kind", "name", "uid"].map(text),
            flags: ["controller", "blockOwnerDeletion"].map(flag),
        }
    }

    /// Returns a field by its Go name.
    pub(super) fn field(&self, name: &str) -> Option<Value<'static>> {
        let index = OWNER_FIELDS.iter().position(|field| *field == name)?;
        Some(match index.checked_sub(self.texts.len()) {
            None => Value::Str(self.texts[index].into()),
            Some(index) => self.flags[index].map_or(Value::Nil("*bool"), Value::Bool),
        })
    }

    fn print(&self) -> Result<EcoString, Failure> {
        if self.flags.iter().any(Option::is_some) {
            let message = "Go prints where the flags of an owner are in memory";
            return Err(Failure::new(Kind::UnknownAtPlanTime, message));
        }
        let [version, kind, name, uid] = self.texts;
        Ok(eco_format!("{{{version} {kind} {name} {uid} <nil> <nil>}}"))
    }
}

impl<'a> Metadata<'a> {
    /// Reads the metadata of a service, with the finalizer that its controller adds before it
    /// expands templates.
    pub fn of_service(object: &'a Node) -> Self {
        let mut metadata = Self::of(object);
        // A service from a cluster has it already.
        if !metadata.finalizers.contains(&FINALIZER) {
            metadata.finalizers.push(FINALIZER);
        }
        metadata
    }

    /// Reads the metadata of an object of another kind, in its namespace.
    pub fn of_object(object: &'a Node, namespace: &'a str) -> Self {
        Self { namespace, ..Self::of(object) }
    }

    /// Reads the metadata of an object from its tree. Leaves out labels that are not text; the
    /// schema check reports them.
    pub(super) fn of(object: &'a Node) -> Self {
        let items = |key: &str| object.at(&["metadata", key]).into_iter().flat_map(Node::items);
        let stated = |key: &str| {
            object.at(&["metadata", key]).and_then(Node::as_str).filter(|text| !text.is_empty())
        };
        let text =
            |key: &str| object.at(&["metadata", key]).and_then(Node::as_str).unwrap_or_default();
        let pairs = |key: &str| -> Pairs<'a> {
            let entries = object.at(&["metadata", key]).into_iter().flat_map(Node::entries);
            entries.filter_map(|entry| Some((entry.key.as_str(), entry.node.as_str()?))).collect()
        };
        Self {
            name: text("name"),
            namespace: text("namespace"),
            generate_name: text("generateName"),
            uid: stated("uid"),
            resource_version: stated("resourceVersion"),
            generation: object.at(&["metadata", "generation"]).and_then(Node::as_int),
            created: stated("creationTimestamp"),
            owners: items("ownerReferences").map(Owner::of).collect(),
            finalizers: items("finalizers").filter_map(Node::as_str).collect(),
            labels: pairs("labels"),
            annotations: pairs("annotations"),
            server: ServerFields::Unknown,
        }
    }
}

impl<'a> Metadata<'a> {
    /// Returns a field that the server or a controller sets. The object is assumed not to be in
    /// deletion.
    fn of_server(&'a self, name: &str) -> Result<Value<'a>, Failure> {
        let text = |text: &str| Value::Str(text.into());
        let found = match name {
            "SelfLink" => Some(text("")),
            "UID" => self.uid.map(text),
            "ResourceVersion" => self.resource_version.map(text),
            "Generation" => self.generation.map(Value::Int),
            "CreationTimestamp" => self.created.and_then(printed_time).map(Value::Time),
            // A service in deletion is not reconciled.
            "DeletionTimestamp" => Some(Value::Nil("*v1.Time")),
            "DeletionGracePeriodSeconds" => Some(Value::Nil("*int64")),
            "OwnerReferences" => {
                let owners = self.owners.iter().map(Value::Owner).collect();
                Some(Value::List("[]v1.OwnerReference", owners))
            }
            "Finalizers" => {
                let finalizers = self.finalizers.iter().map(|name| text(name)).collect();
                Some(Value::List("[]string", finalizers))
            }
            _ => None,
        };
        match (found, self.server) {
            (Some(found), _) => Ok(found),
            (None, ServerFields::Unknown) => {
                let message = format!(
                    "`{name}` is set by the cluster and unknown before the object is there"
                );
                Err(Failure::new(Kind::UnknownAtPlanTime, message))
            }
            (None, ServerFields::Unset) => Ok(match name {
                "Generation" => Value::Int(0),
                "CreationTimestamp" => Value::Time("0001-01-01 00:00:00 +0000 UTC".into()),
                "ManagedFields" => Value::List("[]v1.ManagedFieldsEntry", [].into()),
                _ => text(""),
            }),
        }
    }
}

/// Converts a time of the API server (`2026-01-31T12:00:00Z`) to the form that Go prints with UTC
/// as local time zone.
fn printed_time(written: &str) -> Option<EcoString> {
    let (date, time) = written.strip_suffix('Z')?.split_once('T')?;
    // The server writes whole seconds in UTC.
    (date.len() == 10 && time.len() == 8).then(|| eco_format!("{date} {time} +0000 UTC"))
}

/// The values that a domain template can read
/// (pkg/controller/v1beta1/inferenceservice/reconcilers/ingress/services).
#[derive(Clone, Debug, Default)]
pub struct DomainValues<'a> {
    /// The component's name, already shortened to 63 characters if the controller does so.
    pub name: &'a str,
    /// The namespace.
    pub namespace: &'a str,
    /// The ingress domain of the effective ingress configuration.
    pub ingress_domain: &'a str,
    /// Annotations of the component or service.
    pub annotations: Pairs<'a>,
    /// Labels of the component or service.
    pub labels: Pairs<'a>,
}

/// The initial value of a template.
#[derive(Clone, Copy, Debug)]
pub(super) enum Root<'a> {
    Metadata(&'a Metadata<'a>),
    Domain(&'a DomainValues<'a>),
    Path {
        name: &'a str,
        namespace: &'a str,
    },
    Object(&'a ObjectValues<'a>),
    /// The settings beside an object.
    Settings(&'a ObjectValues<'a>),
}

/// Fields of `ObjectMeta` in Go's order.
const METADATA_FIELDS: [&str; 15] = [
    "Name",
    "GenerateName",
    "Namespace",
    "SelfLink",
    "UID",
    "ResourceVersion",
    "Generation",
    "CreationTimestamp",
    "DeletionTimestamp",
    "DeletionGracePeriodSeconds",
    "Labels",
    "Annotations",
    "OwnerReferences",
    "Finalizers",
    "ManagedFields",
];

/// Reports whether `ObjectMeta` has a field with this name.
pub(super) fn is_metadata_field(name: &str) -> bool {
    METADATA_FIELDS.contains(&name)
}

impl<'a> Root<'a> {
    /// Returns the fields in Go's order.
    pub(super) fn fields(self) -> &'static [&'static str] {
        match self {
            Self::Metadata(_) => &METADATA_FIELDS,
            Self::Domain(_) => &["Name", "Namespace", "IngressDomain", "Annotations", "Labels"],
            Self::Path { .. } => &["Name", "Namespace"],
            Self::Object(_) => &["ObjectMeta", "Spec", "GlobalConfig"],
            Self::Settings(values) => values.setting_names,
        }
    }

    /// Returns a field by its Go name; `None` when the type has no such field.
    pub(super) fn field(self, name: &str) -> Option<Result<Value<'a>, Failure>> {
        let text = |text: &str| Value::Str(text.into());
        Some(Ok(match (self, name) {
            (Self::Metadata(metadata), "Name") => text(metadata.name),
            (Self::Metadata(metadata), "Namespace") => text(metadata.namespace),
            (Self::Metadata(metadata), "GenerateName") => text(metadata.generate_name),
            (Self::Metadata(metadata), "Labels") => Value::Map(&metadata.labels),
            (Self::Metadata(metadata), "Annotations") => Value::Map(&metadata.annotations),
            (Self::Metadata(metadata), _) if is_metadata_field(name) => {
                return Some(metadata.of_server(name));
            }
            (Self::Domain(values), "Name") => text(values.name),
            (Self::Domain(values), "Namespace") => text(values.namespace),
            (Self::Domain(values), "IngressDomain") => text(values.ingress_domain),
            (Self::Domain(values), "Labels") => Value::Map(&values.labels),
            (Self::Domain(values), "Annotations") => Value::Map(&values.annotations),
            (Self::Path { name, .. }, "Name") => text(name),
            (Self::Path { namespace, .. }, "Namespace") => text(namespace),
            (Self::Object(values), "ObjectMeta") => Value::Root(Root::Metadata(&values.metadata)),
            (Self::Object(values), "GlobalConfig") => Value::Root(Root::Settings(values)),
            (Self::Object(values), "Spec") => Value::Struct(values.spec),
            (Self::Object(values), "Kind") => text(values.kind),
            (Self::Object(values), "APIVersion") => text(values.api_version),
            (Self::Object(_), "Status" | "TypeMeta") => {
                let message = format!("`{name}` is written by the controller and unknown offline");
                return Some(Err(Failure::new(Kind::UnknownAtPlanTime, message)));
            }
            (Self::Object(values), _) => return Root::Metadata(&values.metadata).field(name),
            (Self::Settings(values), _) => values.setting(name)?,
            _ => return None,
        }))
    }
}

/// A value during execution.
#[derive(Clone, Debug)]
pub(super) enum Value<'a> {
    /// Go's invalid value: a missing map key, the result of a template without data, `nil`.
    Absent,
    /// A nil pointer of the named type.
    Nil(&'static str),
    Bool(bool),
    Int(i64),
    /// A byte of a text.
    Byte(u8),
    Float(f64),
    Imaginary(f64),
    Str(EcoString),
    Map(&'a Pairs<'a>),
    /// A list of the named type.
    List(&'static str, Rc<[Value<'a>]>),
    /// A struct of `ownerReferences`.
    Owner(&'a Owner<'a>),
    /// A time in printed form.
    Time(EcoString),
    Root(Root<'a>),
    /// A struct of an object, or a pointer to one.
    Struct(Struct<'a>),
    /// A pointer that is not nil, to a scalar.
    Pointer(Rc<Value<'a>>),
}

impl Value<'_> {
    /// Returns Go's type name of the value.
    pub(super) fn type_name(&self) -> &'static str {
        match self {
            Self::Absent => "<nil>",
            Self::Nil(name) | Self::List(name, _) => name,
            Self::Bool(_) => "bool",
            Self::Int(_) => "int",
            Self::Byte(_) => "uint8",
            Self::Float(_) => "float64",
            Self::Imaginary(_) => "complex128",
            Self::Str(_) => "string",
            Self::Map(_) => "map[string]string",
            Self::Owner(_) => "v1.OwnerReference",
            Self::Time(_) => "v1.Time",
            Self::Root(Root::Metadata(_)) => "v1.ObjectMeta",
            Self::Root(Root::Domain(_)) => "services.DomainTemplateValues",
            Self::Root(Root::Path { .. }) => "services.PathTemplateValues",
            Self::Root(Root::Object(values)) => values.type_name,
            Self::Root(Root::Settings(_)) => "llmisvc.templateGlobalConfig",
            Self::Struct(fields) => fields.type_name(),
            Self::Pointer(value) => match **value {
                Value::Str(_) => "*string",
                Value::Bool(_) => "*bool",
                _ => "*int32",
            },
        }
    }

    /// Reports whether it is a struct with this field.
    pub(super) fn has_field(&self, name: &str) -> bool {
        match self {
            Self::Owner(_) => OWNER_FIELDS.contains(&name),
            Self::Root(root) => root.fields().contains(&name),
            Self::Struct(fields) => fields.has(name),
            _ => false,
        }
    }

    /// Reports whether the value counts as true in `if`.
    pub(super) fn is_true(&self) -> bool {
        match self {
            Self::Absent | Self::Nil(_) => false,
            Self::Bool(value) => *value,
            Self::Int(number) => *number != 0,
            Self::Byte(number) => *number != 0,
            Self::Float(number) | Self::Imaginary(number) => *number != 0.0,
            Self::Str(text) => !text.is_empty(),
            Self::Map(pairs) => !pairs.is_empty(),
            Self::List(_, items) => !items.is_empty(),
            Self::Owner(_) | Self::Time(_) | Self::Root(_) | Self::Pointer(_) => true,
            Self::Struct(fields) => !fields.is_nil(),
        }
    }

    /// Returns the integer of either integer type.
    pub(super) fn as_int(&self) -> Option<i64> {
        match self {
            Self::Int(number) => Some(*number),
            Self::Byte(number) => Some(i64::from(*number)),
            _ => None,
        }
    }

    /// Prints the value like `%v`.
    ///
    /// # Errors
    /// When the value contains a field that is unknown before the object exists.
    pub(super) fn print(&self) -> Result<EcoString, Failure> {
        Ok(match self {
            Self::Absent | Self::Nil(_) => "<nil>".into(),
            Self::Bool(value) => eco_format!("{value}"),
            Self::Int(number) => eco_format!("{number}"),
            Self::Byte(number) => eco_format!("{number}"),
            Self::Float(number) => quote::float(*number).into(),
            Self::Imaginary(number) => eco_format!(
                "(0{}{}i)",
                if number.is_sign_negative() { "" } else { "+" },
                quote::float(*number)
            ),
            Self::Str(text) => text.clone(),
            Self::Map(pairs) => {
                let mut out = EcoString::from("map[");
                for (position, (key, value)) in pairs.iter().enumerate() {
                    // Writing to a string cannot fail.
                    let _ = write!(out, "{}{key}:{value}", if position > 0 { " " } else { "" });
                }
                out.push(']');
                out
            }
            Self::List(_, items) => {
                let printed = items.iter().map(Value::print).collect::<Result<Vec<_>, _>>()?;
                eco_format!("[{}]", printed.join(" "))
            }
            Self::Owner(owner) => owner.print()?,
            Self::Time(printed) => printed.clone(),
            Self::Pointer(value) => value.print()?,
            Self::Struct(fields) if fields.is_nil() => "<nil>".into(),
            Self::Struct(_) => {
                let message =
                    "a whole struct is not printed here: Go prints where its pointers are";
                return Err(Failure::new(Kind::UnknownAtPlanTime, message));
            }
            Self::Root(root) => {
                let fields = root.fields().iter().filter_map(|name| root.field(name));
                let printed = fields
                    .map(|field| field.and_then(|value| value.print()))
                    .collect::<Result<Vec<_>, _>>()?;
                eco_format!("{{{}}}", printed.join(" "))
            }
        })
    }
}

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
    pub(super) node: Option<&'a Node>,
    ty: &'static Type,
    pointer: bool,
    /// Go's type.
    pub(super) name: &'static str,
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

pub(super) const POD: &str = "*v1.PodSpec";

pub(super) const KV_CACHE: &str = "*v1alpha2.KVCacheOffloadingSpec";

/// Whether a JSON name is that of a Go field.
fn is_named(json: &str, go: &str) -> bool {
    // Go writes initials in capitals, so the first letter alone does not do.
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
        // `has` is asked before, with Go's error for a field that the type lacks.
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
            let existing = TYPES.iter().find(|(name, _)| *name == go);
            let name = existing.map_or("*v1alpha2.Spec", |(_, name)| name);
            // The model is a struct; every other one of the specification is a pointer.
            Value::Struct(Struct { node, ty, pointer: pointer && go != "Model", name })
        }
        (Type::Str(_), Some(Tree::Str(text))) => pointed(Value::Str(text.clone())),
        // Without a pointer Go cannot tell an unset field from its zero value.
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
        let text = self.texts.iter().find(|(text, _)| *text == name);
        text.map(|(_, text)| Value::Str(text.clone())).or_else(|| {
            let switch = self.switches.iter().find(|(switch, _)| *switch == name);
            switch.map(|(_, switch)| Value::Bool(*switch))
        })
    }
}
