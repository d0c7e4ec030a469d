//! InferenceServices of versions that no release serves any more, in the one that is served.
//!
//! In: an object of `serving.kubeflow.org`, or of v1alpha2. Out: the same as
//! `serving.kserve.io/v1beta1`, and what that version cannot express. Source: KServe docs, Migration
//! from KFServing; kserve v0.5, pkg/apis/serving/v1alpha2/inferenceservice_conversion.go.

use super::not_served;
use crate::diag::{Code, Diagnostic};
use crate::yaml::{Entry, Map, Node, Origin, Rule, Value};
use ecow::{EcoString, eco_format};

static SERVED: Rule = Rule {
    id: "served-version",
    text: "an InferenceService of an older version, written in the one that is served",
    cite: "KServe docs, Migration from KFServing",
};

const OLD: &str = "serving.kubeflow.org/";
const NEW: &str = "serving.kserve.io/";

/// Keys of v1alpha2 that are called otherwise.
const RENAMED: [(&str, &str); 2] =
    [("parallelism", "containerConcurrency"), ("tensorrt", "triton")];

/// The object in the version that is served; `None` if it is of no older one.
pub fn served(object: &Node) -> Option<(Node, Vec<Diagnostic>)> {
    let text = |key: &str| object.get(key).and_then(Node::as_str);
    not_served(text("apiVersion")?, text("kind")?)?;
    let mut losses = Vec::new();
    let mut out = Map::new();
    for entry in object.entries() {
        let node = match entry.key.as_str() {
            "apiVersion" => Node::str("serving.kserve.io/v1beta1", Origin::Derived(&SERVED)),
            "metadata" => metadata(&entry.node),
            "spec" => spec(&entry.node, &mut losses),
            _ => entry.node.clone(),
        };
        out.insert_entry(Entry { node, ..entry.clone() });
    }
    Some((Node::new(Value::Map(out), object.origin), losses))
}

/// Labels and annotations with the group in their names.
fn metadata(node: &Node) -> Node {
    let mut out = node.clone();
    for key in ["annotations", "labels"] {
        let Some(old) = node.get(key).and_then(Node::as_map) else { continue };
        let renamed = old.iter().map(|entry| {
            let name = entry.key.strip_prefix(OLD);
            let key = name.map_or_else(|| entry.key.clone(), |name| eco_format!("{NEW}{name}"));
            Entry { key, ..entry.clone() }
        });
        let origin = node.get(key).map_or(node.origin, |node| node.origin);
        let renamed = Node::new(Value::Map(renamed.collect()), origin);
        if let Some(map) = out.as_map_mut() {
            map.insert(key, renamed);
        }
    }
    out
}

/// The components of `default` one level up.
fn spec(node: &Node, losses: &mut Vec<Diagnostic>) -> Node {
    let mut out = Map::new();
    for entry in node.entries() {
        match entry.key.as_str() {
            "default" => {
                for entry in entry.node.entries() {
                    let node = component(&entry.node, losses);
                    out.insert_entry(Entry { node, ..entry.clone() });
                }
            }
            "canary" => losses.push(loss(
                entry,
                "spec.canary",
                "v1beta1 has one spec: apply the converted object, then the canary's fields with `spec.predictor.canaryTrafficPercent`",
            )),
            // It is lost together with the canary, which is reported.
            "canaryTrafficPercent" => {}
            _ => {
                let node = component(&entry.node, losses);
                out.insert_entry(Entry { node, ..entry.clone() });
            }
        }
    }
    Node::new(Value::Map(out), node.origin)
}

fn component(node: &Node, losses: &mut Vec<Diagnostic>) -> Node {
    let mut out = Map::new();
    for entry in node.entries() {
        let container = entry.node.get("container").filter(|_| entry.key == "custom");
        let (key, node): (EcoString, Node) = if let Some(container) = container {
            (
                "containers".into(),
                Node::new(Value::List([main(container)].into_iter().collect()), container.origin),
            )
        } else if entry.key == "containers" {
            let items = entry.node.items().iter().map(main);
            (entry.key.clone(), Node::new(Value::List(items.collect()), entry.node.origin))
        } else {
            let name = RENAMED.iter().find(|(old, _)| *old == entry.key);
            let key = name.map_or_else(|| entry.key.clone(), |(_, new)| (*new).into());
            (key, model(&entry.node, losses))
        };
        out.insert_entry(Entry { key, key_origin: entry.key_origin, node });
    }
    // A scalar in the place of a component is left for the schema to report.
    if node.as_map().is_none() { node.clone() } else { Node::new(Value::Map(out), node.origin) }
}

