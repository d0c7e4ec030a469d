//! Tolerations, node affinity and topology spread of a pod.

use super::judge::Judge;
use super::metadata;
use crate::quantity::names;
use crate::yaml::{At, Node};

/// Judges the fields that decide on which nodes a pod may run; `labels` are those of a new pod.
pub(super) fn scheduling(judge: &mut Judge<'_>, at: &At<'_>, spec: &Node, labels: Option<&Node>) {
    for (index, toleration) in spec.items_of("tolerations").iter().enumerate() {
        self::toleration(judge, &at.field("tolerations").index(index), toleration);
    }
    if let Some(affinity) = spec.at(&["affinity", "nodeAffinity"]) {
        node_affinity(judge, &at.field("affinity").field("nodeAffinity"), affinity);
    }
    for kind in ["podAffinity", "podAntiAffinity"] {
        if let Some(affinity) = spec.at(&["affinity", kind]) {
            pod_affinity(judge, &at.field("affinity").field(kind), affinity, labels);
        }
    }
    let spreads_at = at.field("topologySpreadConstraints");
    if let Some(spreads) = spec.get("topologySpreadConstraints") {
        // One topology may be spread over twice: once required and once preferred.
        judge.keyed(&spreads_at, spreads, &[("topologyKey", ""), ("whenUnsatisfiable", "")]);
    }
    for (index, constraint) in spec.items_of("topologySpreadConstraints").iter().enumerate() {
        spread(judge, &spreads_at.index(index), constraint, labels);
    }
}

fn spread(judge: &mut Judge<'_>, at: &At<'_>, constraint: &Node, labels: Option<&Node>) {
    match constraint.get("maxSkew") {
        Some(skew) if skew.as_int().is_some_and(|skew| skew <= 0) => {
            judge.invalid(
                &at.field("maxSkew"),
                skew,
                "must be greater than zero",
                "write at least 1",
            );
        }
        Some(_) => {}
        None => judge.required(&at.field("maxSkew"), constraint, ""),
    }
    if constraint.get("topologyKey").is_none_or(|key| key.as_str() == Some("")) {
        judge.required(&at.field("topologyKey"), constraint, "can not be empty");
    }
    judge.exactly(at, constraint, "whenUnsatisfiable", &["DoNotSchedule", "ScheduleAnyway"]);
    if let Some(domains) = constraint.get("minDomains") {
        let at = at.field("minDomains");
        if domains.as_int().is_some_and(|number| number <= 0) {
            judge.invalid(&at, domains, "must be greater than 0", "write at least 1");
        }
        let action = constraint.get("whenUnsatisfiable").and_then(Node::as_str).unwrap_or_default();
        // Fewer domains than `minDomains` make the scheduler refuse nodes, which a preference
        // cannot.
        if action != "DoNotSchedule" {
            let message =
                format!("can only use minDomains if whenUnsatisfiable=DoNotSchedule, not {action}");
            judge.invalid(
                &at,
                domains,
                &message,
                "delete it, or write `whenUnsatisfiable: DoNotSchedule`",
            );
        }
    }
    judge.exactly_if_there(at, constraint, "nodeAffinityPolicy", &["Honor", "Ignore"]);
    judge.exactly_if_there(at, constraint, "nodeTaintsPolicy", &["Honor", "Ignore"]);
    label_keys(judge, at, "matchLabelKeys", constraint);
    selected_twice(judge, at, constraint, labels);
    metadata::selector(judge, &at.field("labelSelector"), constraint.get("labelSelector"), true);
}

/// Keys whose values a selector takes over from the pod.
fn label_keys(judge: &mut Judge<'_>, at: &At<'_>, list: &str, holder: &Node) {
    let keys = holder.items_of(list);
    let at = at.field(list);
    // The values of the keys are added to the selector, so there has to be one.
    if let Some(node) =
        holder.get(list).filter(|_| !keys.is_empty() && holder.get("labelSelector").is_none())
    {
        judge.forbidden(
            &at,
            node,
            "must not be specified when labelSelector is not set",
            "add a labelSelector",
        );
        return;
    }
    for (index, key) in keys.iter().enumerate() {
        judge.shaped(&at.index(index), key, names::label_key(key.as_str().unwrap_or_default()));
    }
}

