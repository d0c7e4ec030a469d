//! A service of KServe for tests of this folder, straight from a text.

use super::{components, effective};
use crate::api::{Api, Object, ObjectRef, OperatorConfig, Scope, Semantics};
use crate::diag::Diagnostic;
use crate::merge::history::Recorder;
use crate::operators;
use crate::operators::kserve::read as kserve;
use crate::source::SourceId;
use crate::yaml::{Limits, Node, parse, split};

pub(crate) fn objects(text: &str) -> Vec<Object> {
    let parsed = split(SourceId(0), text)
        .value
        .into_iter()
        .filter_map(|range| parse(SourceId(0), text, range, &Limits::default()).value);
    parsed
        .map(|node| {
            let field =
                |keys: &[&str]| node.at(keys).and_then(Node::as_str).unwrap_or_default().to_owned();
            let kind = field(&["kind"]);
            let namespace = Some(field(&["metadata", "namespace"])).filter(|name| !name.is_empty());
            let scope = if kind.starts_with("Cluster") {
                Scope::Cluster
            } else {
                Scope::Namespace(namespace.map_or("default".into(), Into::into))
            };
            let id =
                ObjectRef { kind: kind.into(), scope, name: field(&["metadata", "name"]).into() };
            let span = node.origin.span().expect("read from a text");
            Object {
                api: Api::KServe,
                api_version: field(&["apiVersion"]).into(),
                id,
                span,
                builtin: false,
                reported: true,
                template: None,
                node,
            }
        })
        .collect()
}

/// The pod of a predictor after the webhook, in Standard mode, and the findings. `model` and
/// `predictor` are additional fields of the model and the predictor; `beside` are objects other
/// than the service and its runtime.
pub(super) fn expanded(model: &str, predictor: &str, more_fields: &str) -> (Node, Vec<Diagnostic>) {
    let predictor = if predictor.is_empty() { String::new() } else { format!("{predictor}, ") };
    let text = format!(
        "kind: InferenceService\nmetadata: {{name: s, annotations: {{serving.kserve.io/deploymentMode: Standard}}}}\nspec: {{predictor: {{{predictor}model: {{modelFormat: {{name: f}}, {model}}}}}}}\n\
         ---\nkind: ClusterServingRuntime\nmetadata: {{name: rt}}\nspec: {{containers: [{{name: kserve-container, image: i}}]}}\n---\n{more_fields}"
    );
    let policy = operators::newest()
        .policy_by(Api::KServe, Semantics::Documented)
        .expect("KServe has a policy");
    let mut found = Vec::new();
    let mut objects = objects(&text).into_iter();
    let service = kserve::service(objects.next().expect("the service"), policy, &mut found);
    let runtime =
        kserve::runtime(objects.next().expect("the runtime"), Semantics::Documented, &mut found);
    let mut config = OperatorConfig::default();
    config.kserve.expand = true;
    config.kserve.accounts = objects.collect();
    let checked =
        components(policy, &service, Some(&runtime), &config.kserve, &mut Recorder::off());
    let checked = checked.expect("it composes");
    let component = &checked.value[0].component;
    let shown =
        effective(policy, &service, Some(&runtime), &config.kserve, component).expect("it expands");
    (shown.value.component.pod, shown.diagnostics)
}
