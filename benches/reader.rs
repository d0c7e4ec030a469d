//! How fast YAML is read and written: a bare scanner of a library, the reader, and the writer, over
//! the same text.

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use ome::internals::source::SourceId;
use ome::internals::yaml::{Limits, Node, parse, split, write};
use std::hint::black_box;
use std::path::{Path, PathBuf};

/// Every YAML file below a folder, in the order of names.
fn texts(folder: &Path) -> Vec<String> {
    let mut folders = vec![folder.to_path_buf()];
    let mut files: Vec<PathBuf> = Vec::new();
    while let Some(folder) = folders.pop() {
        #[expect(clippy::disallowed_methods, reason = "a benchmark collects its input")]
        let Ok(entries) = std::fs::read_dir(folder) else { continue };
        for entry in entries.flatten() {
            let path = entry.path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "yaml") {
                files.push(path);
            }
        }
    }
    files.sort();
    #[expect(clippy::disallowed_methods, reason = "a benchmark collects its input")]
    files.iter().filter_map(|path| std::fs::read_to_string(path).ok()).collect()
}

/// The manifests of the operators where they are at hand, else something like them.
fn corpus() -> Vec<String> {
    let found = texts(Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../shared/upstream")));
    if !found.is_empty() {
        return found;
    }
    let document = "apiVersion: ome.io/v1beta1\nkind: ClusterServingRuntime\nmetadata:\n  name: srt-llama\nspec:\n  supportedModelFormats:\n  \
                    - modelFormat: {name: safetensors, version: \"1.0.0\"}\n    autoSelect: true\n    priority: 1\n  engineConfig:\n    runner:\n      \
                    args: [--port, \"8080\", --tp-size=4]\n      env:\n      - name: LOG_LEVEL\n        value: info # as usual\n";
    (0..500).map(|_| [document, document].join("---\n")).collect()
}

fn read(text: &str) -> Vec<Node> {
    split(SourceId(0), text)
        .value
        .into_iter()
        .filter_map(|part| parse(SourceId(0), text, part, &Limits::default()).value)
        .collect()
}

fn reader(criterion: &mut Criterion) {
    let texts = corpus();
    let bytes: usize = texts.iter().map(String::len).sum();
    let trees: Vec<Node> = texts.iter().flat_map(|text| read(text)).collect();
    let mut written = String::new();
    for tree in &trees {
        write(&mut written, tree);
    }

    let mut group = criterion.benchmark_group("yaml");
    group.sample_size(10);
    group.throughput(Throughput::Bytes(bytes as u64));
    group.bench_function("bare scanner", |bencher| {
        bencher.iter(|| {
            texts
                .iter()
                .map(|text| saphyr_parser::Parser::new_from_str(text).flatten().count())
                .sum::<usize>()
        });
    });
    group.bench_function("read", |bencher| {
        bencher.iter(|| texts.iter().map(|text| black_box(read(text)).len()).sum::<usize>());
    });
    group.throughput(Throughput::Bytes(written.len() as u64));
    group.bench_function("write", |bencher| {
        bencher.iter(|| {
            let mut out = String::with_capacity(written.len());
            for tree in &trees {
                write(&mut out, tree);
            }
            out.len()
        });
    });
    group.finish();
}

criterion_group!(benches, reader);
criterion_main!(benches);
