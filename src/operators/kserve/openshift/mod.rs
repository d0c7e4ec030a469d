//! OpenShift AI: what its fork of KServe and the controller beside it do differently
//! (opendatahub-io/kserve with the build tag `distro`; opendatahub-io/odh-model-controller).
//!
//! Order of reading: `shipped` (its settings), `connection` and `profile` (what its webhooks fill
//! into a service, in this order), `refusals` (what they refuse), `proxy` (what its pods have
//! besides), `service` (ports), `objects` with `metrics`, `image_volume` and `keda` (what a service
//! has besides its components).

pub(super) mod cluster;
mod connection;
pub(super) mod evidence;
mod image_volume;
mod keda;
mod llm;
pub(super) mod metrics;
pub(super) mod objects;
pub(super) mod profile;
pub(super) mod proxy;
pub(super) mod refusals;
pub(super) mod service;
pub(super) mod shipped;
pub(super) mod storage;
#[cfg(test)]
mod testing;
pub(super) mod written;

use crate::api::{Failure, KServeConfig, Object, Service};
use crate::diag::Diagnostic;
use crate::objects::metadata::text;
use crate::quantity::base64;
use crate::yaml::{Map, Node};
use ecow::EcoString;

/// Annotation that asks for authentication.
pub(super) const AUTH: &str = "security.opendatahub.io/enable-auth";
/// Namespaces of the applications: of Open Data Hub and of Red Hat OpenShift AI.
pub(super) const APPLICATIONS: [&str; 2] = ["opendatahub", "redhat-ods-applications"];
/// Namespace of upstream's controller.
const UPSTREAM: &str = "kserve";

/// Whether a namespace is that of the applications: the one that was read, else either of the two.
pub(super) fn is_of_applications(namespace: &str, config: &KServeConfig) -> bool {
    let system = config.llm.system.as_str();
    // The namespace of upstream is the default of a setting that was not read.
    let is_stated = system != UPSTREAM && !APPLICATIONS.contains(&system);
    if is_stated { namespace == system } else { APPLICATIONS.contains(&namespace) }
}

/// The type of a connection.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Kind {
    S3,
    Address,
    Image,
    /// None of the supported ones.
    Unsupported(EcoString),
}

/// Annotation of a runtime's pods that names the server for the dashboard.
pub(super) const SERVER: &str = "opendatahub.io/kserve-runtime";

/// Fills a service as the webhooks of OpenShift AI do, after KServe's own: first the connection,
/// then the hardware profile (internal/webhook/serving/v1beta1).
///
/// # Errors
/// When one of them refuses the service.
pub(super) fn admit(
    service: &mut Service,
    config: &KServeConfig,
) -> Result<Vec<Diagnostic>, Failure> {
    let mut findings = Vec::new();
    connection::apply(service, config, &mut findings)?;
    profile::apply(service, config, &mut findings)?;
    Ok(findings)
}

/// What a service refers to that was not read, so that it is not known what the webhooks fill in.
pub(super) fn unread(service: &Service, config: &KServeConfig) -> Vec<Diagnostic> {
    connection::unread(service, config)
        .into_iter()
        .chain(profile::unread(service, config))
        .collect()
}

/// Whether the annotations ask for authentication, in letters of any case
/// (pkg/controller/v1beta1/inferenceservice/reconcilers/service/service_reconciler_odh.go,
/// customizeService).
fn wants_auth(annotations: &Map) -> bool {
    text(annotations, AUTH).is_some_and(|text| text.eq_ignore_ascii_case("true"))
}

/// A value of a Secret, as its text.
fn value(secret: &Object, key: &str) -> Option<Node> {
    // The API server writes `stringData` over `data`.
    if let Some(text) = secret.node.at(&["stringData", key]) {
        return Some(text.clone());
    }
    let encoded = secret.node.at(&["data", key])?;
    let text = String::from_utf8(base64::decoded(encoded.as_str()?)?).ok()?;
    Some(Node::str(EcoString::from(text), encoded.origin))
}
