//! Rollouts of small fleets on few nodes: each ends or is stuck, a complete one has the pods of the
//! plan, and every proposed edit completes it.

use super::load_text;
use crate::objects::{node, runner};
use ome::internals::api::Semantics;
use ome::internals::cluster::fleet::Verdict;
use ome::internals::operators::kthena::releases::{CONTROLLER, DOCUMENTED};
use ome::internals::policy::Policy;
use ome::pipeline::{
    AddedNodes, Changes, ComponentRollout, PlacementOptions, Planner, RollEnd, RollOptions,
    ServiceRollout, State, roll, together,
};
use ome::workspace::{ReadOptions, World};
use proptest::prelude::*;
use proptest::sample::select;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};
use serde_json::{Value, json};

const SEMANTICS: Semantics = Semantics::Documented;

/// A random service.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// A Deployment of OME.
    Single,
    /// A LeaderWorkerSet of OME: a leader and a worker.
    Group,
    /// A ModelServing: groups of an entry.
    Serving,
}

/// A service before and after.
#[derive(Clone, Debug)]
struct Drawn {
    kind: Kind,
    gpus: [i64; 2],
    replicas: [i64; 2],
    /// It gets another image.
    changes: bool,
    /// As it is written of a component; null where it is not.
    strategy: Value,
}

#[derive(Clone, Debug)]
struct Fleet {
    nodes: Vec<i64>,
    services: Vec<Drawn>,
    kthena: &'static Policy,
}

/// Limits of an update; the server refuses two zeros.
fn strategies() -> impl Strategy<Value = Value> {
    let limits = (0_i64..3, 0_i64..3).prop_filter("both 0", |(surge, lost)| surge + lost > 0);
    prop_oneof![
        4 => Just(Value::Null),
        1 => Just(json!({ "type": "Recreate" })),
        4 => limits.prop_map(|(surge, lost)| {
            json!({ "rollingUpdate": { "maxSurge": surge, "maxUnavailable": lost } })
        }),
    ]
}

fn fleets() -> impl Strategy<Value = Fleet> {
    let service = (
        select(vec![Kind::Single, Kind::Single, Kind::Group, Kind::Serving]),
        select(vec![1_i64, 2, 4, 8]),
        prop::option::weighted(0.2, select(vec![1_i64, 2, 4, 8])),
        1_i64..4,
        prop::option::weighted(0.3, 1_i64..4),
        prop::bool::weighted(0.8),
        strategies(),
    );
    let service =
        service.prop_map(|(kind, gpus, other, replicas, more, changes, strategy)| Drawn {
            kind,
            gpus: [gpus, other.unwrap_or(gpus)],
            replicas: [replicas, more.unwrap_or(replicas)],
            changes,
            strategy,
        });
    let nodes = prop::collection::vec(select(vec![4_i64, 8, 8]), 1..5);
    let kthena = select(vec![&DOCUMENTED, &CONTROLLER]);
    (nodes, prop::collection::vec(service, 1..4), kthena)
        .prop_map(|(nodes, services, kthena)| Fleet { nodes, services, kthena })
}

impl Fleet {
    fn nodes(&self) -> Vec<Value> {
        self.nodes.iter().enumerate().map(|(at, gpus)| node(&format!("n{at}"), *gpus)).collect()
    }

