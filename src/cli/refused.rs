//! Services that no server takes, and runtimes that cannot exist: known before anything is decided.

use super::input::Session;
use crate::api::{Failure, Object};
use crate::diag::{Code, Diagnostic, Severity};
use crate::source::{SourceId, Span};
use std::collections::HashMap;

/// Whether a finding about an object means that a server refuses it.
fn refuses(finding: &Diagnostic) -> bool {
    finding.severity == Severity::Error
        && matches!(
            finding.code,
            Code::UnknownKind
                | Code::InvalidName
                | Code::RequiredField
                | Code::InvalidType
                | Code::InvalidValue
                | Code::RemovedField
        )
}

/// Whether it does so for the identity of the object, so that nothing can name it.
fn refuses_name(finding: &Diagnostic) -> bool {
    finding.code == Code::InvalidName
        && finding.path.as_deref().is_some_and(|path| path.starts_with("metadata.name"))
}

impl Session {
    /// Finds what no server takes, as the settings grade findings.
    pub(super) fn refuse(&mut self) {
        let is_graver = |finding: &&Diagnostic| refuses(finding);
        let found: Vec<Diagnostic> =
            self.world.diagnostics.iter().filter(is_graver).cloned().collect();
        if found.is_empty() {
            return;
        }
        let found = self.grade(found);
        let catalogs: Vec<_> = std::iter::once(&self.world.catalog)
            .chain(self.world.views.iter().map(|view| &view.catalog))
            .collect();
        let place = |object: &Object| (object.span.source, object.span.start);
        let mut names: HashMap<(SourceId, u32), (Span, bool)> = HashMap::new();
        for catalog in &catalogs {
            let services = catalog.services().map(|views| &views.documented.object);
            for object in services {
                names.insert(place(object), (object.name_span(), true));
            }
            for runtime in catalog.all_runtimes() {
                let object = &runtime.object;
                names.entry(place(object)).or_insert((object.name_span(), false));
            }
        }
        let mut refused: HashMap<Span, Failure> = HashMap::new();
        for finding in found.iter().filter(|finding| refuses(finding)) {
            let owner = finding
                .span()
                .and_then(|span| Some((span.source, self.world.catalog.owner(span)?.0)));
            let Some((name, is_service)) = owner.and_then(|owner| names.get(&owner)) else {
                continue;
            };
            if *is_service || refuses_name(finding) {
                refused.entry(*name).or_insert_with(|| Failure {
                    code: finding.code,
                    message: finding.message.clone(),
                    help: finding.help.clone(),
                    span: finding.span(),
                });
            }
        }
        for view in &mut self.world.views {
            view.catalog.set_refused(refused.clone());
        }
        self.world.catalog.set_refused(refused);
    }
}
