//! The HTTPRoute of a service, and the checks of what it refers to
//! (pkg/controller/v1alpha2/llmisvc/router.go, router_validation.go, router_group_routing.go).

use super::combine::{each_default_backend, is_default_backend};
use super::lora::published;
use super::parts::{MODEL_ROUTING, component_labels, metadata, object};
use super::read::GROUP_LABEL;
use super::rules::ROUTE;
use super::scene::{Scene, absent, at_mut, put, text_at};
use crate::api::{Api, Object, Service};
use crate::diag::Diagnostic;
use crate::merge::edit::{each_mut, list_mut, mapping, text};
use crate::operators::kserve::is_llm;
use crate::quantity::names::child_name;
use crate::yaml::{Map, Node, Origin};
use ecow::{EcoString, eco_format};

const BY: Origin = Origin::Derived(&ROUTE);
/// Group of pools that a route begins with.
const FORMER: &str = "inference.networking.x-k8s.io";
const CURRENT: &str = "inference.networking.k8s.io";
/// Annotation of a route whose pools are of the current group.
const MIGRATED: &str = "serving.kserve.io/inference-pool-migrated";

/// Reports gateways and routes that the service refers to and that were not read.
///
/// # Errors
/// When a route that the service refers to has no gateway.
pub(super) fn references(
    scene: &Scene<'_>,
    spec: &Node,
    findings: &mut Vec<Diagnostic>,
) -> Result<(), String> {
    let gateway = |reference: &Node, findings: &mut Vec<Diagnostic>| {
        let named = text(reference, "namespace");
        let namespace = if named.is_empty() { scene.namespace() } else { named };
        let name = text(reference, "name");
        if scene.catalog.other("Gateway", namespace, name).is_none() {
            let place = reference.get("name").map(|node| node.origin);
            findings.push(absent(scene, "Gateway", namespace, name, place));
        }
    };
    let refs = spec.at(&["router", "gateway", "refs"]).map(Node::items).unwrap_or_default();
    for reference in refs {
        gateway(reference, findings);
    }
    let routes = spec.at(&["router", "route", "http", "refs"]).map(Node::items).unwrap_or_default();
    for reference in routes {
        let name = text(reference, "name");
        match scene.find("HTTPRoute", name) {
            None => {
                let place = reference.get("name").map(|node| node.origin);
                findings.push(absent(scene, "HTTPRoute", scene.namespace(), name, place));
            }
            Some(route) => {
                let parents = route.spec("parentRefs").map(Node::items).unwrap_or_default();
                // Only a route that was read can be judged.
                if parents.is_empty() {
                    return Err(format!(
                        "failed to reconcile networking: HTTPRoute target validation failed: HTTPRoute {}/{name} has no parent gateway references",
                        scene.namespace()
                    ));
                }
                for parent in parents {
                    gateway(parent, findings);
                }
            }
        }
    }
    // The parents of an inline route count only without references to gateways, which replace them.
    if refs.is_empty() {
        let parents = spec.at(&["router", "route", "http", "spec", "parentRefs"]);
        for parent in parents.map(Node::items).unwrap_or_default() {
            gateway(parent, findings);
        }
    }
    Ok(())
}

/// Whether rules by the header of a model apply.
fn routes_by_model(scene: &Scene<'_>, spec: &Node) -> bool {
    let settings = scene.settings();
    let stated = spec.at(&["annotations", MODEL_ROUTING]).and_then(Node::as_str);
    if settings.model_header.is_empty() || stated != Some("true") {
        return false;
    }
    // The setting of the cluster decides before any gateway is looked at.
    match settings.model_routing.as_str() {
        "disabled" => return false,
        "forced" => return true,
        _ => {}
    }
    let refs = spec.at(&["router", "gateway", "refs"]).map(Node::items).unwrap_or_default();
    // A gateway that was not read does not object.
    !refs.iter().any(|reference| {
        let named = text(reference, "namespace");
        let namespace = if named.is_empty() { scene.namespace() } else { named };
        let gateway = scene.catalog.other("Gateway", namespace, text(reference, "name"));
        gateway.and_then(|object| {
            object
                .annotation(MODEL_ROUTING)
                .and_then(|node| node.as_str())
                .map(|text| text == "false")
        }) == Some(true)
    })
}

fn has_header(matched: &Node, header: &str) -> bool {
    matched.items_of("headers").iter().any(|headers| text(headers, "name") == header)
}

/// Drops the matches of a model's header, and the rules that are left without one.
fn strip(route: &mut Node, header: &str) {
    let Some(rules) = at_mut(route, &["rules"]).and_then(Node::as_list_mut) else { return };
    for rule in rules.make_mut() {
        if let Some(matches) = at_mut(rule, &["matches"]).and_then(Node::as_list_mut) {
            matches.retain(|matched| !has_header(matched, header));
        }
    }
    // A rule without matches would catch every request.
    rules.retain(|rule| !rule.items_of("matches").is_empty());
}

