//! Where a component says that its model is stored.

use crate::api::{ComponentKind, SERVING_CONTAINER};
use crate::yaml::{Node, Origin};
use ecow::EcoString;

/// Returns the storage address of a component with its origin: the `storageUri` of its
/// model or ART explainer, else the variable `STORAGE_URI` of the serving container. A variable
/// without `value` (for example with `valueFrom`) counts as empty.
pub(crate) fn storage_uri(kind: ComponentKind, component: &Node) -> Option<(EcoString, Origin)> {
    let value_of = |node: &Node| (node.scalar_text().unwrap_or_default(), node.origin);
    let text = |node: &Node, key: &str| {
        node.get(key).and_then(Node::as_str).unwrap_or_default().to_owned()
    };
    if let Some(model) = component
        .get("model")
        .filter(|model| kind == ComponentKind::Predictor && model.as_map().is_some())
    {
        // A model without an address ends the search: variables of containers are for custom
        // servers.
        return model.get("storageUri").filter(|uri| !uri.is_null()).map(value_of);
    }
    if let Some(art) = component
        .get("art")
        .filter(|art| kind == ComponentKind::Explainer && art.as_map().is_some())
    {
        // An empty address of the explainer counts as none, unlike that of a model.
        return art.get("storageUri").map(value_of).filter(|(uri, _)| !uri.is_empty());
    }
    let containers = component.get("containers").map(Node::items).unwrap_or_default();
    let first = containers.first()?;
    // The controller names a predictor's only container, or a first container without a name,
    // `kserve-container`.
    let serves = match kind {
        ComponentKind::Predictor if containers.len() > 1 && !text(first, "name").is_empty() => {
            containers.iter().find(|container| text(container, "name") == SERVING_CONTAINER)?
        }
        _ => first,
    };
    let variable = serves
        .get("env")
        .map(Node::items)
        .unwrap_or_default()
        .iter()
        .find(|variable| text(variable, "name") == "STORAGE_URI")?;
    // Go's zero value: `valueFrom` is not resolved.
    Some(variable.get("value").map_or((EcoString::new(), variable.origin), value_of))
}
