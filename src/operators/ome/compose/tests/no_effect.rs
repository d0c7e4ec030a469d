use super::*;

/// The findings `no-effect` of a service: the path, and what to do.
fn found(metadata: &str, engine: &str, others: &str) -> Vec<(String, String)> {
    let service = format!(
        "{{metadata: {{name: chat{metadata}}}, spec: {{model: {{name: m}}, engine: {{{engine}}}{others}}}}}"
    );
    let fixture = Fixture::new(&service).runtime(RUNTIME).model(MODEL);
    let checked = fixture.compose(&OME_V0_1_5).unwrap();
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
