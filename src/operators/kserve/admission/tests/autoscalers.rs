use super::*;

// Rule 9: autoscaling, by the annotations.
#[test]
fn invalid_autoscaling_specs_are_refused() {
    let hpa = format!("{STANDARD}, serving.kserve.io/autoscalerClass: hpa");
    let keda = format!("{STANDARD}, serving.kserve.io/autoscalerClass: keda");
    let metric = |metric: &str| format!("autoScaling: {{metrics: [{metric}]}}");
    let at = "spec.predictor.autoScaling.metrics[0]";
    for (annotations, field, message, path) in [
        (
            &hpa,
            "scaleMetric: rps".to_owned(),
            "[rps] is not a supported metric",
            "spec.predictor.scaleMetric".to_owned(),
        ),
        (&hpa, "scaleTarget: 0".into(), scale_percent(), "spec.predictor.scaleTarget".into()),
        (
            &hpa,
            "scaleMetric: memory, scaleTarget: 101".into(),
            scale_percent(),
            "spec.predictor.scaleTarget".into(),
        ),
        (
            &hpa,
            "scaleMetric: memory, scaleTarget: 0".into(),
            "the target memory should be greater than 1 MiB",
            "spec.predictor.scaleTarget".into(),
        ),
        (&hpa, metric("{type: Resource}"), "metricSpec.Resource is not set", at.into()),
        (
            &hpa,
            metric("{type: External}"),
            "invalid HPA metric source type with value [External]",
            format!("{at}.type"),
        ),
        (
            &keda,
            "scaleMetric: cpu".into(),
            "ScaleMetric is not supported for KEDA",
            "spec.predictor.scaleMetric".into(),
        ),
        (
            &keda,
            metric("{type: Resource}"),
            "metricSpec.Resource is not set",
            format!("{at}.resource"),
        ),
        (
            &keda,
            metric("{type: External}"),
            "metricSpec.External is not set",
            format!("{at}.external"),
        ),
        (
            &keda,
            metric("{type: PodMetric}"),
            "metricSpec.PodMetric is not set",
            format!("{at}.podmetric"),
        ),
        (
            &keda,
            metric("{type: Pods}"),
            "unknown KEDA metric type with value [Pods]",
            format!("{at}.type"),
        ),
        (
            &keda,
            metric("{type: External, external: {metric: {}}}"),
            "the query should not be empty",
            format!("{at}.external"),
        ),
        (
            &keda,
            metric("{type: External, external: {metric: {query: q}}}"),
            "the target threshold value should not be empty",
            format!("{at}.external"),
        ),
        (
            &keda,
            metric("{type: Resource, resource: {name: cpu, target: {type: AverageValue}}}"),
            "the cpu target value type should be Utilization",
            format!("{at}.resource"),
        ),
        (
            &keda,
            metric("{type: Resource, resource: {name: memory, target: {type: Value}}}"),
            "the memory target value type should be AverageValue or Utilization",
            format!("{at}.resource"),
        ),
        (
            &keda,
            metric(
                "{type: Resource, resource: {name: memory, target: {type: AverageValue, averageValue: 1Ki}}}",
            ),
            "greater than 1 MiB",
            format!("{at}.resource"),
        ),
        (
            &keda,
            metric("{type: Resource, resource: {name: cpu, target: {type: Utilization}}}"),
            "the AverageUtilization type should be set",
            format!("{at}.resource"),
        ),
        (
            &keda,
            metric(
                "{type: Resource, resource: {name: cpu, target: {type: Utilization, averageUtilization: 101}}}",
            ),
            scale_percent(),
            format!("{at}.resource"),
        ),
        (
            &keda,
            metric("{type: Resource, resource: {name: memory, target: {type: AverageValue}}}"),
            "the AverageValue type should be set",
            format!("{at}.resource"),
        ),
        (
            &String::new(),
            "deploymentStrategy: {type: Recreate}".into(),
            "customizing deploymentStrategy is only supported",
            "spec.predictor.deploymentStrategy".into(),
        ),
        (
            &String::new(),
            "scaleMetric: memory".into(),
            "[memory] is not a supported metric",
            "spec.predictor.scaleMetric".into(),
        ),
        (
            &String::new(),
            "scaleMetric: rps, scaleTarget: 0".into(),
            "the target for rps should be greater than 1",
            "spec.predictor.scaleTarget".into(),
        ),
        (
            &"autoscaling.knative.dev/class: hpa.autoscaling.knative.dev".to_owned(),
            "scaleMetric: rps".into(),
            "[rps] is not a supported metric",
            "spec.predictor.scaleMetric".into(),
        ),
    ] {
        one(annotations, &predictor(&field), message, &path);
    }
    assert!(
        found(STANDARD, &predictor("scaleMetric: rps")).is_empty(),
        "without a class nothing is asked"
    );
    let fits = metric(
        "{type: External, external: {metric: {query: q}, target: {value: '1'}}}, {type: Resource, resource: {name: cpu, target: {type: Utilization, averageUtilization: 50}}}",
    );
    assert!(found(&keda, &predictor(&fits)).is_empty());
}

fn scale_percent() -> &'static str {
    "the target utilization percentage should be a [1-100] integer"
}

// The default of the settings is written into the service before it is judged.
#[test]
fn the_default_mode_of_the_settings_applies_without_an_annotation() {
    let policy =
        operators::newest().policy_by(Api::KServe, Semantics::Controller).expect("a policy");
    let service = crate::operators::kserve::read::service(
        read(&format!("metadata: {{name: s}}\nspec: {}\n", predictor("scaleMetric: memory"))),
        policy,
        &mut Vec::new(),
    );
    for (mode, count) in
        [(None, 1), (Some("Serverless"), 1), (Some("Standard"), 0), (Some("RawDeployment"), 0)]
    {
        let config = KServeConfig { default_mode: mode.map(Into::into), ..KServeConfig::default() };
        assert_eq!(refused(policy, &service, &config).len(), count, "{mode:?}");
    }
}
