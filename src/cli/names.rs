//! Services as they are named on the command line: NAME, NAMESPACE/NAME, KIND/NAME,
//! KIND/NAMESPACE/NAME, or KIND and then names.

use crate::api::Object;
use crate::diag::nearest;
use crate::operators::is_service;
use crate::report::phrases::first_of;
use crate::schema::{kinds, names_kind};
use std::collections::BTreeSet;

/// How many names of the input are where one is not found.
const OFFERED: usize = 5;

/// Whether a word names a kind of service.
fn is_service_kind(word: &str) -> bool {
    kinds()
        .iter()
        .any(|schema| is_service(schema.kind) && names_kind(word, schema.api_version, schema.kind))
}

/// The names, each with its kind where a kind is before them: `isvc chat` is `isvc/chat`.
pub(super) fn joined(names: &[String]) -> Vec<String> {
    match names {
        [kind, rest @ ..] if !rest.is_empty() && !kind.contains('/') && is_service_kind(kind) => {
            rest.iter().map(|name| format!("{kind}/{name}")).collect()
        }
        _ => names.to_vec(),
    }
}

/// Whether a service is the one that is named; `-n` holds where the name has no namespace.
pub(super) fn is_named(
    wanted: &str,
    default_namespace: Option<&str>,
    object: &Object,
    namespace: &str,
) -> bool {
    let (name, api_version, kind) = (&object.id.name, &object.api_version, &object.id.kind);
    let here = || default_namespace.is_none_or(|own| own == namespace);
    let is_kind = |word: &str| names_kind(word, api_version, kind);
    match wanted.split('/').collect::<Vec<_>>().as_slice() {
        [one] => one == name && here(),
        [first, last] => last == name && (*first == namespace || (is_kind(first) && here())),
        [first, middle, last] => last == name && *middle == namespace && is_kind(first),
        _ => false,
    }
}

/// The name alone.
pub(super) fn last(wanted: &str) -> &str {
    wanted.rsplit('/').next().unwrap_or(wanted)
}

/// The help for a service that is not in the input; `known` are namespaces and names.
pub(super) fn instead_of<'a>(
    wanted: &str,
    known: impl Iterator<Item = (&'a str, &'a str)>,
) -> String {
    let known: BTreeSet<(&str, &str)> = known.collect();
    let name = last(wanted);
    if let Some((namespace, _)) = known.iter().find(|(_, own)| *own == name) {
        return format!("`{name}` is in namespace `{namespace}`: write `{namespace}/{name}`");
    }
    let names: BTreeSet<&str> = known.into_iter().map(|(_, name)| name).collect();
    match nearest(name, names.iter().copied()) {
        Some(near) => format!("did you mean `{near}`?"),
        None if names.is_empty() => "load it with `-f`".to_owned(),
        None => format!("the input has {}", first_of(names, OFFERED)),
    }
}
