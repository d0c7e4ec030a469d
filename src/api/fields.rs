//! Field readers that all operators share. A value of the wrong type counts as absent, because the
//! schema check has already reported it.

use crate::api::{Diffusion, DiffusionPart, Field, NamedVersion, Semantics, Size, Version};
use crate::diag::{Code, Diagnostic, Severity};
use crate::yaml::{Map, Node};
use ecow::EcoString;

/// The list that receives findings, and the mode that sets their severity.
pub(crate) struct Reader<'d> {
    pub(crate) semantics: Semantics,
    pub(crate) diagnostics: &'d mut Vec<Diagnostic>,
}

impl Reader<'_> {
    pub(crate) fn report(&mut self, diagnostic: Diagnostic) {
        self.diagnostics.push(diagnostic);
    }

    /// Reports a value that the documents reject and the controller accepts without a message.
    pub(crate) fn report_documented(&mut self, diagnostic: Diagnostic) {
        // The release accepts the value, so it is shown but is no error.
        let severity = if self.semantics == Semantics::Documented {
            diagnostic.severity
        } else {
            Severity::Info
        };
        self.diagnostics.push(diagnostic.severity(severity));
    }

    /// Reads a version, parsed by both rules.
    pub(crate) fn version(&mut self, node: &Node) -> Option<Field<Version>> {
        let text = text(Some(node))?;
        let version = Version::parse(&text.value);
        if let Some(problem) = version.problem() {
            self.report_documented(
                Diagnostic::new(Code::InvalidVersion, format!("`{}` is not a version: {problem}", text.value))
                    .at(text.span())
                    .help("write numbers and dots such as `1`, `1.0` or `1.0.0`, with a suffix after them if need be"),
            );
        }
        Some(Field::new(version, text.origin))
    }

    /// Reads `modelFormat` or `modelFramework`. An empty name counts as absent.
    pub(crate) fn named_version(&mut self, node: Option<&Node>) -> Option<NamedVersion> {
        let node = node?;
        let name = text(node.get("name"))?;
        // To a Go program, an empty text and an absent one are the same.
        if name.value.is_empty() {
            return None;
        }
        Some(NamedVersion {
            name,
            version: node.get("version").and_then(|version| self.version(version)),
            operator: text(node.get("operator")),
            weight: integer(node.get("weight")),
        })
    }

    /// Reads a model size or the bound of a size range.
    pub(crate) fn size(&mut self, node: Option<&Node>, what: &str) -> Option<Field<Size>> {
        let node = node?;
        // YAML reads a size without a suffix as a number.
        let text = node.scalar_text()?;
        let size = Size::parse(&text);
        if size.documented.is_none() {
            self.report_documented(
                Diagnostic::new(Code::InvalidSize, format!("`{what}` is not a size: `{text}`"))
                    .at(node.origin.span())
                    .path(what)
                    .help("write a number of parameters with an optional suffix K, M, B or T, such as `8B`"),
            );
        }
        Some(Field::new(size, node.origin))
    }
}

pub(crate) fn text(node: Option<&Node>) -> Option<Field<EcoString>> {
    let node = node?;
    node.as_str().map(|text| Field::new(text.into(), node.origin))
}

pub(crate) fn boolean(node: Option<&Node>) -> Option<Field<bool>> {
    let node = node?;
    node.as_bool().map(|value| Field::new(value, node.origin))
}

pub(crate) fn integer(node: Option<&Node>) -> Option<Field<i64>> {
    let node = node?;
    node.as_int().map(|value| Field::new(value, node.origin))
}

pub(crate) fn texts(node: Option<&Node>) -> Vec<Field<EcoString>> {
    node.map(|node| node.items().iter().filter_map(|item| text(Some(item))).collect())
        .unwrap_or_default()
}

/// Names of the parts of a diffusion pipeline, in the order of the API.
const PIPELINE_PARTS: [&str; 5] = ["scheduler", "textEncoder", "tokenizer", "transformer", "vae"];

pub(crate) fn diffusion(node: Option<&Node>) -> Option<Diffusion> {
    let node = node?;
    let map = node.as_map()?;
    let part = |name: &str, node: &Node| {
        let field = |key: &str| node.get(key).and_then(Node::as_str).unwrap_or_default().into();
        DiffusionPart { name: name.into(), library: field("library"), class: field("type") }
    };
    let mut additional: Vec<_> = map
        .get("additionalComponents")
        .and_then(Node::as_map)
        .map(|components: &Map| {
            components.iter().map(|entry| part(&entry.key, &entry.node)).collect()
        })
        .unwrap_or_default();
    // Keys of a mapping have no order, so the name decides.
    additional.sort_by(|a: &DiffusionPart, b: &DiffusionPart| a.name.cmp(&b.name));
    Some(Diffusion {
        class_name: text(node.get("className")),
        parts: PIPELINE_PARTS
            .iter()
            .filter_map(|name| node.get(name).map(|found| part(name, found)))
            .collect(),
        additional,
    })
}
