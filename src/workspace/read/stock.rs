//! Runtimes that KServe's newest release adds to those of its documents.
//!
//! One of them is read only where a service requests a format that it lists and no documented
//! runtime does, so that the documented choice stays for every other format.

use crate::api::name_of_shown;
use crate::load::Document;
use crate::source::SourceMap;
use crate::yaml::Node;
use std::collections::BTreeSet;

/// Leaves out built-in runtimes that no service of the input needs.
pub(super) fn leave_out(documents: &mut Vec<Document>, sources: &SourceMap) {
    let source = |document: &Document| {
        let name = &*sources.get(document.source).name;
        name_of_shown(name)
    };
    let is_documented =
        |document: &Document| document.builtin && source(document).starts_with("runtimes/kserve/");
    let is_added =
        |document: &Document| document.builtin && source(document).starts_with("shipped/kserve=");
    let name: BTreeSet<String> =
        documents.iter().filter(|document| is_documented(document)).flat_map(formats).collect();
    // Without the documented ones, those of a release are all there is.
    if name.is_empty() {
        return;
    }
    let wanted: BTreeSet<String> = documents
        .iter()
        .filter(|document| {
            document.kind == "InferenceService" && document.group() == "serving.kserve.io"
        })
        .filter_map(|document| document.node.at(&["spec", "predictor"]))
        .flat_map(|predictor| {
            let named = predictor.at(&["model", "modelFormat", "name"]).and_then(Node::as_str);
            // The older form has the format as field: `predictor.huggingface`.
            let keys = predictor.entries().map(|entry| entry.key.as_str());
            // Names of formats are compared in lower case, as both sides are written freely.
            keys.chain(named).map(str::to_lowercase).collect::<Vec<_>>()
        })
        .filter(|format| !name.contains(format))
        .collect();
    documents.retain(|document| {
        !is_added(document) || formats(document).iter().any(|format| wanted.contains(format))
    });
}

/// The formats that a runtime lists.
fn formats(runtime: &Document) -> Vec<String> {
    let listed = runtime.node.at(&["spec", "supportedModelFormats"]).map_or(&[][..], Node::items);
    let name = |entry: &Node| Some(entry.get("name")?.as_str()?.to_lowercase());
    listed.iter().filter_map(name).collect()
}
