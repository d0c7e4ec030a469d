//! Cases with known answers: `testdata/conformance`, one test per folder.
//!
//! `OME_CASES=DIR cargo test --test it conformance::elsewhere` runs another tree of the same format, and
//! `OME_TEST_BIN=PATH` another binary.

mod expect;
mod run;
mod value;

use std::collections::BTreeSet;
use std::path::Path;

const TREE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/testdata/conformance");

/// A test per suite, and the list of them.
macro_rules! suites {
    ($($test:ident => $suite:literal,)*) => {
        $(
            #[test]
            fn $test() {
                run::suite(Path::new(TREE), $suite);
            }
        )*
        const SUITES: &[&str] = &[$($suite),*];
    };
}

suites! {
    documented_s0_catalog => "documented/s0-catalog",
    documented_s0_components => "documented/s0-components",
    documented_s0_explain => "documented/s0-explain",
    documented_s0_gates => "documented/s0-gates",
    documented_s0_kinds => "documented/s0-kinds",
    documented_s0_match => "documented/s0-match",
    documented_s0_merge => "documented/s0-merge",
    documented_s0_multi_node => "documented/s0-multi-node",
    documented_s0_priority => "documented/s0-priority",
    documented_s0_protocol => "documented/s0-protocol",
    documented_s0_scale => "documented/s0-scale",
    documented_s0_size => "documented/s0-size",
    documented_s0_template => "documented/s0-template",
    documented_s0_ties => "documented/s0-ties",
    documented_s0_use => "documented/s0-use",
    documented_s0_volumes => "documented/s0-volumes",
    documented_s3_grpc => "documented/s3-grpc",
    documented_s3_payload => "documented/s3-payload",
    documented_s4_architecture => "documented/s4-architecture",
    documented_s4_gang => "documented/s4-gang",
    documented_s4_recovery => "documented/s4-recovery",
    documented_s4_rollout => "documented/s4-rollout",
    documented_s4_scaling => "documented/s4-scaling",
    documented_s4_validate => "documented/s4-validate",
    kthena_objects_own => "kthena-objects/own",
    kthena_rollout_own => "kthena-rollout/own",
    ome_select_own => "ome-select/own",
    tools_endpoints => "tools/endpoints",
    tools_flip => "tools/flip",
    tools_import => "tools/import",
    tools_reader => "tools/reader",
    tools_render => "tools/render",
    tools_settings => "tools/settings",
    tools_why => "tools/why",
}

#[test]
fn every_suite_has_a_test() {
    let tree = Path::new(TREE);
    let folder = |case: &Path| -> String {
        let parts: Vec<_> = case.strip_prefix(tree).expect("cases are below the tree").iter().take(2).map(|part| part.to_string_lossy()).collect();
        parts.join("/")
    };
    let found: BTreeSet<String> = run::cases(tree).iter().map(|case| folder(case)).collect();
    let tested: BTreeSet<String> = SUITES.iter().map(ToString::to_string).collect();
    assert_eq!(found, tested, "folders of testdata/conformance and the list above");
}

#[test]
fn elsewhere() {
    let Some(tree) = std::env::var_os("OME_CASES") else { return };
    run::suite(&std::fs::canonicalize(&tree).expect("OME_CASES names a directory"), "");
}
