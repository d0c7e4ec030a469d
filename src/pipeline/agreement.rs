//! One question asked in several ways has one answer: which pods of which service find a node, in a
//! plan, in what `ome test` reads of it, in a comparison of two states, and in rollouts that change
//! nothing; the totals of a plan are those of the objects that are rendered; and a rollout of one
//! service ends as that of all, and with each edit as that edit says.
//!
//! Some random small inputs; `OME_FLEETS=10000` tries more of them.

use super::serving::plan_servings;
use super::testing::world;
use super::together::{SettledWorkload, together_after};
use super::{
    AddedNodes, Changes, Depth, Fix, PlacementOptions, Planner, Renderer, RollEnd, RollOptions,
    ServiceRollout, State, Together, identity, roll, totals,
};
use crate::merge::history::Recorder;
use crate::workspace::World;
use crate::yaml::Node;
use proptest::prelude::*;
use proptest::test_runner::RngSeed;
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// A node: devices, a taint, whether it is cordoned, whether it is in the second zone.
type Machine = (i64, bool, bool, bool);
/// A service: devices of a pod, minReplicas, replicas beyond it, whether it tolerates the taint,
/// whether updates have no surge, and of its volume whether that is in the second zone.
type Service = (i64, i64, i64, bool, bool, Option<bool>);
/// A ModelServing: groups, replicas of its role, devices of a pod.
type Serving = (i64, i64, i64);

#[derive(Clone, Debug)]
struct Input {
    nodes: Vec<Machine>,
    services: Vec<Service>,
    serving: Option<Serving>,
    /// Devices that a quota allows.
    quota: Option<i64>,
    /// A Deployment of its own: replicas and devices of a pod.
    beside: Option<(i64, i64)>,
}

fn inputs() -> impl Strategy<Value = Input> {
    let devices = || prop::sample::select(vec![1_i64, 2, 3, 4, 8]);
    let node = (devices(), prop::bool::weighted(0.2), prop::bool::weighted(0.1), any::<bool>());
    let volume = prop::option::weighted(0.2, any::<bool>());
    let service = (devices(), 1_i64..4, 0_i64..3, any::<bool>(), any::<bool>(), volume);
    (
        prop::collection::vec(node, 1..5),
        prop::collection::vec(service, 1..5),
        prop::option::weighted(0.4, (1_i64..3, 1_i64..3, 1_i64..4)),
        prop::option::weighted(0.3, 2_i64..20),
        prop::option::weighted(0.3, (1_i64..3, devices())),
    )
        .prop_map(|(nodes, services, serving, quota, neighbors)| Input {
            nodes,
            services,
            serving,
            quota,
            beside: neighbors,
        })
}

fn requests(gpus: i64) -> Value {
    let amounts = json!({"cpu": "1", "memory": "1Gi", "nvidia.com/gpu": gpus.to_string()});
    json!({"requests": amounts, "limits": {"nvidia.com/gpu": gpus.to_string()}})
}

fn object(api: &str, kind: &str, name: &str, spec: &Value) -> Value {
    json!({"apiVersion": api, "kind": kind, "metadata": {"name": name, "namespace": "default"}, "spec": spec})
}

fn zone(second: bool) -> &'static str {
    if second { "b" } else { "a" }
}

/// A volume of a zone, bound to its claim.
fn volume(name: &str, second: bool) -> [Value; 2] {
    let values = [zone(second)];
    let zones = json!({"key": "topology.kubernetes.io/zone", "operator": "In", "values": values});
    let claim = json!({"accessModes": ["ReadWriteMany"], "storageClassName": "", "volumeName": name,
        "resources": {"requests": {"storage": "1Gi"}}});
    let mut claim = object("v1", "PersistentVolumeClaim", name, &claim);
    claim["status"] = json!({"phase": "Bound"});
    let volume = json!({"apiVersion": "v1", "kind": "PersistentVolume", "metadata": {"name": name},
        "spec": {"accessModes": ["ReadWriteMany"], "capacity": {"storage": "1Gi"},
            "claimRef": {"name": name, "namespace": "default"},
            "nfs": {"server": "files.example", "path": "/data"},
            "nodeAffinity": {"required": {"nodeSelectorTerms": [{"matchExpressions": [zones]}]}}}});
    [claim, volume]
}

