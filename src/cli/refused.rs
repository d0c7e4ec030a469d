//! Services that no server takes, ModelServings in error and runtimes that cannot exist: known
//! before anything is decided.

use super::input::Session;
use crate::api::{Failure, Object};
use crate::catalog::Catalog;
use crate::diag::{Code, Diagnostic, Severity};
use crate::pipeline::serving::refusal;
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
    /// Finds what no server takes, as the settings grade findings, and ModelServings that are not
    /// rendered.
    pub(super) fn refuse(&mut self) {
        let is_graver = |finding: &&Diagnostic| finding.severity == Severity::Error;
        let found: Vec<Diagnostic> =
            self.world.diagnostics.iter().filter(is_graver).cloned().collect();
        if found.is_empty() {
            return;
        }
        let in_error = self.servings_in_error();
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
        let mut refused = in_error;
        for finding in found.iter().filter(|finding| refuses(finding)) {
            let owner = finding
                .span()
                .and_then(|span| Some((span.source, self.world.catalog.owner(span)?.0)));
            let Some((name, is_service)) = owner.and_then(|owner| names.get(&owner)) else {
                continue;
            };
            if *is_service || refuses_name(finding) {
                refused.entry(*name).or_insert_with(|| failure(finding));
            }
        }
        for view in &mut self.world.views {
            view.catalog.set_refused(refused.clone());
        }
        self.world.catalog.set_refused(refused);
    }

    /// ModelServings with a finding of error level inside them, by their names.
    fn servings_in_error(&self) -> HashMap<Span, Failure> {
        let catalogs = std::iter::once(&self.world.catalog)
            .chain(self.world.views.iter().map(|view| &view.catalog));
        let servings = catalogs.flat_map(Catalog::model_servings);
        let in_error = servings.filter_map(|serving| {
            Some((serving.object.name_span(), failure(refusal(&self.world, serving)?)))
        });
        in_error.collect()
    }
}

fn failure(finding: &Diagnostic) -> Failure {
    Failure {
        code: finding.code,
        message: finding.message.clone(),
        help: finding.help.clone(),
        span: finding.span(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_object_is_refused_for_errors_that_a_server_has_too() {
        let of = |code: Code, severity: Severity| {
            refuses(&Diagnostic::new(code, "x").severity(severity))
        };
        for (code, expected) in [
            (Code::UnknownKind, true),
            (Code::InvalidName, true),
            (Code::RequiredField, true),
            (Code::InvalidType, true),
            (Code::InvalidValue, true),
            (Code::RemovedField, true),
            (Code::UnknownField, false),
            (Code::ModelNotFound, false),
            (Code::ServerRefuses, false),
        ] {
            assert_eq!(of(code, Severity::Error), expected, "{code:?}");
            assert!(!of(code, Severity::Warning), "{code:?}");
        }
    }

    #[test]
    fn only_the_identity_of_a_runtime_keeps_others_from_naming_it() {
        for (code, path, expected) in [
            (Code::InvalidName, "metadata.name", true),
            (Code::InvalidName, "metadata.namespace", true),
            (Code::InvalidName, "metadata.labels", false),
            (Code::InvalidValue, "metadata.name", false),
        ] {
            let finding = Diagnostic::new(code, "x").path(path);
            assert_eq!(refuses_name(&finding), expected, "{code:?} {path}");
        }
        assert!(!refuses_name(&Diagnostic::new(Code::InvalidName, "x")));
    }
}
