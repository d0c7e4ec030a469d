//! The table of built-in kinds beside a second description of them, the types of `k8s-openapi`:
//! both find the same keys unknown and the same values mistyped.

use super::*;
use crate::quantity::Quantity;
use k8s_openapi::api::{
    apps::v1::{DaemonSet, Deployment, ReplicaSet, StatefulSet},
    autoscaling::v2::HorizontalPodAutoscaler,
    batch::v1::{CronJob, Job},
    core::v1::{ConfigMap, Pod, Secret, Service, ServiceAccount},
    networking::v1::{Ingress, NetworkPolicy},
    policy::v1::PodDisruptionBudget,
    rbac::v1::{Role, RoleBinding},
    resource::v1::{DeviceClass, ResourceClaim, ResourceClaimTemplate},
};
use serde::de::value::Error;
use serde::de::{
    DeserializeOwned, DeserializeSeed, Deserializer, Error as _, IntoDeserializer as _, MapAccess,
    SeqAccess, Visitor,
};
use serde_json::{Map, Value as Json, json};
use std::cell::Cell;
use std::collections::HashSet;

/// Whether an object fits the type of its kind; none when the kind has no type here.
fn fits(object: &Json) -> Option<bool> {
    Some(match (object["apiVersion"].as_str()?, object["kind"].as_str()?) {
        ("apps/v1", "Deployment") => decodes::<Deployment>(object),
        ("apps/v1", "DaemonSet") => decodes::<DaemonSet>(object),
        ("apps/v1", "ReplicaSet") => decodes::<ReplicaSet>(object),
        ("apps/v1", "StatefulSet") => decodes::<StatefulSet>(object),
        ("autoscaling/v2", "HorizontalPodAutoscaler") => decodes::<HorizontalPodAutoscaler>(object),
        ("batch/v1", "CronJob") => decodes::<CronJob>(object),
        ("batch/v1", "Job") => decodes::<Job>(object),
        ("networking.k8s.io/v1", "NetworkPolicy") => decodes::<NetworkPolicy>(object),
        ("networking.k8s.io/v1", "Ingress") => decodes::<Ingress>(object),
        ("policy/v1", "PodDisruptionBudget") => decodes::<PodDisruptionBudget>(object),
        ("rbac.authorization.k8s.io/v1", "Role") => decodes::<Role>(object),
        ("rbac.authorization.k8s.io/v1", "RoleBinding") => decodes::<RoleBinding>(object),
        ("resource.k8s.io/v1", "DeviceClass") => decodes::<DeviceClass>(object),
        ("resource.k8s.io/v1", "ResourceClaim") => decodes::<ResourceClaim>(object),
        ("resource.k8s.io/v1", "ResourceClaimTemplate") => decodes::<ResourceClaimTemplate>(object),
        ("v1", "ConfigMap") => decodes::<ConfigMap>(object),
        ("v1", "Pod") => decodes::<Pod>(object),
        ("v1", "Secret") => decodes::<Secret>(object),
        ("v1", "Service") => decodes::<Service>(object),
        ("v1", "ServiceAccount") => decodes::<ServiceAccount>(object),
        _ => return None,
    })
}

/// Whether every key has a field, and every value the type of its field.
fn decodes<T: DeserializeOwned>(value: &Json) -> bool {
    let has_unknown = Cell::new(false);
    T::deserialize(Strict { value, has_unknown: &has_unknown }).is_ok() && !has_unknown.get()
}

/// A value that notes the keys for which a struct has no field.
#[derive(Clone, Copy)]
struct Strict<'v> {
    value: &'v Json,
    has_unknown: &'v Cell<bool>,
}

impl<'v> Strict<'v> {
    fn below(self, value: &'v Json) -> Self {
        Self { value, ..self }
    }
}

impl<'de> Deserializer<'de> for Strict<'_> {
    type Error = Error;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        match self.value {
            Json::Null => visitor.visit_unit(),
            Json::Bool(value) => visitor.visit_bool(*value),
            Json::Number(number) => match (number.as_i64(), number.as_u64()) {
                (Some(number), _) => visitor.visit_i64(number),
                (_, Some(number)) => visitor.visit_u64(number),
                _ => visitor.visit_f64(number.as_f64().unwrap_or_default()),
            },
            Json::String(text) => visitor.visit_str(text),
            Json::Array(items) => visitor.visit_seq(Elements { rest: items.iter(), above: self }),
            Json::Object(map) => {
                visitor.visit_map(Entries { rest: map.iter(), value: None, above: self })
            }
        }
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        if self.value.is_null() { visitor.visit_none() } else { visitor.visit_some(self) }
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        visitor: V,
    ) -> Result<V::Value, Error> {
        // The type of an amount holds any text.
        let text = self.value.as_str().filter(|_| name == "Quantity");
        if text.is_some_and(|text| Quantity::parse_field(text).is_err()) {
            return Err(Error::custom("no quantity"));
        }
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Error> {
        let entries = self.value.as_object().into_iter().flatten();
        let mut written = entries.filter(|(_, value)| !value.is_null());
        if written.any(|(key, _)| !fields.contains(&key.as_str())) {
            self.has_unknown.set(true);
        }
        self.deserialize_any(visitor)
    }

    fn deserialize_ignored_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        visitor.visit_unit()
    }

    serde::forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf unit
        unit_struct seq tuple tuple_struct map enum identifier
    }
}

