//! Jobs.

use super::judge::Judge;
use super::metadata;
use super::workload::{non_negative, of_template, template};
use crate::quantity::names;
use crate::yaml::{At, Node};
use std::collections::HashSet;

/// Labels that the server gives to the pods of a Job: its name, and its uid.
const NAME_LABELS: [&str; 2] = ["job-name", "batch.kubernetes.io/job-name"];
const UID_LABELS: [&str; 2] = ["controller-uid", "batch.kubernetes.io/controller-uid"];

/// Most pods at once and most failed indexes of an indexed Job.
const MOST_INDEXED: i64 = 100_000;
/// The same for a Job with more completions than that.
const MOST_OF_MANY: i64 = 10_000;
/// Most rules of a policy.
const MOST_RULES: usize = 20;

/// Judges the spec of a Job (`ValidateJob`).
pub(super) fn job(judge: &mut Judge<'_>, at: &At<'_>, spec: &Node) {
    numbers(judge, at, spec);
    host_names(judge, spec);
    // Template before policies: findings come in the order in which the server lists its errors.
    let found = template(judge, at, spec, spec.get("template"));
    policies(judge, at, spec);
    selector(judge, at, spec);
    ends(judge, at, spec, found);
}

/// Judges the spec of the Jobs that a controller makes (`ValidateJobTemplateSpec`).
pub(super) fn templated(judge: &mut Judge<'_>, at: &At<'_>, spec: &Node) {
    numbers(judge, at, spec);
    let found = template(judge, at, spec, spec.get("template"));
    policies(judge, at, spec);
    ends(judge, at, spec, found);
    if let Some(selector) = spec.get("selector") {
        let message = "`selector` will be auto-generated";
        judge.invalid(&at.field("selector"), selector, message, "delete it");
    }
    if let Some(manual) = spec.get("manualSelector").filter(|node| node.as_bool() == Some(true)) {
        judge.unsupported(&at.field("manualSelector"), manual, &["nil", "false"]);
    }
}

/// Judges how many pods a Job has, and who runs it.
fn numbers(judge: &mut Judge<'_>, at: &At<'_>, spec: &Node) {
    for key in [
        "parallelism",
        "completions",
        "activeDeadlineSeconds",
        "backoffLimit",
        "ttlSecondsAfterFinished",
        "backoffLimitPerIndex",
        "maxFailedIndexes",
    ] {
        non_negative(judge, &at.field(key), spec.get(key));
    }
    if let Some(manager) = spec.get("managedBy") {
        let at = at.field("managedBy");
        let text = manager.as_str().unwrap_or_default();
        judge.shaped(
            &at,
            manager,
            // The place is in front of the message already.
            names::domain_prefixed_path(text).iter().map(|error| error.at("")).collect(),
        );
        if text.len() > 63 {
            let message = "Too long: may not be more than 63 bytes";
            judge.refuse(&at, manager.origin.span(), message, "shorten it");
        }
    }
    completion(judge, at, spec);
}

/// Judges whether the pods of a Job end.
fn ends(judge: &mut Judge<'_>, at: &At<'_>, spec: &Node, pod: Option<&Node>) {
    let Some(pod) = pod else { return };
    let pod_at = at.field("template");
    let pod_at = pod_at.field("spec");
    let policy_at = pod_at.field("restartPolicy");
    match pod.get("restartPolicy").and_then(Node::as_str).unwrap_or_default() {
        "" => judge.required(&policy_at, pod, ENDS),
        // The server fills in `Always` for an absent policy: both get the same message.
        "Always" => {
            let span = pod.get("restartPolicy").and_then(|node| node.origin.span());
            let message = format!("Required value: {ENDS}");
            judge.refuse(&policy_at, span, &message, "write `restartPolicy: Never`");
        }
        "OnFailure" if spec.get("podFailurePolicy").is_some() => {
            let node = pod.get("restartPolicy").unwrap_or(pod);
            let message = "only \"Never\" is supported when podFailurePolicy is specified";
            judge.invalid(&policy_at, node, message, "write `restartPolicy: Never`");
        }
        _ => _ = judge.one_of(&policy_at, pod.get("restartPolicy"), &["OnFailure", "Never"]),
    }
}

