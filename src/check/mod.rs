//! What `validate` says beyond syntax and schema: rules over the catalog as a whole, one file per
//! theme.
//!
//! In: a frozen [`Catalog`] and a [`Follow`]. Out: findings. A rule is a row of a table
//! ([`CHECKS`] and those of the operators): the codes it can give, the document it comes from, a
//! function. This module reads no file, changes nothing, and looks at a service only as far as it
//! names things; what becomes of a service is `pipeline`'s to say. The severity of a finding
//! depends on no flag (OME docs, Serving Runtime, Constraints of priority;
//! docs/decisions.md#same-priority).

pub(crate) mod allow_comments;
pub(crate) mod baseline;
pub(crate) mod component;
pub(crate) mod overlapping_entries;
pub(crate) mod pairs;
pub(crate) mod refusals;
pub(crate) mod scalar;
pub(crate) mod secret;
pub(crate) mod server;
pub(crate) mod template;

#[cfg(test)]
pub(crate) mod fixture;

pub use allow_comments::apply as apply_allows;
pub use baseline::Baseline;
pub use scalar::spell_out;
pub use server::refused_by_definition;

use crate::api::{Api, Follow, Object};
use crate::catalog::Catalog;
use crate::diag::{Code, Diagnostic, Severity};
use crate::policy::Policy;
use crate::source::SourceMap;
use rayon::prelude::*;

/// What is checked, and by whose word.
#[derive(Clone, Copy, Debug)]
pub struct View<'a> {
    /// Everything that was loaded.
    pub catalog: &'a Catalog,
    /// The texts it was read from.
    pub sources: &'a SourceMap,
    /// The mode: documents or controllers.
    pub semantics: Follow,
}

impl View<'_> {
    /// The policy for an API; OME's where the API has none of its own yet.
    pub(crate) fn policy(&self, api: Api) -> &'static Policy {
        let ome = || {
            let policy = self.catalog.policy(Api::Ome, self.semantics);
            policy.expect("OME has a policy under every semantics")
        };
        self.catalog.policy(api, self.semantics).unwrap_or_else(ome)
    }
}

/// One rule or a few that look at the same things.
pub struct Check {
    /// Codes it can give.
    pub codes: &'static [Code],
    /// Runs only when one of its codes is requested by name.
    pub on_demand: bool,
    /// Document and heading, or upstream path and function.
    pub cite: &'static str,
    /// What it finds.
    pub(crate) run: fn(&View<'_>, &mut Vec<Diagnostic>),
}

/// The rules that hold for every operator; each operator has more of its own. `ome code CODE` tells
/// what each means; the order decides nothing.
pub static CHECKS: &[Check] = &[
    Check {
        codes: &[Code::SamePriority, Code::AmbiguousAutoSelection],
        on_demand: false,
        cite: "OME docs, Serving Runtime, Constraints of priority; docs/decisions.md#same-priority",
        run: pairs::ties,
    },
    Check {
        codes: &[Code::AutoselectOverlap],
        on_demand: true,
        cite: "OME docs, Serving Runtime, Constraints of priority; docs/decisions.md#same-priority",
        run: pairs::overlaps,
    },
    Check {
        codes: &[Code::WorkerWithoutContainer, Code::WorkerSizeAbsent],
        on_demand: false,
        cite: "OME docs, Serving Runtime, Engine Configuration and Multi-Node Configuration",
        run: component::workers,
    },
    Check {
        codes: &[Code::ReplicaRange],
        on_demand: false,
        cite: "OME docs, Serving Runtime, Engine Configuration; docs/decisions.md#replicas; pkg/webhook/admission/isvc/inference_service_defaults.go",
        run: component::replicas,
    },
    Check {
        codes: &[Code::RequestsExceedLimits, Code::MountWithoutVolume, Code::VolumeTwoSources],
        on_demand: false,
        cite: "OME docs, Serving Runtime, Engine Configuration",
        run: component::pods,
    },
    Check {
        codes: &[Code::UnknownVariable, Code::TemplateInvalid, Code::VariableOutsideContainer],
        on_demand: false,
        cite: "OME docs, Serving Runtime, Multi-Node Configuration",
        run: template::variables,
    },
    Check {
        codes: &[Code::InlineSecret],
        on_demand: false,
        cite: "docs/decisions.md#inline-secrets",
        run: secret::inline,
    },
    Check {
        codes: &[Code::InvalidValue],
        on_demand: false,
        cite: "x-kubernetes-validations of the CRDs",
        run: server::rules,
    },
];

/// Runs rules, those on demand only when `asked` names one of their codes.
///
/// Findings are in the order of the rules; whoever prints them sorts. Objects read as context only
/// take part, but a finding whose place is in such a file is the caller's to drop.
pub fn run(
    view: &View<'_>,
    checks: impl Iterator<Item = &'static Check>,
    asked: &[Code],
) -> Vec<Diagnostic> {
    let wanted: Vec<&Check> = checks
        .filter(|check| !check.on_demand || check.codes.iter().any(|code| asked.contains(code)))
        .collect();
    let found: Vec<Vec<Diagnostic>> = wanted
        .into_par_iter()
        .map(|check| {
            let mut found = Vec::new();
            (check.run)(view, &mut found);
            debug_assert!(
                found.iter().all(|finding| check.codes.contains(&finding.code)),
                "a check gives the codes of its row"
            );
            found
        })
        .collect();
    found.into_iter().flatten().collect()
}

/// Errors of built-in objects are warnings (OME docs, Serving Runtime, Constraints of priority;
/// docs/decisions.md#same-priority).
fn graded(severity: Severity, object: &Object) -> Severity {
    if object.builtin { severity.min(Severity::Warning) } else { severity }
}

/// A finding about one object, graded by where the object comes from.
pub(crate) fn about(code: Code, object: &Object, message: impl Into<String>) -> Diagnostic {
    Diagnostic::new(code, message)
        .severity(graded(code.doc().severity, object))
        .object(object.id.to_string())
}
