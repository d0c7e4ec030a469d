//! The fields of an object that the CRDs of a release keep.
//!
//! In: a document as written, and the fields that the release does not have. Out: the document as
//! that release's API server stores it, with a finding per field that it drops.

use crate::diag::{Code, Diagnostic};
use crate::policy::Unknown;
use crate::source::Span;
use crate::yaml::{Node, Value};
use ecow::{EcoString, eco_format};

/// The kinds and fields of a release's CRDs.
#[derive(Clone, Copy, Debug)]
pub(super) struct ReleaseSchema {
    /// Operator and release, for people.
    pub(super) operator: &'static str,
    /// Tag of the release.
    pub(super) tag: &'static str,
    /// Fields and kinds that are dropped.
    pub(super) unknown: &'static [Unknown],
    /// Fields that are kept and that nothing of the release ever read.
    pub(super) retired: &'static [Unknown],
}

/// Whether a release has a kind of its operator.
pub(super) fn is_known(kind: &str, release: ReleaseSchema) -> bool {
    !release.unknown.iter().any(|unknown| unknown.path.is_empty() && unknown.kinds.contains(&kind))
}

/// The finding about an object of a kind that a release does not have.
pub(super) fn unknown_kind(kind: &str, span: Span, release: ReleaseSchema) -> Diagnostic {
    Diagnostic::new(
        Code::FieldOfAnotherRelease,
        format!(
            "{} {} does not have {kind}: the object is left out",
            release.operator, release.tag
        ),
    )
    .at(span)
    .help("leave it out of what is applied to this release")
}

/// Removes fields that a release does not have or never reads.
pub(super) fn stored(
    node: &mut Node,
    kind: &str,
    release: ReleaseSchema,
    diagnostics: &mut Vec<Diagnostic>,
) {
    let of_kind = |unknown: &&Unknown| unknown.kinds.contains(&kind) && !unknown.path.is_empty();
    for unknown in release.unknown.iter().filter(of_kind) {
        remove(node, unknown.path, "", &mut |path, span| {
            let finding = Diagnostic::new(
                Code::FieldOfAnotherRelease,
                format!(
                    "{} {} drops `{path}`, which is known {}",
                    release.operator, release.tag, unknown.supported
                ),
            );
            diagnostics.push(
                finding.at(span).path(path).help("delete it, or select a release that has it"),
            );
        });
    }
    // Without a finding: the field is accepted, and no release ever had an effect of it.
    for retired in release.retired.iter().filter(of_kind) {
        remove(node, retired.path, "", &mut |_, _| {});
    }
}

/// Removes every value at a path: `*` matches every key, `[]` after a key every element.
fn remove(
    node: &mut Node,
    path: &str,
    at: &str,
    removed: &mut impl FnMut(EcoString, Option<Span>),
) {
    let below = |key: &str| if at.is_empty() { key.into() } else { eco_format!("{at}.{key}") };
    let (step, rest) = path.split_once('.').unwrap_or((path, ""));
    let Value::Map(map) = &mut node.value else { return };
    if step == "*" {
        // The keys are copied, since the loop changes the map.
        let keys: Vec<EcoString> = map.iter().map(|entry| entry.key.clone()).collect();
        for key in keys {
            let at = below(&key);
            // Scalars below a wildcard are values of users, not objects with fields.
            if let Some(child) = map.get_mut(&key).filter(|child| child.as_map().is_some()) {
                remove(child, rest, &at, removed);
            }
        }
    } else if let Some(key) = step.strip_suffix("[]") {
        let Some(items) = map.get_mut(key).and_then(Node::as_list_mut) else { return };
        for (index, item) in items.make_mut().iter_mut().enumerate() {
            remove(item, rest, &eco_format!("{}[{index}]", below(key)), removed);
        }
    } else if !rest.is_empty() {
        if let Some(child) = map.get_mut(step) {
            remove(child, rest, &below(step), removed);
        }
    // An absent field must not have the map copied, which other documents may share.
    } else if map.contains_key(step)
        && let Some(entry) = map.remove(step)
    {
        removed(below(step), entry.key_origin.span().or_else(|| entry.node.origin.span()));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::operators::ome::releases::{HEAD, V0_1_3, V0_1_4, V0_1_5};
    use crate::policy::Policy;
    use crate::yaml::{Origin, Rule};

    #[test]
    fn each_release_drops_fields_unknown_to_it() {
        static RULE: Rule = Rule { id: "test", text: "", cite: "" };
        let selector = serde_json::json!({"spec": {
            "acceleratorSelector": {"constraints": {"minComputeCapability": "9.0", "preferredPrecisions": ["fp8"]}},
            "engine": {"minAvailable": 1, "kedaConfig": {"authModes": "bearer"}},
        }});
        let lookup = |policy: &Policy| {
            let Policy { id, unknown, retired, .. } = *policy;
            ReleaseSchema { operator: "OME", tag: id.tag, unknown, retired }
        };
        let kept = |policy: &Policy| {
            let release = lookup(policy);
            let mut node = Node::from_json(&selector, Origin::Derived(&RULE));
            let mut found = Vec::new();
            stored(&mut node, "InferenceService", release, &mut found);
            let paths: Vec<String> =
                found.iter().filter_map(|finding| finding.path.clone()).collect();
            (node.to_json()["spec"].clone(), paths)
        };
        let (spec, found) = kept(&V0_1_3);
        assert_eq!(spec, serde_json::json!({"engine": {"kedaConfig": {}}}));
        assert_eq!(found.len(), 3, "{found:?}");
        let (spec, found) = kept(&V0_1_4);
        assert_eq!(
            spec,
            serde_json::json!({"acceleratorSelector": {"constraints": {}}, "engine": {"minAvailable": 1, "kedaConfig": {}}})
        );
        assert_eq!(
            found,
            [
                "spec.acceleratorSelector.constraints.preferredPrecisions",
                "spec.engine.kedaConfig.authModes"
            ]
        );
        for release in [&V0_1_5, &HEAD] {
            let (spec, found) = kept(release);
            assert_eq!(
                spec["acceleratorSelector"]["constraints"],
                serde_json::json!({"preferredPrecisions": ["fp8"]})
            );
            assert_eq!(found, ["spec.acceleratorSelector.constraints.minComputeCapability"]);
        }
        assert!(
            !is_known("AcceleratorClass", lookup(&V0_1_3))
                && is_known("AcceleratorClass", lookup(&V0_1_4))
        );
    }
}