/// A key whose value is taken from the pod when it is created must not be in the selector too
/// (`ValidateMatchLabelKeysAndMismatchLabelKeys`). The server names the holder, not the list.
fn selected_twice(judge: &mut Judge<'_>, at: &At<'_>, holder: &Node, labels: Option<&Node>) {
    let Some(selector) = holder.get("labelSelector") else { return };
    for (index, key) in holder.items_of("matchLabelKeys").iter().enumerate() {
        let text = key.as_str().unwrap_or_default();
        let has = |map: Option<&Node>| map.is_some_and(|map| map.get(text).is_some());
        let selected = has(selector.get("matchLabels"))
            || selector
                .items_of("matchExpressions")
                .iter()
                .any(|term| term.get("key").and_then(Node::as_str) == Some(text));
        // Without the label on the pod nothing would be added, and the selector stays as it is.
        if selected && has(labels) {
            let message = "exists in both matchLabelKeys and labelSelector";
            judge.invalid(&at.index(index), key, message, "delete one of the two");
        }
    }
}

fn pod_affinity(judge: &mut Judge<'_>, at: &At<'_>, affinity: &Node, labels: Option<&Node>) {
    let (required, preferred) = (
        "requiredDuringSchedulingIgnoredDuringExecution",
        "preferredDuringSchedulingIgnoredDuringExecution",
    );
    let required_at = at.field(required);
    for (index, term) in affinity.items_of(required).iter().enumerate() {
        pod_term(judge, &required_at.index(index), (term, term), labels);
    }
    let preferred_at = at.field(preferred);
    for (index, weighted) in affinity.items_of(preferred).iter().enumerate() {
        let at = preferred_at.index(index);
        weight(judge, &at, weighted);
        let empty = Node::map(weighted.origin);
        pod_term(
            judge,
            &at.field("podAffinityTerm"),
            // A missing term is judged as an empty one, which lacks its topology.
            (weighted.get("podAffinityTerm").unwrap_or(&empty), weighted),
            labels,
        );
    }
}

fn pod_term(
    judge: &mut Judge<'_>,
    at: &At<'_>,
    (term, holder): (&Node, &Node),
    labels: Option<&Node>,
) {
    for selector in ["labelSelector", "namespaceSelector"] {
        metadata::selector(judge, &at.field(selector), term.get(selector), true);
    }
    for namespace in term.items_of("namespaces") {
        judge.shaped(
            // The server writes the singular here, without an index.
            &at.field("namespace"),
            namespace,
            names::namespace(namespace.as_str().unwrap_or_default()),
        );
    }
    label_keys(judge, at, "matchLabelKeys", term);
    label_keys(judge, at, "mismatchLabelKeys", term);
    selected_twice(judge, at, term, labels);
    let keys_at = at.field("matchLabelKeys");
    for (index, key) in term.items_of("matchLabelKeys").iter().enumerate() {
        // Equal and different at once can match no pod.
        if term.items_of("mismatchLabelKeys").iter().any(|other| other.value == key.value) {
            let message = "exists in both matchLabelKeys and mismatchLabelKeys";
            judge.invalid(&keys_at.index(index), key, message, "delete one of the two");
        }
    }
    match term.get("topologyKey").filter(|key| key.as_str() != Some("")) {
        None => judge.required(&at.field("topologyKey"), holder, "can not be empty"),
        Some(key) => judge.shaped(
            &at.field("topologyKey"),
            key,
            key.as_str().map(names::label_key).unwrap_or_default(),
        ),
    }
}

fn weight(judge: &mut Judge<'_>, at: &At<'_>, preferred: &Node) {
    // An absent weight is 0 in Go and out of range.
    let weight = preferred.get("weight").cloned().unwrap_or_else(|| Node::int(0, preferred.origin));
    if weight.as_int().is_some_and(|weight| !(1..=100).contains(&weight)) {
        judge.invalid(
            &at.field("weight"),
            &weight,
            "must be in the range 1-100",
            "write a weight from 1 to 100",
        );
    }
}

