//! The objects of a service, their order, and the failures of the controller.

use crate::api::{ComponentKind, DeploymentMode, Failure, OperatorConfig};
use crate::diag::{Checked, Code, Severity};
use crate::objects::testing::{component, parse, service};
use crate::objects::{RenderedObject, Settings};
use crate::operators::ome::releases::V0_1_5 as OME_V0_1_5;
use crate::pods::built::{Built, Component};
use crate::yaml::Node;
use ComponentKind::{Decoder, Engine, Router};
use DeploymentMode::{MultiNode, MultiNodeRayVllm, RawDeployment, Serverless, VirtualDeployment};

const POD: &str =
    r#"{"containers":[{"name":"ome-container","image":"i","ports":[{"containerPort":8080}]}]}"#;

fn part(kind: ComponentKind, mode: DeploymentMode) -> Component {
    let mut part = component("chat", kind, mode, r#"{"minReplicas":1,"maxReplicas":3}"#, POD);
    // Every component has annotations, unless its fine-tuned weight has no strategy.
    part.annotations.insert("ome.io/base-model-name", parse("\"m\""));
    if mode == MultiNode {
        part.worker = Some((parse(POD), 2));
    }
    part
}

fn ingress() -> OperatorConfig {
    let mut config = OperatorConfig::default();
    config.ingress.disable_ingress_creation = false;
    config
}

fn render(
    metadata: &str,
    components: Vec<Component>,
    config: &OperatorConfig,
) -> Result<Checked<Vec<RenderedObject>>, Failure> {
    let service = service(&format!(r#"{{"metadata":{{"name":"chat"{metadata}}},"spec":{{}}}}"#));
    let composed = Built { service: &service, model: None, runtime: None, components };
    let settings = Settings { policy: &OME_V0_1_5, config, cluster_domain: "cluster.local" };
    super::settings(&service, settings)?;
    let mut written = super::objects(&composed, None, settings)?;
    crate::objects::finish(&mut written.value);
    Ok(written)
}

/// `Kind/name` of every object, with its wave.
fn list(rendered: &Checked<Vec<RenderedObject>>) -> Vec<String> {
    let text = |object: &RenderedObject, keys: &[&str]| {
        object.node.at(keys).and_then(Node::as_str).unwrap_or_default().to_owned()
    };
    rendered
        .value
        .iter()
        .map(|object| {
            format!(
                "{}/{} {}",
                text(object, &["kind"]),
                text(object, &["metadata", "name"]),
                object.wave
            )
        })
        .collect()
}

#[test]
fn every_mode_has_its_objects_in_the_controllers_order() {
    let raw = |name: &str| {
        [
            format!("Deployment/chat-{name} 1"),
            format!("Service/chat-{name} 1"),
            format!("HorizontalPodAutoscaler/chat-{name} 2"),
            format!("PodDisruptionBudget/chat-{name} 2"),
        ]
    };
    let access =
        ["ServiceAccount/chat-router 0", "Role/chat-router 0", "RoleBinding/chat-router 0"]
            .map(String::from);
    let outside = ["Service/chat 3".to_owned()];
    for (components, expected) in [
        (vec![part(Engine, RawDeployment)], [raw("engine").as_slice(), &outside].concat()),
        (
            vec![
                part(Engine, RawDeployment),
                part(Decoder, RawDeployment),
                part(Router, RawDeployment),
            ],
            [raw("engine").as_slice(), &raw("decoder"), &access, &raw("router"), &outside].concat(),
        ),
        (
            vec![part(Engine, MultiNode)],
            ["LeaderWorkerSet/lws-chat-engine 1", "Service/chat-engine 1", "Service/chat 3"]
                .map(String::from)
                .to_vec(),
        ),
        (
            vec![part(Engine, Serverless)],
            ["Service/chat-engine 1", "Service/chat 3"].map(String::from).to_vec(),
        ),
        (
            vec![part(Engine, MultiNodeRayVllm)],
            [
                "RayCluster/chat-engine-0 1",
                "Service/chat-engine 1",
                "Deployment/chat-engine-0-mnp 1",
                "Service/chat 3",
            ]
            .map(String::from)
            .to_vec(),
        ),
    ] {
        let rendered = render("", components, &OperatorConfig::default()).expect("renders");
        assert_eq!(list(&rendered), expected);
    }
}

#[test]
fn a_service_in_virtual_mode_renders_no_objects() {
    let annotated = r#","annotations":{"ome.io/deploymentMode":"VirtualDeployment"}"#;
    assert!(
        render(annotated, vec![part(Engine, RawDeployment)], &OperatorConfig::default())
            .expect("renders")
            .value
            .is_empty()
    );
}

#[test]
fn the_sidecar_inject_label_adds_an_istio_sidecar() {
    let mut engine = part(Engine, MultiNode);
    engine.labels.insert("sidecar.istio.io/inject", parse("\"true\""));
    let rendered = render("", vec![engine], &OperatorConfig::default()).expect("renders");
    assert_eq!(list(&rendered)[1], "Sidecar/chat-engine 1");
}

#[test]
fn the_ingress_kind_follows_the_entry_component_and_settings() {
    let mut gateway = ingress();
    gateway.ingress.enable_gateway_api = true;
    gateway.ingress.ome_ingress_gateway = "ome/gw".into();
    let serverless = OperatorConfig { default_deployment_mode: "Serverless".into(), ..ingress() };
    for (components, config, expected) in [
        (vec![part(Engine, RawDeployment)], &ingress(), &["Ingress/chat 3"][..]),
        (
            vec![part(Engine, Serverless), part(Router, RawDeployment)],
            &ingress(),
            &["Ingress/chat 3"],
        ),
        (vec![part(Engine, Serverless)], &ingress(), &["VirtualService/chat 3", "Service/chat 3"]),
        // With a router, both the service and the engine must be serverless.
        (vec![part(Engine, Serverless), part(Router, Serverless)], &ingress(), &["Service/chat 3"]),
        (
            vec![part(Engine, RawDeployment), part(Router, Serverless)],
            &serverless,
            &["Service/chat 3"],
        ),
        (
            vec![part(Engine, Serverless), part(Router, Serverless)],
            &serverless,
            &["VirtualService/chat 3", "Service/chat 3"],
        ),
        (vec![part(Engine, RawDeployment)], &gateway, &["HTTPRoute/chat 3"]),
        (
            vec![
                part(Engine, RawDeployment),
                part(Decoder, RawDeployment),
                part(Router, RawDeployment),
            ],
            &gateway,
            &["HTTPRoute/chat-router 3", "HTTPRoute/chat-decoder 3", "HTTPRoute/chat 3"],
        ),
    ] {
        let rendered = render("", components, config).expect("renders");
        let found: Vec<String> =
            list(&rendered).into_iter().filter(|object| object.ends_with(" 3")).collect();
        assert_eq!(found, expected);
    }
}

#[test]
fn a_cluster_local_service_gets_no_stable_address_and_a_warning() {
    let local = r#","labels":{"networking.knative.dev/visibility":"cluster-local"}"#;
    let rendered = render(local, vec![part(Engine, RawDeployment)], &OperatorConfig::default())
        .expect("renders");
    assert!(!list(&rendered).contains(&"Service/chat 3".to_owned()));
    assert!(rendered.diagnostics.iter().any(
        |finding| finding.code == Code::OperatorDefect && finding.severity == Severity::Warning
    ));
}

#[test]
fn the_stable_address_has_the_port_of_the_first_container() {
    let mut engine = part(Engine, RawDeployment);
    engine.pod = parse(
        r#"{"containers":[{"name":"side","ports":[{"containerPort":9100}]},{"name":"ome-container","ports":[{"containerPort":8080}]}]}"#,
    );
    let rendered = render("", vec![engine.clone()], &OperatorConfig::default()).expect("renders");
    let port = rendered
        .value
        .last()
        .and_then(|object| object.node.at(&["spec", "ports"]))
        .and_then(|ports| ports.items()[0].get("port"))
        .and_then(Node::as_int);
    assert_eq!(port, Some(9100));
    // The Ingress leads to port 8080 anyway, which gives a warning.
    let rendered = render("", vec![engine], &ingress()).expect("renders");
    assert!(rendered.diagnostics.iter().any(|finding| finding.message.contains("exposes 9100")));
}

#[test]
fn controller_failures_are_reported_with_its_message() {
    let mut headless = part(Engine, MultiNode);
    headless.worker = None;
    let mut classless = part(Engine, RawDeployment);
    classless.annotations.insert("ome.io/autoscalerClass", parse("\"none\""));
    let mut homeless = part(Engine, RawDeployment);
    homeless.annotations.insert("ome.io/ingress-domain", parse("\"Not A Domain\""));
    let mut countless = part(Engine, MultiNodeRayVllm);
    countless.spec = parse("{}");
    let mut endless = part(Engine, MultiNodeRayVllm);
    endless.spec = parse(r#"{"minReplicas":2147483647}"#);
    let (default, ingress) = (OperatorConfig::default(), ingress());
    let proberless = OperatorConfig { multinode_prober: None, ..OperatorConfig::default() };
    let broken = OperatorConfig {
        error: Some("invalid deploy config, defaultDeploymentMode is required".into()),
        ..OperatorConfig::default()
    };
    for (components, config, code, words) in [
        (vec![headless], &default, Code::WouldPanic, "has no worker"),
        (vec![classless], &default, Code::InvalidInput, "unknown autoscaler class type"),
        (
            vec![homeless],
            &default,
            Code::InvalidInput,
            "invalid domain name \"chat-engine.default.Not A Domain\"",
        ),
        (
            vec![part(Engine, VirtualDeployment)],
            &default,
            Code::InvalidInput,
            "invalid deployment mode for engine",
        ),
        (vec![countless], &default, Code::WouldPanic, "has no minReplicas"),
        (vec![endless], &default, Code::InvalidInput, "would be as many RayClusters"),
        (vec![part(Engine, MultiNodeRayVllm)], &proberless, Code::WouldPanic, "`multinodeProber`"),
        (
            vec![part(Engine, MultiNodeRayVllm)],
            &ingress,
            Code::InvalidInput,
            "unsupported deployment mode: MultiNodeRayVLLM",
        ),
        (
            vec![part(Engine, RawDeployment)],
            &broken,
            Code::InvalidInput,
            "defaultDeploymentMode is required",
        ),
    ] {
        let error = render("", components, config).expect_err(words);
        assert_eq!(error.code, code, "{}", error.message);
        assert!(error.message.contains(words), "{}", error.message);
        assert!(error.help.is_some());
    }
}

#[test]
fn a_serverless_component_without_annotations_is_a_crash() {
    let mut bare = part(Engine, Serverless);
    bare.annotations = crate::yaml::Map::new();
    let error =
        render("", vec![bare], &OperatorConfig::default()).expect_err("no map to write into");
    assert_eq!(error.code, Code::WouldPanic);
    assert!(error.message.contains("has no annotations"), "{}", error.message);
}

#[test]
fn two_multi_node_components_take_each_others_leaders() {
    let rendered = render(
        "",
        vec![part(Engine, MultiNode), part(Decoder, MultiNode)],
        &OperatorConfig::default(),
    )
    .expect("renders");
    let selectors: Vec<_> = rendered
        .value
        .iter()
        .filter_map(|object| object.node.at(&["spec", "selector"]))
        .take(2)
        .map(|selector| selector.to_json().to_string())
        .collect();
    assert_eq!(selectors[0], selectors[1]);
    assert!(
        rendered
            .diagnostics
            .iter()
            .any(|finding| finding.message.contains("leaders of each other"))
    );
}
