//! Errors of the controller before it writes any object: the CA bundle of the settings, and
//! annotations and host of a component in Standard mode.
//!
//! In: a service, its settings, a component's name, labels and annotations. Out: nothing, or the
//! controller's error. This module reads no pods.

use super::Facts;
use crate::api::{DeploymentMode, Failure};
use crate::diag::{Code, Diagnostic, Severity};
use crate::objects::host::{HostParts, host};
use crate::operators::kserve::mode::ANNOTATION;
use crate::operators::kserve::openshift::proxy;
use crate::operators::kserve::rules::Rules as _;
use crate::yaml::{Map, Node};

impl Facts<'_> {
    /// Whether the annotation requests ModelMesh, even if another source decides the mode.
    pub(super) fn asks_for_modelmesh(&self) -> bool {
        let mode = self.annotations.get(ANNOTATION).and_then(Node::as_str);
        mode == Some("ModelMesh")
    }

    /// The certificates for the copy of the CA bundle, if the settings name a bundle and it was
    /// read.
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

    /// The finding about a CA bundle of the settings that was not read. The controller copies the
    /// bundle before it creates anything, and fails if it does not exist
    /// (cabundle_configmap_reconciler.go, getCabundleConfigMapForUserNS).
    pub(super) fn bundle_missing(&self) -> Option<Diagnostic> {
        let name = &self.config.ca_bundle;
        if name.is_empty() || self.config.ca_data.is_some() {
            return None;
        }
        let system = &self.config.llm.system;
        let message = format!(
            "the ConfigMap {name} of namespace {system} was not read: its copy global-ca-bundle is not rendered, and the controller fails if the cluster has no such ConfigMap"
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

    /// Checks what the controller checks before it creates the workload of a component in Standard
    /// mode: the host for its status, and the annotations for autoscaler class and mode.
    pub(super) fn workload(
        &self,
        name: &str,
        labels: &Map,
        annotations: &Map,
    ) -> Result<(), Failure> {
        if self.mode != DeploymentMode::RawDeployment {
            return Ok(());
        }
        let missing = proxy::missing(self.config.proxy.as_ref(), self.predictor);
        if let Some((message, help)) = missing.filter(|_| self.policy.kserve().open_shift) {
            return Err(Failure {
                help: Some(help.into()),
                ..self.invalid(format!("failed to create deployment reconciler: {message}"))
            });
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
        // The webhook checks only the class on the service, so a component can have an invalid one.
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
        // A mode from the status was set by an earlier reconcile, and the controller does not check
        // it again.
        let settled = self.basis == "status";
        if let Some(mode) = annotations.get(ANNOTATION).filter(|mode| {
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
