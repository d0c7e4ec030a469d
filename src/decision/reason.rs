//! Why a candidate was rejected, and remarks: data with a short noun phrase as `Display`.

use super::criteria::{Attribute, DecidedBy};
use crate::diag::Code;
use crate::yaml::Origin;
use ecow::EcoString;
use std::fmt;

/// Why a candidate was rejected, with its operands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reason {
    /// `vllm-a` has `disabled: true`.
    Disabled,
    /// The runtime lists nothing it serves.
    NoFormats,
    /// An entry says `MistralForCausalLM`, the model `LlamaForCausalLM`.
    Attribute {
        /// What differs.
        attribute: Attribute,
        /// The model's value.
        model: Option<EcoString>,
        /// The runtime's value.
        runtime: Option<EcoString>,
        /// Position of the entry.
        entry: usize,
    },
    /// The diffusion pipeline lacks or differs in something.
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
    /// The entry that counts does not allow automatic selection.
    AutoSelectOff {
        /// Position of the entry, when one entry counts.
        entry: Option<usize>,
    },
    /// openInference-v2 is not in `[openAI]`.
    Protocol {
        /// What was requested.
        asked: EcoString,
        /// What the runtime lists.
        listed: Vec<EcoString>,
    },
    /// A class that the service names is not listed.
    Accelerator {
        /// The first class that is missing.
        class: EcoString,
        /// What the runtime lists.
        listed: Vec<EcoString>,
    },
    /// No accelerator class that may be chosen meets the requirements on this runtime.
    Unserved {
        /// Of which component.
        component: &'static str,
        /// The class that came nearest, with what it lacks.
        nearest: EcoString,
    },
    /// The score is 0 or less.
    ScoreZero(i64),
    /// It is made for many models at once (KServe docs, Serving Runtimes, Spec Attributes).
    MultiModel,
    /// One of runtime and service spans nodes, the other does not.
    MultiNode {
        /// The runtime does.
        runtime: bool,
    },
    /// It lives in team-b, the service in team-a.
    WrongNamespace {
        /// Namespace of the runtime.
        runtime: EcoString,
        /// Namespace of the service.
        service: EcoString,
    },
}

impl Reason {
    /// Its code.
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
            Self::ScoreZero(_) => Code::ReasonScoreZero,
            Self::MultiModel => Code::ReasonMultiModel,
            Self::MultiNode { .. } => Code::ReasonMultinodeMismatch,
            Self::WrongNamespace { .. } => Code::ReasonWrongNamespace,
        }
    }
}

/// `40B..200B`, open where a bound is missing.
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
            Self::Protocol { asked, listed } => {
                write!(f, "{asked} is not in [{}]", listed.join(", "))
            }
            Self::Accelerator { class, listed } if listed.is_empty() => {
                write!(f, "{class} is required and the runtime lists no accelerator classes")
            }
            Self::Accelerator { class, listed } => {
                write!(f, "{class} is not in [{}]", listed.join(", "))
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

/// A rejection with the place that would have to change.
#[derive(Clone, Debug)]
pub struct Rejection {
    /// Why.
    pub reason: Reason,
    /// The place, when a text holds it.
    pub origin: Option<Origin>,
}

/// A remark on a decision or a candidate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Note {
    /// autoSelect and priority were not looked at.
    NotConsulted,
    /// A namespaced runtime hides the cluster one of the same name.
    Shadows(EcoString),
    /// Closeness alone would choose another.
    SizeAloneWouldChoose(EcoString),
    /// Age or name decided.
    OrderNotGuaranteed,
    /// No creationTimestamp is known.
    CreationTimestampUnknown,
    /// A user's object beat a built-in one.
    NewerThanBuiltin(EcoString),
    /// The range was not checked.
    SizeUnknown,
    /// The runtime lists no protocols.
    ProtocolUnconstrained,
    /// Another one ranks higher.
    Outranked {
        /// The higher one.
        by: EcoString,
        /// The key that decided.
        key: DecidedBy,
        /// Its operands, e.g. `priority 1 < 2`.
        detail: EcoString,
    },
}

impl Note {
    /// Its code.
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
