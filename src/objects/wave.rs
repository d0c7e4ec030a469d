//! Sync waves of Argo CD.

use super::{RenderedObject, rules};
use crate::yaml::{Entry, Node, Origin, Value};
use ecow::eco_format;

/// Annotation that Argo CD reads.
const SYNC_WAVE: &str = "argocd.argoproj.io/sync-wave";

impl RenderedObject {
    /// Writes a wave into the object's annotations; replaces one that is there.
    pub fn annotate_wave(&mut self, wave: usize) {
        let origin = Origin::Flag(&rules::WAVE);
        let Some(metadata) = self
            .node
            .as_map_mut()
            .and_then(|object| object.get_mut("metadata"))
            .and_then(Node::as_map_mut)
        else {
            return;
        };
        // A null or a text in this place would swallow the wave.
        if metadata.get("annotations").and_then(Node::as_map).is_none() {
            metadata.insert("annotations", Node::map(origin));
        }
        if let Some(Value::Map(annotations)) =
            metadata.get_mut("annotations").map(|node| &mut node.value)
        {
            annotations.insert_entry(Entry {
                key: SYNC_WAVE.into(),
                key_origin: origin,
                node: Node::str(eco_format!("{wave}"), origin),
            });
            // Annotations are printed by sorted key, and the wave was added at the end.
            annotations.sort();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::objects::testing::parse;

    #[test]
    fn the_sync_wave_annotation_is_added_in_key_order() {
        for (metadata, expected) in [
            (
                r#"{"name":"a"}"#,
                r#"{"name":"a","annotations":{"argocd.argoproj.io/sync-wave":"1"}}"#,
            ),
            (
                r#"{"name":"a","annotations":{"z":"1","argocd.argoproj.io/sync-wave":"9"}}"#,
                r#"{"name":"a","annotations":{"argocd.argoproj.io/sync-wave":"1","z":"1"}}"#,
            ),
        ] {
            let mut object = RenderedObject {
                node: parse(&format!(r#"{{"metadata":{metadata}}}"#)),
                component: None,
                wave: 1,
                has_gaps: false,
            };
            object.annotate_wave(1);
            assert_eq!(
                object.node.get("metadata").map(|found| found.to_json().to_string()).as_deref(),
                Some(expected)
            );
        }
    }
}
