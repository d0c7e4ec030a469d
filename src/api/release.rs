//! Releases, and the mode of each operator: follow the documents or the controller's code.

use super::Api;
use serde::Serialize;
use std::fmt;

/// The mode: documented or controller.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Semantics {
    /// The documents as written; docs/decisions.md resolves contradictions.
    #[default]
    Documented,
    /// The behavior of the pinned upstream code, including quirks.
    Controller,
}

impl Semantics {
    /// Returns the value used in flags and output.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Documented => "documented",
            Self::Controller => "controller",
        }
    }
}

impl fmt::Display for Semantics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// A release of an operator. Its tag is unique within the operator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Release {
    /// The tag, as `--release` takes it.
    pub tag: &'static str,
    /// Date of the tag, or of the commit.
    pub date: &'static str,
    /// Commit in the operator's repository.
    pub commit: &'static str,
    /// How its rules are known.
    pub knowledge: Knowledge,
}

/// How the rules of a release are known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Knowledge {
    /// Its documents are the rules.
    Documents,
    /// Its controllers were run: services whose objects were recorded.
    Recorded(u32),
    /// Its sources were read; what could not be read to its end.
    Read(&'static [&'static str]),
}

impl Knowledge {
    /// Returns the word used in output.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Documents => "documents",
            Self::Recorded(_) => "recorded",
            Self::Read(_) => "read",
        }
    }
}

/// The mode of each operator in a run. A run can follow the release of one operator and the
/// documents of the others.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Follow {
    /// Indexed by [`Api`]; the entry of `Cluster` is the default mode of the run.
    modes: [Semantics; Api::COUNT],
}

impl Follow {
    /// Returns a copy with another mode for one operator.
    #[must_use]
    pub fn with(mut self, api: Api, semantics: Semantics) -> Self {
        self.modes[api as usize] = semantics;
        self
    }

    /// Returns the mode of an operator.
    pub fn of(self, api: Api) -> Semantics {
        self.modes[api as usize]
    }

    /// Returns that mode for every operator when all `operators` share one mode, else `self`.
    #[must_use]
    pub fn among(self, operators: impl IntoIterator<Item = Api>) -> Self {
        // Operators that the run does not meet have no say in what it is called.
        let mut modes = operators.into_iter().map(|api| self.of(api));
        match modes.next() {
            Some(first) if modes.all(|mode| mode == first) => first.into(),
            _ => self,
        }
    }

    /// Returns the mode set by `--semantics` or the settings, which applies to anything that
    /// belongs to no operator.
    pub fn run(self) -> Semantics {
        self.of(Api::Cluster)
    }
}

impl From<Semantics> for Follow {
    fn from(semantics: Semantics) -> Self {
        Self { modes: [semantics; Api::COUNT] }
    }
}

impl fmt::Display for Follow {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The default of the run is left out: it is about objects of no operator.
        let operators = [Api::Ome, Api::KServe, Api::Kthena];
        let following = |semantics: Semantics| {
            let followed = operators.into_iter().filter(|api| self.of(*api) == semantics);
            followed.map(Api::title).collect::<Vec<_>>().join(" and ")
        };
        let [documents, controllers] =
            [Semantics::Documented, Semantics::Controller].map(following);
        match (documents.is_empty(), controllers.is_empty()) {
            (false, false) => write!(f, "controller for {controllers}, documented for {documents}"),
            (_, true) => Semantics::Documented.fmt(f),
            (true, _) => Semantics::Controller.fmt(f),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mode_is_named_by_operator_where_they_differ() {
        let documented = Follow::default();
        let one = documented.with(Api::Ome, Semantics::Controller);
        let two = one.with(Api::Kthena, Semantics::Controller);
        assert_eq!(documented.to_string(), "documented");
        assert_eq!(one.to_string(), "controller for OME, documented for KServe and Kthena");
        assert_eq!(two.to_string(), "controller for OME and Kthena, documented for KServe");
        assert_eq!(two.with(Api::KServe, Semantics::Controller).to_string(), "controller");
        assert_eq!(one.run(), Semantics::Documented);
        assert_eq!(one.among([Api::Ome, Api::Ome]), Semantics::Controller.into());
        assert_eq!(one.among([Api::Ome, Api::KServe]), one);
        assert_eq!(one.among([]), one);
    }
}
