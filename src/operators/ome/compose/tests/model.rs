use super::*;

// pkg/controller/v1beta1/inferenceservice/components/engine.go, setParallelismEnvVarForEngine; OME
// docs, Serving Runtime, Multi-Node Configuration.
#[test]
fn parallelism_size_follows_gpus_and_worker_count() {
    let gpu = |key: &str, count: i64| {
        format!(
            "{{name: c, image: i, args: [$(PARALLELISM_SIZE)], resources: {{{key}: {{nvidia.com/gpu: {count}}}}}}}"
        )
    };
    for (kind, spec, gpus, sizes) in [
        (
            "engine",
            format!(
                "{{leader: {{runner: {}}}, worker: {{size: 3, runner: {}}}}}",
                gpu("limits", 8),
                gpu("requests", 4)
            ),
            20,
            vec!["32", "16"],
        ),
        ("engine", format!("{{runner: {}}}", gpu("limits", 2)), 2, vec!["2"]),
        (
            "decoder",
            format!(
                "{{worker: {{size: 2, runner: {}}}, containers: [{{name: x, image: i}}]}}",
                gpu("limits", 1)
            ),
            2,
            vec!["2"],
        ),
        (
            "decoder",
            format!(
                "{{runner: {}, worker: {{size: 2, runner: {}}}}}",
                gpu("limits", 1),
                gpu("limits", 1)
            ),
            3,
            vec!["3", "3"],
        ),
    ] {
        let engine = if kind == "engine" { "" } else { "engine: {runner: {name: a, image: i}}, " };
        let fixture = Fixture::new(&format!(
            "{{metadata: {{name: chat}}, spec: {{{engine}{kind}: {spec}}}}}"
        ));
        for policy in BOTH {
            let checked = fixture.compose(policy).unwrap();
            let component = checked.value.components.last().unwrap();
            let merged = fixture.merged(policy).unwrap().value.last().unwrap().gpus();
            let merged = merged.map(|found| found.values().sum());
            assert_eq!((gpus_of(component), merged), (Some(gpus), Some(gpus)), "{spec}");
            let pods = [Some(&component.pod), component.worker.as_ref().map(|(pod, _)| pod)];
            let found: Vec<_> = pods
                .into_iter()
                .flatten()
                .flat_map(|pod| env(container(pod)))
                .map(|entry| entry.replace("PARALLELISM_SIZE=", ""))
                .collect();
            assert_eq!(found, sizes, "{spec} {}", policy.semantics);
        }
    }
    // No document names the variable, so it is set only if something reads it. Accelerators of
    // other vendors count only in documented mode.
    let silent = Fixture::new(
        "{metadata: {name: chat}, spec: {engine: {runner: {name: c, image: i, resources: {limits: {nvidia.com/gpu: 2}}}}}}",
    );
    assert_eq!(env(container(&engine(&silent.compose(&OME_DOCUMENTED).unwrap()).pod)), [""; 0]);
    let amd = Fixture::new(
        "{metadata: {name: chat}, spec: {engine: {runner: {name: c, image: i, args: [$(PARALLELISM_SIZE)], resources: {limits: {amd.com/gpu: 2}}}}}}",
    );
    assert_eq!(env(container(&engine(&amd.compose(&OME_V0_1_5).unwrap()).pod)), [""; 0]);
    assert_eq!(
        env(container(&engine(&amd.compose(&OME_DOCUMENTED).unwrap()).pod)),
        ["PARALLELISM_SIZE=2"]
    );
}

