//! What every kind looks like: its fields, their types, defaults, list keys and merge strategies, and the order in
//! which they are printed.
//!
//! In: the tables of `tables/`, made by `examples/schema.rs` from the upstream schemas and checked in. Out: [`Schema`]s,
//! which check a tree ([`Schema::check`]), fill in what the API server would ([`Schema::default`]), marshal it as the
//! controllers' Go structs do ([`marshal`]), order its keys ([`order`]) and answer how a field is merged
//! ([`Field::patch`]). This room reads no file and knows no object but by its schema.
//!
//! Tables are read when a kind is first asked for, and types when a tree first reaches them.

mod overlay;
mod table;
mod types;

pub use types::{Definition, Field, Item, Object, Patch, Rules, Schema, Type};

use std::sync::OnceLock;
use table::TABLES;

static KINDS: OnceLock<Vec<Schema>> = OnceLock::new();

/// Every kind that has a schema, sorted by apiVersion and kind.
pub fn kinds() -> &'static [Schema] {
    KINDS.get_or_init(|| table::lines(include_str!("tables/kinds.txt")).filter_map(Schema::parse).collect())
}

/// The schema of a kind; the version must be one that is served.
pub fn kind(api_version: &str, kind: &str) -> Option<&'static Schema> {
    kinds().iter().find(|schema| schema.kind == kind && schema.api_version == api_version)
}

/// A Go struct of Kubernetes by its short name: `PodSpec`, `Container`.
pub fn structure(name: &str) -> Option<&'static Type> {
    TABLES[0].definition(name).map(Definition::whole)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_in_the_tables_is_found() {
        for table in &TABLES {
            let definitions = table.definitions();
            assert!(definitions.is_sorted_by(|a, b| a.name < b.name), "sorted");
            for definition in definitions {
                for line in definition.body().lines() {
                    // A name of an object type is what begins with a capital letter or holds a slash.
                    let name = line.split(' ').nth(2).unwrap().rsplit([']', '}']).next().unwrap();
                    if name.contains('/') || name.starts_with(|c: char| c.is_ascii_uppercase()) {
                        assert!(table::definition(name).is_some(), "{name} in {}", definition.name);
                    }
                }
                assert_eq!(definition.server().fields.len(), definition.body().lines().count(), "{}", definition.name);
            }
        }
        for schema in kinds() {
            assert!(schema.root().object().is_some(), "{} {}", schema.api_version, schema.kind);
        }
    }

    #[test]
    fn types_answer_merge_questions() {
        let service = kind("ome.io/v1beta1", "InferenceService").unwrap();
        let engine = service.root().at(&["spec", "engine"]).unwrap();
        assert_eq!(engine.field("volumes").unwrap().patch, Patch { merge: true, retain: true, replace: false, key: Some("name") });
        assert_eq!(engine.at(&["runner", "ports"]).map(|ty| ty.item().unwrap().rules.keys.clone()), Some(vec!["containerPort", "protocol"]));
        assert_eq!(engine.at(&["runner"]).unwrap().field("ports").unwrap().patch.key, Some("containerPort"));
        assert_eq!(engine.at(&["runner"]).unwrap().field("args").unwrap().patch, Patch::default());
        assert!(kind("ome.io/v1", "InferenceService").is_none() && !kind("ome.io/v1beta1", "AcceleratorClass").unwrap().namespaced);
    }
}
