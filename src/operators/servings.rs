//! ModelServings for the modules above the operators: the rules that are followed, and what the
//! operator makes of them.
//!
//! In: a ModelServing and the catalog, which knows the release. Out: its gangs, pods, revisions and
//! updates. A ModelServing is written as it runs, so that none of the decisions of
//! [`Services`](crate::operator::Services) applies to it.

use super::kthena::releases::{KTHENA_DOCUMENTED, KTHENA_V0_4};
use super::kthena::rules::Rules as _;
use crate::api::Api;
use crate::catalog::Catalog;
use crate::policy::{Policy, Readings};

pub use super::kthena::rules::KthenaRelease as ServingRules;
pub(crate) use super::kthena::rules::RoleStruct;
pub(crate) use super::kthena::upgrade::{ROLE_STRUCT, between as upgrade_rules};
pub(crate) use super::kthena::{objects, read, rollout};

/// The API of ModelServings.
pub(crate) const API: Api = Api::Kthena;

/// Returns the rules of the first release that updates several groups at once.
pub(crate) fn first_with_budgets() -> &'static ServingRules {
    &KTHENA_V0_4
}

/// Returns the rules that are followed; those of the document where none were chosen.
pub(crate) fn followed(readings: &Readings) -> &'static ServingRules {
    readings.policy(API).map_or(&KTHENA_DOCUMENTED, of_policy)
}

/// Returns the rules of a policy of ModelServings.
pub(crate) fn of_policy(policy: &'static Policy) -> &'static ServingRules {
    policy.kthena()
}

/// Returns the rules that a catalog was read by.
pub fn rules(catalog: &Catalog) -> &'static ServingRules {
    followed(catalog.readings())
}
