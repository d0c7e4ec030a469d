//! A fleet placed together: services with pods of a few shapes on nodes of a few kinds.

use criterion::{BatchSize, Criterion, criterion_group, criterion_main};
use ome::internals::cluster::Machine;
use ome::internals::cluster::schedule::{
    Admission, Options, PodTemplate, Scheduler, TemplateId, labels, selector_of,
};
use ome::internals::quantity::Quantity;
use ome::internals::yaml::{Map, Node, Origin, Rule};
use serde_json::json;
use std::sync::Arc;

static BENCH: Rule = Rule { id: "bench", text: "Written by a benchmark.", cite: "" };

fn tree(value: &serde_json::Value) -> Node {
    Node::from_json(value, Origin::Flag(&BENCH))
}

fn nodes(count: usize) -> Vec<Arc<Machine>> {
    let kind = |index: usize| match index % 5 {
        0 | 1 => ("NVIDIA-H100-80GB-HBM3", 8, 192, 2000),
        2 => ("NVIDIA-A100-SXM4-80GB", 8, 96, 1000),
        3 => ("NVIDIA-L40S", 4, 64, 512),
        _ => ("", 0, 64, 256),
    };
    let node = |index: usize| {
        let (product, gpus, cpu, memory) = kind(index);
        let mut labels = Map::new();
        let name = format!("node-{index:05}");
        for (key, value) in [
            ("kubernetes.io/hostname", name.as_str()),
            ("topology.kubernetes.io/zone", ["z0", "z1", "z2"][index % 3]),
            ("nvidia.com/gpu.product", product),
        ] {
            labels.insert(key, Node::str(value, Origin::Flag(&BENCH)));
        }
        let mut machine = Machine::labeled(name.into(), labels);
        let amounts = [
            ("cpu", Quantity::from_integer(cpu)),
            ("memory", Quantity::from_bytes(memory << 30)),
            ("nvidia.com/gpu", Quantity::from_integer(gpus)),
            ("pods", Quantity::from_integer(110)),
        ];
        machine.allocatable =
            Some(amounts.map(|(name, amount)| (name.into(), amount)).into_iter().collect());
        Arc::new(machine)
    };
    (0..count).map(node).collect()
}

/// What the pods of a service are like.
#[derive(Clone, Copy)]
enum Kind {
    /// One of twelve shapes.
    Shapes,
    /// Every service asks for something else.
    Distinct,
    /// Shapes that would rather not stand beside their own kind.
    Apart,
}

fn template(index: usize, kind: Kind) -> PodTemplate {
    let product = ["NVIDIA-H100-80GB-HBM3", "NVIDIA-A100-SXM4-80GB", "NVIDIA-L40S"][index % 3];
    let gpus = [1, 1, 1, 0][index / 3 % 4];
    let cpu = match kind {
        Kind::Distinct => 500 + index % 4000,
        _ => [1000, 2000, 4000][index % 3],
    };
    let name = format!("service-{index}");
    let mut spec = json!({
        "containers": [{
            "image": "model:v1",
            "resources": {
                "requests": {"cpu": format!("{cpu}m"), "memory": "8Gi"},
                "limits": if gpus > 0 { json!({"nvidia.com/gpu": gpus}) } else { json!({}) },
            },
        }],
    });
    if gpus > 0 {
        spec["nodeSelector"] = json!({"nvidia.com/gpu.product": product});
    }
    if matches!(kind, Kind::Apart) {
        spec["affinity"]["podAntiAffinity"]["preferredDuringSchedulingIgnoredDuringExecution"] = json!([{"weight": 100, "podAffinityTerm": {
            "labelSelector": {"matchLabels": {"app": name}},
            "topologyKey": "kubernetes.io/hostname",
        }}]);
    }
    let own = tree(&json!({"app": name, "pod-template-hash": "abc", "team": index % 50}));
    let mut pod =
        PodTemplate::read("default", labels(Some(&own)), &tree(&spec), &Admission::default())
            .expect("a pod that is right");
    pod.owner = selector_of([("app", name.as_str()), ("pod-template-hash", "abc")]).ok();
    pod
}

/// The cluster with its templates, and the pods that are wanted.
fn fleet(services: usize, kind: Kind) -> (Scheduler, Vec<TemplateId>) {
    let mut scheduler = Scheduler::new(nodes(2000), &Options::default());
    let mut wanted = Vec::new();
    for index in 0..services {
        let template = scheduler.template(Arc::new(template(index, kind)));
        wanted.extend(std::iter::repeat_n(template, 1 + index % 2));
    }
    (scheduler, wanted)
}

fn place(mut scheduler: Scheduler, wanted: &[TemplateId]) -> Scheduler {
    for template in wanted {
        scheduler.add(*template);
    }
    scheduler.schedule();
    scheduler
}

fn benches(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("placement");
    group.sample_size(10);
    let cases = [
        ("10000 services of 12 shapes", 10_000, Kind::Shapes),
        ("10000 services, each another", 10_000, Kind::Distinct),
        ("10000 services apart", 10_000, Kind::Apart),
        ("100000 services of 12 shapes", 100_000, Kind::Shapes),
    ];
    for (name, services, kind) in cases {
        group.bench_function(format!("read {name}"), |bencher| {
            bencher.iter(|| fleet(services / 10, kind).1.len());
        });
        let (scheduler, wanted) = fleet(services, kind);
        group.bench_function(name, |bencher| {
            bencher.iter_batched(
                || scheduler.clone(),
                |scheduler| place(scheduler, &wanted),
                BatchSize::PerIteration,
            );
        });
    }
    group.finish();
}

criterion_group!(placement, benches);
criterion_main!(placement);
