use super::*;
use crate::api::Semantics;
use crate::load::{Request, load};
use crate::workspace::{self, ReadOptions};
use crate::yaml::Limits;
use std::path::Path;

#[test]
fn a_list_that_does_not_fit_is_a_table_of_each_kind() {
    let input = [Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata/quickstart")];
    let request = Request { paths: &input, builtin: &[], ..Request::default() };
    let loaded = load(&request, &mut std::io::empty(), &Limits::default());
    let world = workspace::read(loaded, &ReadOptions::new(Semantics::Documented));
    let items = items(&world, |_| true);
    let text = |width| table(&items, Names::Object, &world, Style { color: false, width });
    let narrow = text(Some(80));
    assert!(
        narrow.starts_with("ClusterBaseModel\nNAME ")
            && narrow.contains("\n\nClusterServingRuntime\nNAME ")
            && narrow.lines().all(|line| line.chars().count() <= 80),
        "{narrow}"
    );
    assert!(text(None).starts_with("KIND  "), "{}", text(None));
}

#[test]
fn values_of_the_json_are_words() {
    for (value, expected) in [
        (json!(["engine", "router"]), "engine, router"),
        (json!([]), "-"),
        (json!({"min": "500M", "max": "75B"}), "500M..75B"),
        (json!({"min": 1, "max": null}), "1.."),
        (json!({"min": null, "max": null}), "-"),
        (json!({"rest": true, "grpcPort": null}), "rest yes"),
        (json!(false), "no"),
        (json!(null), "-"),
    ] {
        assert_eq!(in_words(&value), expected, "{value}");
    }
    assert_eq!(words_of("overridesBuiltin"), "overrides builtin");
}
