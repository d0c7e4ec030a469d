//! A service of OpenShift AI for tests of this folder, straight from a text.

use super::admit;
use crate::api::{Failure, Semantics};
use crate::diag::Diagnostic;
use crate::operators::kserve::compose::testing::objects;
use crate::operators::kserve::openshift::shipped;
use crate::operators::kserve::read;
use crate::operators::kserve::releases::OPEN_SHIFT_AI;
use serde_json::{Value, json};

/// A service after the webhooks: labels, annotations and predictor, and the findings. `beside` are
/// objects that the webhooks read.
pub(super) fn admitted(
    annotations: &str,
    predictor: &str,
    more_fields: &str,
) -> Result<(Value, Vec<Diagnostic>), Failure> {
    let text = format!(
        "apiVersion: serving.kserve.io/v1beta1\nkind: InferenceService\nmetadata: {{name: s, namespace: team, annotations: {{{annotations}}}}}\nspec: {{predictor: {{{predictor}}}}}\n---\n{more_fields}"
    );
    let mut objects = objects(&text).into_iter();
    let policy = &OPEN_SHIFT_AI;
    assert_eq!(policy.semantics, Semantics::Controller);
    let mut service = read::service(objects.next().expect("the service"), policy, &mut Vec::new());
    let mut config = shipped::config();
    let (profiles, others): (Vec<_>, _) = objects.partition(read::is_profile);
    (config.openshift.profiles, config.accounts) = (read::profiles_by_name(profiles), others);
    let findings = admit(&mut service, &config)?;
    let metadata = |key: &str| service.object.metadata(key).map(crate::yaml::Node::to_json);
    let found = json!({
        "labels": metadata("labels"),
        "annotations": metadata("annotations"),
        "predictor": service.components[0].node.to_json(),
    });
    Ok((found, findings))
}

/// The message of a refusal.
pub(super) fn text(failure: &Failure) -> &str {
    &failure.message
}
