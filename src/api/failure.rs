//! Reasons why a service or an object cannot be built.
//!
//! In: the problem that a rule found. Out: one sentence with its code, its place and the next step.
//! This module does not format for a terminal.

use super::Service;
use crate::diag::Code;
use crate::source::Span;

/// Why a service cannot be planned.
#[derive(Clone, Debug)]
pub struct Failure {
    /// Error code, also that of the finding.
    pub code: Code,
    /// The message, one sentence.
    pub message: String,
    /// The next step for the user.
    pub help: Option<String>,
    /// The place to change.
    pub span: Option<Span>,
}

impl Failure {
    /// Whether the service is not refused, but could not be rendered: the cluster has configurations
    /// that were not read.
    pub fn is_unread(&self) -> bool {
        self.code == Code::PresetsNotRead
    }

    /// Builds a failure at the name of a service.
    pub fn of(service: &Service, code: Code, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), help: None, span: Some(service.object.name_span()) }
    }

    /// Builds a failure at the name of a service, with the next step.
    pub fn with_help(
        service: &Service,
        code: Code,
        message: impl Into<String>,
        help: impl Into<String>,
    ) -> Self {
        Self { help: Some(help.into()), ..Self::of(service, code, message) }
    }
}