// pkg/controller/v1beta1/inferenceservice/components/base.go;
// pkg/controller/v1beta1/inferenceservice/components/base.go, volumes.
#[test]
fn the_model_is_mounted_at_its_storage_path() {
    for policy in BOTH {
        let fixture = Fixture::new(SILENT).runtime(RUNTIME).model(MODEL);
        let checked = fixture.compose(policy).unwrap();
        let pod = &engine(&checked).pod;
        assert_eq!(env(container(pod)), ["MODEL_PATH=/models/m"]);
        assert_eq!(
            container(pod).get("volumeMounts"),
            Some(&node("[{name: m, mountPath: /models/m, readOnly: true}]"))
        );
        assert_eq!(pod.get("volumes"), Some(&node("[{name: m, hostPath: {path: /models/m}}]")));
        let fixture = Fixture::new("{metadata: {name: chat}, spec: {engine: {runner: {name: ome-container, env: [{name: MODEL_PATH, value: mine}]}}}}")
            .runtime(RUNTIME)
            .model(MODEL);
        assert_eq!(
            env(container(&engine(&fixture.compose(policy).unwrap()).pod)),
            ["MODEL_PATH=mine"]
        );
    }
    // Upstream adds a volume that the user already has, and adds it to the router; neither is
    // documented.
    let written = Fixture::new("{metadata: {name: chat}, spec: {engine: {volumes: [{name: m, emptyDir: {}}]}, router: {runner: {name: r, image: i}}}}")
        .runtime(RUNTIME)
        .model(MODEL);
    for (policy, volumes) in BOTH.into_iter().zip([[1, 0], [2, 1]]) {
        let checked = written.compose(policy).unwrap();
        let count = |component: &Component| {
            component.pod.get("volumes").map_or(0, |list| list.items().len())
        };
        assert_eq!(
            [count(&checked.value.components[0]), count(&checked.value.components[1])],
            volumes,
            "{}",
            policy.semantics
        );
    }
    // Without a path only the ready label is set; with a path and no runner only the volume.
    let pvc = Fixture::new(SILENT)
        .runtime(RUNTIME)
        .model("{metadata: {name: m}, spec: {storage: {storageUri: 'pvc://a'}}}");
    let checked = pvc.compose(&OME_V0_1_5).unwrap();
    assert_eq!(
        without_empty(&engine(&checked).pod),
        node(
            "{containers: [{name: ome-container, image: i}], nodeSelector: {models.ome.io/clusterbasemodel.m: Ready}}"
        )
    );
    let listed = Fixture::new(SILENT).runtime("{engineConfig: {containers: [{name: c, image: i}, {name: d, image: i, args: ['{{.Name}}']}]}}").model(MODEL);
    let checked = listed.compose(&OME_V0_1_5).unwrap();
    assert_eq!(
        flow(engine(&checked).pod.get("containers").unwrap()),
        "[{name: c, image: i, resources: {}}, {name: d, image: i, args: [{{.Name}}], resources: {}}]"
    );
    let checked = listed.compose(&OME_DOCUMENTED).unwrap();
    assert_eq!(env(container(&engine(&checked).pod)), ["MODEL_PATH=/models/m"]);
    assert_eq!(codes(&checked), ["variable-outside-container"]);
}

