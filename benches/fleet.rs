//! The stages of a run over a tenth of the fleet: reading, choosing, merging, rendering, writing.

#[path = "../examples/fleet/generate.rs"]
mod generate;
#[path = "../examples/fleet/kserve.rs"]
mod kserve;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use generate::Counts;
use ome::internals::api::Semantics;
use ome::internals::api::Views;
use ome::internals::emit::stream::{self, Format};
use ome::internals::load::{self, Request};
use ome::internals::merge::history::Recorder;
use ome::internals::operators::Selector;
use ome::internals::operators::ome::compose;
use ome::internals::operators::ome::releases::DOCUMENTED as OME_DOCUMENTED;
use ome::internals::yaml::{Limits, Node};
use ome::pipeline::{Depth, Planner, Renderer};
use ome::workspace::{ReadOptions, World};
use std::hint::black_box;
use std::path::PathBuf;

const SEMANTICS: Semantics = Semantics::Documented;

fn read(text: &str) -> World {
    let loaded = load::load(
        &Request { paths: &[PathBuf::from("-")], ..Request::default() },
        &mut text.as_bytes(),
        &Limits::default(),
    );
    ome::workspace::read(loaded, &ReadOptions::new(SEMANTICS))
}

fn stages(criterion: &mut Criterion) {
    let Counts { services, runtimes, models, nodes, kserve } = Counts::default();
    let counts = Counts {
        services: services / 10,
        runtimes: runtimes / 10,
        models: models / 10,
        nodes: nodes / 10,
        kserve,
    };
    let text =
        generate::files(counts).into_iter().map(|(_, text)| text).collect::<Vec<_>>().join("---\n");
    let world = read(&text);
    let services: Vec<&Views> = world.catalog.services().collect();
    assert_eq!(services.len(), counts.services, "the fleet is read whole");

    let mut group = criterion.benchmark_group("fleet");
    group.sample_size(10);
    group.throughput(Throughput::Bytes(text.len() as u64));
    group.bench_function("read", |bencher| {
        bencher.iter(|| black_box(read(&text)).catalog.services().len());
    });

    group.throughput(Throughput::Elements(counts.services as u64));
    group.bench_function("select", |bencher| {
        bencher.iter(|| {
            let selector = Selector::new(&OME_DOCUMENTED, &world.catalog);
            services
                .iter()
                .filter(|views| selector.resolve(views.followed()).chosen().is_some())
                .count()
        });
    });
    let selector = Selector::new(&OME_DOCUMENTED, &world.catalog);
    let chosen: Vec<_> = services
        .iter()
        .map(|views| (views.followed(), selector.resolve(views.followed()).chosen()))
        .collect();
    group.bench_function("merge", |bencher| {
        bencher.iter(|| {
            let merged = chosen.iter().filter_map(|(service, runtime)| {
                compose::merged(
                    &OME_DOCUMENTED,
                    service,
                    *runtime,
                    &[],
                    world.catalog.accelerator_options(),
                    world.catalog.config(),
                    &mut Recorder::off(),
                )
                .ok()
            });
            merged.map(|merged| merged.value.components.len()).sum::<usize>()
        });
    });
    group.bench_function("merge and remember", |bencher| {
        bencher.iter(|| {
            let mut history = Recorder::new();
            let merged = chosen.iter().filter_map(|(service, runtime)| {
                compose::merged(
                    &OME_DOCUMENTED,
                    service,
                    *runtime,
                    &[],
                    world.catalog.accelerator_options(),
                    world.catalog.config(),
                    &mut history,
                )
                .ok()
            });
            merged.map(|merged| merged.value.components.len()).sum::<usize>()
        });
    });
    group.bench_function("plan", |bencher| {
        bencher.iter(|| Planner::new(&world.catalog).plan_all(&services, Depth::Plan).len());
    });

    let renderer = Renderer::new(&world, "cluster.local");
    let render = || {
        services
            .iter()
            .flat_map(|views| renderer.render(views, &mut Recorder::off()).objects)
            .map(|object| object.node)
    };
    let objects: Vec<Node> = render().collect();
    let written: usize =
        objects.iter().map(|object| stream::text(object, Format::Yaml).len()).sum();
    group.throughput(Throughput::Bytes(written as u64));
    group.bench_function("render", |bencher| bencher.iter(|| black_box(render()).count()));
    for (name, format) in [("write yaml", Format::Yaml), ("write json", Format::Json)] {
        group.bench_function(name, |bencher| {
            bencher.iter(|| {
                objects.iter().map(|object| stream::text(object, format).len()).sum::<usize>()
            });
        });
    }
    group.finish();
}

criterion_group!(benches, stages);
criterion_main!(benches);
