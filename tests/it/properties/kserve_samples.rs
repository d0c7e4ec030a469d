//! KServe's samples of LLMInferenceServices with the configurations that it ships, where they are
//! at hand: all of them are planned and rendered, but for those that the definitions refuse.

use ome::internals::api::Semantics;
use ome::internals::diag::{Code, Diagnostic, Severity};
use ome::internals::load::{self, Request};
use ome::internals::merge::history::Recorder;
use ome::internals::yaml::Limits;
use ome::pipeline::Renderer;
use ome::workspace::{ReadOptions, World};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

const UPSTREAM: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../shared/upstream");

/// Samples that an API server refuses, with the sentences about them. The definitions of v0.20
/// require `selector`, `targetPorts` and `endpointPickerRef.name` of a pool, and `inline` is of type
/// object; no webhook fills in a configuration.
const REFUSED: [(&str, &[&str]); 4] = [
    (
        "e2e-gpt-oss/llmisvc_config_default.yaml",
        &[
            "`spec.router.scheduler.pool.spec.endpointPickerRef.name` is required",
            "`spec.router.scheduler.pool.spec.selector` is required",
            "`spec.router.scheduler.pool.spec.targetPorts` is required",
        ],
    ),
    (
        "e2e-gpt-oss/llmisvc_config_prefix_cache.yaml",
        &[
            "`spec.router.scheduler.pool.spec.endpointPickerRef.name` is required",
            "`spec.router.scheduler.pool.spec.selector` is required",
            "`spec.router.scheduler.pool.spec.targetPorts` is required",
        ],
    ),
    // A field of no version, which a server drops unless it is asked to be strict.
    (
        "kv-cache-offloading/llm-inference-service-kv-cache-offloading.yaml",
        &["unknown field `spec.workload`"],
    ),
    (
        "latency-predictor/llm-inference-service-latency-predictor.yaml",
        &["`spec.router.scheduler.config.inline` must be a mapping, not a string"],
    ),
];

/// Services that have no objects, with the beginning of the controller's sentence.
const FAILED: [(&str, &str); 1] = [(
    "latency-predictor/llm-inference-service-latency-predictor.yaml",
    "`router.scheduler.config.inline`: a text of 20 lines does not fit",
)];

/// The manifests below a directory.
fn manifests(directory: &Path, found: &mut Vec<PathBuf>) {
    let Ok(entries) = std::fs::read_dir(directory) else { return };
    for path in entries.map(|entry| entry.expect("a directory can be listed").path()) {
        if path.is_dir() {
            manifests(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "yaml") {
            found.push(path);
        }
    }
}

fn world(files: &[PathBuf]) -> World {
    let loaded = load::load(
        &Request { paths: files, ..Request::default() },
        &mut std::io::empty(),
        &Limits::default(),
    );
    ome::workspace::read(loaded, &ReadOptions::new(Semantics::Controller))
}

/// The errors of an input about its own schema, by the file.
fn refusals<'w>(world: &'w World, samples: &Path) -> BTreeMap<String, Vec<&'w str>> {
    let mut found: BTreeMap<String, Vec<&str>> = BTreeMap::new();
    // Kinds of the network are not KServe's.
    let is_error = |finding: &&Diagnostic| {
        finding.severity == Severity::Error && finding.code != Code::OtherKind
    };
    for finding in world.diagnostics.iter().filter(is_error) {
        let span = finding.span().expect("an error has a place");
        let name = world.sources.get(span.source).name.to_string();
        let name = Path::new(&name).strip_prefix(samples).expect("an error is about a sample");
        found.entry(name.display().to_string()).or_default().push(&finding.message);
    }
    found
}

#[test]
fn samples_of_llm_services_are_rendered_or_refused_as_their_definitions_say() {
    let samples = Path::new(UPSTREAM).join("repos/kserve-samples/llmisvc");
    let presets = Path::new(UPSTREAM).join("kserve/llmisvcconfigs");
    if !samples.is_dir() || !presets.is_dir() {
        return;
    }
    let mut files = Vec::new();
    manifests(&samples, &mut files);
    files.sort();
    let mut refused = BTreeMap::new();
    let (mut services, mut failed) = (0, Vec::new());
    for file in &files {
        // Configurations that a sample names are in files beside it.
        let directory = file.parent().expect("a file is in a directory");
        let beside = std::fs::read_dir(directory).expect("it can be listed");
        let beside = beside.map(|entry| entry.expect("it can be listed").path()).filter(|path| {
            std::fs::read_to_string(path)
                .is_ok_and(|text| text.contains("kind: LLMInferenceServiceConfig"))
        });
        let mut input: Vec<PathBuf> =
            [file.clone(), presets.clone()].into_iter().chain(beside).collect();
        input.sort();
        input.dedup();
        let world = world(&input);
        for (name, sentences) in refusals(&world, &samples) {
            refused.insert(name, sentences.iter().map(ToString::to_string).collect::<Vec<_>>());
        }
        let renderer = Renderer::new(&world, "cluster.local");
        for views in world.catalog.services() {
            let rendered = renderer.render(views, &mut Recorder::off());
            if rendered.service.object.id.kind != "LLMInferenceService" {
                continue;
            }
            services += 1;
            let name = file.strip_prefix(&samples).expect("it is below").display().to_string();
            match rendered.error {
                Some(error) => failed.push((name, error.message.clone())),
                None => assert!(rendered.objects.len() > 2, "{name}: {:?}", rendered.objects),
            }
        }
    }
    assert!(services >= 26, "{services} services");
    let wanted: BTreeMap<String, Vec<String>> = REFUSED
        .iter()
        .map(|(file, sentences)| {
            ((*file).to_owned(), sentences.iter().map(ToString::to_string).collect())
        })
        .collect();
    assert_eq!(refused, wanted);
    assert_eq!(failed.len(), FAILED.len(), "{failed:#?}");
    for ((file, message), (wanted, sentence)) in failed.iter().zip(FAILED) {
        assert!(file == wanted && message.starts_with(sentence), "{file}: {message}");
    }
}
