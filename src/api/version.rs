//! A version as written, parsed once by the documented rule and once by the controller's.

use crate::quantity::{self, DocumentedVersion, Operator, VersionError};
use ecow::EcoString;

/// A version of a format or framework.
#[derive(Clone, Debug)]
pub struct Version {
    text: EcoString,
    documented: Result<DocumentedVersion, VersionError>,
    controller: Option<quantity::Version>,
}

impl Version {
    /// Parses a version by both rules. A text that neither rule accepts is no error here.
    pub fn parse(text: &str) -> Self {
        Self {
            text: text.into(),
            documented: quantity::validate_documented(text),
            // A version that does not parse matches no other; why it does not is never told.
            controller: quantity::Version::parse_controller(text).ok(),
        }
    }

    /// Returns the version as written.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Returns the reason why the documents do not accept it (OME docs, Serving Runtime, Core
    /// Configuration; docs/decisions.md#version-precision).
    pub fn problem(&self) -> Option<&VersionError> {
        self.documented.as_ref().err()
    }

    /// Reports whether a runtime with this version accepts a model's version by the documents (OME
    /// docs, Serving Runtime, Core Configuration; docs/decisions.md#version-precision).
    pub fn admits_documented(&self, model: &Self) -> bool {
        matches!((&self.documented, &model.documented), (Ok(runtime), Ok(model)) if runtime.admits(model))
    }

    /// Reports whether the controller parses it as three numbers without a prefix.
    pub fn is_three_numbers(&self) -> bool {
        self.controller.as_ref().is_some_and(quantity::Version::is_three_numbers)
    }

    /// Reports whether the controller accepts a model for runtimes with both of these versions and
    /// operators. A version that does not parse matches no other version.
    pub fn shares_a_model(&self, operator: Operator, other: (&Self, Operator)) -> bool {
        matches!((&self.controller, &other.0.controller), (Some(version), Some(theirs)) if version.shares_a_model(operator, (theirs, other.1)))
    }

    /// Reports whether a runtime with this version and operator accepts a model's version by the
    /// controller (pkg/runtimeselector/matcher.go, compareSupportedModelFormats). A version that
    /// does not parse matches no other version.
    pub fn admits_controller(&self, operator: Operator, model: &Self) -> bool {
        matches!((&self.controller, &model.controller), (Some(runtime), Some(model)) if runtime.admits(operator, model).is_ok())
    }
}
