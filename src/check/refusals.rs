//! Refusals by an operator's webhooks, as findings.
//!
//! In controller mode a refusal is an error. In documented mode it is a warning, because the
//! documents allow the value but a server rejects it. Messages are those of the webhooks.

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
    /// Adds a refusal of a value, at the value or else at the name of the object.
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

    /// Adds a refusal at a place.
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
