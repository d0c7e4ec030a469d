//! What an operator's webhooks reject, as violations, as findings and as the error of a service.
//!
//! In: an object, and the rules of its operator. Out: [`Violation`]s in the order of the webhook,
//! with its messages. A webhook stops at the first violation; every rule is judged here, so one run
//! reports all of them. Rules of updates are not judged.

use super::about;
use crate::api::{Failure, Object, Semantics};
use crate::diag::{Code, Diagnostic, Severity};
use crate::source::Span;
use crate::yaml::Node;

/// One rule that an object breaks.
#[derive(Clone, Debug)]
pub(crate) struct Violation {
    /// The code of the finding.
    pub code: Code,
    /// The message of the webhook.
    pub message: String,
    /// The field.
    pub path: String,
    /// The next action.
    pub help: &'static str,
    /// The place that has to change.
    pub span: Option<Span>,
    /// The documents forbid it too, and their rule reports it.
    pub documented: bool,
}

/// Collects the violations of one object.
pub(crate) struct Refusals<'a> {
    pub(crate) object: &'a Object,
    found: Vec<Violation>,
}

impl<'a> Refusals<'a> {
    pub(crate) fn new(object: &'a Object) -> Self {
        Self { object, found: Vec::new() }
    }

    /// Adds a violation at a node, or else at the name of the object.
    pub(crate) fn refuse(
        &mut self,
        code: Code,
        path: impl Into<String>,
        node: Option<&Node>,
        message: impl Into<String>,
        help: &'static str,
    ) {
        let span =
            node.and_then(|node| node.origin.span()).or_else(|| Some(self.object.name_span()));
        self.found.push(Violation {
            code,
            message: message.into(),
            path: path.into(),
            help,
            span,
            documented: false,
        });
    }

    /// Adds a value outside of its set or range.
    pub(crate) fn value(
        &mut self,
        path: impl Into<String>,
        node: Option<&Node>,
        message: impl Into<String>,
        help: &'static str,
    ) {
        self.refuse(Code::InvalidValue, path, node, message, help);
    }

    /// Marks the last violation as one that the documents forbid too.
    pub(crate) fn documented(&mut self) {
        if let Some(last) = self.found.last_mut() {
            last.documented = true;
        }
    }

    pub(crate) fn into_found(self) -> Vec<Violation> {
        self.found
    }
}

/// The first violation, as the error of a service.
pub(crate) fn first(violations: Vec<Violation>) -> Option<Failure> {
    let first = violations.into_iter().next()?;
    Some(Failure {
        code: Code::InvalidInput,
        message: first.message,
        help: Some(first.help.into()),
        span: first.span,
    })
}

/// Reports the violations of one object.
///
/// In controller mode a violation is an error. In documented mode it is a warning, because the
/// documents allow the value but a server rejects it; rules that the documents also have are left to
/// the checks of the documents. `refusal`, the error of the service, is not repeated.
pub(crate) fn report(
    semantics: Semantics,
    object: &Object,
    refusal: Option<&Failure>,
    violations: Vec<Violation>,
    found: &mut Vec<Diagnostic>,
) {
    // The webhook stops at the first violation, which is the error of the service already.
    let is_reported =
        |violation: &Violation| refusal.is_some_and(|failure| failure.message == violation.message);
    for violation in violations.into_iter().filter(|violation| !is_reported(violation)) {
        let finding = match semantics {
            Semantics::Controller => about(violation.code, object, violation.message),
            // The rule of the documents reports it with the documents' code.
            Semantics::Documented if violation.documented => continue,
            Semantics::Documented => about(
                Code::ServerRefuses,
                object,
                format!("the webhook refuses it: {}", violation.message),
            )
            .severity(Severity::Warning),
        };
        found.push(finding.at(violation.span).path(violation.path).help(violation.help));
    }
}
