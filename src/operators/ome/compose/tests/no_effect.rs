use super::*;

/// The findings `no-effect` of a service: the path, and what to do.
fn found(metadata: &str, engine: &str, others: &str) -> Vec<(String, String)> {
    found_in(&OME_V0_1_5, RUNTIME, metadata, engine, others)
}

fn found_in(
    policy: &Policy,
    runtime: &str,
    metadata: &str,
    engine: &str,
    others: &str,
) -> Vec<(String, String)> {
    let service = format!(
        "{{metadata: {{name: chat{metadata}}}, spec: {{model: {{name: m}}, engine: {{{engine}}}{others}}}}}"
    );
    let fixture = Fixture::new(&service).runtime(runtime).model(MODEL);
    let checked = fixture.compose(policy).unwrap();
    let all = checked.diagnostics.into_iter();
    all.filter(|finding| finding.code == crate::diag::Code::NoEffect)
        .map(|finding| (finding.path.unwrap_or_default(), finding.help.unwrap_or_default()))
        .collect()
}

fn annotated(mode: &str) -> String {
    format!(", annotations: {{ome.io/deploymentMode: {mode}}}")
}

// pkg/controller/v1beta1/inferenceservice/utils/deployment.go: annotations of the service decide
// nothing, that of an engine does, that of a router does not.
#[test]
fn annotations_that_no_component_follows_are_named() {
    let service = "metadata.annotations.ome.io/deploymentMode".to_owned();
    let engine = "write the annotation in `spec.engine.annotations`".to_owned();
    let zero = "minReplicas: 0";
    assert_eq!(found(&annotated("RawDeployment"), zero, ""), [(service.clone(), engine.clone())]);
    assert_eq!(found(&annotated("MultiNode"), "", ""), [(service.clone(), engine)]);
    let near = "did you mean `RawDeployment`?".to_owned();
    assert_eq!(found(&annotated("RawDeploymnt"), "", ""), [(service, near)]);
    assert_eq!(found(&annotated("Serverless"), zero, ""), []);
    assert_eq!(found(&annotated("RawDeployment"), "", ""), []);
    assert_eq!(found(&annotated("VirtualDeployment"), "", ""), []);
    assert_eq!(found("", &format!("minReplicas: 1{}", annotated("Serverless")), ""), []);
    let router = format!(", router: {{runner: {{name: r, image: i}}{}}}", annotated("MultiNode"));
    let path = "spec.router.annotations.ome.io/deploymentMode".to_owned();
    assert_eq!(found("", "", &router), [(path, "delete the annotation".to_owned())]);
}

#[test]
fn the_help_of_an_unknown_mode_names_the_modes_of_the_release() {
    let help = |policy: &Policy, word: &str| {
        let found = found_in(policy, RUNTIME, &annotated(word), "", "");
        found.into_iter().map(|(_, help)| help).collect::<Vec<_>>().join(" ")
    };
    let common = "write one of RawDeployment, ";
    for (policy, others) in [
        (&OME_V0_1_5, "Serverless, MultiNode, MultiNodeRayVLLM, VirtualDeployment"),
        (&OME_V1_2_2, "MultiNode, VirtualDeployment"),
        (&OME_HEAD, "MultiNode, VirtualDeployment, OMENative"),
    ] {
        assert_eq!(help(policy, "Foo"), format!("{common}{others}"), "{}", policy.id.tag);
    }
    // Removed in v1.2.2.
    assert_eq!(
        help(&OME_V0_1_5, "Serverless"),
        "write the annotation in `spec.engine.annotations`"
    );
    assert_eq!(help(&OME_V1_2_2, "Serverless"), format!("{common}MultiNode, VirtualDeployment"));
    assert_eq!(help(&OME_HEAD, "OmeNative"), "did you mean `OMENative`?");
}

#[test]
fn a_word_of_a_runtime_that_is_no_mode_is_named_where_it_decides() {
    let of = |word: &str, engine: &str| {
        let runtime =
            format!("{{engineConfig: {{runner: {{name: c, image: i}}{}}}}}", annotated(word));
        found_in(&OME_V0_1_5, &runtime, "", engine, "")
    };
    let path = "spec.engineConfig.annotations.ome.io/deploymentMode".to_owned();
    let near = "did you mean `MultiNode`?".to_owned();
    assert_eq!(of("MultiNod", ""), [(path, near)]);
    assert_eq!(of("MultiNode", ""), []);
    // The service has its own word.
    assert_eq!(of("MultiNod", &format!("minReplicas: 1{}", annotated("RawDeployment"))), []);
}
