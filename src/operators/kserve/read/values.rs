//! The default deployment mode in values of KServe's Helm chart.
//!
//! A repository that installs KServe by Helm has no ConfigMap of it: the chart writes one from its
//! values. In: the texts of the input, be they files of values or objects that hold values
//! (Application of Argo CD, HelmRelease of Flux). Out: the mode, where all agree on one. Source:
//! charts/kserve-resources/values.yaml, `kserve.controller.deploymentMode`.

use crate::operators::kserve::mode;
use crate::source::{SourceId, SourceMap};
use crate::yaml::{Limits, Node, Value, parse, split};
use ecow::EcoString;

/// The key of the values, in the controller's block.
const KEY: &str = "deploymentMode";

/// The default deployment mode that values in the input set.
pub fn default_mode(sources: &SourceMap) -> Option<EcoString> {
    let mut found = Vec::new();
    for (id, source) in sources.iter() {
        // Few texts have these words, and only those are read a second time.
        let has = |word: &str| source.text.contains(word);
        if source.is_input() && has(KEY) && has("kserve:") && has("controller:") {
            gather(id, &source.text, &mut found);
        }
    }
    let first = found.first()?;
    let of = |name: &EcoString| mode::from_name(name);
    (of(first).is_some() && found.iter().all(|other| of(other) == of(first))).then(|| first.clone())
}

/// Gathers the modes in the documents of a text.
fn gather(id: SourceId, text: &str, found: &mut Vec<EcoString>) {
    let limits = Limits::default();
    for part in split(id, text).value {
        if let Some(document) = parse(id, text, part, &limits).value {
            below(&document, found);
        }
    }
}

fn below(node: &Node, found: &mut Vec<EcoString>) {
    match &node.value {
        Value::Map(map) => {
            // A chart that has KServe's as a dependency has its values below a name.
            found.extend(
                node.at(&["kserve", "controller", KEY]).and_then(Node::as_str).map(Into::into),
            );
            map.iter().for_each(|entry| below(&entry.node, found));
        }
        Value::List(items) => items.iter().for_each(|item| below(item, found)),
        // `spec.source.helm.values` of an Application is a text.
        Value::Str(text) if text.contains(KEY) && text.contains('\n') => {
            gather(SourceId(0), text, found);
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::ome;

    const SERVICE: &str = "apiVersion: serving.kserve.io/v1beta1\nkind: InferenceService\nmetadata: {name: a, namespace: ml}\nspec: {predictor: {containers: [{name: kserve-container, image: i}]}}\n";

    #[test]
    fn values_of_the_chart_set_the_default_mode() {
        let values = |mode: &str| format!("kserve:\n  controller:\n    deploymentMode: {mode}\n");
        let application = "apiVersion: argoproj.io/v1alpha1\nkind: Application\nmetadata: {name: kserve}\nspec:\n  source:\n    chart: kserve-resources\n    helm:\n      values: |\n        kserve:\n          controller:\n            deploymentMode: Standard\n";
        let config = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: inferenceservice-config, namespace: kserve}\ndata:\n  deploy: '{\"defaultDeploymentMode\": \"Serverless\"}'\n  ingress: '{\"ingressGateway\": \"a/b\", \"localGateway\": \"c/d\", \"localGatewayService\": \"e\", \"ingressDomain\": \"example.com\"}'\n";
        let raw = "RawDeployment (Helm values)";
        for (first, second, expected) in [
            (String::new(), String::new(), "Serverless (default)"),
            (values("Standard"), String::new(), raw),
            (values("RawDeployment"), values("Standard"), raw),
            (
                format!("base:\n  {}\n", values("Standard").trim_end().replace('\n', "\n  ")),
                String::new(),
                raw,
            ),
            (application.to_owned(), String::new(), raw),
            // Of two clusters, either may be meant.
            (values("Standard"), values("Knative"), "Serverless (default)"),
            (values("Nothing"), String::new(), "Serverless (default)"),
            // What the cluster has goes before what made it.
            (values("Standard"), config.to_owned(), "Serverless (config)"),
        ] {
            let documents = [SERVICE, first.as_str(), second.as_str()];
            let ran = ome("plan", &documents.join("---\n"));
            assert!(ran.out.contains(expected), "{first}{second}: {}{}", ran.out, ran.err);
        }
    }
}