impl Input {
    /// Nodes, quota and models, without anything that has pods.
    fn ground(&self) -> Vec<Value> {
        let mut all: Vec<Value> = self.nodes.iter().enumerate().map(|(at, (gpus, tainted, cordoned, second))| {
            let taints = json!([{"key": "dedicated", "value": "research", "effect": "NoSchedule"}]);
            json!({"apiVersion": "v1", "kind": "Node",
                "metadata": {"name": format!("n{at}"), "labels": {
                    "kubernetes.io/hostname": format!("n{at}"), "topology.kubernetes.io/zone": zone(*second)}},
                "spec": {"taints": if *tainted { taints } else { json!([]) }, "unschedulable": cordoned},
                "status": {"allocatable": {"cpu": "32", "memory": "256Gi", "pods": "110", "nvidia.com/gpu": gpus.to_string()}}})
        }).collect();
        all.extend(self.quota.map(|most| {
            let hard = json!({"hard": {"requests.nvidia.com/gpu": most.to_string()}});
            object("v1", "ResourceQuota", "gpus", &hard)
        }));
        all.push(
            json!({"apiVersion": "ome.io/v1beta1", "kind": "ClusterBaseModel", "metadata": {"name": "m"},
            "spec": {"modelFormat": {"name": "safetensors", "version": "1.0.0"}, "modelParameterSize": "8B",
                "modelFramework": {"name": "transformers", "version": "4.40.0"},
                "modelArchitecture": "LlamaForCausalLM", "storage": {"storageUri": "hf://example/m", "path": "/m"}}}),
        );
        for (at, service) in self.services.iter().enumerate() {
            all.extend(service.5.iter().flat_map(|second| volume(&format!("s{at}"), *second)));
        }
        for gpus in [1, 2, 3, 4, 8] {
            all.push(json!({"apiVersion": "ome.io/v1beta1", "kind": "ClusterServingRuntime",
                "metadata": {"name": format!("rt-{gpus}")},
                "spec": {"supportedModelFormats": [{"modelFormat": {"name": "safetensors", "version": "1.0.0"},
                        "modelFramework": {"name": "transformers", "version": "4.40.0"},
                        "modelArchitecture": "LlamaForCausalLM", "autoSelect": true}],
                    "engineConfig": {"runner": {"name": "ome-container", "image": "example/server:v1",
                        "resources": requests(gpus)}}}}));
        }
        all
    }

    fn all(&self) -> Vec<Value> {
        self.version("1")
    }

    /// Everything; the first service with this value of a variable.
    fn version(&self, version: &str) -> Vec<Value> {
        let mut all = self.ground();
        for (at, (gpus, least, more, tolerates, no_surge, volume)) in
            self.services.iter().enumerate()
        {
            let mut engine = json!({"minReplicas": least, "maxReplicas": least + more});
            if at == 0 {
                let env = json!([{"name": "VERSION", "value": version}]);
                engine["runner"] = json!({"name": "ome-container", "env": env});
            }
            if volume.is_some() {
                let claim = json!({"claimName": format!("s{at}")});
                engine["volumes"] = json!([{"name": "data", "persistentVolumeClaim": claim}]);
            }
            if *tolerates {
                engine["tolerations"] = json!([{"key": "dedicated", "operator": "Exists"}]);
            }
            if *no_surge {
                let limits = json!({"maxSurge": 0, "maxUnavailable": 1});
                engine["deploymentStrategy"] =
                    json!({"type": "RollingUpdate", "rollingUpdate": limits});
            }
            let spec = json!({"model": {"name": "m"}, "runtime": {"name": format!("rt-{gpus}")}, "engine": engine});
            all.push(object("ome.io/v1beta1", "InferenceService", &format!("s{at}"), &spec));
        }
        if let Some((groups, replicas, gpus)) = self.serving {
            let pod = json!({"containers": [{"name": "server", "image": "example/server:v1", "resources": requests(gpus)}]});
            let role = json!({"name": "server", "replicas": replicas, "workerReplicas": 0, "entryTemplate": {"spec": pod}});
            let spec = json!({"schedulerName": "volcano", "replicas": groups, "template": {"roles": [role]}});
            all.push(object("workload.serving.volcano.sh/v1alpha1", "ModelServing", "pd", &spec));
        }
        if let Some((replicas, gpus)) = self.beside {
            let labels = json!({"app": "web"});
            let pod = json!({"containers": [{"name": "web", "image": "example/web:v1", "resources": requests(gpus)}]});
            let spec = json!({"replicas": replicas, "selector": {"matchLabels": labels},
                "template": {"metadata": {"labels": labels}, "spec": pod}});
            all.push(object("apps/v1", "Deployment", "web", &spec));
        }
        all
    }
}

/// Pods without a node by service, and the whole placement.
type Answer = (BTreeMap<String, usize>, Together);