const ENDS: &str = "valid values: \"OnFailure\", \"Never\"";

/// Judges how a Job counts its pods.
fn completion(judge: &mut Judge<'_>, at: &At<'_>, spec: &Node) {
    let number = |key: &str| spec.get(key).and_then(Node::as_int);
    let mode = spec.get("completionMode").and_then(Node::as_str).unwrap_or_default();
    judge.exactly_if_there(at, spec, "completionMode", &["NonIndexed", "Indexed"]);
    if spec.get("maxFailedIndexes").is_some() && spec.get("backoffLimitPerIndex").is_none() {
        let detail = "when maxFailedIndexes is specified";
        judge.required(&at.field("backoffLimitPerIndex"), spec, detail);
    }
    if matches!(mode, "" | "NonIndexed") {
        for key in ["backoffLimitPerIndex", "maxFailedIndexes"] {
            if let Some(node) = spec.get(key) {
                let message = "requires indexed completion mode";
                judge.invalid(&at.field(key), node, message, "write `completionMode: Indexed`");
            }
        }
    }
    if mode != "Indexed" {
        return;
    }
    let mut most = |key: &str, most: i64, why: &str| {
        // No number is less than any number: what is none is reported by the schema.
        if let Some(node) = spec.get(key).filter(|_| number(key) > Some(most)) {
            let message = format!("must be less than or equal to {most}{why}");
            judge.invalid(&at.field(key), node, &message, &format!("write at most {most}"));
        }
    };
    most("parallelism", MOST_INDEXED, " when completion mode is Indexed");
    most("maxFailedIndexes", MOST_INDEXED, "");
    let Some(completions) = number("completions") else {
        let detail = "when completion mode is Indexed";
        // The bounds below are relative to the completions.
        return judge.required(&at.field("completions"), spec, detail);
    };
    most("maxFailedIndexes", completions, " (completions)");
    if completions > MOST_INDEXED && spec.get("backoffLimitPerIndex").is_some() {
        let why = format!(
            " when completions are above {MOST_INDEXED} and used with backoff limit per index"
        );
        most("parallelism", MOST_OF_MANY, &why);
        most("maxFailedIndexes", MOST_OF_MANY, &why);
        if spec.get("maxFailedIndexes").is_none() {
            let detail = format!("must be specified when completions is above {MOST_INDEXED}");
            judge.required(&at.field("maxFailedIndexes"), spec, &detail);
        }
    }
}

/// Judges the host names of the pods of an indexed Job: its name, and an index.
fn host_names(judge: &mut Judge<'_>, spec: &Node) {
    let completions = spec.get("completions").and_then(Node::as_int).unwrap_or(0);
    if spec.get("completionMode").and_then(Node::as_str) != Some("Indexed") || completions <= 0 {
        return;
    }
    let name = judge.object.at(&["metadata", "name"]);
    let last = name.and_then(Node::as_str).map(|name| format!("{name}-{}", completions - 1));
    if let (Some(name), Some(last)) = (name, last)
        // The last index has the most digits: when its name is valid, those of all pods are.
        && !names::dns1123_label(&last).is_empty()
    {
        let at = At::ROOT.field("metadata");
        let message = format!("will not able to create pod with invalid DNS label: {last}");
        judge.invalid(&at.field("name"), name, &message, "shorten the name, without dots");
    }
}