/// Adds a match for each adapter to those of the model's header.
fn expand(scene: &Scene<'_>, spec: &Node, route: &mut Node, header: &str) {
    let listed = spec.at(&["model", "lora", "adapters"]).map(Node::items).unwrap_or_default();
    let mut adapters: Vec<(&str, Origin)> = listed
        .iter()
        .filter_map(|parent| parent.get("name"))
        .filter_map(|name| Some((name.as_str()?, name.origin)))
        .collect();
    // By name: the order in the list must not change the route.
    adapters.sort_by_key(|(name, _)| *name);
    each_mut(route, "rules", |rule| {
        // A copy, because the list grows while it is read.
        let matches = rule.items_of("matches").to_vec();
        let mut added = Vec::new();
        for matched in matches.iter().filter(|matched| has_header(matched, header)) {
            for (name, origin) in &adapters {
                let mut copy = matched.clone();
                each_mut(&mut copy, "headers", |node| {
                    if text(node, "name") == header {
                        let value = published(scene.namespace(), name);
                        put(node, "value", Node::str(value, *origin));
                    }
                });
                added.push(copy);
            }
        }
        if !added.is_empty()
            && let Some(list) = list_mut(rule, "matches", BY)
        {
            list.extend(added);
        }
    });
}

/// A service of a group with its backend.
struct Member {
    weight: Node,
    stopped: bool,
    models: Vec<EcoString>,
    backend: Node,
}

fn models(service: &Service) -> Vec<EcoString> {
    let model = service.object.spec("model");
    let mut names: Vec<EcoString> = vec![
        model
            .and_then(|model| text_at(model, &["name"]))
            .map_or_else(|| service.name().clone(), EcoString::from),
    ];
    let adapters = model.and_then(|model| model.at(&["lora", "adapters"]));
    let adapters = adapters.map(Node::items).unwrap_or_default();
    names.extend(adapters.iter().filter_map(|adapter| adapter.get("name")?.scalar_text()));
    // Compared as sets with the models of other members.
    names.sort();
    names.dedup();
    names
}

/// The members of a service's group, by name.
fn members(scene: &Scene<'_>, group: &str) -> Vec<Member> {
    let services = scene.catalog.services().map(|views| &views.controller);
    let same = |service: &&Service| {
        service.object.api == Api::KServe
            && is_llm(service)
            && service.namespace == scene.namespace()
            && group_of(&service.object) == Some(group)
    };
    services
        .filter(same)
        .map(|service| {
            let router = service.object.spec("router");
            let pool =
                router.and_then(|router| text_at(router, &["scheduler", "pool", "ref", "name"]));
            let scheduler = router.is_some_and(|router| router.get("scheduler").is_some());
            let backend = |group: Option<&'static str>, kind: &'static str, name: EcoString| {
                let mut node =
                    mapping([("kind", Node::str(kind, BY)), ("name", Node::str(name, BY))], BY);
                if let Some(group) = group {
                    put(&mut node, "group", Node::str(group, BY));
                }
                put(&mut node, "port", Node::int(8000, BY));
                node
            };
            // A pool of the user is taken to be of the former group, as upstream does.
            let backend = match pool {
                Some(pool) => backend(Some(FORMER), "InferencePool", pool.into()),
                None if scheduler => backend(
                    Some(CURRENT),
                    "InferencePool",
                    child_name(service.name(), "-inference-pool"),
                ),
                None => {
                    backend(None, "Service", child_name(service.name(), "-kserve-workload-svc"))
                }
            };
            let weight = router.and_then(|router| router.at(&["route", "weight"])).cloned();
            let stopped = service
                .object
                .annotation("serving.kserve.io/stop")
                .and_then(|node| node.as_str().map(|text| text.eq_ignore_ascii_case("true")));
            Member {
                weight: weight.unwrap_or_else(|| Node::int(0, BY)),
                stopped: stopped == Some(true),
                models: models(service),
                backend,
            }
        })
        .collect()
}

fn group_of(object: &Object) -> Option<&str> {
    object.spec("router").and_then(|router| text_at(router, &["route", "group"]))
}

