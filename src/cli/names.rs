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
    let here = || default_namespace.is_none_or(|default_namespace| default_namespace == namespace);
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
    documented: impl Iterator<Item = (&'a str, &'a str)>,
) -> String {
    let existing: BTreeSet<(&str, &str)> = documented.collect();
    let name = last(wanted);
    // The same name in another namespace is nearer than any other name.
    if let Some((namespace, _)) = existing.iter().find(|(_, text)| *text == name) {
        return format!("`{name}` is in namespace `{namespace}`: write `{namespace}/{name}`");
    }
    let names: BTreeSet<&str> = existing.into_iter().map(|(_, name)| name).collect();
    match nearest(name, names.iter().copied()) {
        Some(near) => format!("did you mean `{near}`?"),
        None if names.is_empty() => "load it with `-f`".to_owned(),
        None => format!("the input has {}", first_of(names, OFFERED)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_kind_before_names_belongs_to_each_of_them() {
        let joined = |names: &[&str]| {
            joined(&names.iter().map(ToString::to_string).collect::<Vec<_>>()).join(" ")
        };
        for (names, expected) in [
            (&["isvc", "a", "b"][..], "isvc/a isvc/b"),
            (&["InferenceService", "a"], "InferenceService/a"),
            (&["isvc"], "isvc"),
            (&["a", "b"], "a b"),
            (&["isvc/a", "b"], "isvc/a b"),
            (&["deployment", "a"], "deployment a"),
            (&[], ""),
        ] {
            assert_eq!(joined(names), expected);
        }
    }

    #[test]
    fn a_name_may_have_its_kind_and_its_namespace() {
        let world = crate::testing::world(
            "apiVersion: ome.io/v1beta1\nkind: InferenceService\nmetadata: {name: a, namespace: ml}\nspec: {engine: {}}\n",
        );
        let service = world.catalog.services().next().expect("a service");
        let object = &service.documented.object;
        for (wanted, namespace, expected) in [
            ("a", None, true),
            ("a", Some("ml"), true),
            ("a", Some("other"), false),
            ("ml/a", None, true),
            // The namespace of the name holds against `-n`.
            ("ml/a", Some("other"), true),
            ("other/a", Some("ml"), false),
            ("isvc/a", None, true),
            ("isvc/a", Some("other"), false),
            ("InferenceService/ml/a", Some("other"), true),
            ("InferenceService/other/a", None, false),
            ("Deployment/ml/a", None, false),
            ("b", None, false),
            ("isvc/ml/a/x", None, false),
            ("", None, false),
        ] {
            assert_eq!(
                is_named(wanted, namespace, object, "ml"),
                expected,
                "{wanted} {namespace:?}"
            );
        }
    }

    #[test]
    fn a_name_that_is_not_there_leads_to_one_that_is() {
        let existing = [("ml", "chat"), ("prod", "chat"), ("ml", "search")];
        for (wanted, help) in [
            ("x/chat", "`chat` is in namespace `ml`: write `ml/chat`"),
            ("chatt", "did you mean `chat`?"),
            ("zzzzzzzz", "the input has chat, search"),
        ] {
            assert_eq!(instead_of(wanted, existing.into_iter()), help, "{wanted}");
        }
        assert_eq!(instead_of("a", [].into_iter()), "load it with `-f`");
        assert_eq!([last("a"), last("ml/a"), last("isvc/ml/a"), last("")], ["a", "a", "a", ""]);
    }
}
