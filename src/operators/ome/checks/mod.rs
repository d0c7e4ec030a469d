//! Rules about services, runtimes, models and classes of OME beyond their syntax.
//!
//! In: a [`View`] of the catalog. Out: findings. [`CHECKS`] has a row for each rule.

pub(crate) mod accelerators;
pub(crate) mod class;
pub(crate) mod model;
pub(crate) mod references;
pub(crate) mod router;
pub(crate) mod runtime;
pub(crate) mod service;

use crate::api::{AcceleratorClass, Api, Semantics};
use crate::check::Check;
use crate::check::View;
use crate::diag::Code;

/// Every rule of OME.
pub(crate) static CHECKS: &[Check] = &[
    Check {
        codes: &[Code::ModelIncomplete],
        on_demand: false,
        cite: "docs/cli.md; docs/validate.md",
        run: model::incomplete,
    },
    Check {
        codes: &[Code::UnknownQuantization],
        on_demand: false,
        cite: "OME docs, Serving Runtime, Core Configuration",
        run: model::quantization,
    },
    Check {
        codes: &[Code::SimilarName],
        on_demand: false,
        cite: "OME docs, Serving Runtime, Core Configuration; docs/decisions.md#spelling-of-names",
        run: model::similar_names,
    },
    Check {
        codes: &[Code::InvalidPriority, Code::PriorityWithoutAutoSelect],
        on_demand: false,
        cite: "OME docs, Serving Runtime, Core Configuration and Constraints of priority",
        run: runtime::priorities,
    },
    Check {
        codes: &[Code::DifferentPriorities],
        on_demand: false,
        cite: "OME docs, Serving Runtime, Constraints of priority; docs/decisions.md#same-priority",
        run: runtime::different_priorities,
    },
    Check {
        codes: &[Code::UnknownProtocol],
        on_demand: false,
        cite: "OME docs, Serving Runtime, Core Configuration; docs/decisions.md#protocols",
        run: runtime::protocols,
    },
    Check {
        codes: &[Code::OneSidedRange, Code::InvalidValue],
        on_demand: false,
        cite: "OME docs, Serving Runtime, Core Configuration; docs/decisions.md#size-ranges; pkg/runtimeselector/matcher.go, checkModelSize",
        run: runtime::ranges,
    },
    Check {
        codes: &[Code::SizeRangeAndName],
        on_demand: false,
        cite: "OME docs, Serving Runtime, Core Configuration; docs/decisions.md#size-ranges",
        run: runtime::range_and_name,
    },
    Check {
        codes: &[Code::AcceleratorNotFound, Code::ModelNotFound, Code::RuntimeNotFound],
        on_demand: false,
        cite: "docs/cli.md; pkg/controller/v1beta1/inferenceservice/components/base.go",
        run: references::dangling,
    },
    Check {
        codes: &[Code::KueueNotFound],
        on_demand: false,
        cite: "docs/decisions.md#kueue-flavors",
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
        cite: "OEP-0003, Story 3, Platform-Provided Base Set and AcceleratorClass; docs/decisions.md#field-spellings",
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
        cite: "OEP-0003, Story 2, Story 3, Risks and Mitigations, Platform-Provided Base Set and AcceleratorClass; docs/decisions.md#capabilities; docs/decisions.md#field-spellings",
        run: accelerators::capabilities,
    },
    Check {
        codes: &[Code::InvalidValue, Code::MatchesNoNode],
        on_demand: false,
        cite: "OEP-0003, AcceleratorClass; docs/decisions.md#terms",
        run: class::terms,
    },
    Check {
        codes: &[Code::NodeInTwoClasses],
        on_demand: false,
        cite: "OEP-0003, AcceleratorClass",
        run: class::claims,
    },
    Check {
        codes: &[Code::UnitlessMemory, Code::UnknownCapability],
        on_demand: false,
        cite: "OEP-0003, Story 3 and Risks and Mitigations; docs/decisions.md#field-spellings",
        run: accelerators::minimums,
    },
    Check {
        codes: &[Code::CatalogueUnknown],
        on_demand: true,
        cite: "OEP-0003, Implementation History",
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
        cite: "OEP-0003, Story 7 and InferenceService Extensions; docs/decisions.md#layers",
        run: accelerators::requirements,
    },
    Check {
        codes: &[Code::AcceleratorNotFound, Code::RouterRequestsGpu],
        on_demand: false,
        cite: "OEP-0003, Notes/Constraints/Caveats and Test Plan",
        run: accelerators::services,
    },
    Check {
        codes: &[Code::NoRuntimeForModel],
        on_demand: false,
        cite: "docs/cli.md",
        run: references::unserved_models,
    },
    Check {
        codes: &[Code::RuntimeForNoModel],
        on_demand: true,
        cite: "docs/cli.md",
        run: references::unused_runtimes,
    },
    Check {
        codes: &[Code::DecoderWithoutEngine],
        on_demand: false,
        cite: "OME docs, Serving Runtime, Decoder Configuration",
        run: service::decoder,
    },
    Check {
        codes: &[Code::ServerRefuses, Code::InvalidName, Code::InvalidValue],
        on_demand: false,
        cite: "pkg/webhook/admission/isvc/inference_service_validation.go; pkg/webhook/admission/servingruntime/servingruntime_webhook.go",
        run: service::webhook,
    },
];

/// Classes of the user; none in controller mode.
fn classes_of_user<'a>(view: &'a View<'a>) -> impl Iterator<Item = &'a AcceleratorClass> {
    let documented = view.catalog.readings().mode(Api::Ome) == Semantics::Documented;
    view.catalog
        .classes_by(Semantics::Documented)
        .filter(move |class| documented && !class.object.builtin)
}
