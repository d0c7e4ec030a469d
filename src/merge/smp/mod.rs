//! Strategic merge patch, as `k8s.io/apimachinery/pkg/util/strategicpatch` does it.
//!
//! In: a tree, a patch and the type that rules them. Out: the merged tree. Mappings are merged key
//! by key; a list is merged by its key where the type declares one and replaced as a whole
//! elsewhere; null deletes; directives (`$patch`, `$retainKeys`, `$deleteFromPrimitiveList`,
//! `$setElementOrder`) do what they do upstream. Parts that the patch does not reach are shared
//! with the base.
//!
//! The walker (`walk`, `list`) knows how to merge; whether a field is merged is asked of `decide`.
//! Where upstream's answer depends on the order in which Go visits a map, deletions come before
//! additions here.

pub(crate) mod decide;
pub(crate) mod directive;
pub(crate) mod list;
pub(crate) mod order;
pub(crate) mod walk;

use super::history::{Record, Step};
use crate::schema::Type;
use crate::source::Span;
use crate::yaml::{FieldPath, Node};
use ecow::EcoString;
use std::fmt;

/// Merges a patch into a tree. Without a type, mappings are merged and lists replaced.
///
/// # Errors
/// When the patch is malformed (a directive, a list element without its merge key) or merges what
/// cannot be merged.
pub fn merge(
    base: Node,
    patch: &Node,
    ty: Option<&'static Type>,
    record: &mut impl Record,
) -> Result<Node, Error> {
    walk::root(base, patch, ty, record)
}

/// Why a patch cannot be merged, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error {
    /// What is wrong.
    pub problem: Problem,
    /// The field, from the root of the merged tree.
    pub path: FieldPath,
    /// The place in the text of the patch, if a text wrote it.
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
    /// The error seen from one step further up; the innermost place that a text wrote is kept.
    fn below(mut self, step: Step<'_>, patch: &Node) -> Self {
        self.path.0.insert(0, step.segment());
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
        /// What is there.
        found: &'static str,
    },
    /// A list is needed.
    #[error("{found} is where a list is needed")]
    ListNeeded {
        /// What is there.
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
    /// Mappings meet where the type has scalars.
    #[error("`{field}` cannot be a mapping here")]
    NoFields {
        /// The field.
        field: EcoString,
    },
    /// Lists meet where the type has none.
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
    /// A list of mappings is to be merged and has no key.
    #[error("the list has no merge key")]
    NotKeyed,
    /// The elements of a list are of different types.
    #[error("the elements of the list are not all of one type")]
    MixedElements,
    /// Lists of lists are not merged.
    #[error("lists of lists cannot be merged")]
    ListOfLists,
    /// A mapping or a list is where elements are compared.
    #[error("{found} cannot be compared, a scalar is needed")]
    Uncomparable {
        /// What is there.
        found: &'static str,
    },
    /// `$patch` has a value that means nothing there.
    #[error("`$patch: {value}` means nothing here, write `replace` or `delete`")]
    BadPatch {
        /// The value.
        value: EcoString,
    },
    /// A directive's key does not name its field.
    #[error(
        "`{key}` names no field, write it as `$setElementOrder/FIELD` or `$deleteFromPrimitiveList/FIELD`"
    )]
    BadKey {
        /// The key.
        key: EcoString,
    },
    /// `$retainKeys` is no list, or the patch sets a key that it does not name.
    #[error("`$retainKeys` must be a list of all keys that the patch sets")]
    BadRetainKeys,
    /// The elements of the patch are not in the order of `$setElementOrder`.
    #[error("the list and its `$setElementOrder` do not agree")]
    BadOrder,
    /// Nothing to be put in order.
    #[error("the list to be put in order is empty")]
    NothingToOrder,
}

#[cfg(test)]
mod tests;
