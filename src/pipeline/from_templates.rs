//! Runtimes that are objects of an OpenShift Template: no cluster has them before it is processed.
//!
//! In: a service with its decision. Out: a note if the chosen runtime is one of those.

use crate::api::Service;
use crate::decision::Resolution;
use crate::diag::{Code, Diagnostic};

/// The note about the chosen runtime of a service.
pub(super) fn note(service: &Service, resolution: &Resolution<'_>) -> Option<Diagnostic> {
    let runtime = &resolution.chosen()?.object;
    let template = runtime.template.as_ref()?;
    let owner = service.object.id.to_string();
    let message = format!(
        "{} `{}` is an object of Template `{}`, and a cluster has it once the Template is processed \
         for {owner}",
        runtime.id.kind, runtime.id.name, template.name
    );
    let help = format!(
        "`oc process --local -f {} | oc apply -n {} -f -` creates it; so does the dashboard of \
         OpenShift AI when it deploys a model",
        template.file, service.namespace
    );
    let at = runtime.name_span();
    Some(Diagnostic::new(Code::TemplateNotProcessed, message).at(at).object(owner).help(help))
}

#[cfg(test)]
mod tests {
    use crate::testing::plan;
    use serde_json::json;

    const TEMPLATE: &str = "apiVersion: template.openshift.io/v1
kind: Template
metadata: {name: vllm-template, namespace: redhat-ods-applications}
objects:
- apiVersion: serving.kserve.io/v1alpha1
  kind: ServingRuntime
  metadata: {name: vllm, namespace: elsewhere}
  spec:
    supportedModelFormats: [{name: vLLM, autoSelect: true}]
    containers: [{name: kserve-container, image: example.com/vllm}]
";

    fn service(name: &str, namespace: &str) -> String {
        format!(
            "---
apiVersion: serving.kserve.io/v1beta1
kind: InferenceService
metadata: {{name: {name}, namespace: {namespace}}}
spec: {{predictor: {{model: {{modelFormat: {{name: vLLM}}, runtime: vllm, storageUri: \"oci://x/y:1\"}}}}}}
"
        )
    }

    #[test]
    fn a_runtime_of_a_template_is_marked_and_noted_once() {
        let ran = plan(&(TEMPLATE.to_owned() + &service("a", "chat") + &service("b", "other")));
        let found = ran.at("/findings");
        let notes: Vec<_> = found
            .as_array()
            .into_iter()
            .flatten()
            .filter(|finding| finding["code"] == "template-not-processed")
            .collect();
        assert_eq!(notes.len(), 1, "{found}");
        assert_eq!(
            notes[0]["message"],
            "ServingRuntime `vllm` is an object of Template `vllm-template`, and a cluster has it once the Template is processed for InferenceService/chat/a, InferenceService/other/b"
        );
        assert_eq!(notes[0]["severity"], "warning");
        // Wherever it is processed: `oc process` drops the namespaces of the objects.
        for service in ["/services/0", "/services/1"] {
            assert_eq!(ran.at(&format!("{service}/runtime/chosen/name")), json!("vllm"));
        }
    }

    #[test]
    fn a_manifest_of_the_same_runtime_needs_no_template() {
        let manifest = "---
apiVersion: serving.kserve.io/v1alpha1
kind: ServingRuntime
metadata: {name: vllm, namespace: chat}
spec: {supportedModelFormats: [{name: vLLM}], containers: [{name: kserve-container, image: x}]}
";
        let ran = plan(&(TEMPLATE.to_owned() + &service("a", "chat") + manifest));
        assert!(!ran.at("/findings").to_string().contains("template-not-processed"));
    }
}