// pkg/controller/v1beta1/inferenceservice/components/base.go, fine-tuned weights and volumes, by
// vendor, strategy and merged weights.
#[test]
fn fine_tuned_weight_volumes_follow_vendor_and_strategy() {
    let compose = |vendor: &str, spec: &str| {
        let model = format!(
            "{{metadata: {{name: m}}, spec: {{vendor: {vendor}, modelFormat: {{name: ft}}, storage: {{path: /models/m}}}}}}"
        );
        Fixture::new(
            "{metadata: {name: chat}, spec: {model: {name: m, fineTunedWeights: [w]}, engine: {}}}",
        )
        .runtime(RUNTIME)
        .model(&model)
        .weight("w", spec)
    };
    let volume = "{name: model-empty-dir, emptyDir: {medium: Memory}}";
    let base = "{name: m, hostPath: {path: /models/m}}";
    let original = "{name: m, mountPath: /models/m, readOnly: true}";
    let plain = "{name: model-empty-dir, mountPath: /opt/ml/model}";
    for (vendor, spec, expected_env, mounts, volumes, ready) in [
        (
            "meta",
            "{configuration: {}, hyperParameters: {strategy: lora}}",
            vec!["SERVED_MODEL_NAME=/data/w", "MODEL_PATH=/opt/ml/model"],
            format!("[{original}, {plain}]"),
            format!("[{base}, {volume}]"),
            true,
        ),
        (
            "meta",
            "{configuration: {merged_weights: true}, hyperParameters: {strategy: lora}}",
            vec!["SERVED_MODEL_NAME=/data/w", "MODEL_PATH=/opt/ml/model"],
            format!("[{plain}]"),
            format!("[{base}, {volume}]"),
            false,
        ),
        (
            "meta",
            "{configuration: {}}",
            vec!["SERVED_MODEL_NAME=/data", "MODEL_PATH=/opt/ml/model"],
            format!("[{original}, {plain}]"),
            format!("[{base}]"),
            true,
        ),
        (
            "cohere",
            "{configuration: {merged_weights: 'true'}, hyperParameters: {strategy: tfew}}",
            vec!["TFEW_PATH=/opt/ml/tfew/fastertransformer/1"],
            format!(
                "[{original}, {{name: model-empty-dir, mountPath: /opt/ml/model/ft, subPath: base}}, {{name: model-empty-dir, mountPath: /opt/ml/tfew/ft, readOnly: true, subPath: finetuned}}]"
            ),
            format!("[{base}, {volume}]"),
            true,
        ),
        (
            "cohere",
            "{configuration: {}, hyperParameters: {strategy: lora}}",
            vec![],
            format!("[{original}, {plain}]"),
            format!("[{base}, {volume}]"),
            true,
        ),
        (
            "other",
            "{configuration: {}, hyperParameters: {strategy: lora}}",
            vec![],
            format!("[{original}, {plain}]"),
            format!("[{base}, {volume}]"),
            true,
        ),
    ] {
        let fixture = compose(vendor, spec);
        let checked = fixture.compose(&OME_V0_1_5).unwrap();
        let pod = &engine(&checked).pod;
        assert_eq!(env(container(pod)), expected_env, "{vendor} {spec}");
        assert_eq!(container(pod).get("volumeMounts").unwrap(), &node(&mounts), "{vendor} {spec}");
        assert_eq!(pod.get("volumes").unwrap(), &node(&volumes), "{vendor} {spec}");
        assert_eq!(pod.get("nodeSelector").is_some(), ready, "{vendor} {spec}");
    }
    let fixture = compose("meta", "{configuration: {}}");
    let checked = fixture.compose(&OME_V0_1_5).unwrap();
    assert!(engine(&checked).annotations.is_empty());
    assert!(pairs(&engine(&checked).labels).contains(&"fine-tuned-weight-ft-strategy=".to_owned()));
}

#[test]
fn every_value_of_the_operator_names_a_rule() {
    fn origins(node: &Node, found: &mut Vec<&'static str>) {
        if let crate::yaml::Origin::Default(rule) | crate::yaml::Origin::Derived(rule) = node.origin
        {
            found.push(rule.id);
        }
        node.entries().for_each(|entry| origins(&entry.node, found));
        node.items().iter().for_each(|item| origins(item, found));
    }
    let listed: Vec<_> = crate::pods::rules::ALL.iter().map(|rule| rule.id).collect();
    let fixture = Fixture::new("{metadata: {name: chat}, spec: {model: {name: m, fineTunedWeights: [w]}, engine: {runner: {args: [x]}}, decoder: {}, router: {config: {a: b}}}}")
        .runtime("{engineConfig: {runner: {name: c, image: i, ports: [{containerPort: 1}], resources: {limits: {nvidia.com/gpu: 1}}}}, decoderConfig: {runner: {name: c}}, routerConfig: {runner: {name: r}}}")
        .model(MODEL)
        .weight("w", "{configuration: {}, hyperParameters: {strategy: lora}}");
    for policy in BOTH {
        let checked = fixture.compose(policy).unwrap();
        let mut found = Vec::new();
        for component in &checked.value.components {
            origins(&component.pod, &mut found);
            origins(&component.spec, &mut found);
            component
                .labels
                .iter()
                .chain(&component.annotations)
                .for_each(|entry| origins(&entry.node, &mut found));
        }
        assert!(
            found.len() > 20 && found.iter().all(|id| listed.contains(id)),
            "{:?}",
            found.iter().filter(|id| !listed.contains(id)).collect::<Vec<_>>()
        );
    }
}
