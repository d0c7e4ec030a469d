//! Where the objects of a Kustomize build come from (kustomize docs, `buildMetadata`,
//! originAnnotations).
//!
//! In: the objects that a build printed, with the annotation `config.kubernetes.io/origin`. Out:
//! the same objects: values that an object has in common with the file that it was read from point
//! into that file, values that the build made or changed point into the build's output.
//!
//! Objects of a remote base (`repo`) and generated ones (`configuredIn`) have no such file on disk.

use super::files;
use super::kustomize::Tree;
use super::scope::is_below;
use super::verbatim::{Item, parts};
use crate::source::{Source, SourceId, SourceKind, SourceMap, Span};
use crate::yaml::{Limits, Node, Value, parse, split};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

const ORIGIN: &str = "config.kubernetes.io/origin";

/// An object that was read: its text, its place there, and its identity.
pub(super) type Read<'a> = (&'a mut SourceId, &'a mut Span, &'a mut Node);

/// Sets the origins of built objects to their files; `trees` are the built ones.
pub(super) fn restore<'a>(
    sources: &mut SourceMap,
    objects: impl Iterator<Item = Read<'a>>,
    trees: &[Tree],
    limits: &Limits,
) {
    let mut files: BTreeMap<String, Option<(SourceId, Vec<Item>)>> = BTreeMap::new();
    let mut built: BTreeMap<SourceId, &Tree> = BTreeMap::new();
    for tree in trees {
        let name = tree.name();
        let sources = sources.iter().find(|(_, source)| *source.name == *name);
        built.extend(sources.map(|(id, _)| (id, tree)));
    }
    for (source, span, node) in objects {
        let file = built.get(source).and_then(|tree| Some(tree.file(&origin(node)?)));
        let Some((path, name)) = file else { continue };
        // A file has many objects, and its parse is needed once; failures are kept as well.
        if !files.contains_key(&name) {
            let roots = built.get(source).map(|tree| tree.roots()).unwrap_or_default();
            let read = read(sources, &path, &name, limits, &roots);
            files.insert(name.clone(), read);
        }
        let Some(Some((file, items))) = files.get(&name) else { continue };
        let Some(original) = original(node, items) else { continue };
        point(node, &original.node);
        if let Some(place) = original.span() {
            (*source, *span) = (*file, place);
        }
    }
}

/// The path that the annotation of an object names, from the root of the tree.
fn origin(object: &Node) -> Option<PathBuf> {
    let text = object.at(&["metadata", "annotations", ORIGIN])?.as_str()?;
    let part = split(SourceId(0), text).value.into_iter().next()?;
    let origin = parse(SourceId(0), text, part, &Limits::default()).value?;
    let is_local = origin.get("repo").is_none() && origin.get("configuredIn").is_none();
    // A generated object names the kustomization, which has none of its values.
    is_local.then(|| origin.get("path")?.as_str().map(PathBuf::from)).flatten()
}

/// The objects of a file; none when it cannot be read any more, so that places in the output stay.
fn read(
    sources: &mut SourceMap,
    path: &Path,
    name: &str,
    limits: &Limits,
    roots: &[PathBuf],
) -> Option<(SourceId, Vec<Item>)> {
    let existing = sources.iter().find(|(_, source)| *source.name == *name);
    let id = if let Some((id, _)) = existing {
        id
    } else {
        // The annotation is text of the input, and may name any file.
        if !is_below(path, roots) {
            return None;
        }
        let text = files::read(path, limits).ok()?;
        sources.add(Source::new(name, SourceKind::File, text))
    };
    let documents = parts(id, &sources.get(id).text, limits);
    Some((id, documents.into_iter().flat_map(|document| document.items).collect()))
}

/// The original of a built object: the object of its kind and name, else the only one of its kind
/// whose name is the built name without a prefix or suffix.
fn original<'i>(built: &Node, items: &'i [Item]) -> Option<&'i Item> {
    let text = |node: &Node, keys: &[&str]| node.at(keys).and_then(Node::scalar_text);
    let name = |node: &Node| text(node, &["metadata", "name"]);
    let value = name(built)?;
    let alike = || {
        let kind = text(built, &["kind"]);
        items.iter().filter(move |item| item.kind == kind)
    };
    // Prefixes and suffixes are common, so the same name is tried first and is surer.
    let same = alike().find(|item| name(&item.node).as_ref() == Some(&value));
    same.or_else(|| {
        let mut renamed =
            alike().filter(|item| name(&item.node).is_some_and(|name| value.contains(&*name)));
        // Two candidates: a wrong line is worse than one in the output of the build.
        renamed.next().filter(|_| renamed.next().is_none())
    })
}

/// Sets the origin of values that are equal in both to that of the original.
fn point(built: &mut Node, original: &Node) {
    match (&mut built.value, &original.value) {
        (Value::Map(by_key), Value::Map(other)) => {
            built.origin = original.origin;
            for entry in by_key.iter_mut() {
                if let Some(same) = other.entry(&entry.key) {
                    entry.key_origin = same.key_origin;
                    point(&mut entry.node, &same.node);
                }
            }
        }
        (Value::List(list), Value::List(other)) => {
            built.origin = original.origin;
            let name = |node: &Node| node.get("name").and_then(Node::scalar_text);
            // Without names, items are paired by position, which an inserted item would shift.
            let named = list.iter().all(|item| name(item).is_some());
            let aligned = list.len() == other.len();
            for (at, item) in list.make_mut().iter_mut().enumerate() {
                let same = if named {
                    other.iter().find(|other| name(other) == name(item))
                } else {
                    other.get(at).filter(|_| aligned)
                };
                if let Some(same) = same {
                    point(item, same);
                }
            }
        }
        // A value that the build changed keeps its place in the output.
        (value, other) if value == other => built.origin = original.origin,
        _ => {}
    }
}
