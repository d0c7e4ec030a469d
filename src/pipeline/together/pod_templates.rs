//! The pod templates of a workload of the input, and what a server refuses of it or of its pods.

use super::workload_kinds::{Part, Pods, Row, TEMPLATE, row};
use crate::api::Object;
use crate::diag::{Diagnostic, Severity};
use crate::objects::accept::{judge, judge_template, judges_pods};
use crate::schema;
use crate::source::SourceMap;
use crate::yaml::{Node, Segment};

/// What a server refuses of an object of the input, or of the pods that a controller makes from it.
pub fn refused_by_server(object: &Object, sources: &SourceMap) -> Vec<Diagnostic> {
    let mut found = Vec::new();
    judge(&object.node, &mut found);
    let Some(row) = row(object) else { return found };
    let (version, kind) = (object.api_version.as_str(), object.id.kind.as_str());
    // Kinds whose whole object is judged above have their pods judged with it.
    if !judges_pods(version, kind) {
        let templates = row.pods.templates(&object.node).into_iter();
        // What a controller completes may be complete then.
        for template in templates.filter(|template| !template.is_completed) {
            let TemplateAt { path, node, is_spec, .. } = template;
            judge_template(&object.node, &path, node, is_spec, &mut found);
        }
    }
    // A kind with a schema had its fields checked by it.
    if schema::kind(version, kind).is_none() {
        fields_of_pods(row, &object.node, sources, &mut found);
    }
    found
}

/// Keys of the pods of an object that no pod has, and values of another type. A server that has the
/// definition of the object refuses it, or its pods come without them: warnings.
fn fields_of_pods(row: &Row, object: &Node, sources: &SourceMap, found: &mut Vec<Diagnostic>) {
    let Some(ty) = schema::structure("PodSpec") else { return };
    let first = found.len();
    for template in row.pods.templates(object) {
        let Some(spec) = template.spec() else { continue };
        let mut path = template.path;
        if !template.is_spec {
            path.push(Segment::Field("spec".into()));
        }
        ty.check_fields_at(&path, spec, sources, found);
    }
    for finding in &mut found[first..] {
        finding.severity = finding.severity.min(Severity::Warning);
    }
}

/// A pod template of an object.
pub(super) struct TemplateAt<'n> {
    path: Vec<Segment>,
    pub(super) node: &'n Node,
    /// It is the spec of a pod alone.
    pub(super) is_spec: bool,
    /// The controller completes it.
    pub(super) is_completed: bool,
}

impl<'n> TemplateAt<'n> {
    fn whole(path: Vec<Segment>, node: &'n Node) -> Self {
        Self { path, node, is_spec: false, is_completed: false }
    }

    /// The spec of its pods.
    pub(super) fn spec(&self) -> Option<&'n Node> {
        if self.is_spec { Some(self.node) } else { self.node.get("spec") }
    }
}

impl Pods {
    /// The pod templates of an object.
    pub(super) fn templates<'n>(&self, object: &'n Node) -> Vec<TemplateAt<'n>> {
        let at =
            |path: &'static [&'static str]| path.iter().map(|key| Segment::Field((*key).into()));
        match self {
            Self::Parts(parts) => {
                let of_part = |part: &'static Part| {
                    part.items_at(object).into_iter().filter_map(move |(mut path, item)| {
                        path.extend(at(part.template));
                        let node = item.at(part.template)?;
                        let (is_spec, is_completed) = (part.bare, part.completed);
                        Some(TemplateAt { path, node, is_spec, is_completed })
                    })
                };
                parts.iter().flat_map(of_part).collect()
            }
            Self::Deployment | Self::PerNode => {
                let template = object.at(TEMPLATE);
                let whole = |node| TemplateAt::whole(at(TEMPLATE).collect(), node);
                template.map(whole).into_iter().collect()
            }
            Self::Job
            | Self::Ordinals
            | Self::Groups
            | Self::Itself
            | Self::Knative
            | Self::Dynamo => Vec::new(),
            Self::Volcano => {
                let tasks = object.at(&["spec", "tasks"]).map(Node::items).unwrap_or_default();
                let of_task = |(place, task): (usize, &'n Node)| {
                    let path = at(&["spec", "tasks"]).chain([Segment::Index(place)]);
                    let path = path.chain(at(&["template"])).collect();
                    Some(TemplateAt::whole(path, task.get("template")?))
                };
                tasks.iter().enumerate().filter_map(of_task).collect()
            }
        }
    }
}
