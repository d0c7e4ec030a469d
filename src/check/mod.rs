//! Rules of `validate` beyond syntax and schema. They check the catalog as a whole, one file per
//! topic.
//!
//! In: a frozen [`Catalog`]. Out: findings. A rule is a row of a table ([`CHECKS`]
//! and those of the operators): its codes, its source document, a function. This module reads no
//! file and changes no object. It checks only the references of a service; `pipeline` evaluates
//! services. The severity of a finding depends on no flag (OME docs, Serving Runtime, Constraints
//! of priority; docs/decisions.md#same-priority).

pub(crate) mod allow_comments;
pub(crate) mod baseline;
pub(crate) mod component;
pub(crate) mod overlapping_entries;
pub(crate) mod pairs;
pub(crate) mod references;
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

use crate::api::{Api, Object};
use crate::catalog::Catalog;
use crate::diag::{Code, Diagnostic, Severity};
use crate::policy::Policy;
use crate::source::SourceMap;
use rayon::prelude::*;

/// The input of a rule.
#[derive(Clone, Copy, Debug)]
pub struct View<'a> {
    /// All loaded objects.
    pub catalog: &'a Catalog,
    /// The source texts of the catalog.
    pub sources: &'a SourceMap,
}

impl View<'_> {
    /// Returns the policy for an API; OME's when the API has none.
    pub(crate) fn policy(&self, api: Api) -> &'static Policy {
        let ome = || {
            let policy = self.catalog.policy(Api::Ome);
            policy.expect("OME has a policy under every semantics")
        };
        self.catalog.policy(api).unwrap_or_else(ome)
    }
}

/// One rule, or several that check the same fields.
pub struct Check {
    /// Codes of its findings.
    pub codes: &'static [Code],
    /// True if it runs only when one of its codes is requested.
    pub on_demand: bool,
    /// Document and heading, or upstream path and function.
    pub cite: &'static str,
    /// The function that reports findings.
    pub(crate) run: fn(&View<'_>, &mut Vec<Diagnostic>),
}

/// The rules that apply to every operator; each operator has its own additional rules. `ome code
/// CODE` explains each code; the order has no meaning.
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

/// Runs rules; on-demand rules run only when `codes` contains one of their codes.
///
/// Findings are in the order of the rules; the caller sorts them for output. Rules also evaluate
/// context-only objects; the caller drops findings in such files.
pub fn run(
    view: &View<'_>,
    checks: impl Iterator<Item = &'static Check>,
    codes: &[Code],
) -> Vec<Diagnostic> {
    let wanted: Vec<&Check> = checks
        .filter(|check| !check.on_demand || check.codes.iter().any(|code| codes.contains(code)))
        .collect();
    // In parallel, and put together in the order of the rules.
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

/// Lowers errors about built-in objects to warnings (OME docs, Serving Runtime, Constraints of
/// priority; docs/decisions.md#same-priority).
fn graded(severity: Severity, object: &Object) -> Severity {
    if object.builtin { severity.min(Severity::Warning) } else { severity }
}

/// Builds a finding about one object; for a built-in object, the severity is at most warning.
pub(crate) fn about(code: Code, object: &Object, message: impl Into<String>) -> Diagnostic {
    Diagnostic::new(code, message)
        .severity(graded(code.doc().severity, object))
        .object(object.id.to_string())
}
