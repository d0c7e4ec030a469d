//! Pod specs.

use super::at::At;
use super::judge::Judge;
use super::{container, metadata, scheduling, volume};
use crate::quantity::names;
use crate::yaml::Node;

/// Judges a pod spec.
pub(super) fn spec(judge: &mut Judge<'_>, at: &At<'_>, spec: &Node) {
    judge.one_of(&at.field("dnsPolicy"), spec.get("dnsPolicy"), &["ClusterFirstWithHostNet", "ClusterFirst", "Default", "None"]);
    judge.one_of(&at.field("restartPolicy"), spec.get("restartPolicy"), &["Always", "OnFailure", "Never"]);
    if let Some(account) = spec.get("serviceAccountName").filter(|node| node.as_str() != Some("")) {
        judge.shaped(&at.field("serviceAccountName"), account, account.as_str().map(names::service_account).unwrap_or_default());
    }
    if let Some(seconds) = spec.get("terminationGracePeriodSeconds").filter(|node| node.as_int().is_some_and(|number| number < 0)) {
        judge.invalid(&at.field("terminationGracePeriodSeconds"), seconds, "must be greater than or equal to 0", "write at least 0");
    }
    metadata::labels(judge, &at.field("nodeSelector"), spec.get("nodeSelector"));
    scheduling::scheduling(judge, at, spec);
    for (index, alias) in items(spec, "hostAliases").iter().enumerate() {
        let list = at.field("hostAliases");
        if let Some(address) = alias.get("ip") {
            let objections: Vec<String> = address.as_str().map(names::ip_address).unwrap_or_default().iter().map(|error| error.at("")).collect();
            if !objections.is_empty() {
                let help = "write an address such as 10.9.8.7";
                judge.invalid(&list.index(index).field("ip"), address, "must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)", help);
            }
        }
    }

    let volumes = volume::volumes(judge, &at.field("volumes"), spec.get("volumes"));
    let host_network = spec.get("hostNetwork").and_then(Node::as_bool) == Some(true);
    for list in ["containers", "initContainers"] {
        let at = at.field(list);
        let Some(containers) = spec.get(list) else { continue };
        judge.keyed(&at, containers, &[("name", "")]);
        for (index, container) in containers.items().iter().enumerate() {
            container::container(judge, &at.index(index), container, &volumes, host_network);
        }
    }
    if items(spec, "containers").is_empty() {
        judge.required(&at.field("containers"), spec, "");
    }
    let main = |name: Option<&str>| items(spec, "containers").iter().any(|other| name.is_some() && other.get("name").and_then(Node::as_str) == name);
    for (index, container) in items(spec, "initContainers").iter().enumerate() {
        if let Some(name) = container.get("name").filter(|name| main(name.as_str())) {
            let detail = format!("Duplicate value: {}", name.to_json());
            judge.refuse(&at.field("initContainers").index(index).field("name"), name.origin.span(), &detail, "give it another name");
        }
    }
}

/// The elements of a list; none when it is absent.
pub(super) fn items<'n>(node: &'n Node, key: &str) -> &'n [Node] {
    node.get(key).map(Node::items).unwrap_or_default()
}
