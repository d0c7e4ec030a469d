//! Settings of engines in files that ConfigMaps hold.

use super::*;
use crate::pipeline::testing::world_of;

/// The rest of the pod.
const POD: &str = "          image: IMAGE
          args: ARGS
          resources: {limits: {nvidia.com/gpu: \"4\"}}
          volumeMounts: [MOUNT]
      volumes:
        - name: settings
          VOLUME
";

const CONFIG: &str = "---
apiVersion: v1
kind: ConfigMap
metadata: {name: engine, namespace: ml}
data:
  other: x
  server.yaml: |
    # settings

    SETTINGS
";

struct Case<'c> {
    image: &'c str,
    args: &'c str,
    mount: &'c str,
    volume: &'c str,
    settings: &'c str,
}

const VLLM: Case<'static> = Case {
    image: "vllm/vllm-openai:v0.11.0",
    args: "[--model=acme/x, --config, /etc/engine/server.yaml]",
    mount: "{name: settings, mountPath: /etc/engine}",
    volume: "configMap: {name: engine}",
    settings: "tensor-parallel-size: 8",
};

/// The findings, each as its code and its line and column.
fn found(case: &Case<'_>) -> Vec<(Code, u32, u32)> {
    let pod = (SERVER.to_owned() + POD)
        .replace("IMAGE", case.image)
        .replace("ARGS", case.args)
        .replace("MOUNT", case.mount)
        .replace("VOLUME", case.volume);
    let config = CONFIG.replace("SETTINGS", &case.settings.replace('\n', "\n    "));
    let world = world_of(&(pod + &config));
    let found = Engines::new(&world.catalog).of_workloads(&world.catalog).findings;
    let found = found.iter().filter(|finding| finding.code != Code::ShmTooSmall).map(|finding| {
        let place = world.sources.locate(finding.labels[0].span);
        (finding.code, place.line, place.column)
    });
    found.collect()
}

/// Line of the first setting in the text.
const FIRST: u32 = 27;

#[test]
fn a_file_of_a_config_map_sets_values_at_its_own_lines() {
    assert_eq!(found(&VLLM), [(Code::GpuCountMismatch, FIRST, 27)]);
    for (settings, expected) in [
        ("seed: 1\ntensor_parallel_size: 2", vec![(Code::GpuCountMismatch, FIRST + 1, 27)]),
        ("tensor-parallel-size: 4", vec![]),
        ("tensor-parallel-size: 2\npipeline-parallel-size: '2'", vec![]),
        ("max-model-len: 8.5\ntensor-parallel-size: 4", vec![(Code::ArgumentForm, FIRST, 20)]),
        ("max-model-len: 8k\ntensor-parallel-size: 4", vec![]),
        // Nothing in it sets the ranks: the default leaves three idle.
        ("enforce-eager: true", vec![(Code::GpuCountMismatch, 2, 7)]),
    ] {
        let expected: Vec<_> = expected;
        let found = found(&Case { settings, ..VLLM });
        let codes =
            |all: &[(Code, u32, u32)]| all.iter().map(|finding| finding.0).collect::<Vec<_>>();
        assert_eq!(codes(&found), codes(&expected), "{settings}");
        if expected.first().is_some_and(|expected| expected.1 >= FIRST) {
            assert_eq!(found, expected, "{settings}");
        }
    }
}

#[test]
fn what_counts_of_file_and_flag_is_what_the_engine_takes() {
    let vllm = |args| Case { args, ..VLLM };
    assert_eq!(found(&vllm("[-tp, '4', --config, /etc/engine/server.yaml]")), []);
    assert_eq!(found(&vllm("[--config, /etc/engine/server.yaml, -tp=4]")), []);
    let sglang = Case {
        image: "lmsysorg/sglang:v0.5.5",
        args: "[--config, /etc/engine/server.yaml, --tp, '4']",
        ..VLLM
    };
    assert_eq!(found(&sglang), []);
    assert_eq!(
        found(&Case {
            args: "[--config, /etc/engine/server.yaml]",
            settings: "tp-size: 2",
            ..sglang
        }),
        [(Code::GpuCountMismatch, FIRST, 14)]
    );
    let tensorrt = Case {
        image: "nvcr.io/nvidia/tensorrt-llm/release:1.1.0\n          command: [trtllm-serve, m]",
        args: "[--tp_size, '4', --extra_llm_api_options=/etc/engine/server.yaml]",
        settings: "tensor_parallel_size: 8",
        ..VLLM
    };
    // The image is one line longer here.
    assert_eq!(found(&tensorrt), [(Code::GpuCountMismatch, FIRST + 1, 27)]);
    let inner = "kv_cache_config: {free_gpu_memory_fraction: 0.5}";
    assert_eq!(found(&Case { settings: inner, ..tensorrt }), []);
}

#[test]
fn a_path_is_found_through_mounts_and_volumes() {
    let wrong = [(Code::GpuCountMismatch, FIRST, 27)];
    let one = |args, mount, volume| found(&Case { args, mount, volume, ..VLLM });
    let file = "[--config, /etc/engine/server.yaml]";
    let volume = VLLM.volume;
    for (args, mount, volume) in [
        (file, "{name: settings, mountPath: /etc/engine/}", volume),
        (
            file,
            "{name: settings, mountPath: /etc/engine/server.yaml, subPath: server.yaml}",
            volume,
        ),
        (
            "[--config, /c/deep/e.yml]",
            "{name: settings, mountPath: /c}",
            "configMap: {name: engine, items: [{key: server.yaml, path: deep/e.yml}]}",
        ),
        (
            file,
            "{name: settings, mountPath: /etc/engine}",
            "projected: {sources: [{configMap: {name: engine}}, {downwardAPI: {items: []}}]}",
        ),
    ] {
        assert_eq!(one(args, mount, volume), wrong, "{args} {mount} {volume}");
    }
}

#[test]
fn a_file_that_is_not_in_the_input_is_said_once_and_judges_nothing() {
    let one = |args, mount, volume| {
        let found = found(&Case { args, mount, volume, ..VLLM });
        found.into_iter().map(|found| found.0).collect::<Vec<_>>()
    };
    let (file, mount) = ("[--config, /etc/engine/server.yaml]", VLLM.mount);
    for (args, mount, volume) in [
        (file, mount, "configMap: {name: absent}"),
        (file, mount, "persistentVolumeClaim: {claimName: engine}"),
        (file, "{name: settings, mountPath: /opt}", VLLM.volume),
        ("[--config, /etc/engine/absent.yaml]", mount, VLLM.volume),
        // Neither vLLM nor SGLang looks for the flag in this form.
        ("[--config=/etc/engine/server.yaml]", mount, VLLM.volume),
        ("[--config, /etc/engine/other]", mount, VLLM.volume),
    ] {
        assert_eq!(
            one(args, mount, volume),
            [Code::EngineConfigNotRead],
            "{args} {mount} {volume}"
        );
    }
    assert_eq!(one("[$(X), --config, $(FILE)]", mount, VLLM.volume), []);
}
