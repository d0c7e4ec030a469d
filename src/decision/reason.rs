//! Reasons for rejection, and notes: data with a short noun phrase as `Display`.

use super::criteria::{Attribute, DecidedBy};
use crate::diag::Code;
use crate::yaml::Origin;
use ecow::EcoString;
use std::fmt;

/// The reason why a candidate was rejected, with the compared values.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reason {
    /// `vllm-a` has `disabled: true`.
    Disabled,
    /// The runtime lists no model format.
    NoFormats,
    /// An entry sets `MistralForCausalLM`, the model `LlamaForCausalLM`.
    Attribute {
        /// The attribute that differs.
        attribute: Attribute,
        /// The model's value.
        model: Option<EcoString>,
        /// The runtime's value.
        runtime: Option<EcoString>,
        /// Position of the entry.
        entry: usize,
    },
    /// The diffusion pipeline lacks a part or differs in one.
    Diffusion(EcoString),
    /// 8B is outside 40B..200B.
    SizeRange {
        /// Size of the model as written.
        size: EcoString,
        /// Lower bound as written.
        min: Option<EcoString>,
        /// Upper bound as written.
        max: Option<EcoString>,
    },
    /// The evaluated entry does not allow automatic selection.
    AutoSelectOff {
        /// Position of the entry, when a single entry is evaluated.
        entry: Option<usize>,
    },
    /// openInference-v2 is not in `[openAI]`.
    Protocol {
        /// The requested protocol.
        requested: EcoString,
        /// The values that the runtime lists.
        listed: Vec<EcoString>,
    },
    /// The runtime does not list a class that the service references.
    Accelerator {
        /// The first class that is missing.
        class: EcoString,
        /// The values that the runtime lists.
        listed: Vec<EcoString>,
    },
    /// The annotations of the runtime's and the service's component set two deployment modes.
    DeploymentMode {
        /// The component.
        component: &'static str,
        /// The runtime's mode.
        runtime: &'static str,
        /// The service's mode.
        service: &'static str,
    },
    /// No eligible accelerator class meets the requirements of this runtime.
    Unserved {
        /// The component.
        component: &'static str,
        /// The class closest to eligible, with what it lacks.
        nearest: EcoString,
    },
    /// The score is 0 or less.
    ScoreZero(i64),
    /// The runtime is for many models at once (KServe docs, Serving Runtimes, Spec Attributes).
    MultiModel,
    /// Either the runtime or the service spans nodes, but not both.
    MultiNode {
        /// True when the runtime spans nodes.
        runtime: bool,
    },
    /// The runtime is in namespace team-b, the service in team-a.
    WrongNamespace {
        /// Namespace of the runtime.
        runtime: EcoString,
        /// Namespace of the service.
        service: EcoString,
    },
}

impl Reason {
    /// How much has to change before the runtime serves: 0 a field of the service, 1 a setting of the
    /// runtime or its nodes, 2 what the model's server would have to support.
    pub fn cost(&self) -> u8 {
        // The exhaustive match makes a new reason state its cost.
        match self {
            Self::Protocol { .. } | Self::AutoSelectOff { .. } | Self::DeploymentMode { .. } => 0,
            Self::Disabled
            | Self::SizeRange { .. }
            | Self::Accelerator { .. }
            | Self::Unserved { .. }
            | Self::ScoreZero(_) => 1,
            Self::NoFormats
            | Self::Attribute { .. }
            | Self::Diffusion(_)
            | Self::MultiModel
            | Self::MultiNode { .. }
            | Self::WrongNamespace { .. } => 2,
        }
    }

    /// Returns the code.
    pub fn code(&self) -> Code {
        match self {
            Self::Disabled => Code::ReasonDisabled,
            Self::NoFormats => Code::ReasonNoFormats,
            Self::Attribute { attribute, .. } => attribute.reason(),
            Self::Diffusion(_) => Code::ReasonDiffusion,
            Self::SizeRange { .. } => Code::ReasonSizeRange,
            Self::AutoSelectOff { .. } => Code::ReasonAutoSelectOff,
            Self::Protocol { .. } => Code::ReasonProtocol,
            Self::Accelerator { .. } | Self::Unserved { .. } => Code::ReasonAccelerator,
            Self::DeploymentMode { .. } => Code::ReasonDeploymentMode,
            Self::ScoreZero(_) => Code::ReasonScoreZero,
            Self::MultiModel => Code::ReasonMultiModel,
            Self::MultiNode { .. } => Code::ReasonMultinodeMismatch,
            Self::WrongNamespace { .. } => Code::ReasonWrongNamespace,
        }
    }
}

