//! A ModelServing of a live cluster and the ModelBooster that it was written for.
//!
//! The controller leaves its ModelServing as it is while the label of the revision, a hash of
//! `spec.backend`, is the same; otherwise it writes it again (pkg/model-booster-controller,
//! createOrUpdateModelServing). So there is one ModelServing of both.

use super::cache::ReadDocument;
use super::dispatch::Read;
use crate::api::{ModelServing, ObjectRef};
use crate::catalog::Item;
use crate::yaml::Node;
use std::collections::HashMap;

const REVISION: &str = "workload.serving.volcano.sh/revision";

/// Leaves one of two ModelServings of a name when one is written for a ModelBooster that owns the
/// other.
pub(super) fn unite(documents: &mut [ReadDocument]) {
    // Only written boosters: the ModelServing of a dump has owners and no booster of its own.
    let mut written: HashMap<ObjectRef, usize> = HashMap::new();
    for (at, document) in documents.iter().enumerate() {
        if let Some(serving) = serving(document).filter(|serving| serving.booster.is_some()) {
            written.insert(serving.object.id.clone(), at);
        }
    }
    if written.is_empty() {
        return;
    }
    for at in 0..documents.len() {
        let Some(live) = serving(&documents[at]).filter(|live| live.booster.is_none()) else {
            continue;
        };
        let Some(&other) = written.get(&live.object.id) else { continue };
        let Some(serving) = serving(&documents[other]) else { continue };
        // The owner must be this booster; another object may just have the name.
        let Some(booster) = serving.booster.clone().filter(|booster| {
            let owners = live.object.metadata("ownerReferences").map_or(&[][..], Node::items);
            owners.iter().any(|owner| {
                let text = |key: &str| owner.get(key).and_then(Node::as_str);
                text("kind") == Some("ModelBooster")
                    && text("name") == Some(booster.object.id.name.as_str())
            })
        }) else {
            continue;
        };
        // The controller would not touch the live one, so that it is kept, with its booster.
        if revision(live) == revision(serving) && !booster.objects.is_empty() {
            documents[other].typed = None;
            if let Some(Read::Item(Item::ModelServing(live))) = &mut documents[at].typed {
                live.booster = Some(booster);
            }
        } else {
            documents[at].typed = None;
        }
    }
}

fn serving(document: &ReadDocument) -> Option<&ModelServing> {
    match &document.typed {
        Some(Read::Item(Item::ModelServing(serving))) => Some(serving),
        _ => None,
    }
}

fn revision(serving: &ModelServing) -> Option<&str> {
    serving.object.node.at(&["metadata", "labels", REVISION]).and_then(Node::as_str)
}
