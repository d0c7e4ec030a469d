//! Agreement of checks, counts and rendering. Each property covers a class of differences that
//! random inputs beside the real controllers and a real API server found: nulls that the server
//! drops, plans without the errors of rendering, pods and GPUs that are counted and not printed,
//! objects that `validate` accepts and a server rejects.

use super::fleet::{Fleet, node};
use super::{holds, plan, read, world};
use ome::internals::api::Semantics;
use ome::internals::diag::{Code, Diagnostic, Severity};
use ome::internals::objects::RenderedObject;
use ome::internals::objects::accept::{accept_rendered, judge};
use ome::internals::schema;
use ome::internals::yaml::{FieldPath, Node, Value};
use ome::pipeline::Renderer;
use ome::workspace::World;
use proptest::prelude::*;
use serde_json::json;
use std::cell::Cell;
use std::collections::BTreeMap;

/// The server's rejections of the input, or of the objects of services.
fn refused(world: &World, semantics: Semantics) -> [Vec<Diagnostic>; 2] {
    let (mut read, mut rendered) = (Vec::new(), Vec::new());
    for object in world.catalog.objects() {
        judge(&object.node, &mut read);
    }
    let renderer = Renderer::new(world, "cluster.local");
    for views in world.catalog.services() {
        for object in
            renderer.render(views, &mut ome::internals::merge::history::Recorder::off()).objects
        {
            accept_rendered(&object.node, semantics, &world.sources, &mut rendered);
        }
    }
    [read, rendered].map(|found| {
        let refusal = |finding: &Diagnostic| {
            finding.code == Code::ServerRefuses && finding.severity == Severity::Error
        };
        found.into_iter().filter(refusal).collect()
    })
}

#[test]
fn input_accepted_by_the_api_server_renders_accepted_objects() {
    let checked = Cell::new(0);
    holds(|fleet, _, semantics| {
        let world = world(fleet, semantics);
        let errors = world.diagnostics.iter().any(|found| found.severity == Severity::Error);
        let [read, rendered] = refused(&world, semantics);
        if !errors && read.is_empty() {
            prop_assert!(rendered.is_empty(), "{:?}", rendered);
            checked.set(checked.get() + 1);
        }
        Ok(())
    });
    assert!(checked.get() > 20, "{checked:?}");
}

#[test]
fn a_plan_fails_where_rendering_fails() {
    let failures = Cell::new(0);
    holds(|fleet, _, semantics| {
        let world = world(fleet, semantics);
        let renderer = Renderer::new(&world, "cluster.local");
        for (planned, views) in plan(&world).iter().zip(world.catalog.services()) {
            let rendered =
                renderer.render(views, &mut ome::internals::merge::history::Recorder::off());
            failures.set(failures.get() + usize::from(rendered.error.is_some()));
            let code = |failure: Option<Code>| failure.map(Code::as_str);
            prop_assert_eq!(
                code(planned.error.as_ref().map(|error| error.code)),
                code(rendered.error.as_ref().map(|error| error.code)),
                "{}",
                planned.service
            );
        }
        Ok(())
    });
    assert!(failures.get() > 20, "{failures:?}");
}

/// GPUs that the containers of a pod request, by resource.
fn gpus(pod: Option<&Node>) -> BTreeMap<String, i64> {
    let mut found = BTreeMap::new();
    for container in pod.and_then(|pod| pod.get("containers")).map(Node::items).unwrap_or_default()
    {
        let asked = ["requests", "limits"]
            .iter()
            .filter_map(|list| container.at(&["resources", list]))
            .flat_map(Node::entries)
            .filter(|entry| entry.key.ends_with("/gpu"));
        let own: BTreeMap<String, i64> = asked
            .filter_map(|entry| {
                Some((entry.key.to_string(), entry.node.scalar_text()?.parse().ok()?))
            })
            .collect();
        for (name, count) in own {
            *found.entry(name).or_default() += count;
        }
    }
    found
}

/// Pods of one replica of a workload, and the GPUs of all of them.
fn extent(object: &RenderedObject) -> Option<(i64, BTreeMap<String, i64>)> {
    let spec = object.node.get("spec")?;
    match object.node.get("kind").and_then(Node::as_str)? {
        "Deployment" => Some((1, gpus(spec.at(&["template", "spec"])))),
        "Service" if spec.get("template").is_some() => {
            Some((1, gpus(spec.at(&["template", "spec"]))))
        }
        "LeaderWorkerSet" => {
            let group = spec.get("leaderWorkerTemplate")?;
            let size = group.get("size").and_then(Node::as_int)?;
            let mut all = gpus(group.at(&["leaderTemplate", "spec"]));
            for (name, count) in gpus(group.at(&["workerTemplate", "spec"])) {
                *all.entry(name).or_default() += count * (size - 1);
            }
            Some((size, all))
        }
        _ => None,
    }
}

