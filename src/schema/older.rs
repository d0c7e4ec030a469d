//! Fields that earlier releases have and the tables do not: `tables/older.txt`, written by hand.

use super::table;

/// A field, the last release that has it, and its name since then.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Older {
    ty: &'static str,
    /// The field.
    pub field: &'static str,
    /// The project, as `--release` names it.
    pub project: &'static str,
    /// Its last release with the field.
    pub until: &'static str,
    /// The name of the field in later releases; `None`: they have none.
    pub now: Option<&'static str>,
}

fn all() -> impl Iterator<Item = Older> {
    table::lines(include_str!("tables/older.txt")).filter_map(|line| {
        let mut words = line.split(' ');
        Some(Older {
            ty: words.next()?,
            field: words.next()?,
            project: words.next()?,
            until: words.next()?,
            now: Some(words.next()?).filter(|now| *now != "-"),
        })
    })
}

/// An older field of a type.
pub(super) fn field(ty: &str, field: &str) -> Option<Older> {
    all().find(|older| older.ty == ty && older.field == field)
}

/// The older names of a field.
pub(super) fn names(ty: &str, field: &str) -> impl Iterator<Item = &'static str> {
    all().filter(move |older| older.ty == ty && older.now == Some(field)).map(|older| older.field)
}

/// The older field, with another name in later releases, that a path of a finding ends with.
pub fn at_path(path: &str) -> Option<Older> {
    let last = path.rsplit('.').next().unwrap_or(path);
    all().find(|older| older.field == last && older.now.is_some())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn older_fields_have_another_name_in_their_types_or_none() {
        for older in all() {
            let ty = table::definition(older.ty).unwrap_or_else(|| panic!("{}", older.ty));
            let fields = &ty.server().fields;
            assert!(fields.iter().all(|field| field.name != older.field), "{older:?}");
            let has = |now| fields.iter().any(|field| field.name == now);
            assert!(older.now.is_none_or(has), "{older:?}");
        }
        assert_eq!(at_path("spec.metrics[0].metricName").and_then(|older| older.now), Some("name"));
        assert_eq!(at_path("status"), None);
        assert_eq!(at_path("spec.metrics[0].name"), None);
    }
}
