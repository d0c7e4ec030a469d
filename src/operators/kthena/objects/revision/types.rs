//! The Go declarations that a revision is printed by.

use crate::operators::kthena::rules::RoleStruct;
use std::collections::BTreeMap;
use std::sync::OnceLock;

/// A Go struct.
pub(super) struct Struct {
    /// Fields in the order of their declaration.
    pub(super) fields: Vec<Field>,
}

/// A field of a Go struct.
pub(super) struct Field {
    /// Name in Go.
    pub(super) name: String,
    /// Key in JSON; none of an embedded struct.
    pub(super) json: Option<&'static str>,
    /// Type as go-spew prints it.
    pub(super) spelled: &'static str,
    /// How its value is printed.
    pub(super) kind: Kind,
    /// k8s.io/api v0.33 does not have it.
    pub(super) recent: bool,
}

/// How a value is printed.
pub(super) enum Kind {
    /// `<nil>` or the value behind the pointer.
    Pointer(Box<Self>),
    List(Box<Self>),
    /// A map with text as key.
    Map(Box<Self>),
    /// A struct of the table.
    Struct(&'static str),
    /// A string of whatever name.
    Text,
    Bytes,
    Integer,
    Bool,
    /// `resource.Quantity`.
    Quantity,
    /// `intstr.IntOrString`.
    IntOrString,
    /// `metav1.Time`.
    Time,
}

type Table = BTreeMap<&'static str, Struct>;

static TABLE: OnceLock<Table> = OnceLock::new();
static EMPTY: Struct = Struct { fields: Vec::new() };

fn table() -> &'static Table {
    TABLE.get_or_init(|| read(include_str!("go_types.txt")))
}

/// A struct of the table.
pub(super) fn structure(name: &str) -> &'static Struct {
    table().get(name).unwrap_or(&EMPTY)
}

/// The struct of a role as a release declares it.
pub(super) fn role(declared: RoleStruct) -> &'static Struct {
    structure(match declared {
        RoleStruct::V0_1 | RoleStruct::V0_4 => "v1alpha1.Role@v0.4.0",
        RoleStruct::V1_0 => "v1alpha1.Role@v1.0.0",
        RoleStruct::Head => "v1alpha1.Role",
    })
}

fn read(text: &'static str) -> Table {
    let lines = || text.lines().filter(|line| !line.starts_with('#'));
    let names: Vec<&str> = lines().filter(|line| !line.starts_with(' ')).collect();
    let mut table = Table::new();
    // Fields are indented below the name of their struct.
    let mut current = "";
    for line in lines() {
        match line.strip_prefix(' ').and_then(|field| field.split_once(' ')) {
            Some((key, spelled)) => {
                let field = field(key, spelled, &names);
                table
                    .entry(current)
                    .or_insert_with(|| Struct { fields: Vec::new() })
                    .fields
                    .push(field);
            }
            None => current = line,
        }
    }
    table
}

fn field(key: &'static str, spelled: &'static str, names: &[&'static str]) -> Field {
    let kind = kind(spelled, names);
    let (key, recent) = key.strip_prefix('+').map_or((key, false), |key| (key, true));
    // An embedded struct: Go calls the field after its type.
    if key == "-" {
        let name = spelled.rsplit('.').next().unwrap_or(spelled);
        return Field { name: name.to_owned(), json: None, spelled, kind, recent };
    }
    let (json, name) = match key.split_once('=') {
        Some((json, name)) => (json, name.to_owned()),
        None => (key, key[..1].to_ascii_uppercase() + &key[1..]),
    };
    Field { name, json: Some(json), spelled, kind, recent }
}

fn kind(spelled: &'static str, names: &[&'static str]) -> Kind {
    let boxed = |inner: &'static str| Box::new(kind(inner, names));
    if let Some(inner) = spelled.strip_prefix('*') {
        return Kind::Pointer(boxed(inner));
    }
    if spelled == "[]uint8" {
        return Kind::Bytes;
    }
    if let Some(inner) = spelled.strip_prefix("[]") {
        return Kind::List(boxed(inner));
    }
    if let Some(inner) = spelled.strip_prefix("map[string]") {
        return Kind::Map(boxed(inner));
    }
    match spelled {
        "v1.ResourceList" => Kind::Map(Box::new(Kind::Quantity)),
        "resource.Quantity" => Kind::Quantity,
        "intstr.IntOrString" => Kind::IntOrString,
        "v1.Time" => Kind::Time,
        "bool" => Kind::Bool,
        "int32" | "int64" | "uint32" | "time.Duration" => Kind::Integer,
        name => {
            names.iter().find(|names| **names == name).map_or(Kind::Text, |name| Kind::Struct(name))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn struct_table_entries_have_fields_and_roles_match_each_release() {
        assert!(table().len() > 100, "{}", table().len());
        assert!(table().values().all(|structure| !structure.fields.is_empty()));
        let common = ["Name", "Replicas", "EntryTemplate", "WorkerReplicas", "WorkerTemplate"];
        for (declared, last) in [
            (RoleStruct::V0_1, None),
            (RoleStruct::V0_4, None),
            (RoleStruct::V1_0, Some("MaxUnavailable")),
            (RoleStruct::Head, Some("RollingUpdateConfiguration")),
        ] {
            let fields = &role(declared).fields;
            let names: Vec<&str> = fields.iter().map(|field| field.name.as_str()).collect();
            assert_eq!(names, common.into_iter().chain(last).collect::<Vec<_>>(), "{declared:?}");
        }
    }
}
