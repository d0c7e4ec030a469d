//! A version as written, parsed once by both rules.

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
    /// Parses a version by both rules; neither failing is an error here.
    pub fn parse(text: &str) -> Self {
        Self {
            text: text.into(),
            documented: quantity::validate_documented(text),
            controller: quantity::Version::parse_controller(text).ok(),
        }
    }

    /// As written.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// What the documents have against it (OME docs, Serving Runtime, Core Configuration;
    /// docs/decisions.md#version-precision).
    pub fn problem(&self) -> Option<&VersionError> {
        self.documented.as_ref().err()
    }

    /// Whether a runtime with this version admits a model's, by the documents (OME docs, Serving
    /// Runtime, Core Configuration; docs/decisions.md#version-precision).
    pub fn admits_documented(&self, model: &Self) -> bool {
        matches!((&self.documented, &model.documented), (Ok(runtime), Ok(model)) if runtime.admits(model))
    }

    /// Whether the controller reads it as three numbers without prefix.
    pub fn is_three_numbers(&self) -> bool {
        self.controller.as_ref().is_some_and(quantity::Version::is_three_numbers)
    }

    /// Whether a runtime with this version and operator admits a model's, by the controller
    /// (pkg/runtimeselector/matcher.go, compareSupportedModelFormats). What does not parse admits
    /// nothing and is admitted by nothing.
    pub fn admits_controller(&self, operator: Operator, model: &Self) -> bool {
        matches!((&self.controller, &model.controller), (Some(runtime), Some(model)) if runtime.admits(operator, model).is_ok())
    }
}
