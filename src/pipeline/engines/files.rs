//! Files of a container that come from ConfigMaps of the input.
//!
//! In: the mounts of a container, the volumes of its pod, ConfigMaps. Out: the tree of the file at a
//! path, with its places in the file of the ConfigMap; nothing where a part is not known.

use super::Engines;
use crate::catalog::Catalog;
use crate::yaml::{InnerText, Limits, Node, parse};
use ecow::EcoString;
use std::sync::{Arc, PoisonError};

/// A file of a ConfigMap.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct File {
    namespace: EcoString,
    config_map: EcoString,
    key: EcoString,
}

impl Engines<'_> {
    /// The tree of the file that a container reads at a path.
    pub(super) fn file(
        &self,
        namespace: &str,
        pod: &Node,
        container: &Node,
        path: &str,
    ) -> Option<Arc<Node>> {
        let (config_map, key) = source_of(pod, container, path)?;
        let file = File { namespace: namespace.into(), config_map, key };
        let lock = || self.files.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(node) = lock().get(&file) {
            return node.clone();
        }
        // Not under the lock: parsing is slow, and another thread may compute the same once more.
        let found = read(self.catalog, &file).map(Arc::new);
        lock().insert(file, found.clone());
        found
    }
}

/// The ConfigMap of a volume that a container mounts, and the path of a file below the mount.
pub(super) fn config_map_at<'p>(pod: &'p Node, container: &'p Node, path: &str) -> Option<&'p str> {
    let (volume, _) = mounted(pod, container, path)?;
    volume.at(&["configMap", "name"])?.as_str()
}

/// The volume at a path, and the rest of the path below it.
fn mounted<'p>(pod: &'p Node, container: &'p Node, path: &str) -> Option<(&'p Node, String)> {
    let mounts = container.get("volumeMounts").map(Node::items).unwrap_or_default();
    let text = |node: &'p Node, key: &str| node.get(key).and_then(Node::as_str);
    let below = |mount: &'p Node| {
        let at = text(mount, "mountPath")?.trim_end_matches('/');
        let rest = path.strip_prefix(at)?;
        (rest.is_empty() || rest.starts_with('/')).then(|| (at.len(), rest.trim_start_matches('/')))
    };
    // The innermost mount hides the others.
    let (mount, (_, rest)) = mounts
        .iter()
        .filter_map(|mount| Some((mount, below(mount)?)))
        .max_by_key(|(_, (length, _))| *length)?;
    if mount.get("subPathExpr").is_some() {
        return None;
    }
    let inner = match (text(mount, "subPath").unwrap_or_default().trim_matches('/'), rest) {
        ("", rest) => rest.to_owned(),
        (sub, "") => sub.to_owned(),
        (sub, rest) => format!("{sub}/{rest}"),
    };
    let volumes = pod.get("volumes").map(Node::items).unwrap_or_default();
    let name = text(mount, "name")?;
    let volume = volumes.iter().find(|volume| text(volume, "name") == Some(name))?;
    (!inner.is_empty()).then_some((volume, inner))
}

/// The ConfigMap and the key that a path of a container shows.
fn source_of(pod: &Node, container: &Node, path: &str) -> Option<(EcoString, EcoString)> {
    let (volume, inner) = mounted(pod, container, path)?;
    if let Some(config_map) = volume.get("configMap") {
        return Some((config_map.get("name")?.as_str()?.into(), key_of(config_map, &inner)?));
    }
    let sources = volume.at(&["projected", "sources"]).map(Node::items)?;
    // A Secret may have the same path, and what it holds is not read.
    if sources.iter().any(|source| source.get("secret").is_some()) {
        return None;
    }
    only(sources.iter().filter_map(|source| source.get("configMap")), &inner)
}

/// The one ConfigMap of several that may have a path.
fn only<'p>(
    config_maps: impl Iterator<Item = &'p Node>,
    path: &str,
) -> Option<(EcoString, EcoString)> {
    let mut found = config_maps.filter_map(|config_map| {
        Some((config_map.get("name")?.as_str()?.into(), key_of(config_map, path)?))
    });
    let first = found.next()?;
    // With two the order of the sources decides, and a later one hides the other: not judged.
    found.next().is_none().then_some(first)
}

/// The key of a ConfigMap that a volume shows at a path.
fn key_of(config_map: &Node, path: &str) -> Option<EcoString> {
    let Some(items) = config_map.get("items").map(Node::items) else {
        return (!path.contains('/')).then(|| path.into());
    };
    let text = |item: &Node, key: &str| item.get(key).and_then(Node::as_str).map(EcoString::from);
    let item = items.iter().find(|item| text(item, "path").is_some_and(|name| name == path))?;
    text(item, "key")
}

fn read(catalog: &Catalog, file: &File) -> Option<Node> {
    let object = catalog.other("ConfigMap", &file.namespace, &file.config_map)?;
    let value = object.node.get("data")?.get(&file.key)?;
    let inner = value.as_str()?;
    let source = object.span.source;
    let tree = parse(source, inner, 0..inner.len(), &Limits::default()).value?;
    let outer = catalog.text_of_config_maps(source).zip(value.origin.span());
    // With the text of the file, places of the inner tree point into the ConfigMap.
    Some(match outer {
        Some((text, span)) => InnerText::new(text, span, inner).node(tree),
        None => Node::from_json(&tree.to_json(), value.origin),
    })
}