/// A plan; what was placed `before` runs. Totals are compared with the objects that are rendered.
fn planned(
    world: &World,
    depth: Depth,
    options: PlacementOptions<'_>,
    before: &[SettledWorkload],
) -> Result<Answer, TestCaseError> {
    let planner = Planner::new(&world.catalog);
    let services: Vec<_> = world.catalog.services().collect();
    let mut planned = planner.plan_all(&services, depth);
    let others: Vec<_> = world.catalog.model_servings().iter().collect();
    let mut servings = plan_servings(&world.catalog, &others);
    let answer = together_after(&planner, &mut planned, &mut servings, options, before);
    let answer = answer.expect("the nodes report their resources");
    let mut pending: BTreeMap<String, usize> = BTreeMap::new();
    for planned in &planned {
        let placements =
            planned.components.iter().filter_map(|component| component.placement.as_ref());
        let waiting = placements.map(super::Placement::pending).sum();
        // `ome test` compares this.
        let fits = planned.components.iter().map(super::PlannedComponent::fits);
        prop_assert!(fits.into_iter().all(|fit| fit == Some(waiting == 0)));
        pending.insert(planned.service.to_string(), waiting);
    }
    for serving in &servings {
        let name = format!("{}/{}", serving.serving.namespace, serving.serving.name());
        let waiting = serving.placement.as_ref().map_or(0, super::Placement::pending);
        pending.insert(name, waiting);
    }
    let sums = totals(&planned, &servings, world.catalog.machines(), Some(&answer));
    let (pods, gpus) = rendered(world);
    let groups: i64 =
        servings.iter().map(|serving| i64::try_from(serving.serving.pods()).unwrap_or(0)).sum();
    let in_groups: i64 = servings.iter().filter_map(|serving| serving.gpus().number()).sum();
    prop_assert_eq!(sums.pods, pods + groups);
    prop_assert_eq!(sums.gpus.values().sum::<i64>(), gpus + in_groups);
    Ok((pending, answer))
}

/// Pods and devices of the objects that an operator writes, as their controllers settle.
fn rendered(world: &World) -> (i64, i64) {
    let renderer = Renderer::new(world, "cluster.local");
    let (mut pods, mut gpus) = (0, 0);
    for views in world.catalog.services() {
        let objects = renderer.render(views, &mut Recorder::off()).objects;
        let of = |kind: &'static str| {
            objects.iter().filter(move |object| identity(&object.node).kind == kind)
        };
        let scaled: BTreeMap<&str, i64> = of("HorizontalPodAutoscaler")
            .filter_map(|object| {
                let name = object.node.at(&["spec", "scaleTargetRef", "name"])?.as_str()?;
                Some((
                    name,
                    object.node.at(&["spec", "minReplicas"]).and_then(Node::as_int)?.max(1),
                ))
            })
            .collect();
        for object in of("Deployment") {
            let name = object.node.at(&["metadata", "name"]).and_then(Node::as_str).unwrap_or("");
            let stated = object.node.at(&["spec", "replicas"]).and_then(Node::as_int);
            let replicas = scaled.get(name).copied().or(stated).unwrap_or(1);
            let containers = object.node.at(&["spec", "template", "spec", "containers"]);
            let amount = |container: &Node| {
                let limit = container.at(&["resources", "limits", "nvidia.com/gpu"])?;
                limit.scalar_text()?.parse::<i64>().ok()
            };
            let each: i64 =
                containers.map(Node::items).unwrap_or_default().iter().filter_map(amount).sum();
            pods += replicas;
            gpus += replicas * each;
        }
    }
    (pods, gpus)
}

/// The rollouts of all changes from one world to another; edits are searched for one service only.
fn rolled(before: &World, after: &World, only: Option<usize>) -> Vec<ServiceRollout> {
    let changes = Changes::between(Some(&State::all(before)), &State::all(after));
    let options = RollOptions { only, without_edits: only.is_none(), ..RollOptions::default() };
    roll(after, &changes, &options).expect("the nodes are known")
}

/// The end of the first service, with the pods that wait.
fn first(rolled: &[ServiceRollout]) -> (RollEnd, i64) {
    let service = rolled.iter().find(|service| service.name == "s0").expect("it is there");
    let last = service.components[0].stages.last().expect("it has a stage");
    (service.components[0].end, last.old.pending + last.new.pending)
}

/// The objects with the edits of a fix: those of the first service, and the nodes that it adds.
fn edited(all: &[Value], fix: &Fix) -> (Vec<Value>, Vec<Value>) {
    let (mut all, mut more) = (all.to_vec(), Vec::new());
    for edit in &fix.edits {
        let is_first = |value: &&mut Value| {
            value["kind"] == "InferenceService" && value["metadata"]["name"] == "s0"
        };
        let mut at = all.iter_mut().find(is_first).expect("it is there");
        let path = edit.path.to_string();
        for key in path.split('.') {
            at = &mut at[key];
        }
        *at = edit.to.clone();
    }
    if let Some(AddedNodes { like, count }) = &fix.added_nodes {
        let node = all
            .iter()
            .find(|value| value["metadata"]["name"] == like.as_str())
            .expect("it is there");
        more.extend((0..*count).map(|at| {
            let (mut node, name) = (node.clone(), format!("{like}-new-{at}"));
            node["metadata"]["labels"]["kubernetes.io/hostname"] = name.clone().into();
            node["metadata"]["name"] = name.into();
            node
        }));
    }
    (all, more)
}

