use super::*;

// Rule 10.
#[test]
fn invalid_canaries_are_refused() {
    let spec = |canary: &str| format!("{{predictor: {{name: a, {MODEL}}}, canary: [{canary}]}}");
    let variant =
        |rest: &str| format!("{{trafficPercent: 10, predictor: {{name: b, {MODEL}{rest}}}}}");
    assert!(found(STANDARD, &spec(&variant(""))).is_empty());
    one(
        "",
        &spec(&variant("")),
        "canary is only supported in Standard deployment mode",
        "spec.canary",
    );
    for (canary, message, path) in [
        (
            format!("{{trafficPercent: 10, predictor: {{{MODEL}}}}}"),
            "must be set and unique",
            "spec.canary[0].predictor.name",
        ),
        (
            format!("{{trafficPercent: 10, predictor: {{name: a, {MODEL}}}}}"),
            "must be set and unique",
            "spec.canary[0].predictor.name",
        ),
        (
            format!("{{trafficPercent: 101, predictor: {{name: b, {MODEL}}}}}"),
            "must be between 0 and 100",
            "spec.canary[0].trafficPercent",
        ),
        (
            "{trafficPercent: 10, predictor: {name: b}}".into(),
            "exactly one implementation",
            "spec.canary[0].predictor",
        ),
        (
            variant(", maxReplicas: 3"),
            "must not set maxReplicas",
            "spec.canary[0].predictor.maxReplicas",
        ),
        (
            variant(", workerSpec: {}"),
            "must not set workerSpec",
            "spec.canary[0].predictor.workerSpec",
        ),
        (variant(", minReplicas: 2"), "must not exceed", "spec.canary[0].predictor.minReplicas"),
        (
            format!(
                "{{trafficPercent: 60, predictor: {{name: b, {MODEL}}}}}, {{trafficPercent: 60, predictor: {{name: c, {MODEL}}}}}"
            ),
            "120 percent",
            "spec.canary",
        ),
    ] {
        one(STANDARD, &spec(&canary), message, path);
    }
    let custom = format!("{{predictor: {{containers: [{{name: x}}]}}, canary: [{}]}}", variant(""));
    one(STANDARD, &custom, "requires the stable predictor to have a model", "spec.predictor");
}

// pkg/webhook/admission/servingruntime/servingruntime_webhook.go, rules 1, 3, 4.
#[test]
fn invalid_serving_runtimes_are_refused() {
    let found = |spec: &str| {
        let runtime = crate::operators::kserve::read::runtime(
            read(&format!("kind: ServingRuntime\nmetadata: {{name: r}}\nspec: {spec}\n")),
            Semantics::Controller,
            &mut Vec::new(),
        );
        refused_runtime(&runtime, &KServeConfig::default())
            .into_iter()
            .map(|violation| (violation.message, violation.path))
            .collect::<Vec<_>>()
    };
    let prefix = "the ServingRuntime r is invalid: ";
    for (spec, message, path) in [
        (
            "{workerSpec: {containers: [{name: a}, {name: b}]}}",
            format!("{prefix}setting multiple containers in workerSpec is not allowed"),
            "spec.workerSpec.containers",
        ),
        (
            "{containers: [{name: kserve-container, env: [{name: TENSOR_PARALLEL_SIZE, value: '2'}]}], workerSpec: {}}",
            format!("{prefix}setting TENSOR_PARALLEL_SIZE in environment variables is not allowed"),
            "spec.containers[0].env",
        ),
        (
            "{containers: [{name: kserve-container, resources: {limits: {acme.com/npu: 1}}}], workerSpec: {}}",
            format!("{prefix}unknown GPU resource type in a container(kserve-container)"),
            "spec.containers[0].resources",
        ),
        (
            "{workerSpec: {containers: [{name: worker-container, resources: {limits: {acme.com/npu: 1}}}]}}",
            format!("{prefix}unknown GPU resource type in a container(worker-container)"),
            "spec.workerSpec.containers[0].resources",
        ),
        (
            "{workerSpec: {pipelineParallelSize: 0}}",
            format!("{prefix}the WorkerSpec.PipelineParallelSize cannot be less than 1(0)"),
            "spec.workerSpec.pipelineParallelSize",
        ),
        (
            "{containers: [{name: c, env: [{name: PYTHONPATH, value: a}]}]}",
            "the ServingRuntime \"r\" is invalid: setting PYTHONPATH in container \"c\" is not allowed for security reasons".into(),
            "spec.containers[0].env",
        ),
    ] {
        assert_eq!(found(spec), [(message, path.to_owned())], "{spec}");
    }
    assert!(found("{disabled: true, workerSpec: {pipelineParallelSize: 0}}").is_empty());
    assert!(
        found("{containers: [{name: kserve-container, resources: {limits: {acme.com/npu: 1}}}]}")
            .is_empty(),
        "on one node nobody asks"
    );
}