/// Judges when a Job fails and when it has succeeded.
fn policies(judge: &mut Judge<'_>, at: &At<'_>, spec: &Node) {
    if let Some(policy) = spec.get("podFailurePolicy") {
        let at = at.field("podFailurePolicy");
        let list = at.field("rules");
        too_many(judge, &list, policy.get("rules"), MOST_RULES);
        for (index, rule) in policy.items_of("rules").iter().enumerate() {
            failure_rule(judge, &list.index(index), rule, spec);
        }
    }
    // A failure policy needs the final state of a pod, which a terminating one does not have yet.
    let replaced = if spec.get("podFailurePolicy").is_some() {
        &["Failed"][..]
    } else {
        &["Failed", "TerminatingOrFailed"]
    };
    judge.exactly_if_there(at, spec, "podReplacementPolicy", replaced);
    let Some(policy) = spec.get("successPolicy") else { return };
    let at = at.field("successPolicy");
    if spec.get("completionMode").and_then(Node::as_str) != Some("Indexed") {
        let message = "requires indexed completion mode";
        return judge.invalid(&at, policy, message, "write `completionMode: Indexed`");
    }
    let list = at.field("rules");
    if policy.items_of("rules").is_empty() {
        let detail = "at least one rules must be specified when the successPolicy is specified";
        judge.required(&list, policy, detail);
    }
    too_many(judge, &list, policy.get("rules"), MOST_RULES);
    for (index, rule) in policy.items_of("rules").iter().enumerate() {
        let at = list.index(index);
        let count = rule.get("succeededCount");
        if count.is_none() && rule.get("succeededIndexes").is_none() {
            let detail = "at least one of succeededCount or succeededIndexes must be specified";
            judge.required(&at, rule, detail);
        }
        non_negative(judge, &at.field("succeededCount"), count);
        // Missing completions of an indexed Job are reported above.
        let completions = spec.get("completions").and_then(Node::as_int).unwrap_or(0);
        if let Some(count) = count.filter(|count| count.as_int() > Some(completions)) {
            let message = format!(
                "must be less than or equal to {completions} (the number of specified completions)"
            );
            judge.invalid(&at.field("succeededCount"), count, &message, "write a smaller number");
        }
        let Some(written) = rule.get("succeededIndexes") else { continue };
        match indexes(written.as_str().unwrap_or_default(), completions) {
            Err(message) => {
                let message = format!("error parsing succeededIndexes: {message}");
                let help = "write indexes and ranges in ascending order, as in `0,2-4`";
                judge.invalid(&at.field("succeededIndexes"), written, &message, help);
            }
            Ok(total) => {
                if let Some(count) = count.filter(|count| count.as_int() > Some(total)) {
                    let message = format!(
                        "must be less than or equal to {total} (the number of indexes in the specified succeededIndexes field)"
                    );
                    let at = at.field("succeededCount");
                    judge.invalid(&at, count, &message, "write a smaller number");
                }
            }
        }
    }
}

/// How many indexes a list such as `0,2-4` holds (`validateIndexesFormat`).
///
/// # Errors
/// The server's message about a list that it cannot read.
fn indexes(text: &str, completions: i64) -> Result<i64, String> {
    let number = |part: &str| {
        let index: i64 = part
            .parse()
            .map_err(|_| format!("cannot convert string to integer for index: {part:?}"))?;
        if index >= completions { Err(format!("too large index: {part:?}")) } else { Ok(index) }
    };
    let ascending = |previous: i64, current: i64| {
        if previous < current {
            return Ok(());
        }
        Err(format!("non-increasing order, previous: {previous}, current: {current}"))
    };
    let (mut total, mut last) = (0, None);
    // An empty list has no interval, where `split` gives one empty text.
    for interval in text.split(',').filter(|_| !text.is_empty()) {
        let parts: Vec<&str> = interval.split('-').collect();
        let (first, end) = match parts.as_slice() {
            [one] => (number(one)?, number(one)?),
            [first, end] => {
                let (first, end) = (number(first)?, number(end)?);
                ascending(first, end)?;
                (first, end)
            }
            _ => {
                return Err(format!(
                    "the fragment {interval:?} violates the requirement that an index interval can have at most two parts separated by '-'"
                ));
            }
        };
        if let Some(last) = last {
            ascending(last, first)?;
        }
        // The intervals ascend and end below `completions`, so that the sum cannot overflow.
        total += end - first + 1;
        last = Some(end);
    }
    Ok(total)
}