/// The ends of a rollout that changes nothing, with the pods, or groups of a ModelServing, that wait.
fn unchanged(world: &World) -> BTreeMap<String, (RollEnd, i64)> {
    let state = State::all(world);
    let changes = Changes::between(Some(&state), &state);
    let rolled = roll(world, &changes, &RollOptions::default());
    let mut ends = BTreeMap::new();
    for service in rolled.unwrap_or_default() {
        for component in service.components {
            let waiting =
                component.stages.last().map_or(0, |last| last.old.pending + last.new.pending);
            ends.insert(
                format!("{}/{}", service.namespace, service.name),
                (component.end, waiting),
            );
        }
    }
    ends
}

/// `cases` inputs, or as many as the variable says.
fn cases(cases: u32) -> ProptestConfig {
    let given = std::env::var("OME_FLEETS").ok().and_then(|given| given.parse().ok());
    ProptestConfig {
        cases: given.unwrap_or(cases),
        failure_persistence: None,
        rng_seed: RngSeed::Fixed(1),
        ..ProptestConfig::default()
    }
}

proptest! {
    #![proptest_config(cases(80))]

    #[test]
    fn every_command_gives_one_answer_about_each_pod(input in inputs()) {
        let world = world(&input.all());
        let settled = PlacementOptions { settled: true, ..PlacementOptions::default() };
        let (pending, plan) = planned(&world, Depth::Plan, PlacementOptions::default(), &[])?;
        // explain
        let looks = PlacementOptions { look: true, ..PlacementOptions::default() };
        let (explained, _) = planned(&world, Depth::Explain, looks, &[])?;
        prop_assert_eq!(&explained, &pending);
        // diff of an unchanged input, and of one whose base has nothing
        let (again, before) = planned(&world, Depth::Plan, settled, &[])?;
        prop_assert_eq!(&again, &pending);
        let (after, unchanged_plan) = planned(&world, Depth::Plan, PlacementOptions::default(), &before.settled)?;
        prop_assert_eq!(&after, &pending);
        prop_assert_eq!(unchanged_plan.pods.pending, plan.pods.pending);
        let empty = super::testing::world(&input.ground());
        let (_, nothing) = planned(&empty, Depth::Plan, settled, &[])?;
        let (new, _) = planned(&world, Depth::Plan, PlacementOptions::default(), &nothing.settled)?;
        prop_assert_eq!(&new, &pending);
        // rollouts
        let ends = unchanged(&world);
        for (service, waiting) in &pending {
            let (end, left) = ends.get(service).copied().unwrap_or((RollEnd::NothingToDo, 0));
            let expected = if *waiting > 0 { RollEnd::Waits } else { RollEnd::NothingToDo };
            prop_assert_eq!(end, expected, "{}", service);
            if service == "default/pd" {
                prop_assert_eq!(left > 0, *waiting > 0, "{}", service);
            } else {
                prop_assert_eq!(usize::try_from(left).ok(), Some(*waiting), "{}", service);
            }
        }
    }
}

proptest! {
    #![proptest_config(cases(30))]

    #[test]
    fn a_rollout_of_one_service_ends_as_that_of_all_and_edits_help_as_they_say(input in inputs()) {
        let [old, new] = [input.version("1"), input.version("2")];
        let (before, after) = (world(&old), world(&new));
        let all = rolled(&before, &after, None);
        let only = all.iter().position(|service| service.name == "s0");
        let named = rolled(&before, &after, only);
        prop_assert_eq!(first(&named), first(&all));
        let component = &named[only.expect("it is there")].components[0];
        for fix in component.fix.iter().filter(|fix| !fix.with_others) {
            let (with, more) = edited(&new, fix);
            let world = |objects: &[Value]| super::testing::world(&[objects, &more].concat());
            let (before, with, after) = (world(&old), world(&with), world(&new));
            let helps = |end: RollEnd| end == fix.end || end == RollEnd::NothingToDo;
            let (end, _) = first(&rolled(&before, &with, None));
            prop_assert!(helps(end), "{:?}: {:?}", fix.edits, end);
            if fix.then_as_written {
                let (end, _) = first(&rolled(&with, &after, None));
                prop_assert!(helps(end), "then as written, {:?}: {:?}", fix.edits, end);
            }
        }
    }
}
