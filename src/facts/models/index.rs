//! A safetensors index as evidence: its files, and the number of parameters in them.

use super::count::Count;
use super::quantization;
use super::shape::Class;
use crate::quantity::ParamCount;
use crate::source::Span;
use crate::yaml::Node;
use std::collections::BTreeSet;

/// Numbers of a weight map.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Files {
    pub(super) files: usize,
    pub(super) tensors: usize,
}

/// Counts the files and tensors of an index.
pub(super) fn files(index: &Node) -> Files {
    let map = index.get("weight_map");
    let entries = || map.into_iter().flat_map(Node::entries);
    // Many tensors are in one file: the files are the distinct names.
    let names: BTreeSet<&str> = entries().filter_map(|entry| entry.node.as_str()).collect();
    Files { files: names.len(), tensors: entries().count() }
}

/// The number of parameters of an index.
#[derive(Clone, Debug)]
pub(super) struct Stored {
    pub(super) parameters: ParamCount,
    pub(super) text: String,
    pub(super) span: Option<Span>,
}

impl Stored {
    /// Whether a count agrees within 1%: as it is, with the shared head twice, or without the draft
    /// layers. Some files store the head twice or omit the draft layers.
    pub(super) fn agrees(&self, counted: u128, count: &Count) -> bool {
        let stored = u128::from(self.parameters.0);
        let near = |counted: u128| stored.abs_diff(counted) <= counted / 100;
        near(counted)
            || near(counted + count.elements.get(Class::Embedding))
            || near(counted.saturating_sub(count.drafts.total()))
    }
}

/// Parameters of an index: the stated number, or bytes divided by the width of the weights. Bytes
/// of quantized weights give no number.
pub(super) fn parameters(index: &Node, config: &Node) -> Option<Stored> {
    let whole = |key: &str| {
        let node = index.at(&["metadata", key])?;
        // Some indexes write floats.
        let number = u64::try_from(node.as_int()?).ok().filter(|number| *number > 0)?;
        Some((number, node.origin.span()))
    };
    if let Some((parameters, span)) = whole("total_parameters") {
        return Some(Stored {
            parameters: ParamCount(parameters),
            text: "`metadata.total_parameters` of the index".into(),
            span,
        });
    }
    // Bytes of packed weights have no one width, so that no number of elements follows.
    if quantization::config(config).is_some() {
        return None;
    }
    let (key, dtype) = super::keys::text_of(config, &["torch_dtype", "dtype"])?;
    let width = super::keys::width(dtype.as_str()?)?;
    let (bytes, span) = whole("total_size")?;
    let text = format!(
        "`metadata.total_size` of the index, {bytes} bytes, by {width} bytes of `{key}: {}`",
        dtype.as_str().unwrap_or_default()
    );
    Some(Stored { parameters: ParamCount(bytes / width), text, span })
}
