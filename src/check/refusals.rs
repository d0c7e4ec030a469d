//! What the webhooks of an operator refuse, as findings.
//!
//! Under the controller's semantics what a webhook refuses is an error; under the documents, which
//! do not forbid it, the warning that a server refuses it. Sentences are the webhooks' own.

use super::about;
use crate::api::{Object, Semantics};
use crate::diag::{Code, Diagnostic, Severity};
use crate::source::Span;
use crate::yaml::Origin;

/// Collects the refusals of one object.
pub(crate) struct Refusals<'r> {
    pub(crate) semantics: Semantics,
    pub(crate) object: &'r Object,
    pub(crate) found: &'r mut Vec<Diagnostic>,
}

impl Refusals<'_> {
    /// A refusal of a value, at the value or at the name of the object.
    pub(crate) fn add(
        &mut self,
        code: Code,
        origin: Option<Origin>,
        path: &str,
        message: String,
        help: &str,
    ) {
        self.at(
            code,
            origin.and_then(Origin::span).or_else(|| Some(self.object.name_span())),
            path,
            message,
            help,
        );
    }

    /// A refusal at a place.
    pub(crate) fn at(
        &mut self,
        code: Code,
        span: Option<Span>,
        path: &str,
        message: String,
        help: &str,
    ) {
        let finding = match self.semantics {
            Semantics::Controller => about(code, self.object, message),
            Semantics::Documented => about(
                Code::ServerRefuses,
                self.object,
                format!("the webhook refuses it: {message}"),
            )
            .severity(Severity::Warning),
        };
        self.found.push(finding.at(span).path(path).help(help));
    }
}