fn too_many(judge: &mut Judge<'_>, at: &At<'_>, list: Option<&Node>, most: usize) {
    if let Some(list) = list.filter(|list| list.items().len() > most) {
        let message = format!("Too many: {}: must have at most {most} items", list.items().len());
        judge.refuse(at, list.origin.span(), &message, &format!("keep {most}"));
    }
}

fn failure_rule(judge: &mut Judge<'_>, at: &At<'_>, rule: &Node, spec: &Node) {
    let actions = ["Count", "FailIndex", "FailJob", "Ignore"];
    if judge.present(at, rule, "action").is_some()
        && judge.exactly(at, rule, "action", &actions)
        && let Some(action) = rule.get("action").filter(|action| {
            action.as_str() == Some("FailIndex") && spec.get("backoffLimitPerIndex").is_none()
        })
    {
        let message = "requires the backoffLimitPerIndex to be set";
        judge.invalid(&at.field("action"), action, message, "set `backoffLimitPerIndex`");
    }
    let (codes, conditions) = (rule.get("onExitCodes"), rule.items_of("onPodConditions"));
    let message = match (codes, conditions) {
        (Some(_), [_, ..]) => {
            Some("specifying both OnExitCodes and OnPodConditions is not supported")
        }
        (None, []) => Some("specifying one of OnExitCodes and OnPodConditions is required"),
        _ => None,
    };
    if let Some(message) = message {
        let message = format!("Invalid value: {message}");
        judge.refuse(at, rule.origin.span(), &message, "keep one of them");
    }
    let list = at.field("onPodConditions");
    too_many(judge, &list, rule.get("onPodConditions"), MOST_RULES);
    for (index, condition) in conditions.iter().enumerate() {
        let at = list.index(index);
        // A missing type is judged as an empty one, which is no qualified name.
        let kind = condition.get("type").cloned().unwrap_or_else(|| Node::str("", rule.origin));
        let text = kind.as_str().unwrap_or_default();
        judge.shaped(&at.field("type"), &kind, names::qualified_name(text));
        // The server fills in `True`.
        judge.one_of(&at.field("status"), condition.get("status"), &["False", "True", "Unknown"]);
    }
    if let Some(codes) = codes {
        exit_codes(judge, &at.field("onExitCodes"), codes, spec);
    }
}

fn exit_codes(judge: &mut Judge<'_>, at: &At<'_>, codes: &Node, spec: &Node) {
    if judge.present(at, codes, "operator").is_some() {
        judge.exactly(at, codes, "operator", &["In", "NotIn"]);
    }
    let pod = spec.at(&["template", "spec"]);
    let is_container = |name: &Node| {
        ["containers", "initContainers"]
            .iter()
            .flat_map(|list| pod.map_or(&[][..], |pod| pod.items_of(list)))
            .any(|container| {
                container.get("name").is_some_and(|container| container.value == name.value)
            })
    };
    if let Some(name) = codes.get("containerName").filter(|name| !is_container(name)) {
        let message = "must be one of the container or initContainer names in the pod template";
        judge.invalid(
            &at.field("containerName"),
            name,
            message,
            "name a container of the template",
        );
    }
    let list = at.field("values");
    // A null is a 0.
    let number = |node: &Node| if node.is_null() { Some(0) } else { node.as_int() };
    let numbers: Vec<i64> = codes.items_of("values").iter().filter_map(number).collect();
    // Exit codes have 8 bits.
    too_many(judge, &list, codes.get("values"), 255);
    let Some(values) = codes.get("values").filter(|_| !numbers.is_empty()) else {
        let empty = Node::list(Vec::<Node>::new(), codes.origin);
        return judge.invalid(&list, &empty, "at least one value is required", "add an exit code");
    };
    // Only here is 0 wrong: a container that ends with 0 has not failed.
    let within = codes.get("operator").and_then(Node::as_str) == Some("In");
    let mut seen = HashSet::new();
    for (index, value) in values.items().iter().enumerate() {
        let at = list.index(index);
        if within && number(value) == Some(0) {
            let message = "must not be 0 for the In operator";
            judge.invalid(&at, value, message, "delete it: 0 is success");
        }
        if number(value).is_some_and(|number| !seen.insert(number)) {
            let message = format!("Duplicate value: {}", value.to_json());
            judge.refuse(&at, value.origin.span(), &message, "keep one of them");
        }
    }
    if !numbers.is_sorted() {
        judge.invalid(&list, values, "must be ordered", "write the smallest first");
    }
}

