//! What is wrong with services, runtimes, models and classes of OME beyond their syntax.
//!
//! In: a [`View`] of the catalog. Out: findings; a row of [`CHECKS`] for each rule.

pub(crate) mod accelerators;
pub(crate) mod class;
pub(crate) mod model;
pub(crate) mod references;
pub(crate) mod router;
pub(crate) mod runtime;
pub(crate) mod service;

use crate::check::Check;
#[cfg(doc)]
use crate::check::View;
use crate::diag::Code;

/// Every rule.
pub(crate) static CHECKS: &[Check] = &[
    Check {
        codes: &[Code::ModelIncomplete],
        on_demand: false,
        cite: "CONTRACT-tools; ux 0.9",
        run: model::incomplete,
    },
    Check {
        codes: &[Code::UnknownQuantization],
        on_demand: false,
        cite: "S0-027",
        run: model::quantization,
    },
    Check {
        codes: &[Code::SimilarName],
        on_demand: false,
        cite: "S0-025",
        run: model::similar_names,
    },
    Check {
        codes: &[Code::InvalidPriority, Code::PriorityWithoutAutoSelect],
        on_demand: false,
        cite: "S0-029, S0-077",
        run: runtime::priorities,
    },
    Check {
        codes: &[Code::DifferentPriorities],
        on_demand: false,
        cite: "S0-081",
        run: runtime::different_priorities,
    },
    Check {
        codes: &[Code::UnknownProtocol],
        on_demand: false,
        cite: "S0-031",
        run: runtime::protocols,
    },
    Check {
        codes: &[Code::OneSidedRange, Code::InvalidValue],
        on_demand: false,
        cite: "S0-033; ome-selection 2.5",
        run: runtime::ranges,
    },
    Check {
        codes: &[Code::SizeRangeAndName],
        on_demand: false,
        cite: "S0-033",
        run: runtime::range_and_name,
    },
    Check {
        codes: &[Code::AcceleratorNotFound, Code::ModelNotFound, Code::RuntimeNotFound],
        on_demand: false,
        cite: "CONTRACT-tools; ome-selection 3.4",
        run: references::dangling,
    },
    Check {
        codes: &[Code::KueueNotFound],
        on_demand: false,
        cite: "accelerators.md 6.2",
        run: references::queues,
    },
    Check {
        codes: &[
            Code::FieldAlias,
            Code::MatchesEveryNode,
            Code::InvalidPciId,
            Code::PciVendorMismatch,
            Code::OperatorNotKubernetes,
        ],
        on_demand: false,
        cite: "S2-026, S2-080, S2-087, S2-089",
        run: accelerators::discovery,
    },
    Check {
        codes: &[
            Code::FieldAlias,
            Code::UnitlessMemory,
            Code::UnknownCapability,
            Code::UnknownTier,
            Code::DeviceIdMismatch,
            Code::CountedPerDie,
            Code::CatalogueMismatch,
            Code::Tf32Figure,
            Code::SparseFigure,
        ],
        on_demand: false,
        cite: "S2-020, S2-026, S2-068 to S2-072, S2-081, S2-088",
        run: accelerators::capabilities,
    },
    Check {
        codes: &[Code::InvalidValue, Code::MatchesNoNode],
        on_demand: false,
        cite: "S2-089; accelerators.md 5.5",
        run: class::terms,
    },
    Check {
        codes: &[Code::NodeInTwoClasses],
        on_demand: false,
        cite: "S2-093",
        run: class::claims,
    },
    Check {
        codes: &[Code::UnitlessMemory, Code::UnknownCapability],
        on_demand: false,
        cite: "S2-026, S2-068",
        run: accelerators::minimums,
    },
    Check {
        codes: &[Code::CatalogueUnknown],
        on_demand: true,
        cite: "S2-134",
        run: accelerators::unknown_products,
    },
    Check {
        codes: &[
            Code::AcceleratorNotFound,
            Code::ScoreRange,
            Code::UnknownCondition,
            Code::InvalidCondition,
            Code::RequiredField,
            Code::CommandInAcceleratorRunner,
        ],
        on_demand: false,
        cite: "S2-042, S2-095 to S2-099",
        run: accelerators::requirements,
    },
    Check {
        codes: &[Code::AcceleratorNotFound, Code::RouterRequestsGpu],
        on_demand: false,
        cite: "S2-054, S2-127",
        run: accelerators::services,
    },
    Check {
        codes: &[Code::NoRuntimeForModel],
        on_demand: false,
        cite: "CONTRACT-tools",
        run: references::unserved_models,
    },
    Check {
        codes: &[Code::RuntimeForNoModel],
        on_demand: true,
        cite: "CONTRACT-tools",
        run: references::unused_runtimes,
    },
    Check {
        codes: &[Code::DecoderWithoutEngine],
        on_demand: false,
        cite: "S0-053",
        run: service::decoder,
    },
    Check {
        codes: &[Code::ServerRefuses, Code::InvalidName, Code::InvalidValue],
        on_demand: false,
        cite: "ome-selection 5.2, 5.3",
        run: service::webhook,
    },
];