/// Formats a size range such as `40B..200B`; a missing bound is left empty.
pub fn range_text(min: Option<&EcoString>, max: Option<&EcoString>) -> String {
    format!("{}..{}", min.map_or("", EcoString::as_str), max.map_or("", EcoString::as_str))
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Disabled => f.write_str("the runtime is disabled"),
            Self::NoFormats => f.write_str("no supported model formats"),
            Self::Attribute { attribute, model, runtime, .. } => {
                let what = match attribute {
                    Attribute::Format => "format name",
                    Attribute::FormatVersion => "format version",
                    Attribute::Framework => "framework name",
                    Attribute::FrameworkVersion => "framework version",
                    Attribute::Architecture => "architecture",
                    Attribute::Quantization => "quantization",
                };
                match (model, runtime) {
                    (Some(model), Some(runtime)) => {
                        write!(f, "{what} mismatch (model={model}, runtime={runtime})")
                    }
                    (None, Some(runtime)) => {
                        write!(f, "model has no {what} but runtime requires {runtime}")
                    }
                    (Some(model), None) => {
                        write!(f, "model has {what} {model} but runtime has no {what} requirement")
                    }
                    (None, None) => write!(f, "{what} is on neither side"),
                }
            }
            Self::Diffusion(text) => f.write_str(text),
            Self::SizeRange { size, min, max } => {
                write!(f, "{size} is outside {}", range_text(min.as_ref(), max.as_ref()))
            }
            Self::AutoSelectOff { entry: Some(entry) } => {
                write!(f, "autoSelect is off on the matching entry {entry}")
            }
            Self::AutoSelectOff { entry: None } => f.write_str("autoSelect is on for no entry"),
            Self::Protocol { requested: protocol, listed } => {
                write!(f, "{protocol} is not in [{}]", listed.join(", "))
            }
            Self::Accelerator { class, listed } if listed.is_empty() => {
                write!(f, "{class} is required and the runtime lists no accelerator classes")
            }
            Self::Accelerator { class, listed } => {
                write!(f, "{class} is not in [{}]", listed.join(", "))
            }
            Self::DeploymentMode { component, runtime, service } => {
                write!(f, "its {component} is of mode {runtime}, that of the service of {service}")
            }
            Self::Unserved { component, nearest } => {
                write!(
                    f,
                    "no accelerator class meets the requirements of the {component}; nearest is {nearest}"
                )
            }
            Self::ScoreZero(score) => write!(f, "the score is {score}"),
            Self::MultiModel => f.write_str("multiModel: true is for ModelMesh only"),
            Self::MultiNode { runtime: true } => {
                f.write_str("the runtime has a workerSpec, the service has none")
            }
            Self::MultiNode { runtime: false } => {
                f.write_str("the service has a workerSpec, the runtime has none")
            }
            Self::WrongNamespace { runtime, service } => {
                write!(f, "is in namespace {runtime}, the service in {service}")
            }
        }
    }
}

/// A rejection with the place to change.
#[derive(Clone, Debug)]
pub struct Rejection {
    /// The reason.
    pub reason: Reason,
    /// The place to change, when it is in a text.
    pub origin: Option<Origin>,
}