    /// The objects of a side, 0 before and 1 after; services come first, in their order.
    fn objects(&self, side: usize) -> Vec<Value> {
        let mut services = Vec::new();
        let mut others = vec![json!({
            "apiVersion": "ome.io/v1beta1", "kind": "ClusterBaseModel", "metadata": { "name": "llama" },
            "spec": { "modelFormat": { "name": "safetensors", "version": "1.0.0" }, "modelArchitecture": "LlamaForCausalLM", "modelParameterSize": "8B", "storage": { "storageUri": "hf://example/llama" } },
        })];
        for (at, own) in self.services.iter().enumerate() {
            let image = if side == 1 && own.changes { "v2" } else { "v1" };
            let (name, replicas, runner) =
                (format!("s{at}"), own.replicas[side], runner(image, own.gpus[side]));
            if own.kind == Kind::Serving {
                let template = json!({ "spec": { "containers": [runner] } });
                services.push(json!({
                    "apiVersion": "workload.serving.volcano.sh/v1alpha1", "kind": "ModelServing",
                    "metadata": { "name": name, "namespace": "ml" },
                    "spec": { "schedulerName": "volcano", "replicas": replicas, "template": {
                        "roles": [{ "name": "decode", "replicas": 1, "entryTemplate": template, "workerReplicas": 0 }],
                    } },
                }));
                continue;
            }
            let engine = match own.kind {
                Kind::Group => {
                    json!({ "leader": { "runner": runner }, "worker": { "size": 1, "runner": runner } })
                }
                _ => json!({ "runner": runner }),
            };
            others.push(json!({
                "apiVersion": "ome.io/v1beta1", "kind": "ClusterServingRuntime", "metadata": { "name": name },
                "spec": { "supportedModelFormats": [{ "modelFormat": { "name": "safetensors", "version": "1.0.0" }, "modelArchitecture": "LlamaForCausalLM", "autoSelect": true }], "protocolVersions": ["openAI"], "engineConfig": engine },
            }));
            let mut engine = json!({ "minReplicas": replicas, "maxReplicas": replicas });
            if !own.strategy.is_null() {
                engine["deploymentStrategy"] = own.strategy.clone();
            }
            services.push(json!({
                "apiVersion": "ome.io/v1beta1", "kind": "InferenceService",
                "metadata": { "name": name, "namespace": "ml" },
                "spec": { "engine": engine, "model": { "name": "llama" }, "runtime": { "name": name } },
            }));
        }
        services.extend(others);
        services
    }

    fn world(&self, objects: &[Value], nodes: &[Value]) -> World {
        let all: Vec<String> = objects.iter().chain(nodes).map(Value::to_string).collect();
        load_text(&all.join("\n---\n"), &ReadOptions::new(SEMANTICS).following(self.kthena))
    }

    fn play(before: &World, after: &World) -> Vec<ServiceRollout> {
        let (old, new) = (State::all(before), State::all(after));
        let changes = Changes::between(Some(&old), &new);
        roll(after, &changes, &RollOptions::default()).expect("nodes")
    }

    /// Pods and GPUs that are wanted afterwards.
    fn wanted(&self) -> (usize, i64) {
        let each = |own: &Drawn| {
            let pods = own.replicas[1] * if own.kind == Kind::Group { 2 } else { 1 };
            (pods, pods * own.gpus[1])
        };
        let all =
            self.services.iter().map(each).fold((0, 0), |sum, own| (sum.0 + own.0, sum.1 + own.1));
        (usize::try_from(all.0).expect("a number"), all.1)
    }
}

fn of<'a>(rolled: &'a [ServiceRollout], name: &str) -> &'a ComponentRollout {
    let own = rolled.iter().find(|own| own.name == name).expect("it is simulated");
    own.components.first().expect("a component")
}

/// Takes an edit over into an object.
fn apply(object: &mut Value, path: &str, to: &Value) {
    let (parents, last) = path.rsplit_once('.').expect("a field of a field");
    let mut at = object;
    for key in parents.split('.') {
        at = &mut at[key];
        if at.is_null() {
            *at = json!({});
        }
    }
    match to {
        Value::Null => drop(at.as_object_mut().expect("a mapping").remove(last)),
        to => at[last] = to.clone(),
    }
}

