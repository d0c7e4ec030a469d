//! Names, labels, annotations and owners.

use super::judge::Judge;
use super::security;
use crate::quantity::names;
use crate::yaml::{At, Node, Value};
use std::collections::HashSet;

/// Objections of a validation function to a text.
type Form = fn(&str) -> Vec<String>;

/// Judges `metadata` of an object.
pub(super) fn object(judge: &mut Judge<'_>, object: &Node) {
    let at = At::ROOT.field("metadata");
    let Some(metadata) = object.get("metadata") else {
        return judge.required(&at.field("name"), object, "name or generateName is required");
    };
    let text = |key: &str| metadata.get(key).and_then(Node::as_str);
    let api_version = object.get("apiVersion").and_then(Node::as_str).unwrap_or_default();
    let kind = object.get("kind").and_then(Node::as_str).unwrap_or_default();
    let (valid, prefix): (Form, Form) = match (api_version, kind) {
        ("v1", "Service") => (names::service_name, |prefix| {
            // The suffix that the server adds follows the hyphen.
            names::service_name(prefix.strip_suffix('-').unwrap_or(prefix))
        }),
        ("v1", "Namespace") | ("apps/v1", "StatefulSet") => {
            (names::dns1123_label, names::generate_name_label)
        }
        // Names of these kinds have to fit into the path of a request, and need not be domain
        // names.
        ("rbac.authorization.k8s.io/v1" | "policy/v1", _) => {
            (names::path_segment_name, names::path_segment_prefix)
        }
        _ => (names::dns1123_subdomain, names::generate_name_subdomain),
    };
    judge.formed(&at, metadata, "generateName", prefix);
    match metadata.get("name") {
        Some(name) if text("name").is_some_and(|text| !text.is_empty()) => {
            judge.shaped(&at.field("name"), name, valid(text("name").unwrap_or_default()));
        }
        // The server adds a suffix to the prefix.
        _ if text("generateName").is_some_and(|prefix| !prefix.is_empty()) => {}
        // An empty name counts as none.
        _ => judge.required(&at.field("name"), metadata, "name or generateName is required"),
    }
    if let Some(namespace) = metadata.get("namespace").filter(|node| node.as_str() != Some("")) {
        judge.shaped(
            &at.field("namespace"),
            namespace,
            namespace.as_str().map(names::namespace).unwrap_or_default(),
        );
    }
    labels(judge, &at.field("labels"), metadata.get("labels"));
    annotations(judge, &at.field("annotations"), metadata.get("annotations"));
    owners(judge, &at.field("ownerReferences"), metadata.get("ownerReferences"));
    // Other groups are judged by the generic rule, which takes any qualified name.
    let qualified = matches!(
        api_version,
        "v1" | "apps/v1"
            | "batch/v1"
            | "autoscaling/v2"
            | "networking.k8s.io/v1"
            | "rbac.authorization.k8s.io/v1"
    );
    finalizers(judge, &at.field("finalizers"), metadata, qualified);
}

/// Finalizers have to be unique names with a domain; only some of the built-in kinds require the
/// domain.
fn finalizers(judge: &mut Judge<'_>, at: &At<'_>, metadata: &Node, qualified: bool) {
    let mut seen: HashSet<&str> = HashSet::new();
    for (index, finalizer) in metadata.items_of("finalizers").iter().enumerate() {
        let Some(text) = finalizer.as_str() else { continue };
        if seen.contains(text) {
            judge.refuse(
                at,
                finalizer.origin.span(),
                &format!("duplicate entries for key [={}]", finalizer.to_json()),
                "keep one of them",
            );
            continue;
        }
        seen.insert(text);
        let place = at.index(index);
        self::finalizer(judge, at, if qualified { Some(&place) } else { None }, finalizer);
    }
    let last = metadata.items_of("finalizers").last();
    if let Some(last) =
        last.filter(|_| seen.contains("orphan") && seen.contains("foregroundDeletion"))
    {
        // They request opposite things of the garbage collector: leave dependents, or delete them
        // first.
        let message = "finalizer orphan and foregroundDeletion cannot be both set";
        judge.invalid(at, last, message, "keep one of them");
    }
}

/// A qualified name. Where a place is given, a name without a domain is refused too, except the few
/// that the server knows.
pub(super) fn finalizer(
    judge: &mut Judge<'_>,
    at: &At<'_>,
    qualified: Option<&At<'_>>,
    finalizer: &Node,
) {
    let text = finalizer.as_str().unwrap_or_default();
    let objections = names::qualified_name(text);
    let is_known =
        text.contains('/') || matches!(text, "kubernetes" | "orphan" | "foregroundDeletion");
    // A name that is wrong in itself is not also told to get a domain.
    if let Some(at) = qualified.filter(|_| objections.is_empty() && !is_known) {
        let message = "name is neither a standard finalizer name nor is it fully qualified";
        judge.invalid(at, finalizer, message, "write it with a domain: `example.com/name`");
    }
    judge.shaped(at, finalizer, objections);
}

