//! Shared helpers of the selection tests, which read objects from texts.

mod assumed;
mod by_name;
mod choice;
mod gates;
mod overlap;
mod rank;

use super::evaluation::Evaluation;
use super::input::{Reasons, Request, Trace};
use crate::api::{Api, Completion, Model, Object, Runtime, Semantics, Service, Views};
use crate::catalog::{Catalog, RuntimeSet};
use crate::check::fixture;
use crate::decision::{Candidate, Note, RuntimeDecision};
use crate::operators::{kserve, ome};
use crate::policy::Policy;
use ecow::EcoString;

/// Returns a YAML document of an object; a name that starts with `builtin-` makes it built-in.
pub(super) fn object(kind: &str, name: &str, metadata: &str, spec: &str) -> String {
    let group =
        if kind.starts_with("KServe") { "serving.kserve.io/v1beta1" } else { "ome.io/v1beta1" };
    let kind = kind.trim_start_matches("KServe");
    format!(
        "apiVersion: {group}\nkind: {kind}\nmetadata: {{name: {name}{metadata}}}\nspec: {{{spec}}}\n---\n"
    )
}

/// Returns a ClusterServingRuntime of OME with one entry that has autoSelect.
pub(super) fn runtime(name: &str, entry: &str, spec: &str) -> String {
    let entries = format!("supportedModelFormats: [{{autoSelect: true, {entry}}}], {spec}");
    object("ClusterServingRuntime", name, "", &entries)
}

/// Returns a ClusterBaseModel of OME.
pub(super) fn model(name: &str, spec: &str) -> String {
    object("ClusterBaseModel", name, "", spec)
}

/// Objects, and the policy that evaluates them.
pub(super) struct Scene {
    pub(super) catalog: Catalog,
    pub(super) policy: &'static Policy,
}

impl Scene {
    pub(super) fn new(policy: &'static Policy, text: &str) -> Self {
        let builtin = |object: &mut Object| {
            object.builtin = object.id.name.starts_with("builtin-");
        };
        Self { catalog: fixture::catalog(text, policy.semantics, builtin), policy }
    }

    pub(super) fn runtimes(&self) -> &RuntimeSet {
        self.catalog.runtimes(self.policy.api)
    }

    pub(super) fn runtime(&self, name: &str) -> &Runtime {
        let found = self.runtimes().iter().find(|runtime| runtime.object.id.name == name);
        found.unwrap_or_else(|| panic!("no runtime {name}"))
    }

    pub(super) fn model(&self, name: &str) -> &Model {
        let found = self.catalog.models().find(|model| model.object.id.name == name);
        found.unwrap_or_else(|| panic!("no model {name}"))
    }

    pub(super) fn service(&self, name: &str) -> &Service {
        let mut services = self.catalog.services().map(Views::followed);
        let found = services.find(|service| service.object.id.name == name);
        found.unwrap_or_else(|| panic!("no service {name}"))
    }

    /// Returns the request of a service, as its operator reads it.
    pub(super) fn request_of<'a>(&'a self, service: &'a Service) -> Request<'a> {
        let protocol = super::request::asked_protocol(self.policy, service).name;
        if self.policy.api == Api::KServe {
            let inline = service.inline.as_ref().expect("a predictor with a model");
            kserve::select::request(self.policy, service, &inline.model, &protocol)
        } else {
            let name = &service.model.as_ref().expect("a model").name.value;
            ome::select::request(self.policy, service, self.model(name), &protocol)
        }
    }

    /// Evaluates one runtime with and without a trace, and checks that the results agree.
    pub(super) fn judge(&self, request: &Request<'_>, runtime: &Runtime) -> (Evaluation, Reasons) {
        let mut trace = Reasons::default();
        let full = super::gates::evaluate(self.policy, request, runtime, &mut trace);
        let short = super::gates::evaluate(self.policy, request, runtime, &mut ());
        assert_eq!(short.eligible(), full.eligible(), "{}", runtime.object.id);
        assert_eq!(short.crash, full.crash, "{}", runtime.object.id);
        assert_eq!(short.first_failure(), full.first_failure(), "{}", runtime.object.id);
        if full.eligible() {
            assert_eq!(short.rank, full.rank, "{}", runtime.object.id);
            assert_eq!(short.matched_entry, full.matched_entry, "{}", runtime.object.id);
        }
        (full, trace)
    }

    /// Returns the verdict on one runtime as a line: the reasons for rejection or the matched
    /// entry, and the notes.
    pub(super) fn verdict(&self, request: &Request<'_>, runtime: &Runtime) -> String {
        let (evaluation, trace) = self.judge(request, runtime);
        let (_, rejections, notes) = trace.into_parts();
        let mut line: Vec<String> =
            rejections.iter().map(|rejection| rejection.reason.to_string()).collect();
        if line.is_empty() {
            line.push(match evaluation.matched_entry {
                Some(entry) => format!("entry {entry}"),
                None => "no entry".to_owned(),
            });
        }
        if let Some(field) = evaluation.crash {
            line.push(format!("crash on {field}"));
        }
        line.extend(notes.iter().map(Note::to_string));
        line.join("; ")
    }
}

/// Returns a request for a model in the namespace `default`, without further requirements.
pub(super) fn asks(model: &Model) -> Request<'_> {
    static NAMESPACE: EcoString = EcoString::inline("default");
    Request {
        namespace: &NAMESPACE,
        model,
        named_protocol: None,
        protocol: None,
        accelerators: &[],
        multi_node: false,
        modes: Vec::new(),
        unserved: Vec::new(),
    }
}

/// Formats a candidate as a line: its verdict, the reasons for rejection, the notes.
pub(super) fn line(candidate: &Candidate<'_>) -> String {
    let reasons = candidate.reasons.iter().map(|rejection| rejection.reason.to_string());
    let notes = candidate.notes.iter().map(Note::to_string);
    let about: Vec<String> = reasons.chain(notes).collect();
    let name = &candidate.runtime.object.id.name;
    format!("{name} {}: {}", candidate.verdict.as_str(), about.join("; "))
}

/// Formats a decision as lines.
pub(super) fn lines(decision: &RuntimeDecision<'_>) -> Vec<String> {
    let chosen = decision.chosen.map_or("none", |chosen| chosen.object.id.name.as_str());
    let head = format!(
        "{} {chosen} by {}, {} eligible, {} rejected{}{}",
        decision.basis.as_str(),
        decision.decided_by.map_or("nothing", |key| key.as_str()),
        decision.eligible,
        decision.rejected,
        if decision.guaranteed { "" } else { ", not guaranteed" },
        decision.matched_entry.map_or_else(String::new, |entry| format!(", entry {entry}")),
    );
    let mut lines = vec![head];
    lines.extend(decision.notes.iter().map(|note| format!("note: {note}")));
    lines.extend(decision.candidates.iter().map(line));
    if !decision.steps.is_empty() {
        let steps = decision.steps.iter();
        let steps: Vec<String> =
            steps.map(|step| format!("{} {}>{}", step.id, step.r#in, step.out)).collect();
        lines.push(steps.join(", "));
    }
    lines
}

/// Returns a model completed with values from outside its manifest.
pub(super) fn completed(model: &Model, completion: Completion) -> Model {
    ome::read::model(model.object.clone(), completion, Semantics::Documented, &mut Vec::new())
}
