//! The tests that `SECURITY.md` and `docs/limits.md` name are there.

use std::path::Path;

/// Whether a file has a test, or one below a folder.
fn has_test(path: &Path) -> bool {
    let Ok(entries) = std::fs::read_dir(path) else {
        return std::fs::read_to_string(path).is_ok_and(|text| text.contains("#[test]"));
    };
    entries.flatten().any(|entry| has_test(&entry.path()))
}

/// Whether a name of a test, as `cargo test` takes it, is that of a module with a test.
fn is_tested(name: &str) -> bool {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let path = name.replace("::", "/");
    ["tests/it", "src"].iter().any(|folder| {
        let below = root.join(folder).join(&path);
        has_test(&below) || has_test(&below.with_extension("rs"))
    })
}

/// What is quoted in a text.
fn quoted(text: &str) -> impl Iterator<Item = &str> {
    text.split('`').skip(1).step_by(2)
}

#[test]
fn every_test_that_the_security_policy_names_is_there() {
    let policy = include_str!("../../../SECURITY.md");
    let named: Vec<&str> = policy
        .split("Tests: ")
        .skip(1)
        .flat_map(|rest| {
            quoted(rest.split("\n\n").next().unwrap_or(rest).split("\n- ").next().unwrap_or(rest))
        })
        .filter(|name| !name.contains(['/', ' ']))
        .collect();
    assert!(named.len() > 10, "{named:?}");
    let missing: Vec<&str> = named.into_iter().filter(|name| !is_tested(name)).collect();
    assert!(missing.is_empty(), "no test has these names: {missing:?}");
}

#[test]
fn every_test_that_the_page_of_limits_names_is_there() {
    let page = include_str!("../../../docs/limits.md");
    let named: Vec<&str> =
        quoted(page).filter_map(|text| text.strip_prefix("cargo test ")).collect();
    assert!(!named.is_empty());
    let missing: Vec<&str> = named.into_iter().filter(|name| !is_tested(name)).collect();
    assert!(missing.is_empty(), "no test has these names: {missing:?}");
}
