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

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn every_attribute_has_a_word_a_field_and_a_reason_of_its_own() {
        let all = Attribute::ALL;
        let words: BTreeSet<&str> = all.iter().map(|attribute| attribute.as_str()).collect();
        let fields: BTreeSet<&str> = all.iter().map(|attribute| attribute.field()).collect();
        let reasons: BTreeSet<&str> =
            all.iter().map(|attribute| attribute.reason().as_str()).collect();
        assert_eq!((words.len(), fields.len(), reasons.len()), (6, 6, 6));
        for attribute in all {
            // A version is compared after the name that it belongs to.
            let is_version = attribute.field().ends_with(".version");
            assert_eq!(
                attribute.reason().as_str().ends_with("version"),
                is_version,
                "{attribute:?}"
            );
        }
    }

    #[test]
    fn keys_of_the_ranking_are_in_the_documented_order() {
        use DecidedBy::{Explicit, Name, OnlyCandidate, Priority, Scope, Score, SizeDistance};
        let order = [Explicit, OnlyCandidate, Scope, Priority, Score, SizeDistance, Name];
        assert!(order.is_sorted());
        assert_eq!(SizeDistance.as_str(), "size-distance");
    }
}