/// Judges a map of labels, of an object or in a selector.
pub(super) fn labels(judge: &mut Judge<'_>, at: &At<'_>, labels: Option<&Node>) {
    for entry in labels.into_iter().flat_map(Node::entries) {
        judge.shaped(
            at,
            &Node::str(entry.key.clone(), entry.key_origin),
            names::label_key(&entry.key),
        );
        // A variable that is not expanded here has a finding of its own, variable-outside-container
        // (OME docs, Serving Runtime, Multi-Node Configuration).
        let text = entry.node.as_str().filter(|text| !text.contains("{{"));
        judge.shaped(at, &entry.node, text.map(names::label_value).unwrap_or_default());
    }
}

/// Judges a map of annotations.
pub(super) fn annotations(judge: &mut Judge<'_>, at: &At<'_>, annotations: Option<&Node>) {
    let entries = || annotations.into_iter().flat_map(Node::entries);
    for entry in entries() {
        judge.shaped(
            at,
            &Node::str(entry.key.clone(), entry.key_origin),
            names::annotation_key(&entry.key),
        );
    }
    // All annotations of an object together have a limit.
    let pairs = entries().filter_map(|entry| Some((entry.key.as_str(), entry.node.as_str()?)));
    if let (Some(error), Some(node)) = (names::annotations_size(pairs), annotations) {
        let path = at.to_string();
        let message = error.at(&path);
        judge.refuse(
            at,
            node.origin.span(),
            // `refuse` writes the path itself.
            message.strip_prefix(&path).unwrap_or(&message).trim_start_matches(": "),
            "shorten the annotations",
        );
    }
}

fn owners(judge: &mut Judge<'_>, at: &At<'_>, owners: Option<&Node>) {
    // Server-side apply merges owners by their uid.
    if let Some(list) = owners {
        judge.keyed(at, list, &[("uid", "")]);
    }
    let owners = owners.map(Node::items).unwrap_or_default();
    for owner in owners {
        let text = |key: &str| owner.get(key).and_then(Node::as_str).unwrap_or_default();
        // `schema.ParseGroupVersion` fails on a text with two slashes.
        let version = match text("apiVersion").split_once('/') {
            Some((_, rest)) if rest.contains('/') => "",
            Some((_, version)) => version,
            None => text("apiVersion"),
        };
        // Each empty field is reported by itself, in the order of upstream.
        for (key, absent, message) in [
            ("apiVersion", version.is_empty(), "version must not be empty"),
            ("kind", text("kind").is_empty(), "must not be empty"),
            ("name", text("name").is_empty(), "must not be empty"),
            ("uid", text("uid").is_empty(), "must not be empty"),
        ] {
            if absent {
                let message = format!("Invalid value: \"\": {message}");
                let place = owner.get(key).unwrap_or(owner).origin.span();
                judge.refuse(&at.field(key), place, &message, "leave the reference out");
            }
        }
        // Events expire, and would take along what they own.
        if (text("apiVersion"), text("kind")) == ("v1", "Event") {
            let message = "/v1, Kind=Event is disallowed from being an owner";
            judge.invalid(at, owner, message, "leave the reference out");
        }
    }
    let controllers: Vec<_> = owners
        .iter()
        .filter(|owner| owner.get("controller").and_then(Node::as_bool) == Some(true))
        .collect();
    if let [_, second, ..] = controllers.as_slice() {
        judge.refuse(
            at,
            second.origin.span(),
            "Invalid value: only one reference can have Controller set to true",
            "keep one controller",
        );
    }
}

/// Judges the labels and annotations of a pod template, which the server names without `metadata`.
pub(super) fn template(judge: &mut Judge<'_>, at: &At<'_>, template: &Node) {
    labels(judge, &at.field("labels"), template.at(&["metadata", "labels"]));
    let (found, spec) = (template.at(&["metadata", "annotations"]), template.get("spec"));
    let annotations_at = at.field("annotations");
    annotations(judge, &annotations_at, found);
    seccomp(judge, &annotations_at, found);
    security::app_armor(judge, (&annotations_at, found), (&at.field("spec"), spec));
}

/// Judges the annotations that seccomp profiles were once set with (pkg/apis/core/validation,
/// `ValidateSeccompPodAnnotations`).
pub(super) fn seccomp(judge: &mut Judge<'_>, at: &At<'_>, annotations: Option<&Node>) {
    const POD: &str = "seccomp.security.alpha.kubernetes.io/pod";
    const CONTAINER: &str = "container.seccomp.security.alpha.kubernetes.io/";
    for entry in annotations.into_iter().flat_map(Node::entries) {
        let Some(text) = entry.node.as_str() else { continue };
        if entry.key != POD && !entry.key.starts_with(CONTAINER) {
            continue;
        }
        // A path below the kubelet's directory of profiles.
        let is_local = text
            .strip_prefix("localhost/")
            .is_some_and(|path| !path.starts_with('/') && path.split('/').all(|step| step != ".."));
        if !is_local && !matches!(text, "runtime/default" | "docker/default" | "unconfined") {
            judge.invalid(
                &at.key(&entry.key),
                &entry.node,
                "must be a valid seccomp profile",
                "use `securityContext.seccompProfile`",
            );
        }
    }
}

