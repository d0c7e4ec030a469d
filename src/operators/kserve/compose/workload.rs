//! What the controller fails on before it writes anything: the CA bundle of the settings, and what
//! the workload of a component is made from.
//!
//! In: a service, its settings, a component's name, labels and annotations. Out: nothing, or the
//! controller's sentence. No pod is looked at.

use super::Facts;
use crate::api::{DeploymentMode, Failure};
use crate::decision::KSERVE_MODE_ANNOTATION;
use crate::diag::{Code, Diagnostic, Severity};
use crate::objects::host::{HostParts, host};
use crate::yaml::{Map, Node};

impl Facts<'_> {
    /// Whether an annotation requests ModelMesh, counted or not.
    pub(super) fn asks_for_modelmesh(&self) -> bool {
        let asked = self.annotations.get(KSERVE_MODE_ANNOTATION).and_then(Node::as_str);
        asked == Some("ModelMesh")
    }

    /// What the copy of the CA bundle holds, when the settings name a bundle that was read.
    ///
    /// # Errors
    /// When the bundle was read and has no certificates.
    pub(crate) fn bundle(&self) -> Result<Option<&Node>, Failure> {
        const FILE: &str = "cabundle.crt";
        let name = &self.config.ca_bundle;
        let Some(data) = self.config.ca_data.as_ref().filter(|_| !name.is_empty()) else {
            return Ok(None);
        };
        let filled = |file: &&Node| file.as_str().is_some_and(|text| !text.is_empty());
        data.get(FILE).filter(filled).map(Some).ok_or_else(|| {
            self.invalid(format!(
                "fails to get cabundle configmap for creating to user namespace: specified cabundle file {FILE} not found in cabundle configmap {name}"
            ))
        })
    }

    /// Says that the CA bundle of the settings was not read. The controller copies it before it
    /// makes anything, and fails where there is none (cabundle_configmap_reconciler.go,
    /// getCabundleConfigMapForUserNS).
    pub(super) fn bundle_missing(&self) -> Option<Diagnostic> {
        let name = &self.config.ca_bundle;
        if name.is_empty() || self.config.ca_data.is_some() {
            return None;
        }
        let message = format!(
            "the ConfigMap {name} of namespace kserve was not read: its copy global-ca-bundle is not rendered, and the controller fails if the cluster has no such ConfigMap"
        );
        let service = &self.service.object;
        Some(
            Diagnostic::new(Code::CredentialsUnresolved, message)
                .severity(Severity::Info)
                .at(Some(service.name_span()))
                .object(service.id.to_string())
                .help("load it with `-f`"),
        )
    }

    /// Whether the controller can make a workload of a component in Standard mode: its annotations
    /// name what scales it and once more the mode, and its status names a host.
    pub(super) fn workload(
        &self,
        name: &str,
        labels: &Map,
        annotations: &Map,
    ) -> Result<(), Failure> {
        if self.mode != DeploymentMode::RawDeployment {
            return Ok(());
        }
        let ingress = &self.config.ingress;
        let parts = HostParts {
            template: &ingress.domain_template,
            domain: &ingress.ingress_domain,
            namespace: &self.service.namespace,
            labels,
            annotations,
        };
        if let Err(message) = host(name, parts) {
            return Err(Failure {
                help: Some("correct `domainTemplate` or `ingressDomain`".into()),
                span: ingress.span.or_else(|| Some(self.service.object.name_span())),
                ..self.invalid(format!("failed creating host name: {message}"))
            });
        }
        let fault = |node: &Node, message: String, help: &str| {
            Err(Failure {
                help: Some(help.into()),
                span: node.origin.span().or_else(|| Some(self.service.object.name_span())),
                ..self.invalid(message)
            })
        };
        let text = |node: &Node| node.scalar_text().unwrap_or_default();
        // The webhook looks at the class of the service only.
        if let Some(class) = annotations
            .get("serving.kserve.io/autoscalerClass")
            .filter(|class| !matches!(class.as_str(), Some("hpa" | "keda" | "external" | "none")))
        {
            return fault(
                class,
                format!("unknown autoscaler class type: {}", text(class)),
                "write `hpa`, `keda`, `external` or `none`",
            );
        }
        // A mode that comes from the status was found by an earlier pass, whose objects stay.
        let settled = self.basis == "status";
        if let Some(mode) = annotations.get(KSERVE_MODE_ANNOTATION).filter(|mode| {
            !settled && !matches!(mode.as_str(), Some("" | "Standard" | "RawDeployment"))
        }) {
            return fault(
                mode,
                format!("unsupported deployment mode for workload: {}", text(mode)),
                "write `Standard`, or leave the annotation out",
            );
        }
        Ok(())
    }
}
