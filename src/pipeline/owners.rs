//! Finds objects that two services write, each in its own way.
//!
//! In: what each service writes, service by service. Out: a finding for every object that an
//! earlier service writes differently. This module keeps no object.

use super::identity;
use crate::api::Object;
use crate::diag::{Code, Diagnostic, Severity};
use crate::source::Span;
use crate::yaml::Node;
use ecow::EcoString;
use std::collections::{BTreeSet, HashMap};
use std::hash::{DefaultHasher, Hash, Hasher};

/// A number for an object, whatever its content.
pub(crate) fn key(object: &Node) -> u64 {
    let version = object.get("apiVersion").and_then(Node::as_str).unwrap_or_default();
    digest((version, identity(object)))
}

fn digest(value: impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    value.hash(&mut hasher);
    hasher.finish()
}

/// The positions of the services that write an object that another one writes as well, by the
/// [`key`]s of what each of them writes. Only these need to be compared.
pub(crate) fn sharing(written: &[Vec<u64>]) -> BTreeSet<usize> {
    let mut first: HashMap<u64, usize> = HashMap::new();
    let mut sharing = BTreeSet::new();
    for (service, keys) in written.iter().enumerate() {
        for key in keys {
            let other = *first.entry(*key).or_insert(service);
            if other != service {
                sharing.extend([other, service]);
            }
        }
    }
    sharing
}

/// The service that writes an object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Owner {
    /// The service with its API: two of them may have one name.
    service: EcoString,
    name: Span,
}

impl Owner {
    pub(crate) fn of(service: &Object) -> Self {
        let words = format!("{} of {}", service.id, service.api_version);
        Self { service: words.into(), name: service.name_span() }
    }
}

/// Who writes which object, over all services of one run.
#[derive(Debug, Default)]
pub(crate) struct Owners {
    seen: HashMap<u64, (Owner, u64)>,
}

impl Owners {
    /// Adds what a service writes: each object with all of it as a text. Two services that write
    /// one object differently take it from each other, as services of one name in two APIs do.
    pub(crate) fn add<'n>(
        &mut self,
        owner: &Owner,
        objects: impl IntoIterator<Item = (&'n Node, &'n str)>,
        found: &mut Vec<Diagnostic>,
    ) {
        for (object, text) in objects {
            let (key, digest) = (key(object), digest(text));
            let (other, earlier) = self.seen.entry(key).or_insert_with(|| (owner.clone(), digest));
            if other == owner || *earlier == digest {
                continue;
            }
            let object = identity(object);
            let message = format!(
                "{object} is written for {} and, differently, for {}: one undoes the other",
                other.service, owner.service
            );
            found.push(
                Diagnostic::new(Code::DuplicateObject, message)
                    .severity(Severity::Warning)
                    .at(Some(owner.name))
                    .label(Some(other.name), "the other one")
                    .object(object.to_string())
                    .help("rename one of the services"),
            );
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn services_that_write_one_object_are_found_by_its_key() {
        for (written, expected) in [
            (vec![vec![1, 2], vec![3]], vec![]),
            (vec![vec![1, 2], vec![2], vec![3]], vec![0, 1]),
            (vec![vec![1], vec![2], vec![1], vec![1]], vec![0, 2, 3]),
            // One service that writes an object twice shares it with nobody.
            (vec![vec![1, 1], vec![2]], vec![]),
        ] {
            assert_eq!(sharing(&written).into_iter().collect::<Vec<_>>(), expected, "{written:?}");
        }
    }

    #[test]
    fn an_object_is_its_version_kind_namespace_and_name() {
        let of = |text: &str| key(&crate::testing::node(text));
        let one =
            "{apiVersion: v1, kind: Service, metadata: {name: a, namespace: b}, spec: {x: 1}}";
        assert_eq!(of(one), of(&one.replace("x: 1", "x: 2")));
        for (from, to) in [
            ("apiVersion: v1", "apiVersion: v2"),
            ("kind: Service", "kind: ConfigMap"),
            ("name: a,", "name: c,"),
            ("namespace: b", "namespace: c"),
        ] {
            assert_ne!(of(one), of(&one.replace(from, to)), "{to}");
        }
    }
}