fn check(fleet: &Fleet, ends: &mut [usize; 3]) -> Result<(), TestCaseError> {
    let nodes = fleet.nodes();
    let (old, new) = (fleet.objects(0), fleet.objects(1));
    let (before, after) = (fleet.world(&old, &nodes), fleet.world(&new, &nodes));
    let rolled = Fleet::play(&before, &after);
    prop_assert_eq!(rolled.len(), fleet.services.len());
    let mut all_complete = true;
    let mut last_gpus = 0;
    for (at, drawn) in fleet.services.iter().enumerate() {
        let own = of(&rolled, &format!("s{at}"));
        let last = own.stages.last().expect("a stage");
        // A play that comes to no end is cut off much later.
        prop_assert!(own.stages.len() < 200, "{} stages", own.stages.len());
        last_gpus += last.gpus;
        // What had no room before the change and has none after it waits.
        // Where a choice among equals decides, one of them is stuck.
        let waits = matches!(own.end, RollEnd::Stuck | RollEnd::Waits | RollEnd::Depends);
        all_complete &= !waits;
        prop_assert_eq!(own.stuck.is_some(), waits);
        if own.end == RollEnd::Complete {
            ends[0] += 1;
            prop_assert_eq!((last.new.ready, last.old.total), (drawn.replicas[1], 0), "s{}", at);
        }
        let most: i64 = own.stages.iter().map(|stage| stage.gpus).max().unwrap_or(0);
        prop_assert_eq!(own.peak_gpus, most);
    }
    // Never more than there is.
    let stages = rolled.iter().flat_map(|own| &own.components).map(|own| own.stages.len());
    let held = |at: usize| -> i64 {
        let components = rolled.iter().flat_map(|own| &own.components);
        components.map(|own| own.stages[at.min(own.stages.len() - 1)].gpus).sum()
    };
    let there: i64 = fleet.nodes.iter().sum();
    prop_assert!((0..stages.max().unwrap_or(0)).all(|at| held(at) <= there));
    if all_complete {
        // A plan of the new state wants the same.
        let planner = Planner::new(&after.catalog);
        let (mut planned, mut servings) = (Vec::new(), Vec::new());
        let placed = together(&planner, &mut planned, &mut servings, PlacementOptions::default());
        let placed = placed.expect("nodes");
        let (pods, gpus) = fleet.wanted();
        prop_assert_eq!((placed.pods.wanted, last_gpus), (pods, gpus));
        // The scheduler may need another order for it, and there is one.
        prop_assert!(!matches!(placed.verdict, Verdict::DoesNotFit { .. }), "{:?}", placed.verdict);
        if placed.verdict == Verdict::Fits {
            prop_assert_eq!(placed.pods.placed, pods);
        }
    }
    for (at, _) in fleet.services.iter().enumerate() {
        let name = format!("s{at}");
        let own = of(&rolled, &name);
        ends[1] += usize::from(own.end == RollEnd::Stuck);
        for fix in &own.fix {
            let (mut edited, mut more) = (new.clone(), nodes.clone());
            for edit in &fix.edits {
                apply(&mut edited[at], &edit.path.to_string(), &edit.to);
            }
            if let Some(AddedNodes { like, count }) = &fix.added_nodes {
                let place = like.strip_prefix('n').and_then(|at| at.parse::<usize>().ok());
                let gpus = fleet.nodes[place.expect("a node")];
                more.extend((1..=*count).map(|at| node(&format!("{like}+{at}"), gpus)));
            }
            ends[2] += 1;
            let middle = fleet.world(&edited, &more);
            let replayed = Fleet::play(&fleet.world(&old, &more), &middle);
            let again = of(&replayed, &name);
            prop_assert_eq!(again.end, RollEnd::Complete, "{:?}", fix);
            if fix.then_as_written {
                // Services that are stuck beside it are somewhere on the way then.
                if fleet.services.len() == 1 {
                    let end = Fleet::play(&middle, &fleet.world(&new, &more));
                    prop_assert_eq!(of(&end, &name).end, RollEnd::Complete, "{:?}", fix);
                }
            } else {
                let costs = (again.lowest_ready, again.peak_gpus);
                prop_assert_eq!(costs, (fix.lowest_ready, fix.peak_gpus), "{:?}", fix);
            }
        }
    }
    Ok(())
}

#[test]
fn rollouts_terminate_and_complete_with_the_proposed_edit() {
    let cases =
        if std::env::var_os("PROPTEST_CASES").is_some() { Config::default().cases } else { 100 };
    let config = Config { cases, failure_persistence: None, ..Config::default() };
    let mut runner =
        TestRunner::new_with_rng(config, TestRng::deterministic_rng(RngAlgorithm::ChaCha));
    let ends = std::cell::RefCell::new([0; 3]);
    let checked = runner.run(&fleets(), |fleet| check(&fleet, &mut ends.borrow_mut()));
    if let Err(failure) = checked {
        panic!("{failure}");
    }
    let [complete, stuck, edits] = ends.into_inner();
    assert!(complete > 20 && stuck > 20 && edits > 20, "{complete} {stuck} {edits}: too few");
}
