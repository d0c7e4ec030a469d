//! Fields that newer releases have than the tables: `tables/newer.txt`, written by hand.

use super::table;

/// A field, and the first release that has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Newer {
    ty: &'static str,
    /// The field.
    pub field: &'static str,
    /// The project, as `--release` names it.
    pub project: &'static str,
    /// Its first release with the field.
    pub since: &'static str,
}

/// Where the table names no release: the field is in a second set of CRDs of each release, which a
/// cluster has or has not.
const EXPERIMENTAL: &str = "experimental";

impl Newer {
    /// Whether no release tells whether a cluster has the field.
    pub fn is_experimental(&self) -> bool {
        self.since == EXPERIMENTAL
    }
}

fn all() -> impl Iterator<Item = Newer> {
    table::lines(include_str!("tables/newer.txt")).filter_map(|line| {
        let mut words = line.split(' ');
        Some(Newer {
            ty: words.next()?,
            field: words.next()?,
            project: words.next()?,
            since: words.next()?,
        })
    })
}

/// A newer field of a type.
pub(super) fn field(ty: &str, field: &str) -> Option<Newer> {
    all().find(|newer| newer.ty == ty && newer.field == field)
}

/// The newer field that a path of a finding ends with.
pub fn at_path(path: &str) -> Option<Newer> {
    let last = path.rsplit('.').next().unwrap_or(path);
    all().find(|newer| newer.field == last)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn newer_fields_are_fields_of_known_types_that_lack_them() {
        for newer in all() {
            let ty = table::definition(newer.ty).unwrap_or_else(|| panic!("{}", newer.ty));
            let fields = &ty.server().fields;
            assert!(fields.iter().all(|field| field.name != newer.field), "{newer:?}");
        }
        assert_eq!(
            at_path("spec.template.spec.schedulingGroup").map(|newer| newer.since),
            Some("1.36")
        );
        assert_eq!(at_path("spec.replicas"), None);
        assert!(at_path("spec.rules[0].retry").is_some_and(|newer| newer.is_experimental()));
    }
}
