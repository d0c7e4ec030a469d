//! Rules about services: a decoder requires an engine, and what OME's webhooks reject of services
//! and runtimes ([`crate::operators::ome::admission`]).

use crate::api::{Api, ComponentKind, Runtime, Scope, Semantics};
use crate::check::refusals::report;
use crate::check::{View, about};
use crate::diag::{Code, Diagnostic};
use crate::operators::ome::admission::{refused, refused_runtime};
use crate::operators::ome::rules::Rules as _;
use crate::policy::Policy;
use crate::yaml::Node;

/// A decoder requires an engine (OME docs, Serving Runtime, Decoder Configuration).
pub(crate) fn decoder(view: &View<'_>, found: &mut Vec<Diagnostic>) {
    for views in view.catalog.services() {
        let service = views.followed();
        let has = |kind: ComponentKind| service.component(kind).is_some();
        if service.object.api == Api::Ome
            && has(ComponentKind::Decoder)
            && !has(ComponentKind::Engine)
        {
            let decoder = service
                .object
                .node
                .get("spec")
                .and_then(Node::as_map)
                .and_then(|spec| spec.entry("decoder"));
            found.push(
                about(
                    Code::DecoderWithoutEngine,
                    &service.object,
                    "decoder cannot be specified without engine",
                )
                .at(decoder
                    .and_then(|entry| entry.key_origin.span())
                    .or_else(|| Some(service.object.name_span())))
                .path("spec.decoder")
                .help("add `engine: {}`"),
            );
        }
    }
}

/// Reports what the webhooks reject.
pub(crate) fn webhook(view: &View<'_>, found: &mut Vec<Diagnostic>) {
    let semantics = view.catalog.readings().mode(Api::Ome);
    for views in view.catalog.services() {
        let service = views.followed();
        if service.object.api == Api::Ome {
            let refusal = service.refusal.as_deref();
            report(semantics, &service.object, refusal, refused(service), found);
        }
    }
    let Some(policy) = view.catalog.policy(Api::Ome) else { return };
    for runtime in view.catalog.runtimes(Api::Ome) {
        webhook_of_runtime(policy, runtime, found);
    }
}

/// Reports what the webhook would refuse of a runtime. Some releases ask it about runtimes of
/// namespaces alone.
pub(crate) fn webhook_of_runtime(policy: &Policy, runtime: &Runtime, found: &mut Vec<Diagnostic>) {
    let semantics = policy.semantics;
    let is_asked = semantics == Semantics::Documented
        || policy.ome().runtimes_checked
        || runtime.object.id.scope != Scope::Cluster;
    if is_asked {
        report(semantics, &runtime.object, None, refused_runtime(runtime), found);
    }
}

#[cfg(test)]
mod tests {
    use crate::api::Semantics::{Controller, Documented};
    use crate::check::fixture::{codes, run, runtime, service};
    use crate::diag::Severity;

    #[test]
    fn a_decoder_needs_an_engine() {
        // OME docs, Serving Runtime, Decoder Configuration.
        assert_eq!(
            codes(&run(&service("s", "  decoder: {}\n"), Documented)),
            ["decoder-without-engine"]
        );
        assert!(run(&service("s", "  engine: {}\n  decoder: {}\n"), Documented).is_empty());
    }

    #[test]
    fn autoscaler_annotations_are_checked_like_the_webhook() {
        // pkg/webhook/admission/isvc/inference_service_validation.go: rows of annotations,
        // kedaConfig, how many are refused.
        for (annotations, keda, refused) in [
            ("ome.io/autoscalerClass: hpa", "", 0),
            ("ome.io/autoscalerClass: hpa, ome.io/metrics: gpu", "", 1),
            ("ome.io/metrics: gpu", "", 0),
            ("ome.io/autoscalerClass: vpa", "", 1),
            (
                "ome.io/autoscalerClass: keda",
                "scalingOperator: Greater, scalingThreshold: ten, promServerAddress: prometheus, authModes: 'basic, sso'",
                4,
            ),
            (
                "ome.io/autoscalerClass: keda",
                "scalingOperator: '', scalingThreshold: '1e3', promServerAddress: 'http://p:9090', authModes: 'basic,,tls'",
                0,
            ),
            ("ome.io/autoscalerClass: keda, autoscaling.keda.sh/operator: ''", "", 1),
            (
                "ome.io/autoscalerClass: keda, autoscaling.keda.sh/prometheus.serverAddress: 'https://'",
                "",
                1,
            ),
            ("ome.io/autoscalerClass: hpa", "scalingOperator: Greater", 0),
            ("ome.io/targetUtilizationPercentage: '101'", "", 1),
            ("ome.io/targetUtilizationPercentage: '80'", "", 0),
        ] {
            let text = service("s", &format!("  kedaConfig: {{{keda}}}\n"))
                .replace("{name: s}", &format!("{{name: s, annotations: {{{annotations}}}}}"));
            let found = run(&text, Controller);
            assert_eq!(codes(&found), vec!["invalid-value"; refused], "{annotations} {keda}");
            let found = run(&text, Documented);
            assert!(
                found.len() == refused
                    && found.iter().all(|finding| finding.code.as_str() == "server-refuses"
                        && finding.severity == Severity::Warning),
                "{found:?}"
            );
        }
    }

    #[test]
    fn names_of_services_begin_with_a_letter() {
        for (name, expected) in [
            ("chat-1", &[][..]),
            ("1chat", &["invalid-name"]),
            ("a.b", &["invalid-name"]),
            ("A", &[]),
        ] {
            assert_eq!(codes(&run(&service(name, ""), Controller)), expected, "{name}");
        }
    }

    #[test]
    fn legacy_workers_have_a_size() {
        let mode = |mode: &str| {
            format!(
                "  containers: [{{name: a, env: [{{name: DEPLOYMENT_MODE, value: {mode}}}]}}]\n"
            )
        };
        for (spec, refused) in [
            ("  workers: {size: 0}\n".to_owned(), 1),
            ("  workers: {size: 1}\n".to_owned(), 0),
            (format!("  engineConfig: {{}}\n{}", mode("MultiNode")), 1),
            (format!("  engineConfig: {{}}\n  workers: {{size: 1}}\n{}", mode("RawDeployment")), 1),
            (format!("  engineConfig: {{}}\n  decoderConfig: {{}}\n{}", mode("MultiNode")), 0),
            ("  disabled: true\n  workers: {size: 0}\n".to_owned(), 0),
        ] {
            assert_eq!(run(&runtime("r", &spec), Controller).len(), refused, "{spec}");
        }
    }
}
