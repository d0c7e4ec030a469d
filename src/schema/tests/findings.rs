use super::*;

#[test]
fn findings_name_field_value_and_next_action() {
    let text = "apiVersion: ome.io/v1beta1\nkind: ClusterServingRuntime\nmetadata:\n  name: a\n  labels: {tier: 1}\nspec:\n  disabled: \"no\"\n  supportedModelFormats:\n  - modelFormat: {name: x, version: 1.0}\n    modelFramework: {version: \"1\"}\n    autoselect: true\n  protocolVersions: openAI\n  engineConfig:\n    minReplicas: \"2\"\n    maxReplicas: 9999999999999999999\n    runner:\n      name: ome-container\n      resources:\n        limits: {memory: 8 GB, cpu: two}\n      env:\n      - {name: A, value: on}\n      - {name: A}\n      ports: [{containerPort: 99999999999}]\n    replicas: 2\n  maxReplicas: 2\n";
    assert_eq!(
        messages(text, Strictness::Server),
        [
            "5: invalid-type: `metadata.labels.tier` must be a string, `1` is an integer; put it in quotes: `\"1\"`",
            "7: invalid-type: `spec.disabled` must be a boolean, `no` is a string; write `true` or `false`",
            "9: invalid-type: `spec.supportedModelFormats[0].modelFormat.version` must be a string, `1.0` is a number; put it in quotes: `\"1.0\"`",
            "10: required-field: `spec.supportedModelFormats[0].modelFramework.name` is required; add `name`",
            "11: unknown-field: unknown field `spec.supportedModelFormats[0].autoselect`; did you mean `autoSelect`?",
            "12: invalid-type: `spec.protocolVersions` must be a list, `openAI` is a string; write a list: `[openAI]`",
            "14: invalid-type: `spec.engineConfig.minReplicas` must be an integer, `2` is a string; write `2` without quotes",
            "15: invalid-value: `spec.engineConfig.maxReplicas` must be at most 9223372036854775807, not 9999999999999999999; -",
            "19: invalid-quantity: `spec.engineConfig.runner.resources.limits.memory`: `8 GB` is not a quantity; write `8Gi` (powers of 1024) or `8G` (powers of 1000)",
            "19: invalid-quantity: `spec.engineConfig.runner.resources.limits.cpu`: `two` is not a quantity; write a number with an optional unit, such as `8Gi` or `500m`",
            "21: invalid-type: `spec.engineConfig.runner.env[0].value` must be a string, `on` is a boolean; put it in quotes: `\"on\"`",
            "22: invalid-value: `spec.engineConfig.runner.env` has `name: \"A\"` twice; delete one of the two, or give it another key",
            "23: invalid-value: `spec.engineConfig.runner.ports[0].containerPort` must be at most 2147483647, not 99999999999; -",
            "24: unknown-field: unknown field `spec.engineConfig.replicas`; did you mean `maxReplicas`?",
            "25: unknown-field: unknown field `spec.maxReplicas`; `maxReplicas` is a field of `engineConfig`",
        ]
    );
}

