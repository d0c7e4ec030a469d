use super::*;

// pkg/controller/v1beta1/inferenceservice/components/base.go, UpdatePodSpecNodeSelector;
// pkg/controller/v1beta1/inferenceservice/utils/utils.go.
#[test]
fn node_selectors_of_higher_layers_override_lower_ones() {
    let runtime = "{nodeSelector: {pool: rt, top: rt}, engineConfig: {nodeSelector: {pool: engcfg, cfg: y1}, runner: {name: c, image: i}}}";
    let fixture =
        Fixture::new("{metadata: {name: chat}, spec: {engine: {nodeSelector: {pool: user}}}}")
            .runtime(runtime)
            .model(MODEL);
    for (policy, ready) in BOTH.into_iter().zip(["", ", models.ome.io/clusterbasemodel.m: Ready"]) {
        let checked = fixture.compose(policy).unwrap();
        let expected = node(&format!("{{cfg: y1, pool: user, top: rt{ready}}}"));
        assert_eq!(
            engine(&checked).pod.get("nodeSelector"),
            Some(&expected),
            "{}",
            policy.semantics
        );
    }
    let silent = Fixture::new(SILENT).runtime(runtime);
    let checked = silent.compose(&OME_DOCUMENTED).unwrap();
    assert_eq!(
        engine(&checked).pod.get("nodeSelector"),
        Some(&node("{pool: rt, cfg: y1, top: rt}"))
    );
}

// pkg/controller/v1beta1/inferenceservice/components/base.go, annotations and labels.
#[test]
fn labels_and_annotations_are_merged_by_layer() {
    let service = "{metadata: {name: chat, labels: {team: a, component: mine, x: isvc}, annotations: {x: isvc, eng: isvc, autoscaling.knative.dev/min-scale: '1'}}, \
                   spec: {model: {name: m}, engine: {annotations: {eng: eng}, labels: {x: eng}}, router: {runner: {name: r, image: i}}}}";
    let fixture = Fixture::new(service)
        .runtime("{engineConfig: {annotations: {x: rt}, runner: {name: c, image: i}}}")
        .model(MODEL);
    let checked = fixture.compose(&OME_V0_1_5).unwrap();
    assert_eq!(
        pairs(&engine(&checked).labels),
        [
            "base-model-name=m",
            "base-model-size=SMALL",
            "base-model-type=Serving",
            "base-model-vendor=meta",
            "component=engine",
            "fine-tuned-serving=false",
            "ome.io/inferenceservice=chat",
            "serving-runtime=rt",
            "team=a",
            "x=eng"
        ]
    );
    let annotations = [
        "eng=eng",
        "ome.io/base-model-format=safetensors",
        "ome.io/base-model-format-version=1.0.0",
        "ome.io/base-model-name=m",
        "ome.io/base-model-vendor=meta",
        "ome.io/deploymentMode=RawDeployment",
        "ome.io/serving-runtime=rt",
        "x=rt",
    ];
    assert_eq!(pairs(&engine(&checked).annotations), annotations);
    let router = &checked.value.components[1];
    assert!(
        pairs(&router.annotations).contains(&"x=isvc".to_owned())
            && pairs(&router.labels).contains(&"component=router".to_owned())
    );
    // Only the controller adds the annotation of the webhook.
    let documented = fixture.compose(&OME_DOCUMENTED).unwrap();
    assert_eq!(
        pairs(&engine(&documented).annotations),
        annotations.into_iter().filter(|pair| !pair.contains("deploymentMode")).collect::<Vec<_>>()
    );
}

#[test]
fn the_webhook_adds_the_deployment_mode_annotation() {
    for (spec, default, expected) in [
        ("{engine: {runner: {name: c}}}", "RawDeployment", Some("RawDeployment")),
        ("{engine: {runner: {name: c}}}", "Serverless", None),
        (
            "{engine: {runner: {name: c}}, decoder: {runner: {name: c}}}",
            "RawDeployment",
            Some("PDDisaggregated"),
        ),
        (
            "{engine: {leader: {runner: {name: c}}, worker: {size: 1, runner: {name: c}}}}",
            "RawDeployment",
            Some("MultiNode"),
        ),
        (
            "{engine: {leader: {runner: {name: c}}, worker: {runner: {name: c}}}}",
            "RawDeployment",
            Some("RawDeployment"),
        ),
    ] {
        let mut fixture = Fixture::new(&format!("{{metadata: {{name: chat}}, spec: {spec}}}"));
        fixture.config.default_deployment_mode = default.into();
        let checked = fixture.compose(&OME_V0_1_5).unwrap();
        assert_eq!(
            engine(&checked).annotations.get("ome.io/deploymentMode").and_then(Node::as_str),
            expected,
            "{spec} {default}"
        );
    }
}

// pkg/controller/v1beta1/inferenceservice/components/base.go;
// pkg/controller/v1beta1/inferenceservice/components/router.go; docs/render.md (25); OME docs,
// Serving Runtime, Router Configuration.
#[test]
fn a_router_gets_its_config_and_an_account() {
    let service = "{metadata: {name: chat}, spec: {engine: {runner: {name: c, image: i}}, router: {serviceAccountName: mine, config: {K: v, A: '1'}, runner: {name: r, image: i, env: [{name: K, value: old}]}}}}";
    let fixture = Fixture::new(service);
    for (policy, expected) in
        BOTH.into_iter().zip([vec!["K=v", "A=1"], vec!["K=old", "A=1", "K=v"]])
    {
        let mut history = Recorder::new();
        let checked = fixture.compose_with(policy, &mut history).unwrap();
        let router = &checked.value.components[1];
        assert_eq!(env(container(&router.pod)), expected, "{}", policy.semantics);
        assert_eq!(
            router.pod.get("serviceAccountName").and_then(Node::as_str),
            Some("chat-router")
        );
        assert!(
            losers(&history)
                .contains(&"router.serviceAccountName: mine, now chat-router".to_owned())
        );
    }
    let listed = Fixture::new(
        "{metadata: {name: chat}, spec: {engine: {runner: {name: c}}, router: {config: {K: v}, containers: [{name: r}]}}}",
    );
    assert_eq!(
        env(container(&listed.compose(&OME_V0_1_5).unwrap().value.components[1].pod)),
        [""; 0]
    );
}

// OEP-0003, Story 5; docs/decisions.md#field-spellings.
#[test]
fn router_resources_apply_to_its_container() {
    let router = "{metadata: {name: chat}, spec: {engine: {runner: {name: c, image: i}}, router: {resources: {requests: {cpu: 2}, limits: {cpu: 4}}, runner: {resources: {limits: {cpu: 8}}}}}}";
    let fixture = Fixture::new(router).runtime(
        "{routerConfig: {runner: {name: r, image: i, resources: {limits: {memory: 8Gi, cpu: 1}}}}}",
    );
    let checked = fixture.compose(&OME_DOCUMENTED).unwrap();
    assert_eq!(
        container(&checked.value.components[1].pod).get("resources"),
        Some(&node("{limits: {memory: 8Gi, cpu: '8'}, requests: {cpu: '2'}}"))
    );
    assert_eq!(codes(&checked), ["shorthand-resources"]);
    let checked = fixture.compose(&OME_V0_1_5).unwrap();
    assert_eq!(
        container(&checked.value.components[1].pod).get("resources"),
        Some(&node("{limits: {memory: 8Gi, cpu: '8'}}"))
    );
}
