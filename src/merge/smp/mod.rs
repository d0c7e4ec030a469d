//! Strategic merge patch, as in `k8s.io/apimachinery/pkg/util/strategicpatch`.
//!
//! In: a tree, a patch and their type. Out: the merged tree. Mappings are merged key by key; a list
//! is merged by its key if the type declares one, else replaced as a whole; null deletes;
//! directives (`$patch`, `$retainKeys`, `$deleteFromPrimitiveList`, `$setElementOrder`) work as in
//! upstream code. Parts that the patch does not change are shared with the base.
//!
//! `walk` and `list` merge; `decide` returns whether a field is merged. Where upstream's result
//! depends on the order in which Go iterates over a map, deletions come before additions here.

pub(crate) mod decide;
pub(crate) mod directive;
pub(crate) mod list;
pub(crate) mod order;
pub(crate) mod walk;

use super::history::{Recorder, Step};
use crate::schema::Type;
use crate::source::Span;
use crate::yaml::{FieldPath, Node};
use ecow::EcoString;
use std::fmt;

/// Merges a patch into a tree. Without a type, mappings are merged and lists replaced.
///
/// # Errors
/// When the patch is malformed (a directive, a list element without its merge key) or its values
/// cannot be merged.
pub fn merge(
    base: Node,
    patch: &Node,
    ty: Option<&'static Type>,
    record: &mut Recorder,
) -> Result<Node, Error> {
    walk::root(base, patch, ty, record)
}

/// Why a patch cannot be merged, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error {
    /// The problem.
    pub problem: Problem,
    /// The field, from the root of the merged tree.
    pub path: FieldPath,
    /// The place in the text of the patch, if the patch comes from a text.
    pub span: Option<Span>,
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.path.0.is_empty() {
            write!(f, "{}", self.problem)
        } else {
            write!(f, "`{}`: {}", self.path, self.problem)
        }
    }
}

impl std::error::Error for Error {}

impl Error {
    /// Returns the error as seen one step up; keeps the innermost place that is in a text.
    fn below(mut self, step: Step<'_>, patch: &Node) -> Self {
        // The error travels up from the inside, so each caller puts its step in front.
        self.path.0.insert(0, step.segment());
        // The first place that has a text is the deepest one, hence the most exact.
        self.span = self.span.or_else(|| patch.origin.span());
        self
    }
}

impl From<Problem> for Error {
    fn from(problem: Problem) -> Self {
        Self { problem, path: FieldPath::root(), span: None }
    }
}

/// Why a patch cannot be merged.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Problem {
    /// Only mappings can be merged at the root and in keyed lists.
    #[error("{found} cannot be merged, a mapping is needed")]
    NotAMapping {
        /// The kind of the value.
        found: &'static str,
    },
    /// The value must be a list.
    #[error("{found} is where a list is needed")]
    ListNeeded {
        /// The kind of the value.
        found: &'static str,
    },
    /// The type has no such field.
    #[error("`{field}` is no field of `{of}`")]
    UnknownField {
        /// The field.
        field: EcoString,
        /// The type.
        of: &'static str,
    },
    /// Both values are mappings, but the type has a scalar.
    #[error("`{field}` cannot be a mapping here")]
    NoFields {
        /// The field.
        field: EcoString,
    },
    /// Both values are lists, but the type has no list.
    #[error("`{field}` cannot be a list here")]
    NotAList {
        /// The field.
        field: EcoString,
    },
    /// An element of a keyed list lacks the key.
    #[error("a list element has no `{key}`, the key by which the list is merged")]
    NoMergeKey {
        /// The merge key.
        key: &'static str,
    },
    /// The type says to merge a list of mappings but declares no merge key.
    #[error("the list has no merge key")]
    NotKeyed,
    /// The elements of a list are of different types.
    #[error("the elements of the list are not all of one type")]
    MixedElements,
    /// A list of lists cannot be merged.
    #[error("lists of lists cannot be merged")]
    ListOfLists,
    /// A mapping or a list is in a place where elements are compared.
    #[error("{found} cannot be compared, a scalar is needed")]
    Uncomparable {
        /// The kind of the value.
        found: &'static str,
    },
    /// `$patch` has an invalid value.
    #[error("`$patch: {value}` means nothing here, write `replace` or `delete`")]
    BadPatch {
        /// The value.
        value: EcoString,
    },
    /// The key of a directive does not include its field.
    #[error(
        "`{key}` names no field, write it as `$setElementOrder/FIELD` or `$deleteFromPrimitiveList/FIELD`"
    )]
    BadKey {
        /// The key.
        key: EcoString,
    },
    /// `$retainKeys` is not a list, or the patch sets a key that it does not contain.
    #[error("`$retainKeys` must be a list of all keys that the patch sets")]
    BadRetainKeys,
    /// The elements of the patch are not in the order of `$setElementOrder`.
    #[error("the list and its `$setElementOrder` do not agree")]
    BadOrder,
    /// There is no list to order.
    #[error("the list to be put in order is empty")]
    NothingToOrder,
}

#[cfg(test)]
mod tests;
