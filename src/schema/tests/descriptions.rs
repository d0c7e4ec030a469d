//! The sentences about fields.

use super::super::describe::entries;
use super::*;
use crate::schema::{named, overlay};
use std::collections::BTreeSet;

fn type_of(name: &str) -> Option<&'static Definition> {
    table::definition(name).or_else(|| overlay::definition(name))
}

#[test]
fn descriptions_belong_to_existing_fields_and_are_unique() {
    let mut seen = BTreeSet::new();
    for ((of, field), sentence) in entries() {
        assert!(seen.insert((of, field)), "{of} {field} is described twice");
        let definition = type_of(of).unwrap_or_else(|| panic!("no type {of}"));
        let is_field = definition.documented().fields.iter().any(|other| other.name == field);
        assert!(field == "." || is_field, "{of} has no field {field}");
        assert!(sentence.ends_with('.') && !sentence.ends_with(".."), "{of} {field}: {sentence}");
        assert!(sentence.len() <= 200, "{of} {field}: {sentence}");
    }
}

#[test]
fn descriptions_do_not_repeat_the_field_name() {
    for ((of, field), sentence) in entries() {
        let words = |text: &str| -> Vec<String> {
            let mut spaced = String::new();
            for c in text.chars() {
                if c.is_uppercase() {
                    spaced.push(' ');
                }
                spaced.extend(c.to_lowercase().filter(|c| c.is_alphanumeric() || *c == ' '));
            }
            let words = spaced.split_whitespace().filter(|word| !["the", "a", "of"].contains(word));
            words.map(ToOwned::to_owned).collect()
        };
        assert_ne!(words(sentence), words(field), "{of} {field}");
        assert!(words(sentence).len() > 1, "{of} {field}: {sentence}");
    }
}

/// Every field of the kinds that `ome` is about, down to the types of Kubernetes.
#[test]
fn kinds_that_are_served_are_described() {
    let groups = ["ome.io", "serving.kserve.io", "workload.serving.volcano.sh"];
    let mut missing = BTreeSet::new();
    for schema in kinds().iter().filter(|schema| groups.contains(&schema.group())) {
        let root = schema.root();
        let spec = root.field("spec").unwrap();
        let (Type::Object(whole), Type::Object(spec)) = (root, &spec.ty) else { panic!() };
        assert!(whole.description().is_some(), "{}", schema.kind);
        let (mut waiting, mut seen) = (vec![*whole, *spec], BTreeSet::new());
        while let Some(definition) = waiting.pop() {
            let is_own =
                ["ome/", "kserve/", "kthena/"].iter().any(|name| definition.name.starts_with(name));
            let is_kubernetes =
                ["Volume", "EnvVarSource", "VolumeProjection", "ProjectedVolumeSource"]
                    .iter()
                    .any(|name| definition.name.ends_with(name));
            if !is_own || is_kubernetes || !seen.insert(definition.name) {
                continue;
            }
            for field in &definition.documented().fields {
                if definition.describe(field).is_none() {
                    missing.insert(format!("{} {}", definition.name, field.name));
                }
                let inner = field.ty.item().map_or(&field.ty, |item| &item.ty);
                let inner = inner.item().map_or(inner, |item| &item.ty);
                if let Type::Object(definition) = inner {
                    waiting.push(definition);
                }
            }
        }
    }
    assert!(missing.is_empty(), "{missing:#?}");
}

#[test]
fn a_field_path_finds_its_description() {
    let service = named("inferenceservices.ome.io").next().unwrap();
    let sentence = |path: &str| service.describe(&crate::yaml::FieldPath::parse(path).unwrap());
    assert!(sentence("spec.engine.minReplicas").unwrap().contains("default 1"));
    assert!(sentence("spec.engine.containers[0].image").unwrap().contains("digest"));
    assert!(sentence("spec.engine.containers.image").unwrap().contains("digest"));
    assert_eq!(sentence("spec.engine.labels.minReplicas"), None);
    assert_eq!(sentence("spec.nosuch"), None);
    assert!(service.describe(&crate::yaml::FieldPath::default()).is_some());
}
