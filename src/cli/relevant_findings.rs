//! Which findings answer a question about named objects: those about these objects and about what
//! they name, and those about no object at all. Findings about their neighbors are left to
//! `validate`.

use crate::api::Object;
use crate::catalog::Catalog;
use crate::diag::{Code, Diagnostic};
use crate::load::kinds;
use crate::operators::is_service;
use crate::pipeline::Planned;
use crate::pipeline::serving::PlannedServing;
use crate::source::{SourceId, Span};
use std::collections::{BTreeSet, HashSet};

/// The objects that a question is about; none when it is about the whole input.
pub(super) struct About(Option<BTreeSet<(SourceId, u32)>>);

impl About {
    /// The objects in question: the whole input, or the named objects.
    pub(super) fn asked(names: &[String], named: impl FnOnce() -> Self) -> Self {
        if names.is_empty() { Self(None) } else { named() }
    }

    /// These objects.
    pub(super) fn these<'a>(
        catalog: &Catalog,
        objects: impl IntoIterator<Item = &'a Object>,
    ) -> Self {
        Self::named_at(catalog, objects.into_iter().map(Object::name_span))
    }

    fn named_at(catalog: &Catalog, names: impl IntoIterator<Item = Span>) -> Self {
        Self(Some(names.into_iter().filter_map(|name| place(catalog, name)).collect()))
    }

    /// Services with the model, runtime and classes that they name or get. Where none was chosen,
    /// every runtime, or every class, may be the reason.
    pub(super) fn planned(
        catalog: &Catalog,
        planned: &[Planned<'_>],
        servings: &[PlannedServing<'_>],
    ) -> Self {
        let mut objects: Vec<&Object> =
            servings.iter().map(|planned| &planned.serving.object).collect();
        for own in planned {
            objects.extend(own.resolution.model.map(|model| &model.object));
            match own.resolution.chosen() {
                Some(runtime) => objects.push(&runtime.object),
                None => objects.extend(catalog.all_runtimes().map(|runtime| &runtime.object)),
            }
            for decision in &own.resolution.accelerators {
                match decision.chosen {
                    Some(class) => objects.push(&class.object),
                    None => objects.extend(catalog.accelerator_classes()),
                }
            }
        }
        let services = planned.iter().map(|own| own.service.place);
        Self::named_at(catalog, services.chain(objects.into_iter().map(Object::name_span)))
    }

    /// Services or ModelServings among their kind: everything that is no other workload.
    pub(super) fn workloads<'a>(
        catalog: &'a Catalog,
        named: impl IntoIterator<Item = &'a Object>,
    ) -> Self {
        let shared = catalog.objects().filter(|own| !is_service(&own.id.kind));
        Self::these(catalog, shared.chain(named))
    }

    /// The findings about them.
    pub(super) fn of(&self, catalog: &Catalog, mut found: Vec<Diagnostic>) -> Vec<Diagnostic> {
        if let Some(objects) = &self.0 {
            found.retain(|finding| {
                let mut owners =
                    finding.labels.iter().map(|label| place(catalog, label.span)).peekable();
                owners.peek().is_none_or(Option::is_none)
                    || owners.flatten().any(|owner| objects.contains(&owner))
                    || finding.span().is_some_and(|span| is_of_the_cluster(catalog, span))
            });
        }
        found
    }
}

/// Findings that a page prints as errors of services are not printed again.
pub(super) fn beside_page(found: &[Diagnostic], planned: &[Planned<'_>]) -> Vec<Diagnostic> {
    let errors = planned.iter().filter_map(|own| own.error.as_ref());
    let on_page: HashSet<(Code, Option<Span>)> =
        errors.map(|error| (error.code, error.span)).collect();
    let is_on_page = |finding: &Diagnostic| on_page.contains(&(finding.code, finding.span()));
    found.iter().filter(|finding| !is_on_page(finding)).cloned().collect()
}

/// Where the object begins that holds a place.
fn place(catalog: &Catalog, span: Span) -> Option<(SourceId, u32)> {
    catalog.owner(span).map(|(start, _)| (span.source, start))
}

/// Whether a place is in an object that all services share: nodes, queues, settings.
fn is_of_the_cluster(catalog: &Catalog, span: Span) -> bool {
    catalog.owner_kind(span).is_some_and(|kind| !kinds::is_rendered_kind(kind))
}