/// Judges a label selector; in a `strict` one values have to be valid values of labels.
///
/// Returns whether it is valid: a server compares no labels with another one
/// (LabelSelectorAsSelector).
pub(super) fn selector(
    judge: &mut Judge<'_>,
    at: &At<'_>,
    selector: Option<&Node>,
    strict: bool,
) -> bool {
    let before = judge.findings.len();
    if let Some(selector) = selector {
        labels(judge, &at.field("matchLabels"), selector.get("matchLabels"));
        expressions(judge, at, selector, &Operators::SETS, strict);
    }
    judge.findings.len() == before
}

/// What `operator` may say.
pub(super) struct Operators {
    names: &'static [&'static str],
    help: &'static str,
}

impl Operators {
    /// Those of label selectors.
    const SETS: Self = Self {
        names: &["In", "NotIn", "Exists", "DoesNotExist"],
        help: "write `In`, `NotIn`, `Exists` or `DoesNotExist`",
    };
    /// Those of terms about nodes, which compare numbers too.
    pub(super) const NODES: Self = Self {
        names: &["In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt"],
        help: "write `In`, `NotIn`, `Exists`, `DoesNotExist`, `Gt` or `Lt`",
    };
}

/// Judges the `matchExpressions` of a selector or term; `strict` ones request values that labels
/// can have.
pub(super) fn expressions(
    judge: &mut Judge<'_>,
    at: &At<'_>,
    holder: &Node,
    operators: &Operators,
    strict: bool,
) {
    let list = at.field("matchExpressions");
    for (index, expression) in holder.items_of("matchExpressions").iter().enumerate() {
        let at = list.index(index);
        let values = expression.items_of("values");
        let values_at = at.field("values");
        let operator = expression.get("operator").and_then(Node::as_str);
        match operator.filter(|operator| operators.names.contains(operator)) {
            Some("In" | "NotIn") if values.is_empty() => judge.required(
                &values_at,
                expression,
                "must be specified when `operator` is 'In' or 'NotIn'",
            ),
            Some("Exists" | "DoesNotExist") if !values.is_empty() => judge.forbidden(
                &values_at,
                expression,
                "may not be specified when `operator` is 'Exists' or 'DoesNotExist'",
                "delete `values`",
            ),
            // Numbers are compared with one number.
            Some("Gt" | "Lt") if values.len() != 1 => judge.required(
                &values_at,
                expression,
                "must be specified single value when `operator` is 'Lt' or 'Gt'",
            ),
            Some(_) => {}
            None => judge.invalid(
                &at.field("operator"),
                expression.get("operator").unwrap_or(expression),
                "not a valid selector operator",
                operators.help,
            ),
        }
        let key = expression.get("key").and_then(Node::as_str).unwrap_or_default();
        judge.shaped(
            &at.field("key"),
            expression.get("key").unwrap_or(expression),
            names::label_key(key),
        );
        for (index, value) in values.iter().enumerate().filter(|_| strict) {
            judge.shaped(
                &values_at.index(index),
                value,
                value.as_str().map(names::label_value).unwrap_or_default(),
            );
        }
    }
}

/// Whether the labels of a template have everything that a selector requests.
pub(super) fn selects(selector: &Node, labels: Option<&Node>) -> bool {
    let label = |key: &str| {
        labels.and_then(Node::as_map).and_then(|map| map.get(key)).and_then(Node::as_str)
    };
    // Both parts have to match (LabelSelectorAsSelector).
    let matched = selector.get("matchLabels").is_none_or(|wanted| {
        wanted.entries().all(|entry| label(&entry.key) == entry.node.as_str())
    });
    matched
        && selector.get("matchExpressions").map(Node::items).unwrap_or_default().iter().all(
            |expression| {
                // A term without a key is reported by `expressions`: it is no second reason not to
                // match.
                let Some(key) = expression.get("key").and_then(Node::as_str) else { return true };
                let has = || {
                    label(key).is_some_and(|value| {
                        expression.get("values").is_some_and(|values| {
                            values.items().iter().any(|item| item.as_str() == Some(value))
                        })
                    })
                };
                match expression.get("operator").and_then(Node::as_str) {
                    Some("In") => has(),
                    // Labels without the key match, too.
                    Some("NotIn") => !has(),
                    Some("Exists") => label(key).is_some(),
                    Some("DoesNotExist") => label(key).is_none(),
                    _ => true,
                }
            },
        )
}

/// Whether a mapping is there and holds something.
pub(super) fn holds_something(node: Option<&Node>) -> bool {
    node.is_some_and(|node| match &node.value {
        Value::Map(map) => !map.is_empty(),
        Value::List(items) => !items.is_empty(),
        _ => false,
    })
}