struct Elements<'v> {
    rest: std::slice::Iter<'v, Json>,
    above: Strict<'v>,
}

impl<'de> SeqAccess<'de> for Elements<'_> {
    type Error = Error;

    fn next_element_seed<T: DeserializeSeed<'de>>(
        &mut self,
        seed: T,
    ) -> Result<Option<T::Value>, Error> {
        self.rest.next().map(|value| seed.deserialize(self.above.below(value))).transpose()
    }
}

struct Entries<'v> {
    rest: serde_json::map::Iter<'v>,
    value: Option<&'v Json>,
    above: Strict<'v>,
}

impl<'de> MapAccess<'de> for Entries<'_> {
    type Error = Error;

    fn next_key_seed<K: DeserializeSeed<'de>>(
        &mut self,
        seed: K,
    ) -> Result<Option<K::Value>, Error> {
        let Some((key, value)) = self.rest.next() else { return Ok(None) };
        self.value = Some(value);
        seed.deserialize(key.as_str().into_deserializer()).map(Some)
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value, Error> {
        let value = self.value.take().expect("a value follows its key");
        seed.deserialize(self.above.below(value))
    }
}

/// Objects that differ from the given one at one place: a key with another name, or a value of
/// another type. Each place of a kind is changed in its first object alone; `seen` has those of
/// earlier ones.
fn with_one_change(object: &Json, seen: &mut HashSet<String>) -> Vec<Json> {
    fn places(value: &Json, at: &mut Vec<String>, found: &mut Vec<Vec<String>>) {
        if !at.is_empty() {
            found.push(at.clone());
        }
        let below: Vec<(String, &Json)> = match value {
            Json::Array(items) => {
                items.iter().enumerate().map(|(index, item)| (index.to_string(), item)).collect()
            }
            Json::Object(map) => map.iter().map(|(key, item)| (key.clone(), item)).collect(),
            _ => Vec::new(),
        };
        for (key, item) in below {
            at.push(key.replace('~', "~0").replace('/', "~1"));
            places(item, at, found);
            at.pop();
        }
    }
    let mut found = Vec::new();
    places(object, &mut Vec::new(), &mut found);
    let other = [
        json!(true),
        json!(7),
        json!(7.5),
        json!(99_999_999_999_i64),
        json!("text"),
        json!(["text"]),
        json!([{}]),
        json!({}),
        json!({ "text": 7 }),
    ];
    let mut changed = Vec::new();
    for place in found.iter().filter(|place| !matches!(place[0].as_str(), "apiVersion" | "kind")) {
        let is_name = |step: &&String| step.parse::<usize>().is_err();
        let names: Vec<&str> = place.iter().filter(is_name).map(String::as_str).collect();
        if !seen.insert(format!("{} {}", object["kind"], names.join("."))) {
            continue;
        }
        let pointer = format!("/{}", place.join("/"));
        for value in &other {
            let mut object = object.clone();
            *object.pointer_mut(&pointer).expect("it is there") = value.clone();
            changed.push(object);
        }
        let (key, above) = place.split_last().expect("it is not the root");
        let mut object = object.clone();
        let above = above.iter().fold(String::new(), |path, key| path + "/" + key);
        if let Some(Json::Object(map)) = object.pointer_mut(&above) {
            let key = key.replace("~1", "/").replace("~0", "~");
            // A decoder of structs skips a null under any name; the server rejects the name.
            let Some(value) = map.shift_remove(&key).filter(|value| !value.is_null()) else {
                continue;
            };
            map.insert(format!("{key}x"), value);
            changed.push(object);
        }
    }
    changed
}

/// What the table of its kind finds wrong with an object; none when the kind has no table.
fn errors(object: &Json) -> Option<Vec<String>> {
    let mut findings = Vec::new();
    let schema = schema_of(object)?;
    schema.check(&node(object), Strictness::Server, &SourceMap::new(), &mut findings);
    findings.retain(|finding| finding.severity == Severity::Error);
    Some(findings.into_iter().map(|finding| finding.message).collect())
}

#[test]
#[expect(clippy::disallowed_methods, reason = "tests read their cases")]
fn tables_and_types_of_built_in_kinds_agree() {
    let table = [
        concat!(env!("CARGO_MANIFEST_DIR"), "/testdata/accept.jsonl"),
        concat!(env!("CARGO_MANIFEST_DIR"), "/testdata/accept-read.jsonl"),
    ];
    let table = table.map(|path| std::fs::read_to_string(path).unwrap()).concat();
    let rows = recordings::lines("apimachinery/object-validation");
    let rows = rows.iter().map(String::as_str).chain(table.lines());
    let mut seen = HashSet::new();
    let (mut judged, mut wrong) = (0, Vec::new());
    for row in rows {
        let row: Map<String, Json> = serde_json::from_str(row).unwrap();
        // Keys that two elements of a list share are an error to the table alone.
        if !errors(&row["object"]).is_some_and(|errors| errors.is_empty()) {
            continue;
        }
        for object in with_one_change(&row["object"], &mut seen) {
            let (Some(found), Some(expected)) = (errors(&object), fits(&object)) else { continue };
            judged += 1;
            if found.is_empty() != expected {
                wrong.push(format!("{object}\n  fits: {expected}, found {found:?}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{} of {judged} differ\n{}", wrong.len(), wrong.join("\n"));
    assert!(judged > 9_000, "{judged}");
}
