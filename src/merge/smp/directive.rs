//! The directives of a strategic merge patch: keys that define how to merge a value.

use super::Problem;
use crate::yaml::Node;

/// Key of the directive that replaces or deletes a mapping or a list element.
pub(super) const PATCH: &str = "$patch";
/// Key of the directive that lists the keys to keep.
pub(super) const RETAIN_KEYS: &str = "$retainKeys";

const DELETE_FROM_PRIMITIVE_LIST: &str = "$deleteFromPrimitiveList";
const SET_ELEMENT_ORDER: &str = "$setElementOrder";

/// A key of a patch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Key<'a> {
    /// A field.
    Field(&'a str),
    /// `$deleteFromPrimitiveList/FIELD`: scalars to remove from a list.
    Delete(&'a str),
    /// `$setElementOrder/FIELD`: the order of a list's elements.
    Order(&'a str),
}

impl<'a> Key<'a> {
    /// Reads a key. A directive without `/FIELD` is an error.
    pub(super) fn parse(key: &'a str) -> Result<Self, Problem> {
        let after = |prefix: &str| match key.strip_prefix(prefix) {
            None => Ok(None),
            Some(rest) => {
                rest.strip_prefix('/').map(Some).ok_or_else(|| Problem::BadKey { key: key.into() })
            }
        };
        // The prefix alone is an error upstream too, even if the key would be a field of a map.
        if let Some(field) = after(DELETE_FROM_PRIMITIVE_LIST)? {
            return Ok(Self::Delete(field));
        }
        Ok(after(SET_ELEMENT_ORDER)?.map_or(Self::Field(key), Self::Order))
    }
}

/// The value of `$patch`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Patch {
    /// Uses the patch as it is, without merging.
    Replace,
    /// Deletes the mapping or element.
    Delete,
    /// Merges patches; has no meaning within a single patch.
    Merge,
}

impl Patch {
    /// Reads the value of `$patch`.
    pub(super) fn parse(value: &Node) -> Result<Self, Problem> {
        match value.as_str() {
            Some("replace") => Ok(Self::Replace),
            Some("delete") => Ok(Self::Delete),
            Some("merge") => Ok(Self::Merge),
            _ => Err(Problem::BadPatch {
                value: value.scalar_text().unwrap_or_else(|| value.kind_name().into()),
            }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn directive_keys_are_parsed() {
        assert_eq!(Key::parse("$deleteFromPrimitiveList/args").unwrap(), Key::Delete("args"));
        assert_eq!(Key::parse("$setElementOrder/containers").unwrap(), Key::Order("containers"));
        assert_eq!(Key::parse("$patch").unwrap(), Key::Field("$patch"));
        assert!(
            Key::parse("$setElementOrder").is_err()
                && Key::parse("$deleteFromPrimitiveListX/a").is_err()
        );
    }
}