/// The fleet with leaders and workers in some runtimes of OME.
fn with_groups(fleet: &Fleet, number: usize) -> Fleet {
    let mut fleet = fleet.clone();
    let path = FieldPath::parse("spec.engineConfig").expect("a path");
    for (index, document) in fleet.documents.iter_mut().enumerate() {
        let text = |key: &str| document.get(key).and_then(Node::as_str).unwrap_or_default();
        let drawn = number + index;
        if !text("apiVersion").starts_with("ome.io")
            || !text("kind").ends_with("ServingRuntime")
            || drawn.is_multiple_of(2)
        {
            continue;
        }
        let pod = |gpus: usize| {
            json!({"runner": {
                "name": "ome-container", "image": "i", "resources": {"limits": {"nvidia.com/gpu": gpus}},
            }})
        };
        let mut worker = pod(drawn % 5);
        worker["size"] = (drawn % 4).into();
        let group = json!({"leader": pod(drawn % 3), "worker": worker});
        document.set(&path.0, Some(node(&group)));
    }
    fleet
}

#[test]
fn counted_pods_match_the_rendered_objects() {
    let (compared, of_groups) = (Cell::new(0), Cell::new(0));
    holds(|fleet, number, semantics| {
        let world = world(&with_groups(fleet, number), semantics);
        let renderer = Renderer::new(&world, "cluster.local");
        for views in world.catalog.services() {
            let rendered =
                renderer.render(views, &mut ome::internals::merge::history::Recorder::off());
            if rendered.error.is_some() {
                continue;
            }
            for component in &rendered.components {
                let own = |object: &&RenderedObject| object.component == Some(component.kind);
                let workloads: Vec<_> =
                    rendered.objects.iter().filter(own).filter_map(extent).collect();
                // Several Deployments are the parts of one replica.
                let [(pods, gpus)] = workloads.as_slice() else { continue };
                prop_assert_eq!(component.pods_per_replica.number(), Some(*pods));
                let counted = component.gpus_by_resource.as_ref().map(|counted| {
                    let some = counted.iter().filter(|(_, count)| *count > 0);
                    some.map(|(name, count)| (name.to_string(), *count)).collect()
                });
                let printed: BTreeMap<_, _> =
                    gpus.clone().into_iter().filter(|(_, count)| *count > 0).collect();
                prop_assert_eq!(counted, Some(printed), "{:?}", component.kind);
                compared.set(compared.get() + 1);
                of_groups.set(of_groups.get() + usize::from(*pods > 1));
            }
        }
        Ok(())
    });
    assert!(compared.get() > 100 && of_groups.get() > 0, "{compared:?} {of_groups:?}");
}

/// Writes nulls into the mappings of a value, for fields that its type has and it has not.
fn sow(node: &mut Node, ty: &schema::Type, number: &mut usize) {
    let origin = node.origin;
    match &mut node.value {
        Value::Map(map) => {
            for entry in map.iter_mut() {
                if let Some(field) = ty.field(&entry.key) {
                    sow(&mut entry.node, &field.ty, number);
                }
            }
            let schema::Type::Object(definition) = ty else { return };
            for field in &definition.server().fields {
                *number = number.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(99);
                if (*number >> 33).is_multiple_of(7)
                    && !field.nullable
                    && map.get(field.name).is_none()
                {
                    map.insert(field.name, Node::new(Value::Null, origin));
                }
            }
        }
        Value::List(items) => {
            if let Some(item) = ty.item() {
                items.make_mut().iter_mut().for_each(|node| sow(node, &item.ty, number));
            }
        }
        _ => {}
    }
}

/// Writes nulls into the mappings of a document whose schema drops them: fields that are not there.
fn with_nulls(document: &Node, mut number: usize) -> Node {
    let text = |key: &str| document.get(key).and_then(Node::as_str).unwrap_or_default();
    let Some(schema) = schema::kind(text("apiVersion"), text("kind")) else {
        return document.clone();
    };
    let mut found = document.clone();
    if let Some(map) = found.as_map_mut()
        && let Some(spec) = map.get_mut("spec")
        && let Some(ty) = schema.root().at(&["spec"])
    {
        sow(spec, ty, &mut number);
    }
    found
}

#[test]
fn nulls_are_dropped_once_and_do_not_change_manifests() {
    holds(|fleet, number, semantics| {
        let nulls: Vec<Node> =
            fleet.documents.iter().map(|document| with_nulls(document, number)).collect();
        for document in &nulls {
            let text = |key: &str| document.get(key).and_then(Node::as_str).unwrap_or_default();
            let Some(schema) = schema::kind(text("apiVersion"), text("kind")) else { continue };
            let (mut once, mut twice) = (document.clone(), document.clone());
            schema.drop_nulls(&mut once);
            schema.drop_nulls(&mut twice);
            schema.drop_nulls(&mut twice);
            prop_assert_eq!(&once, &twice);
        }
        let other = Fleet { documents: nulls };
        let (plain, other) = (world(fleet, semantics), read(&other.text(), semantics));
        prop_assert_eq!(super::manifests(&plain), super::manifests(&other));
        Ok(())
    });
}
