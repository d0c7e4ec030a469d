//! The result of fitting pods on nodes, compared with all possible placements.

use super::fleet::node;
use ome::internals::api::{Api, Object, ObjectRef, Scope};
use ome::internals::cluster::{Inventory, Machine, Shape};
use ome::internals::source::{SourceId, Span};
use proptest::prelude::*;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};
use serde_json::json;
use std::collections::BTreeMap;

/// Accelerators and processors: of a pod, or of a node.
type Amounts = (i64, i64);

/// A replica's main pod, its workers, and the nodes.
#[derive(Clone, Debug)]
struct Cluster {
    nodes: Vec<Amounts>,
    main: Amounts,
    worker: Option<(Amounts, i64)>,
    replicas: i64,
}

fn clusters() -> impl Strategy<Value = Cluster> {
    let pod = || (0..5_i64, 1..5_i64);
    let worker = prop_oneof![1 => Just(None), 3 => (pod(), 1..3_i64).prop_map(Some)];
    (proptest::collection::vec((0..9_i64, 1..9_i64), 1..4), pod(), worker, 1..3_i64)
        .prop_map(|(nodes, main, worker, replicas)| Cluster { nodes, main, worker, replicas })
}

impl Cluster {
    fn machines(&self) -> Vec<Machine> {
        let nodes = self.nodes.iter().enumerate();
        nodes
            .map(|(index, (gpus, cpu))| {
                let name = format!("n{index}");
                let status = json!({ "allocatable": { "nvidia.com/gpu": gpus.to_string(), "cpu": cpu.to_string(), "pods": "110" } });
                let tree = json!({ "apiVersion": "v1", "kind": "Node", "metadata": { "name": name }, "status": status });
                Machine::of(&Object {
                    api: Api::Cluster,
                    api_version: "v1".into(),
                    id: ObjectRef { kind: "Node".into(), scope: Scope::Cluster, name: name.into() },
                    span: Span { source: SourceId(0), start: 0, end: 0 },
                    builtin: false,
                    reported: true,
                    node: node(&tree),
                })
            })
            .collect()
    }

    fn shape((gpus, cpu): Amounts) -> Shape {
        Shape::of(&node(
            &json!({ "containers": [{ "name": "a", "resources": { "limits": { "nvidia.com/gpu": gpus.to_string(), "cpu": cpu.to_string() } } }] }),
        ))
    }

    /// The result.
    fn said(&self) -> bool {
        let worker = self.worker.map(|(amounts, count)| (Self::shape(amounts), count));
        let worker = worker.as_ref().map(|(shape, count)| (shape, *count));
        Inventory::new(&self.machines(), [])
            .is_some_and(|nodes| nodes.fit(&Self::shape(self.main), worker, self.replicas).fits)
    }

    /// Whether there is a placement, by trying all of them.
    fn placed(&self) -> bool {
        fn place(
            free: &mut Vec<Amounts>,
            pods: &[Amounts],
            known: &mut BTreeMap<(Vec<Amounts>, usize), bool>,
        ) -> bool {
            let Some((first, rest)) = pods.split_first() else { return true };
            let mut key = free.clone();
            key.sort_unstable();
            if let Some(known) = known.get(&(key.clone(), pods.len())) {
                return *known;
            }
            let found = (0..free.len()).any(|index| {
                let (gpus, cpu) = free[index];
                if gpus < first.0 || cpu < first.1 {
                    return false;
                }
                free[index] = (gpus - first.0, cpu - first.1);
                let found = place(free, rest, known);
                free[index] = (gpus, cpu);
                found
            });
            known.insert((key, pods.len()), found);
            found
        }
        let mut pods = Vec::new();
        for _ in 0..self.replicas {
            pods.push(self.main);
            pods.extend(
                self.worker
                    .into_iter()
                    .flat_map(|(amounts, count)| (0..count).map(move |_| amounts)),
            );
        }
        place(&mut self.nodes.clone(), &pods, &mut BTreeMap::new())
    }

    fn is_mixed(&self) -> bool {
        self.worker.is_some_and(|(amounts, _)| amounts != self.main)
    }
}

/// Never "fits" if no placement exists; for pods of one shape never "does not fit" if one exists.
/// docs/accelerators.md has the frequency for mixed shapes.
#[test]
fn replicas_reported_to_fit_can_be_placed() {
    const CLUSTERS: u32 = 4000;
    let config = Config { cases: CLUSTERS, failure_persistence: None, ..Config::default() };
    let mut runner =
        TestRunner::new_with_rng(config, TestRng::deterministic_rng(RngAlgorithm::ChaCha));
    let counts = std::cell::RefCell::new([0_usize; 3]);
    let checked = runner.run(&clusters(), |cluster| {
        let (said, placed) = (cluster.said(), cluster.placed());
        prop_assert!(placed || !said, "said to fit: {:?}", cluster);
        prop_assert!(said || !placed || cluster.is_mixed(), "said not to fit: {:?}", cluster);
        let mut counts = counts.borrow_mut();
        counts[0] += usize::from(placed);
        counts[1] += usize::from(placed && cluster.is_mixed());
        counts[2] += usize::from(placed && !said);
        Ok(())
    });
    if let Err(failure) = checked {
        panic!("{failure}");
    }
    let [placed, mixed, missed] = counts.into_inner();
    assert!(
        placed > 1000 && mixed > 300,
        "{placed} can be placed, {mixed} of mixed shapes: too few to say anything"
    );
    let docs = include_str!("../../../docs/accelerators.md");
    let sentence =
        format!("of {mixed} small random clusters that can hold a replica's mixed pods, {missed}");
    assert!(
        docs.replace('\n', " ").contains(&sentence),
        "docs/accelerators.md does not say: {sentence}"
    );
}