/// A note on a decision or a candidate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Note {
    /// autoSelect and priority were not evaluated.
    NotConsulted,
    /// A namespaced runtime hides the cluster one of the same name.
    Shadows(EcoString),
    /// The closest size range alone would choose another runtime.
    SizeAloneWouldChoose(EcoString),
    /// Age or name decided.
    OrderNotGuaranteed,
    /// The creationTimestamp is unknown.
    CreationTimestampUnknown,
    /// A user's object ranked above a built-in one.
    NewerThanBuiltin(EcoString),
    /// The range was not checked.
    SizeUnknown,
    /// The runtime lists no protocols.
    ProtocolUnconstrained,
    /// Another runtime ranks higher.
    Outranked {
        /// The runtime that ranks higher.
        by: EcoString,
        /// The key that decided.
        key: DecidedBy,
        /// The compared values, e.g. `priority 1 < 2`.
        detail: EcoString,
    },
}

impl Note {
    /// Returns the code.
    pub fn code(&self) -> Code {
        match self {
            Self::NotConsulted => Code::NoteNotConsulted,
            Self::Shadows(_) => Code::NoteShadows,
            Self::SizeAloneWouldChoose(_) => Code::NoteSizeAloneWouldChoose,
            Self::OrderNotGuaranteed => Code::NoteOrderNotGuaranteed,
            Self::CreationTimestampUnknown => Code::NoteCreationTimestampUnknown,
            Self::NewerThanBuiltin(_) => Code::NoteNewerThanBuiltin,
            Self::SizeUnknown => Code::NoteSizeUnknown,
            Self::ProtocolUnconstrained => Code::NoteProtocolUnconstrained,
            Self::Outranked { .. } => Code::NoteOutranked,
        }
    }
}

impl fmt::Display for Note {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotConsulted => f.write_str("explicit: autoSelect and priority not consulted"),
            Self::Shadows(other) => write!(f, "shadows {other}"),
            Self::SizeAloneWouldChoose(other) => write!(f, "size alone would choose {other}"),
            Self::OrderNotGuaranteed => f.write_str("order not guaranteed by the documentation"),
            Self::CreationTimestampUnknown => {
                f.write_str("creationTimestamp unknown offline, the name decided")
            }
            Self::NewerThanBuiltin(other) => write!(f, "newer than built-in {other}"),
            Self::SizeUnknown => f.write_str("size unknown, range not checked"),
            Self::ProtocolUnconstrained => f.write_str("protocol unconstrained"),
            Self::Outranked { by, detail, .. } => write!(f, "outranked by {by}: {detail}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_size_outside_of_a_range_names_both_bounds_or_the_one_that_is_there() {
        let of = |min: Option<&str>, max: Option<&str>| {
            let reason = Reason::SizeRange {
                size: "8B".into(),
                min: min.map(Into::into),
                max: max.map(Into::into),
            };
            reason.to_string()
        };
        assert_eq!(of(Some("40B"), Some("200B")), "8B is outside 40B..200B");
        assert_eq!(of(Some("40B"), None), "8B is outside 40B..");
        assert_eq!(of(None, Some("7B")), "8B is outside ..7B");
    }

    #[test]
    fn an_attribute_says_which_side_has_it() {
        let of = |attribute, model: Option<&str>, runtime: Option<&str>| {
            let (model, runtime) = (model.map(Into::into), runtime.map(Into::into));
            Reason::Attribute { attribute, model, runtime, entry: 0 }.to_string()
        };
        assert_eq!(
            of(Attribute::Architecture, Some("Llama"), Some("Qwen")),
            "architecture mismatch (model=Llama, runtime=Qwen)"
        );
        assert_eq!(
            of(Attribute::Quantization, None, Some("fp8")),
            "model has no quantization but runtime requires fp8"
        );
        assert_eq!(
            of(Attribute::FrameworkVersion, Some("4.3"), None),
            "model has framework version 4.3 but runtime has no framework version requirement"
        );
        assert_eq!(of(Attribute::Format, None, None), "format name is on neither side");
    }

    #[test]
    fn what_is_listed_is_shown_in_its_order_and_nothing_is_said_to_be_nothing() {
        let listed = |all: &[&str]| all.iter().map(|name| EcoString::from(*name)).collect();
        let protocol =
            Reason::Protocol { requested: "v2".into(), listed: listed(&["openAI", "grpc-v2"]) };
        assert_eq!(protocol.to_string(), "v2 is not in [openAI, grpc-v2]");
        let class = |all: &[&str]| {
            Reason::Accelerator { class: "h100".into(), listed: listed(all) }.to_string()
        };
        assert_eq!(class(&["l4"]), "h100 is not in [l4]");
        assert_eq!(class(&[]), "h100 is required and the runtime lists no accelerator classes");
    }

