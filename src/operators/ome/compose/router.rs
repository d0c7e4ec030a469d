//! Additions to routers only.

use crate::merge::edit::{list_mut, mapping, text};
use crate::merge::history::Recorder;
use crate::operators::ome::rules::Rules as _;
use crate::pods::container::{lost_variable, push};
use crate::pods::rules::{ROUTER_ACCOUNT, ROUTER_CONFIG};
use crate::policy::Policy;
use crate::yaml::{Entry, Node, Origin, Places, Value};
use ecow::{EcoString, eco_format};

/// Adds the entries of `config` to the environment, sorted by key
/// (pkg/controller/v1beta1/inferenceservice/components/base.go; OME docs, Serving Runtime, Router
/// Configuration).
///
/// In documented mode an entry replaces a variable of its name; the controller adds it a second
/// time.
pub(crate) fn config_as_environment(
    policy: &Policy,
    container: &mut Node,
    config: Option<&Node>,
    rec: &mut Recorder,
) {
    let mut entries: Vec<&Entry> = config
        .map(Node::entries)
        .into_iter()
        .flatten()
        .filter(|entry| !entry.node.is_null())
        .collect();
    // Sorted, because Go's order of iteration over a map differs in each run.
    entries.sort_by(|a, b| a.key.cmp(&b.key));
    let listed = container.get("env").map(Node::items).unwrap_or_default();
    // An index by name, as a long config would be searched once for each entry.
    let mut places = Places::of(listed.iter().map(|one| Some(EcoString::from(text(one, "name")))));
    let mut count = listed.len();
    for entry in entries {
        let origin = Origin::Derived(&ROUTER_CONFIG);
        // Numbers and booleans become text: the values of variables are strings.
        let value = entry.node.scalar_text().map_or_else(
            || entry.node.clone(),
            |text| Node::new(Value::Str(text), entry.node.origin),
        );
        let variable = mapping(
            [("name", Node::str(entry.key.clone(), entry.key_origin)), ("value", value)],
            origin,
        );
        let position =
            places.insert(entry.key.clone(), count).filter(|_| policy.ome().router_config_replaces);
        if let (Some(index), Some(env)) = (position, list_mut(container, "env", origin)) {
            if let Some((loser, winner)) = env[index].get("value").zip(variable.get("value")) {
                lost_variable(&entry.key, loser, winner, rec);
            }
            env.make_mut()[index] = variable;
        } else {
            push(container, "env", variable);
            count += 1;
        }
    }
}

/// The name of a router's service account, role and role binding
/// (pkg/controller/v1beta1/inferenceservice/components/router.go).
pub fn account_name(service: &str) -> EcoString {
    eco_format!("{service}-router")
}

/// Sets the router's own account in the pod, over any other.
pub(crate) fn run_as_account(pod: &mut Node, service: &str, rec: &mut Recorder) {
    let winner = Node::str(account_name(service), Origin::Derived(&ROUTER_ACCOUNT));
    if let Some(loser) = pod.get("serviceAccountName") {
        rec.at("serviceAccountName").lost(loser, Some(&winner));
    }
    if let Some(map) = pod.as_map_mut() {
        map.insert("serviceAccountName", winner);
    }
}
