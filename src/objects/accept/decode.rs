//! Built-in objects decoded through their types.
//!
//! A tree is handed to serde as it is, without a text in between. A key without a field or a value
//! of another type makes the object unfit; the schema then finds which one it was. All texts but
//! `apiVersion` and `kind` are handed over empty: the decoded object is dropped, and copying them
//! would be most of the work.

use crate::quantity::Quantity;
use crate::yaml::{Entry, Node, Value};
use k8s_openapi::api::{
    apps::v1::{Deployment, StatefulSet},
    autoscaling::v2::HorizontalPodAutoscaler,
    batch::v1::Job,
    core::v1::{ConfigMap, PodSpec, Secret, Service, ServiceAccount},
    networking::v1::Ingress,
    policy::v1::PodDisruptionBudget,
    rbac::v1::{Role, RoleBinding},
};
use serde::de::{
    DeserializeOwned, DeserializeSeed, Deserializer, Error as _, IntoDeserializer, MapAccess,
    SeqAccess, Visitor,
};
use std::cell::Cell;
use std::fmt;

/// Whether an object of a built-in kind fits its type; none when the kind is not built in.
pub(super) fn fits(object: &Node) -> Option<bool> {
    let text = |key: &str| object.get(key).and_then(Node::as_str).unwrap_or_default();
    Some(match (text("apiVersion"), text("kind")) {
        ("apps/v1", "Deployment") => decodes::<Deployment>(object),
        ("apps/v1", "StatefulSet") => decodes::<StatefulSet>(object),
        ("autoscaling/v2", "HorizontalPodAutoscaler") => decodes::<HorizontalPodAutoscaler>(object),
        ("batch/v1", "Job") => decodes::<Job>(object),
        ("networking.k8s.io/v1", "Ingress") => decodes::<Ingress>(object),
        ("policy/v1", "PodDisruptionBudget") => decodes::<PodDisruptionBudget>(object),
        ("rbac.authorization.k8s.io/v1", "Role") => decodes::<Role>(object),
        ("rbac.authorization.k8s.io/v1", "RoleBinding") => decodes::<RoleBinding>(object),
        ("v1", "ConfigMap") => decodes::<ConfigMap>(object),
        ("v1", "Secret") => decodes::<Secret>(object),
        ("v1", "Service") => decodes::<Service>(object),
        ("v1", "ServiceAccount") => decodes::<ServiceAccount>(object),
        _ => return None,
    })
}

/// Whether a tree is a pod spec.
pub(super) fn is_pod_spec(spec: &Node) -> bool {
    decodes::<PodSpec>(spec)
}

fn decodes<T: DeserializeOwned>(node: &Node) -> bool {
    let unknown = Cell::new(false);
    T::deserialize(Decoder { node, depth: 0, unknown: &unknown }).is_ok() && !unknown.get()
}

/// A key or a value did not fit.
#[derive(Debug)]
struct Unfit;

impl fmt::Display for Unfit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("does not fit")
    }
}

impl std::error::Error for Unfit {}

impl serde::de::Error for Unfit {
    fn custom<T: fmt::Display>(_: T) -> Self {
        Self
    }
}

/// A tree as serde reads it.
#[derive(Clone, Copy)]
struct Decoder<'n> {
    node: &'n Node,
    depth: u32,
    /// Set when a struct has no field for a key.
    unknown: &'n Cell<bool>,
}

impl<'n> Decoder<'n> {
    fn below(self, node: &'n Node) -> Self {
        Self { node, depth: self.depth + 1, unknown: self.unknown }
    }
}

impl<'de> Deserializer<'de> for Decoder<'_> {
    type Error = Unfit;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Unfit> {
        match &self.node.value {
            Value::Null => visitor.visit_unit(),
            Value::Bool(value) => visitor.visit_bool(*value),
            Value::Int(number) => visitor.visit_i64(*number),
            Value::Big(number) => visitor.visit_u64(*number),
            Value::Float(number) => visitor.visit_f64(*number),
            Value::Str(text) => visitor.visit_str(if self.depth == 1 { text } else { "" }),
            Value::List(items) => visitor.visit_seq(Elements { rest: items.iter(), above: self }),
            Value::Map(map) => {
                visitor.visit_map(Entries { rest: map.iter(), value: None, above: self })
            }
        }
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Unfit> {
        if self.node.is_null() { visitor.visit_none() } else { visitor.visit_some(self) }
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        visitor: V,
    ) -> Result<V::Value, Unfit> {
        // To serde every amount is a text.
        if name == "Quantity"
            && self.node.scalar_text().is_some_and(|text| Quantity::parse_field(&text).is_err())
        {
            return Err(Unfit);
        }
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Unfit> {
        if self
            .node
            .entries()
            .any(|entry| !entry.node.is_null() && !fields.contains(&entry.key.as_str()))
        {
            self.unknown.set(true);
        }
        self.deserialize_any(visitor)
    }

    fn deserialize_ignored_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Unfit> {
        visitor.visit_unit()
    }

    serde::forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf unit unit_struct seq tuple tuple_struct map enum identifier
    }
}

struct Elements<'n> {
    rest: std::slice::Iter<'n, Node>,
    above: Decoder<'n>,
}

impl<'de> SeqAccess<'de> for Elements<'_> {
    type Error = Unfit;

    fn next_element_seed<T: DeserializeSeed<'de>>(
        &mut self,
        seed: T,
    ) -> Result<Option<T::Value>, Unfit> {
        self.rest.next().map(|node| seed.deserialize(self.above.below(node))).transpose()
    }

    fn size_hint(&self) -> Option<usize> {
        Some(self.rest.len())
    }
}

struct Entries<'n> {
    rest: std::slice::Iter<'n, Entry>,
    value: Option<&'n Node>,
    above: Decoder<'n>,
}

impl<'de> MapAccess<'de> for Entries<'_> {
    type Error = Unfit;

    fn next_key_seed<K: DeserializeSeed<'de>>(
        &mut self,
        seed: K,
    ) -> Result<Option<K::Value>, Unfit> {
        let Some(entry) = self.rest.next() else { return Ok(None) };
        self.value = Some(&entry.node);
        seed.deserialize(entry.key.as_str().into_deserializer()).map(Some)
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value, Unfit> {
        let node = self.value.take().ok_or_else(|| Unfit::custom("a value without a key"))?;
        seed.deserialize(self.above.below(node))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::objects::testing::parse;

    #[test]
    fn unknown_and_mistyped_fields_do_not_fit_their_type() {
        let pod = |extra: &str| {
            format!(
                r#"{{"apiVersion":"apps/v1","kind":"Deployment","spec":{{"selector":{{}},"template":{{"spec":{{"containers":[{{"name":"a"{extra}}}]}}}}}}}}"#
            )
        };
        for (object, expected) in [
            (pod(""), true),
            (
                pod(
                    r#","ports":[{"containerPort":8080}],"resources":{"limits":{"cpu":"1","nvidia.com/gpu":2}}"#,
                ),
                true,
            ),
            (pod(r#","image":null"#), true),
            (pod(r#","imagee":"x""#), false),
            (pod(r#","args":"--x""#), false),
            (pod(r#","env":[{"name":"A","value":5}]"#), false),
            (pod(r#","ports":[{"containerPort":99999999999}]"#), false),
            (pod(r#","readinessProbe":{"httpGet":{"port":true}}"#), false),
        ] {
            assert_eq!(fits(&parse(&object)), Some(expected), "{object}");
        }
        assert_eq!(
            fits(&parse(r#"{"apiVersion":"keda.sh/v1alpha1","kind":"ScaledObject"}"#)),
            None
        );
    }
}