fn toleration(judge: &mut Judge<'_>, at: &At<'_>, toleration: &Node) {
    let text = |key: &str| toleration.get(key).and_then(Node::as_str).unwrap_or_default();
    let operator = text("operator");
    if let Some(key) = toleration.get("key").filter(|_| !text("key").is_empty()) {
        judge.shaped(&at.field("key"), key, names::label_key(text("key")));
    // An empty key with `Exists` tolerates every taint.
    } else if operator != "Exists" {
        let node = toleration.get("operator").unwrap_or(toleration);
        judge.invalid(
            &at.field("operator"),
            node,
            "operator must be Exists when `key` is empty, which means \"match all values and all keys\"",
            "write `operator: Exists`, or a key",
        );
    }
    if judge.one_of(&at.field("operator"), toleration.get("operator"), &["Equal", "Exists"])
        && operator == "Exists"
        && let Some(value) = toleration.get("value").filter(|_| !text("value").is_empty())
    {
        judge.invalid(
            &at.field("operator"),
            value,
            "value must be empty when `operator` is 'Exists'",
            "delete `value`, or write `operator: Equal`",
        );
    }
    // A value that a label cannot have is also reported at the operator.
    if matches!(operator, "" | "Equal")
        && let Some(value) = toleration.get("value")
    {
        judge.shaped(&at.field("operator"), value, names::label_value(text("value")));
    }
    judge.one_of(
        &at.field("effect"),
        toleration.get("effect"),
        &["NoSchedule", "PreferNoSchedule", "NoExecute"],
    );
    // Only a taint with this effect evicts pods that run, so that there is a time to count.
    if toleration.get("tolerationSeconds").is_some() && text("effect") != "NoExecute" {
        let node = toleration.get("effect").unwrap_or(toleration);
        judge.invalid(
            &at.field("effect"),
            node,
            "effect must be 'NoExecute' when `tolerationSeconds` is set",
            "delete `tolerationSeconds`",
        );
    }
}

fn node_affinity(judge: &mut Judge<'_>, at: &At<'_>, affinity: &Node) {
    if let Some(required) = affinity.get("requiredDuringSchedulingIgnoredDuringExecution") {
        let at = at.field("requiredDuringSchedulingIgnoredDuringExecution");
        node_selector(judge, &at, required);
    }
    let preferred_at = at.field("preferredDuringSchedulingIgnoredDuringExecution");
    for (index, preferred) in
        affinity.items_of("preferredDuringSchedulingIgnoredDuringExecution").iter().enumerate()
    {
        let at = preferred_at.index(index);
        weight(judge, &at, preferred);
        if let Some(term) = preferred.get("preference") {
            // a rule.
            self::term(judge, &at.field("preference"), term, false);
        }
    }
}

/// Judges a node selector.
pub(super) fn node_selector(judge: &mut Judge<'_>, at: &At<'_>, selector: &Node) {
    let at = at.field("nodeSelectorTerms");
    if selector.items_of("nodeSelectorTerms").is_empty() {
        judge.required(&at, selector, "must have at least one node selector term");
    }
    for (index, term) in selector.items_of("nodeSelectorTerms").iter().enumerate() {
        self::term(judge, &at.index(index), term, true);
    }
}

/// Judges a term of a node selector; in a required one values have to be valid values of labels.
fn term(judge: &mut Judge<'_>, at: &At<'_>, term: &Node, required: bool) {
    let fields = at.field("matchFields");
    for (index, field) in term.items_of("matchFields").iter().enumerate() {
        let at = fields.index(index);
        match field.get("operator").and_then(Node::as_str) {
            // The only field is the name, and a node has one.
            Some("In" | "NotIn") if field.items_of("values").len() == 1 => {}
            Some("In" | "NotIn") => {
                judge.required(&at.field("values"), field, "must be only one value when `operator` is 'In' or 'NotIn' for node field selector");
            }
            _ => judge.invalid(
                &at.field("operator"),
                field.get("operator").unwrap_or(field),
                "not a valid selector operator",
                "write `In` or `NotIn`",
            ),
        }
        if field.get("key").and_then(Node::as_str) != Some("metadata.name") {
            judge.invalid(
                &at.field("key"),
                field.get("key").unwrap_or(field),
                "not a valid field selector key",
                "write `metadata.name`",
            );
            continue;
        }
        let values = at.field("values");
        for (index, name) in field.items_of("values").iter().enumerate() {
            let objections = names::dns1123_subdomain(name.as_str().unwrap_or_default());
            judge.shaped(&values.index(index), name, objections);
        }
    }
    metadata::expressions(judge, at, term, &metadata::Operators::NODES, required);
}
