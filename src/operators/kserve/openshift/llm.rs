//! Hardware profiles and connections of LLMInferenceServices (opendatahub-io/odh-model-controller,
//! internal/webhook/serving/hardwareprofile and internal/webhook/serving/v1alpha1).
//!
//! Both are written into the container `main` of the service's own template. Prefill and workers get
//! nothing.

use super::{Kind, value};
use crate::api::{Object, Service};
use crate::merge::edit::{list_mut, map_mut, position, text};
use crate::objects::build::node;
use crate::pods::rules::{OPENSHIFT_CONNECTION, OPENSHIFT_PROFILE};
use crate::yaml::{Node, Origin};
use ecow::{EcoString, eco_format};

/// Name of the container that serves.
const MAIN: &str = "main";
/// Annotation with the path in an S3 bucket.
const PATH: &str = "opendatahub.io/connection-path";
const BY: Origin = Origin::Derived(&OPENSHIFT_CONNECTION);

/// The template and its container `main`, for the values of a profile; `None` when the template has
/// other containers only, so that nothing at all is written. `counts` tells whether the profile has
/// any, for which the container is made.
pub(super) fn template(service: &mut Service, counts: bool) -> Option<&mut Node> {
    let origin = Origin::Derived(&OPENSHIFT_PROFILE);
    let spec = service.object.node.as_map_mut()?.get_mut("spec")?;
    map_mut(spec, "template", origin)?;
    let template = spec.as_map_mut()?.get_mut("template")?;
    let listed = template.get("containers").map(Node::items).unwrap_or_default();
    if !listed.is_empty() && position(listed, "name", MAIN).is_none() {
        return None;
    }
    // The merge with the shipped configuration finds it by its name.
    if listed.is_empty() && counts {
        let node = node!(&OPENSHIFT_PROFILE; { name: MAIN })?;
        list_mut(template, "containers", origin)?.push(node);
    }
    Some(template)
}

/// The container `main` of a template.
pub(super) fn main(template: &mut Node) -> Option<&mut Node> {
    let containers = template.as_map_mut()?.get_mut("containers")?.as_list_mut()?;
    let index = position(containers, "name", MAIN)?;
    containers.make_mut().get_mut(index)
}

/// Fills a service from its connection.
///
/// # Errors
/// When the type is unknown, or the connection has no address.
pub(super) fn connect(service: &mut Service, secret: &Object, kind: Kind) -> Result<(), String> {
    let path = service.object.annotation(PATH).and_then(Node::scalar_text);
    let name = secret.id.name.clone();
    let Some(spec) = service.object.node.as_map_mut().and_then(|node| node.get_mut("spec")) else {
        return Ok(());
    };
    match kind {
        Kind::S3 => {
            let failed = |lacks: &str| Err(format!("failed to build S3 URI: {lacks}"));
            let Some(path) = path.filter(|path| !path.is_empty()) else {
                return failed("connection info does not have a path");
            };
            let bucket = value(secret, "AWS_S3_BUCKET").and_then(|bucket| bucket.scalar_text());
            let Some(bucket) = bucket.filter(|bucket| !bucket.is_empty()) else {
                return failed(&format!("the connection \"{name}\" has no AWS_S3_BUCKET"));
            };
            // One slash is between bucket and path already.
            let path = path.strip_prefix('/').unwrap_or(&path);
            address(spec, Node::str(eco_format!("s3://{bucket}/{path}"), BY));
            account(spec, &name);
        }
        Kind::Address => {
            let uri = value(secret, "https-host").or_else(|| value(secret, "URI"));
            address(spec, uri.ok_or_else(|| format!("connection \"{name}\" has no URI"))?);
        }
        Kind::Image => pull(spec, &name),
        Kind::Unsupported(text) => {
            return Err(format!(
                "connection \"{name}\" has unsupported connection type \"{text}\"; supported types are s3, uri, oci"
            ));
        }
    }
    Ok(())
}

fn address(spec: &mut Node, uri: Node) {
    if let Some(model) = map_mut(spec, "model", BY) {
        model.insert("uri", uri);
    }
}

fn account(spec: &mut Node, secret: &EcoString) {
    let Some(template) = map_mut(spec, "template", BY) else { return };
    let service_account_name =
        template.get("serviceAccountName").and_then(Node::as_str).unwrap_or_default();
    if service_account_name.is_empty() {
        template.insert("serviceAccountName", Node::str(eco_format!("{secret}-sa"), BY));
    }
}

fn pull(spec: &mut Node, name: &EcoString) {
    if map_mut(spec, "template", BY).is_none() {
        return;
    }
    let Some(template) = spec.as_map_mut().and_then(|spec| spec.get_mut("template")) else {
        return;
    };
    let Some(secrets) = list_mut(template, "imagePullSecrets", BY) else { return };
    if !secrets.iter().any(|secret| text(secret, "name") == name) {
        let secret = node!(&OPENSHIFT_CONNECTION; { name: name });
        secrets.extend(secret);
    }
}