    #[test]
    fn an_entry_that_does_not_allow_selection_is_named_where_one_is_judged() {
        let of = |entry| Reason::AutoSelectOff { entry }.to_string();
        assert_eq!(of(Some(2)), "autoSelect is off on the matching entry 2");
        assert_eq!(of(None), "autoSelect is on for no entry");
    }

    #[test]
    fn a_mode_or_nodes_of_one_side_are_told_from_those_of_the_other() {
        let mode = Reason::DeploymentMode {
            component: "engine",
            runtime: "MultiNode",
            service: "RawDeployment",
        };
        assert_eq!(
            mode.to_string(),
            "its engine is of mode MultiNode, that of the service of RawDeployment"
        );
        let nodes = |runtime| Reason::MultiNode { runtime }.to_string();
        assert_eq!(nodes(true), "the runtime has a workerSpec, the service has none");
        assert_eq!(nodes(false), "the service has a workerSpec, the runtime has none");
    }

    #[test]
    fn both_reasons_about_accelerators_have_one_code() {
        let unserved = Reason::Unserved { component: "engine", nearest: "l4: memory".into() };
        let unlisted = Reason::Accelerator { class: "h100".into(), listed: Vec::new() };
        assert_eq!([unserved.code(), unlisted.code()], [Code::ReasonAccelerator; 2]);
        assert_eq!(
            unserved.to_string(),
            "no accelerator class meets the requirements of the engine; nearest is l4: memory"
        );
    }

    #[test]
    fn a_runtime_that_is_outranked_names_the_other_and_the_values() {
        let note = Note::Outranked {
            by: "b".into(),
            key: DecidedBy::Priority,
            detail: "priority 1 < 2".into(),
        };
        assert_eq!(note.to_string(), "outranked by b: priority 1 < 2");
        assert_eq!(note.code(), Code::NoteOutranked);
    }

    /// What is nearest to serving is what costs least to change.
    #[test]
    fn a_field_of_the_service_costs_less_than_the_runtime_and_that_less_than_the_server() {
        let attribute =
            |attribute| Reason::Attribute { attribute, model: None, runtime: None, entry: 0 };
        let protocol = Reason::Protocol { requested: "v2".into(), listed: Vec::new() };
        for (less, more) in [
            (protocol, Reason::Disabled),
            (Reason::Disabled, attribute(Attribute::Architecture)),
            (Reason::AutoSelectOff { entry: None }, attribute(Attribute::Format)),
        ] {
            assert!(less.cost() < more.cost(), "{less} {more}");
        }
    }

    #[test]
    fn every_reason_has_a_code_of_reasons() {
        for (reason, code) in [
            (Reason::Disabled, "disabled"),
            (Reason::NoFormats, "no-formats"),
            (Reason::AutoSelectOff { entry: Some(1) }, "auto-select-off"),
            (Reason::Protocol { requested: "v2".into(), listed: Vec::new() }, "protocol"),
            (Reason::ScoreZero(0), "score-zero"),
            (Reason::MultiModel, "multi-model"),
            (Reason::MultiNode { runtime: true }, "multinode-mismatch"),
            (
                Reason::WrongNamespace { runtime: "a".into(), service: "b".into() },
                "wrong-namespace",
            ),
            (Reason::SizeRange { size: "8B".into(), min: None, max: None }, "size-range"),
            (Reason::Diffusion("x".into()), "diffusion"),
        ] {
            assert_eq!(reason.code().as_str(), code);
            assert!(!reason.to_string().is_empty(), "{code}");
        }
    }

    #[test]
    fn a_runtime_of_another_namespace_names_both() {
        let reason = Reason::WrongNamespace { runtime: "team-b".into(), service: "team-a".into() };
        let text = reason.to_string();
        assert!(text.contains("team-a") && text.contains("team-b"), "{text}");
    }
}
