//! Findings as diagnostics of files.

use super::context::Context;
use crate::diag::{self, Severity};
use crate::report::links;
use lsp_types::{
    CodeDescription, Diagnostic, DiagnosticRelatedInformation, DiagnosticSeverity, NumberOrString,
    Range, Uri,
};
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::str::FromStr;

/// The findings of each file that has any; those about no file are left out.
pub(super) fn by_file(context: &Context) -> BTreeMap<PathBuf, Vec<Diagnostic>> {
    let mut files: BTreeMap<PathBuf, Vec<Diagnostic>> = BTreeMap::new();
    for finding in &context.found {
        if let Some((path, diagnostic)) = of_finding(context, finding) {
            files.entry(path).or_default().push(diagnostic);
        }
    }
    files
}

/// One finding with its file.
pub(super) fn of_finding(
    context: &Context,
    finding: &diag::Diagnostic,
) -> Option<(PathBuf, Diagnostic)> {
    let (path, range) = match finding.span() {
        Some(span) => (context.path(span.source)?.clone(), context.range(span)),
        None => (context.full_path(finding.file.as_deref()?), Range::default()),
    };
    let mut message = finding.message.clone();
    if let Some(help) = &finding.help {
        message = format!("{message}\nhelp: {help}");
    }
    let others = finding.labels.iter().skip(1).filter_map(|label| {
        let message =
            if label.text.is_empty() { "here, too".to_owned() } else { label.text.clone() };
        Some(DiagnosticRelatedInformation { location: context.location(label.span)?, message })
    });
    let others: Vec<_> = others.collect();
    let href = Uri::from_str(&links::code(finding.code)).ok();
    Some((
        path,
        Diagnostic {
            range,
            severity: Some(match finding.severity {
                Severity::Error => DiagnosticSeverity::ERROR,
                Severity::Warning => DiagnosticSeverity::WARNING,
                Severity::Info => DiagnosticSeverity::INFORMATION,
            }),
            code: Some(NumberOrString::String(finding.code.as_str().to_owned())),
            code_description: href.map(|href| CodeDescription { href }),
            source: Some("ome".to_owned()),
            message,
            related_information: (!others.is_empty()).then_some(others),
            tags: None,
            data: None,
        },
    ))
}
