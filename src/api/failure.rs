//! Why a service or an object cannot be produced.
//!
//! In: what a rule found. Out: one sentence with its code, its place and the next step; nothing is
//! worded for a terminal here.

use super::Service;
use crate::diag::Code;
use crate::source::Span;

/// Why a service cannot be planned.
#[derive(Clone, Debug)]
pub struct Failure {
    /// Error code, also that of the finding.
    pub code: Code,
    /// The sentence.
    pub message: String,
    /// The next action.
    pub help: Option<String>,
    /// The place that has to change.
    pub span: Option<Span>,
}

impl Failure {
    /// One at the name of a service.
    pub fn of(service: &Service, code: Code, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), help: None, span: Some(service.object.name_span()) }
    }

    /// The same with the next action.
    pub fn with_help(
        service: &Service,
        code: Code,
        message: impl Into<String>,
        help: impl Into<String>,
    ) -> Self {
        Self { help: Some(help.into()), ..Self::of(service, code, message) }
    }
}
