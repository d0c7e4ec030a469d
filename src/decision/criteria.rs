//! Comparison criteria of candidates: the attributes of a model format, and the keys of the
//! ranking.

use crate::diag::Code;

/// The key that ranked the chosen candidate before the second one. Declaration order is the
/// documented order of keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum DecidedBy {
    /// The service references it.
    Explicit,
    /// It was the only candidate.
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
    /// Returns the value used in JSON output.
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
    /// All attributes in output order.
    pub const ALL: [Self; 6] = [
        Self::Format,
        Self::FormatVersion,
        Self::Framework,
        Self::FrameworkVersion,
        Self::Architecture,
        Self::Quantization,
    ];

    /// Returns the value used in JSON output.
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

    /// Returns its field in the spec of a model and in an entry of a runtime.
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

    /// Returns the code of a mismatch.
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