/// The container of the model has another name (pkg/constants/constants.go,
/// InferenceServiceContainerName).
fn main(container: &Node) -> Node {
    let mut out = container.clone();
    let old =
        out.get("name").and_then(Node::as_str).is_none_or(|name| name == "kfserving-container");
    if let Some(map) = out.as_map_mut().filter(|_| old) {
        map.insert("name", Node::str(crate::api::SERVING_CONTAINER, Origin::Derived(&SERVED)));
    }
    out
}

/// The model of a framework without what its server takes from the model's files now.
fn model(node: &Node, losses: &mut Vec<Diagnostic>) -> Node {
    let Some(map) = node.as_map().filter(|map| map.get("modelClassName").is_some()) else {
        return node.clone();
    };
    let (gone, kept): (Vec<&Entry>, Vec<&Entry>) =
        map.iter().partition(|entry| entry.key == "modelClassName");
    losses.extend(gone.into_iter().map(|entry| {
        loss(entry, "modelClassName", "TorchServe takes the class from the model archive")
    }));
    Node::new(Value::Map(kept.into_iter().cloned().collect()), node.origin)
}

fn loss(entry: &Entry, path: &str, why: &str) -> Diagnostic {
    Diagnostic::new(Code::ConversionLoss, format!("`{}` is lost: {why}", entry.key))
        .at(entry.key_origin.span())
        .path(path.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::SourceId;
    use crate::yaml::{Limits, parse};
    use serde_json::json;

    fn converted(text: &str) -> Option<(serde_json::Value, Vec<String>)> {
        let tree = parse(SourceId(0), text, 0..text.len(), &Limits::default()).value.unwrap();
        let (node, losses) = served(&tree)?;
        Some((node.to_json(), losses.into_iter().map(|loss| loss.message).collect()))
    }

    #[test]
    fn the_group_changes_and_the_schema_stays() {
        let (found, losses) = converted(
            "{apiVersion: serving.kubeflow.org/v1beta1, kind: InferenceService, metadata: {name: m, annotations: {serving.kubeflow.org/s3-endpoint: e, x: z}}, spec: {predictor: {containers: [{name: kfserving-container, image: a}]}}}",
        )
        .unwrap();
        let expected = json!({"apiVersion": "serving.kserve.io/v1beta1", "kind": "InferenceService",
            "metadata": {"name": "m", "annotations": {"serving.kserve.io/s3-endpoint": "e", "x": "z"}},
            "spec": {"predictor": {"containers": [{"name": "kserve-container", "image": "a"}]}}});
        assert_eq!(found, expected);
        assert!(losses.is_empty());
    }

    #[test]
    fn components_of_default_move_up_and_a_canary_is_a_loss() {
        let (found, losses) = converted(
            "{apiVersion: serving.kserve.io/v1alpha2, kind: InferenceService, metadata: {name: m}, spec: {default: {predictor: {parallelism: 2, pytorch: {storageUri: u, modelClassName: N}}, transformer: {custom: {container: {image: t}}}}, canary: {predictor: {}}, canaryTrafficPercent: 10}}",
        )
        .unwrap();
        assert_eq!(
            found["spec"],
            json!({"predictor": {"containerConcurrency": 2, "pytorch": {"storageUri": "u"}},
                "transformer": {"containers": [{"image": "t", "name": "kserve-container"}]}})
        );
        assert_eq!(losses.len(), 2, "{losses:?}");
    }

    #[test]
    fn what_is_served_is_left_alone() {
        assert!(
            converted("{apiVersion: serving.kserve.io/v1beta1, kind: InferenceService}").is_none()
        );
        assert!(converted("{apiVersion: serving.kubeflow.org/v1beta1, kind: Widget}").is_none());
    }
}