/// Gives every rule that is not the service's own the backends of all members.
fn share(scene: &Scene<'_>, spec: &Node, route: &mut Node, group: &str) -> bool {
    let models = models(scene.service);
    let backends: Vec<Node> = members(scene, group)
        .into_iter()
        // Members that serve other models cannot answer the same requests.
        .filter(|member| !member.stopped && member.models == models)
        .map(|member| {
            let mut backend = member.backend;
            put(&mut backend, "weight", member.weight);
            backend
        })
        .collect();
    let prefix = eco_format!("/{}/{}", scene.namespace(), scene.name());
    let service = scene.child("-kserve-workload-svc");
    let pool = text_at(spec, &["router", "scheduler", "pool", "ref", "name"]);
    each_mut(route, "rules", |rule| {
        // The rules below the service's own path stay with its own backend.
        let personal = rule.items_of("matches").iter().any(|matched| {
            text_at(matched, &["path", "value"]).is_some_and(|path| {
                path.strip_prefix(prefix.as_str())
                    .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
            })
        });
        let managed = rule.items_of("backendRefs").iter().any(|backend_ref| {
            let kind = Some(text(backend_ref, "kind")).filter(|kind| !kind.is_empty());
            let name = text(backend_ref, "name");
            is_default_backend(scene, backend_ref)
                || (kind.unwrap_or("Service") == "Service" && name == service)
                || (kind == Some("InferencePool") && Some(name) == pool)
        });
        // Rules of the user with other backends are not shared.
        if !personal && managed {
            put(rule, "backendRefs", Node::list(backends.iter().cloned(), BY));
        }
    });
    backends.iter().any(|backend| text(backend, "group") == CURRENT)
}

/// The HTTPRoute; none without a route, or with routes of the user.
pub(super) fn object_of(scene: &Scene<'_>, spec: &Node) -> Option<Node> {
    let route = spec.at(&["router", "route"])?;
    let mut body = route.at(&["http", "spec"])?.clone();
    let settings = scene.settings();
    if routes_by_model(scene, spec) {
        expand(scene, spec, &mut body, &settings.model_header);
    } else {
        strip(&mut body, &settings.model_header);
    }
    let group = text_at(route, &["group"]);
    let scheduler = spec.at(&["router", "scheduler"]);
    let managed =
        scheduler.is_some_and(|scheduler| text_at(scheduler, &["pool", "ref", "name"]).is_none());
    let name = scene.child("-kserve-route");
    let existing = scene.find("HTTPRoute", &name);
    let mut migrated = existing.is_some_and(is_migrated);
    // A new route begins with the former group; the controller moves it when the gateway refuses
    // it.
    if managed && !migrated {
        each_default_backend(scene, &mut body, |backend| {
            put(backend, "group", Node::str(FORMER, BY));
        });
    }
    if let Some(group) = group {
        migrated |= share(scene, spec, &mut body, group);
    }
    // A gateway that resolves a pool of the current group shows that it knows the group.
    migrated |= body.items_of("rules").iter().any(|rule| {
        rule.items_of("backendRefs").iter().any(|backend_ref| {
            text(backend_ref, "kind") == "InferencePool" && text(backend_ref, "group") == CURRENT
        })
    });
    let mut annotations = Map::new();
    if managed && migrated {
        each_default_backend(scene, &mut body, |backend| {
            put(backend, "group", Node::str(CURRENT, BY));
        });
        annotations.insert(MIGRATED, Node::str("v1", BY));
    }
    let mut labels = component_labels(scene, "llminferenceservice-router");
    if let Some(group) = route.get("group") {
        labels.insert(GROUP_LABEL, group.clone());
    }
    labels.sort();
    let metadata = metadata(scene, name, labels, annotations, &ROUTE);
    Some(object("gateway.networking.k8s.io/v1", "HTTPRoute", metadata, [("spec", body)], &ROUTE))
}

/// Whether a route of the cluster has pools of the current group, or its gateway refuses the
/// former ones.
fn is_migrated(route: &Object) -> bool {
    if route.annotation(MIGRATED).and_then(|node| node.as_str().map(|text| text == "v1"))
        == Some(true)
    {
        return true;
    }
    let parents = route.node.at(&["status", "parents"]).map(Node::items).unwrap_or_default();
    let uses = |group: &str| {
        route.spec("rules").map(Node::items).unwrap_or_default().iter().any(|rule| {
            rule.items_of("backendRefs").iter().any(|backend_ref| {
                text(backend_ref, "kind") == "InferencePool" && text(backend_ref, "group") == group
            })
        })
    };
    let conditions = || parents.iter().flat_map(|parent| parent.items_of("conditions"));
    let refused = conditions().any(|condition| {
        text(condition, "type") == "ResolvedRefs"
            && text(condition, "status") == "False"
            && text(condition, "reason") == "InvalidKind"
    });
    let resolved = conditions().any(|condition| {
        text(condition, "type") == "ResolvedRefs" && text(condition, "status") == "True"
    });
    (uses(FORMER) && refused) || (uses(CURRENT) && resolved)
}
