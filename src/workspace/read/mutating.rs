//! Webhooks that fill fields in before a server checks an object.
//!
//! An API server calls mutating webhooks first and checks the schema of the result (kubernetes.io,
//! Dynamic Admission Control). A field that a definition requires and that an object lacks is thus
//! no mistake where a webhook writes it. In: the documents, and findings about one of them by its
//! definition. Out: the findings without those that a known webhook makes void; of those that a
//! webhook in the input may make void, warnings.

use crate::api::is_about_creation;
use crate::diag::{Code, Diagnostic, Severity};
use crate::load::Document;
use crate::yaml::{FieldPath, Node, Segment};
use ecow::EcoString;
use std::collections::BTreeMap;

/// Required fields that the webhook of a project writes: group, kind, path. Elements of lists are `[]`.
const WRITTEN: &[(&str, &str, &str)] = &[
    // kubernetes-sigs/jobset, pkg/webhooks/jobset_webhook.go, Default.
    ("jobset.x-k8s.io", "JobSet", "spec.failurePolicy.rules[].name"),
];

/// The mutating webhooks of the input, for kinds that it defines itself.
pub(super) struct Webhooks(BTreeMap<(EcoString, EcoString), EcoString>);

impl Webhooks {
    pub(super) fn of(documents: &[Document]) -> Self {
        let of_kind = |kind: &'static str| {
            documents.iter().filter(move |document| document.kind == kind && !document.builtin)
        };
        let text = |node: &Node, keys: &[&str]| node.at(keys).and_then(Node::scalar_text);
        let mut found = BTreeMap::new();
        let mut rules: Vec<(EcoString, &Node)> = Vec::new();
        for document in of_kind("MutatingWebhookConfiguration") {
            let name = text(&document.node, &["metadata", "name"]).unwrap_or_default();
            let hooks = document.node.items_of("webhooks").iter();
            rules.extend(
                hooks.flat_map(|hook| hook.items_of("rules")).map(|rule| (name.clone(), rule)),
            );
        }
        // Trees without webhooks are most trees, and their definitions are not looked at.
        if rules.is_empty() {
            return Self(found);
        }
        for document in of_kind("CustomResourceDefinition") {
            let spec = |keys: &[&str]| text(&document.node, keys);
            let (Some(group), Some(kind), Some(plural)) = (
                spec(&["spec", "group"]),
                spec(&["spec", "names", "kind"]),
                spec(&["spec", "names", "plural"]),
            ) else {
                continue;
            };
            let rule = rules.iter().find(|(_, rule)| is_about_creation(rule, &group, &plural));
            if let Some((name, _)) = rule {
                found.insert((group, kind), name.clone());
            }
        }
        Self(found)
    }

    /// The configuration that covers the kind of a document.
    pub(super) fn of_document(&self, document: &Document) -> Option<&EcoString> {
        if self.0.is_empty() {
            return None;
        }
        self.0.get(&(document.group().into(), document.kind.clone()))
    }
}

/// Grades what a definition refuses of a document.
pub(super) fn grade(found: &mut Vec<Diagnostic>, document: &Document, webhook: Option<&EcoString>) {
    let is_absence = |finding: &Diagnostic| finding.code == Code::RequiredField;
    found.retain(|finding| !(is_absence(finding) && is_written(document, finding.path.as_deref())));
    let Some(webhook) = webhook else { return };
    for finding in found.iter_mut().filter(|finding| is_absence(finding)) {
        finding.severity = Severity::Warning;
        finding.help = Some(format!(
            "add it, unless the webhook does: MutatingWebhookConfiguration `{webhook}` changes these objects before a server checks them"
        ));
    }
}

/// Whether a known webhook writes the field.
fn is_written(document: &Document, path: Option<&str>) -> bool {
    let Some(path) = path.and_then(|path| FieldPath::parse(path).ok()) else { return false };
    let steps = path.0.iter().map(|segment| match segment {
        Segment::Field(name) => name.clone(),
        _ => EcoString::inline("[]"),
    });
    let steps: Vec<EcoString> = steps.collect();
    WRITTEN.iter().any(|(group, kind, written)| {
        let written = written.replace("[]", ".[]");
        *group == document.group()
            && *kind == document.kind
            && written.split('.').eq(steps.iter().map(EcoString::as_str))
    })
}
