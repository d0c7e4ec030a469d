//! Template variables of a pod: expanded in its main container, warned about everywhere else.

use super::lint::Place;
use crate::api::{Failure, Service};
use crate::diag::{Code, Diagnostic};
use crate::merge::history::{Filled, Recorder};
use crate::merge::typed;
use crate::policy::{Policy, TemplateRule};
use crate::schema::Library;
use crate::source::Span;
use crate::template;
use crate::template::{Data, ErrorKind, Metadata, Mode, Ran};
use crate::yaml::{FieldPath, Map, Node, Origin, Value};

/// The component of a container's pod; upstream's error messages depend on it
/// (pkg/controller/v1beta1/inferenceservice/reconcilers/common/podspec_reconciler.go,
/// MergeRuntimeContainers).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PodRole {
    Main,
    Worker,
}

impl PodRole {
    /// Upstream's prefix of the reason why a template failed.
    fn template_failed(self) -> &'static str {
        match self {
            Self::Main => {
                "failed to reconcile pod spec: failed to replace placeholders in container: "
            }
            Self::Worker => {
                "failed to reconcile worker pod spec: failed to replace placeholders in worker container: "
            }
        }
    }

    /// Upstream's prefix of the reason why the runner could not be merged.
    pub(crate) fn merge_failed(self) -> &'static str {
        match self {
            Self::Main => "failed to reconcile pod spec: failed to merge runner container: ",
            Self::Worker => {
                "failed to reconcile worker pod spec: failed to merge worker container with leader runner: "
            }
        }
    }

    /// Upstream's message for a pod without containers.
    pub(crate) fn no_container(self) -> &'static str {
        match self {
            Self::Main => {
                "failed to reconcile pod spec: no containers found in pod spec and no runner spec provided"
            }
            Self::Worker => {
                "failed to reconcile worker pod spec: no containers found in worker pod spec"
            }
        }
    }
}

/// The container with its variables replaced by the service's metadata; `annotations` are those of
/// the service as the operator sees them.
///
/// By the documents, a variable without a value is a finding and the container stays unchanged
/// (OME docs, Serving Runtime, Multi-Node Configuration); the controller fails.
pub(crate) fn expand(
    policy: &Policy,
    place: &Place<'_>,
    annotations: &Map,
    role: PodRole,
    container: &Node,
    rec: &mut Recorder,
    findings: &mut Vec<Diagnostic>,
) -> Result<Node, Failure> {
    let seen = Seen {
        metadata: metadata(place.service, annotations),
        labels: None,
        annotations: Some(annotations),
        context: role.template_failed(),
        library: Library::V0_33,
    };
    expand_with(policy, place, &seen, container, rec, findings)
}

/// What an operator expands variables with.
pub(crate) struct Seen<'a> {
    /// The metadata of the service as the operator sees it.
    pub(crate) metadata: Metadata<'a>,
    /// Its labels as trees, where they differ from those of the file.
    pub(crate) labels: Option<&'a Map>,
    /// Its annotations as trees.
    pub(crate) annotations: Option<&'a Map>,
    /// The words before an error.
    pub(crate) context: &'a str,
    /// The libraries that read the result.
    pub(crate) library: Library,
}

