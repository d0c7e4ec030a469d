//! Finds objects that two services write, each in its own way.
//!
//! In: what each service writes, as [`Claim`]s, service by service. Out: a finding for every object
//! that an earlier service writes differently. This module keeps no object.

use super::identity;
use crate::api::{Object, ObjectRef};
use crate::diag::{Code, Diagnostic, Severity};
use crate::source::Span;
use crate::yaml::Node;
use ecow::EcoString;
use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};

/// An object that a service writes.
#[derive(Clone, Debug)]
pub(crate) struct Claim {
    api_version: EcoString,
    object: ObjectRef,
    digest: u64,
}

impl Claim {
    /// `content` is all of the object, in any form that is the same for equal objects.
    pub(crate) fn new(object: &Node, content: impl Hash) -> Self {
        let mut hasher = DefaultHasher::new();
        content.hash(&mut hasher);
        let version = object.get("apiVersion").and_then(Node::as_str).unwrap_or_default();
        Self { api_version: version.into(), object: identity(object), digest: hasher.finish() }
    }
}

/// Who writes which object, over all services of one run.
#[derive(Debug, Default)]
pub(crate) struct Owners {
    seen: HashMap<(EcoString, ObjectRef), (Owner, u64)>,
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

impl Owners {
    /// Adds what a service writes. Two that write one object differently take it from each other,
    /// as services of one name in two APIs do.
    pub(crate) fn add(&mut self, owner: &Owner, claims: Vec<Claim>, found: &mut Vec<Diagnostic>) {
        for Claim { api_version, object, digest } in claims {
            let key = (api_version, object);
            let Some((other, earlier)) = self.seen.get(&key) else {
                self.seen.insert(key, (owner.clone(), digest));
                continue;
            };
            if other == owner || *earlier == digest {
                continue;
            }
            let ((_, object), Owner { service, name }) = (key, owner);
            let said = format!(
                "{object} is written for {} and, differently, for {service}: one undoes the other",
                other.service
            );
            found.push(
                Diagnostic::new(Code::DuplicateObject, said)
                    .severity(Severity::Warning)
                    .at(Some(*name))
                    .label(Some(other.name), "the other one")
                    .object(object.to_string())
                    .help("rename one of the services"),
            );
        }
    }
}