/// Judges the selector of a Job. Without `manualSelector` the server writes selector and labels,
/// and refuses others.
fn selector(judge: &mut Judge<'_>, at: &At<'_>, spec: &Node) {
    let selector_at = at.field("selector");
    let by_hand = spec.get("manualSelector").and_then(Node::as_bool) == Some(true);
    let chosen = spec.get("selector");
    let is_valid = metadata::selector(judge, &selector_at, chosen, true);
    if by_hand {
        return match chosen {
            Some(selector) if is_valid => of_template(judge, at, spec, selector),
            Some(_) => {}
            None => judge.required(&selector_at, spec, ""),
        };
    }
    let name = judge.object.at(&["metadata", "name"]).and_then(Node::as_str).unwrap_or_default();
    // Each step borrows the one before, so that each needs a name.
    let labels_at = at.field("template");
    let labels_at = labels_at.field("metadata");
    let labels_at = labels_at.field("labels");
    let labels = spec.at(&["template", "metadata", "labels"]);
    for entry in labels.into_iter().flat_map(Node::entries) {
        let is_own = NAME_LABELS.contains(&&*entry.key) && entry.node.as_str() != Some(name);
        if is_own || UID_LABELS.contains(&&*entry.key) {
            let must =
                if is_own { format!("must be '{name}'") } else { "must be the uid".to_owned() };
            let help = "delete the label: the server writes it";
            judge.invalid(&labels_at.key(&entry.key), &entry.node, &must, help);
        }
    }
    let Some(selector) = spec.get("selector") else { return };
    let wanted = |entry: &crate::yaml::Entry| {
        NAME_LABELS.contains(&&*entry.key) && entry.node.as_str() == Some(name)
    };
    // A selector that repeats what the server itself would write is accepted.
    let foreign =
        selector.get("matchLabels").into_iter().flat_map(Node::entries).any(|entry| !wanted(entry));
    if foreign || metadata::holds_something(selector.get("matchExpressions")) {
        let message = "`selector` not auto-generated";
        judge.invalid(
            &selector_at,
            selector,
            message,
            "delete it, or write `manualSelector: true`",
        );
    }
}

#[cfg(test)]
mod tests {
    use super::indexes;

    // pkg/apis/batch/validation/validation.go, validateIndexesFormat and parseIndexInterval.
    #[test]
    fn job_indexes_are_validated_like_the_api_server() {
        for (text, total) in [("", 0), ("0", 1), ("0,2-4", 4), ("1-2,4", 3)] {
            assert_eq!(indexes(text, 5), Ok(total), "{text}");
        }
        for (text, message) in [
            ("5", "too large index: \"5\""),
            ("1-5", "too large index: \"5\""),
            ("3-1", "non-increasing order, previous: 3, current: 1"),
            ("2-2", "non-increasing order, previous: 2, current: 2"),
            ("1,1", "non-increasing order, previous: 1, current: 1"),
            ("0,a", "cannot convert string to integer for index: \"a\""),
            ("0,", "cannot convert string to integer for index: \"\""),
        ] {
            assert_eq!(indexes(text, 5), Err(message.to_owned()), "{text}");
        }
        assert!(indexes("1-2-3", 5).is_err_and(|message| message.contains("at most two parts")));
    }
}