#[test]
fn out_of_range_numbers_are_reported() {
    let runtime = "apiVersion: ome.io/v1beta1\nkind: ClusterServingRuntime\nmetadata: {name: a}\nspec: {engineConfig: {WRITTEN}}\n";
    let class = "apiVersion: ome.io/v1beta1\nkind: AcceleratorClass\nmetadata: {name: a}\nspec: {discovery: {}, capabilities: {}, WRITTEN}\n";
    let node = "apiVersion: v1\nkind: Node\nmetadata: {name: a}\nstatus: {WRITTEN}\n";
    let queue = "apiVersion: kueue.x-k8s.io/v1beta1\nkind: ClusterQueue\nmetadata: {name: a}\nspec: {resourceGroups: [{coveredResources: [nvidia.com/gpu], flavors: [{name: f, resources: [{name: nvidia.com/gpu, WRITTEN}]}]}]}\n";
    let predictor = "apiVersion: serving.kserve.io/v1beta1\nkind: InferenceService\nmetadata: {name: a}\nspec: {predictor: {containers: [{name: c, image: i}], WRITTEN}}\n";
    let gpus = "a whole number from 0 to 1000000";
    let replicas = "a whole number from 0 to 2147483647";
    let amount = "a number from 0 to 9223372036854775807";
    let (value, quantity) = ("invalid-value", "invalid-quantity");
    for (object, written, code, path, range, shown) in [
        (runtime, "minReplicas: -3", value, "spec.engineConfig.minReplicas", replicas, "-3"),
        (
            runtime,
            "maxReplicas: 2147483648",
            value,
            "spec.engineConfig.maxReplicas",
            replicas,
            "2147483648",
        ),
        (runtime, "worker: {size: -1}", value, "spec.engineConfig.worker.size", replicas, "-1"),
        (
            runtime,
            "runner: {name: r, resources: {limits: {nvidia.com/gpu: 1e30}}}",
            quantity,
            "spec.engineConfig.runner.resources.limits.nvidia\\.com/gpu",
            gpus,
            "1e30",
        ),
        (
            runtime,
            "runner: {name: r, resources: {requests: {nvidia.com/gpu: '9223372036854775808'}}}",
            quantity,
            "spec.engineConfig.runner.resources.requests.nvidia\\.com/gpu",
            gpus,
            "9223372036854775808",
        ),
        (
            runtime,
            "runner: {name: r, resources: {limits: {amd.com/gpu: -4}}}",
            quantity,
            "spec.engineConfig.runner.resources.limits.amd\\.com/gpu",
            gpus,
            "-4",
        ),
        (
            runtime,
            "runner: {name: r, resources: {limits: {amd.com/gpu: 1500m}}}",
            quantity,
            "spec.engineConfig.runner.resources.limits.amd\\.com/gpu",
            gpus,
            "1500m",
        ),
        (
            runtime,
            "runner: {name: r, resources: {limits: {amd.com/gpu: 10000000000000}}}",
            quantity,
            "spec.engineConfig.runner.resources.limits.amd\\.com/gpu",
            gpus,
            "10000000000000",
        ),
        (
            runtime,
            "runner: {name: r, resources: {limits: {memory: 8Ei}}}",
            quantity,
            "spec.engineConfig.runner.resources.limits.memory",
            amount,
            "8Ei",
        ),
        (
            runtime,
            "volumes: [{name: v, emptyDir: {sizeLimit: -1Gi}}]",
            quantity,
            "spec.engineConfig.volumes[0].emptyDir.sizeLimit",
            amount,
            "-1Gi",
        ),
        (class, "cost: {perHour: '-1'}", quantity, "spec.cost.perHour", amount, "-1"),
        (class, "cost: {spotPerHour: 1e30}", quantity, "spec.cost.spotPerHour", amount, "1e30"),
        (
            class,
            "resources: [{name: nvidia.com/gpu, quantity: 0.5}]",
            quantity,
            "spec.resources[0].quantity",
            gpus,
            "0.5",
        ),
        (
            node,
            "capacity: {nvidia.com/gpu: '-1'}",
            quantity,
            "status.capacity.nvidia\\.com/gpu",
            gpus,
            "-1",
        ),
        (node, "allocatable: {cpu: 1e30}", quantity, "status.allocatable.cpu", amount, "1e30"),
        (
            queue,
            "nominalQuota: -1",
            quantity,
            "spec.resourceGroups[0].flavors[0].resources[0].nominalQuota",
            amount,
            "-1",
        ),
        (predictor, "minReplicas: -3", value, "spec.predictor.minReplicas", replicas, "-3"),
    ] {
        let text = object.replace("WRITTEN", written);
        let path = path.replace("\\\\", "\\");
        let message = format!("`{path}` must be {range}, not `{shown}`: it is not counted");
        // The server stores it: under its rules that is no error.
        for (strictness, severity) in
            [(Strictness::Documented, Severity::Error), (Strictness::Server, Severity::Warning)]
        {
            let (_, findings) = check(&text, strictness);
            let found: Vec<_> = findings
                .iter()
                .filter(|finding| finding.message == message)
                .map(|finding| (finding.code.as_str(), finding.severity, finding.help.clone()))
                .collect();
            let expected = [(code, severity, Some(format!("write {range}")))];
            assert_eq!(found, expected, "{written} {strictness:?}: {findings:#?}");
        }
    }
}

#[test]
fn a_list_key_repeated_three_times_is_reported_twice() {
    let text = "apiVersion: ome.io/v1beta1\nkind: ClusterServingRuntime\nmetadata: {name: a}\nspec:\n  engineConfig:\n    runner:\n      name: r\n      env: [{name: B}, {name: A}, {name: A}, {name: A}, {name: B}]\n";
    let twice = |name: &str| {
        format!(
            "8: invalid-value: `spec.engineConfig.runner.env` has `name: \"{name}\"` twice; delete one of the two, or give it another key"
        )
    };
    assert_eq!(messages(text, Strictness::Server), [twice("A"), twice("A"), twice("B")]);
}

#[test]
fn custom_resource_quantities_are_integers_or_strings() {
    let limits = |amount: &str| {
        let text = format!(
            "apiVersion: ome.io/v1beta1\nkind: ClusterServingRuntime\nmetadata: {{name: a}}\nspec: {{engineConfig: {{runner: {{name: c, resources: {{limits: {{cpu: {amount}}}}}}}}}}}\n"
        );
        messages(&text, Strictness::Server).len()
    };
    assert_eq!(["0.5", "\"0.5\"", "1", "2.0", "1.5e9"].map(limits), [1, 0, 0, 0, 0]);
    let deployment = "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: a}\nspec: {template: {spec: {containers: [{name: c, resources: {limits: {cpu: 0.5}}}]}}}\n";
    assert_eq!(messages(deployment, Strictness::Server), Vec::<String>::new());
}

#[test]
fn each_repeated_port_is_reported() {
    let text = "apiVersion: v1\nkind: Service\nmetadata: {name: a}\nspec: {ports: [{port: 80}, {port: 80}, {port: 80}, {port: 80}]}\n";
    assert_eq!(messages(text, Strictness::Server).len(), 3);
}

#[test]
fn timestamps_must_be_valid_calendar_dates() {
    let times = [
        "2026-01-31T12:00:00Z",
        "2024-02-29T23:59:59+01:00",
        "2026-02-29T12:00:00Z",
        "2026-13-01T00:00:00Z",
        "2026-01-01T24:00:00Z",
        "2026-01-01T00:00:00",
    ];
    let taken = times
        .map(|time| messages(&format!("apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: a, creationTimestamp: \"{time}\"}}\n"), Strictness::Server).is_empty());
    assert_eq!(taken, [true, true, false, false, false, false]);
}