/// As [`expand`], with what another operator sees.
pub(crate) fn expand_with(
    policy: &Policy,
    place: &Place<'_>,
    seen: &Seen<'_>,
    container: &Node,
    rec: &mut Recorder,
    findings: &mut Vec<Diagnostic>,
) -> Result<Node, Failure> {
    let data = Data {
        metadata: place.service.object.node.get("metadata"),
        labels: seen.labels,
        annotations: seen.annotations,
        spec: None,
        setting: None,
    };
    let mut each = |text: Origin, ran: Ran<'_>| {
        // A text without a place cannot be asked about, and its origin is costly to find.
        if let Some(span) = text.span().filter(|_| rec.is_on()) {
            let (action, value) = (ran.action.into(), ran.printed.into());
            rec.fill(span, || Filled { action, value, from: data.origin_of(ran, text) });
        }
    };
    let mode = match policy.template {
        TemplateRule::FieldChains => Mode::Documented,
        TemplateRule::HtmlTemplate => Mode::Controller,
    };
    let expanded = template::expand_recorded(container, &seen.metadata, mode, &mut each);
    match policy.template {
        TemplateRule::FieldChains => Ok(expanded.unwrap_or_else(|errors| {
            // All of them: the reader mends a container once, not once for each variable.
            findings.extend(errors.into_iter().map(|error| finding(place, error)));
            container.clone()
        })),
        TemplateRule::HtmlTemplate => {
            let failed = |message: &str, span: Option<Span>| {
                let message = format!("{}{message}", seen.context);
                let refused = Failure::with_help(
                    place.service,
                    Code::TemplateInvalid,
                    message,
                    "use field chains such as `{{.Name}}`",
                );
                Failure { span: span.or(refused.span), ..refused }
            };
            let expanded = expanded.map_err(|errors| match errors.first() {
                // The controller stops at the first error, so that its message has that one alone.
                Some(error) => failed(&error.message, error.origin.and_then(Origin::span)),
                None => failed("", None),
            })?;
            // The controller renders the container as JSON and decodes it, which drops empty
            // values.
            typed::decoded_container(&expanded, seen.library)
                .map_err(|message| failed(&message, None))
        }
    }
}

fn metadata<'a>(service: &'a Service, annotations: &'a Map) -> Metadata<'a> {
    let annotations = annotations
        .iter()
        .filter_map(|entry| Some((entry.key.as_str(), entry.node.as_str()?)))
        .collect();
    Metadata {
        namespace: &service.namespace,
        annotations,
        ..Metadata::of_service(&service.object.node)
    }
}

fn finding(place: &Place<'_>, error: template::Error) -> Diagnostic {
    let code = match error.kind {
        ErrorKind::UnknownVariable | ErrorKind::MissingKey => Code::UnknownVariable,
        _ => Code::TemplateInvalid,
    };
    let path = error.origin.map(|origin| place.path(origin, &format!("runner.{}", error.path)));
    Diagnostic::new(code, error.message)
        .at(error.origin.and_then(Origin::span))
        .path(path.unwrap_or_default())
        .help("use `{{.Name}}`, `{{.Namespace}}`, `{{.Labels.KEY}}` or `{{.Annotations.KEY}}`")
}

/// Warns about variables outside the main container, which are not replaced
/// (OME docs, Serving Runtime, Multi-Node Configuration).
pub(crate) fn outside(place: &Place<'_>, pod: &Node, main: usize, findings: &mut Vec<Diagnostic>) {
    let mut warn = |variable: &str, node: &Node, path: &FieldPath| {
        findings.push(outside_container(
            variable,
            node,
            place.path(node.origin, &path.to_string()),
        ));
    };
    for entry in pod.entries() {
        let path = FieldPath::root().field(entry.key.clone());
        match &entry.node.value {
            // The main container is expanded before, and what is left there has findings of its
            // own.
            Value::List(items) if entry.key == "containers" => {
                for (index, container) in
                    items.iter().enumerate().filter(|(index, _)| *index != main)
                {
                    literals(container, &path.index(index), &mut warn);
                }
            }
            _ => literals(&entry.node, &path, &mut warn),
        }
    }
}

/// Every variable of a tree in which none are replaced, with the string it is in.
pub(crate) fn literals(
    node: &Node,
    path: &FieldPath,
    found: &mut impl FnMut(&str, &Node, &FieldPath),
) {
    match &node.value {
        Value::Str(text) => {
            for variable in template::variables(text) {
                found(variable, node, path);
            }
        }
        Value::List(items) => items
            .iter()
            .enumerate()
            .for_each(|(index, item)| literals(item, &path.index(index), found)),
        Value::Map(map) => map
            .iter()
            .for_each(|entry| literals(&entry.node, &path.field(entry.key.clone()), found)),
        _ => {}
    }
}

/// The finding about one variable of [`literals`].
fn outside_container(variable: &str, node: &Node, path: String) -> Diagnostic {
    Diagnostic::new(
        Code::VariableOutsideContainer,
        format!("`{variable}` is outside the engine container and is not replaced"),
    )
    .at(node.origin.span())
    .path(path)
    .help("write the value out")
}
