//! What candidates are compared by: the attributes of a model format, and what puts one before
//! another.

use crate::diag::Code;

/// What put the chosen one before the runner-up. Declaration order is the documented order of keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum DecidedBy {
    /// The service names it.
    Explicit,
    /// There was no other.
    OnlyCandidate,
    /// Namespace before cluster.
    Scope,
    /// Higher priority.
    Priority,
    /// Higher score (controller).
    Score,
    /// Closer size range.
    SizeDistance,
    /// Lists a lower protocol (KServe's controller).
    Protocol,
    /// Created later.
    Age,
    /// Name, byte order.
    Name,
}

impl DecidedBy {
    /// The word used in JSON output.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Explicit => "explicit",
            Self::OnlyCandidate => "only-candidate",
            Self::Scope => "scope",
            Self::Priority => "priority",
            Self::Score => "score",
            Self::SizeDistance => "size-distance",
            Self::Protocol => "protocol",
            Self::Age => "age",
            Self::Name => "name",
        }
    }
}

/// One of the compared attributes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Attribute {
    /// modelFormat.name.
    Format,
    /// modelFormat.version.
    FormatVersion,
    /// modelFramework.name.
    Framework,
    /// modelFramework.version.
    FrameworkVersion,
    /// modelArchitecture.
    Architecture,
    /// quantization.
    Quantization,
}

impl Attribute {
    /// All attributes in the order of the contract.
    pub const ALL: [Self; 6] = [
        Self::Format,
        Self::FormatVersion,
        Self::Framework,
        Self::FrameworkVersion,
        Self::Architecture,
        Self::Quantization,
    ];

    /// The word used in JSON output.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Format => "format",
            Self::FormatVersion => "formatVersion",
            Self::Framework => "framework",
            Self::FrameworkVersion => "frameworkVersion",
            Self::Architecture => "architecture",
            Self::Quantization => "quantization",
        }
    }

    /// Its field, in the spec of a model and in an entry of a runtime.
    pub fn field(self) -> &'static str {
        match self {
            Self::Format => "modelFormat.name",
            Self::FormatVersion => "modelFormat.version",
            Self::Framework => "modelFramework.name",
            Self::FrameworkVersion => "modelFramework.version",
            Self::Architecture => "modelArchitecture",
            Self::Quantization => "quantization",
        }
    }

    /// The reason a mismatch gives.
    pub fn reason(self) -> Code {
        match self {
            Self::Format => Code::ReasonFormatName,
            Self::FormatVersion => Code::ReasonFormatVersion,
            Self::Framework => Code::ReasonFrameworkName,
            Self::FrameworkVersion => Code::ReasonFrameworkVersion,
            Self::Architecture => Code::ReasonArchitecture,
            Self::Quantization => Code::ReasonQuantization,
        }
    }
}
