//! Cases with known answers: `testdata/conformance`, one test per folder.
//!
//! `OME_CASES=DIR cargo test --test it conformance::elsewhere` runs another tree of the same
//! format, and `OME_TEST_BIN=PATH` another binary.

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
    api_server_invalid => "api-server/invalid",
    api_server_valid => "api-server/valid",
    cluster_accelerators => "cluster/accelerators",
    cluster_builtin => "cluster/builtin",
    cluster_kueue => "cluster/kueue",
    documented_s1_builtins => "documented/s1-builtins",
    documented_s1_example => "documented/s1-example",
    documented_s1_explicit => "documented/s1-explicit",
    documented_s1_implicit => "documented/s1-implicit",
    documented_s1_kinds => "documented/s1-kinds",
    documented_s1_legacy => "documented/s1-legacy",
    documented_s1_merge => "documented/s1-merge",
    documented_s1_priority => "documented/s1-priority",
    documented_s1_select => "documented/s1-select",
    documented_s1_storage => "documented/s1-storage",
    documented_s1_templates => "documented/s1-templates",
    documented_s1_validate => "documented/s1-validate",
    documented_s2_availability => "documented/s2-availability",
    documented_s2_catalog => "documented/s2-catalog",
    documented_s2_compatibility => "documented/s2-compatibility",
    documented_s2_configurations => "documented/s2-configurations",
    documented_s2_convert => "documented/s2-convert",
    documented_s2_discovery => "documented/s2-discovery",
    documented_s2_failure => "documented/s2-failure",
    documented_s2_hierarchy => "documented/s2-hierarchy",
    documented_s2_kueue => "documented/s2-kueue",
    documented_s2_memory_fit => "documented/s2-memory-fit",
    documented_s2_merge_affinity => "documented/s2-merge-affinity",
    documented_s2_merge_args => "documented/s2-merge-args",
    documented_s2_merge_env => "documented/s2-merge-env",
    documented_s2_merge_node_selector => "documented/s2-merge-node-selector",
    documented_s2_merge_resources => "documented/s2-merge-resources",
    documented_s2_requirements => "documented/s2-requirements",
    documented_s2_selection => "documented/s2-selection",
    documented_s2_story_1 => "documented/s2-story-1",
    documented_s2_story_2 => "documented/s2-story-2",
    documented_s2_story_3 => "documented/s2-story-3",
    documented_s2_story_4 => "documented/s2-story-4",
    documented_s2_story_5 => "documented/s2-story-5",
    documented_s2_story_6 => "documented/s2-story-6",
    documented_s2_story_7 => "documented/s2-story-7",
    documented_s2_story_8 => "documented/s2-story-8",
    documented_s2_strategy => "documented/s2-strategy",
    documented_s2_tiers => "documented/s2-tiers",
    documented_s2_validate => "documented/s2-validate",
    documented_s2_vendors => "documented/s2-vendors",
    documented_s3_components => "documented/s3-components",
    documented_s3_control_plane => "documented/s3-control-plane",
    documented_s3_endpoints => "documented/s3-endpoints",
    documented_s3_protocols => "documented/s3-protocols",
    documented_s3_runtimes => "documented/s3-runtimes",
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
    kserve_llm_explain => "kserve-llm/explain",
    kserve_llm_line_by_line => "kserve-llm/line-by-line",
    kserve_odh_canary => "kserve-odh/canary",
    kserve_odh_container_and_connection => "kserve-odh/container-and-connection",
    kserve_odh_keda => "kserve-odh/keda",
    kserve_odh_own_container => "kserve-odh/own-container",
    kserve_odh_profile => "kserve-odh/profile",
    kserve_odh_selected_runtime => "kserve-odh/selected-runtime",
    kserve_objects_canary => "kserve-objects/canary",
    kserve_objects_components => "kserve-objects/components",
    kserve_objects_fails => "kserve-objects/fails",
    kserve_objects_gateway => "kserve-objects/gateway",
    kserve_objects_generated => "kserve-objects/generated",
    kserve_objects_image => "kserve-objects/image",
    kserve_objects_ingress => "kserve-objects/ingress",
    kserve_objects_knative => "kserve-objects/knative",
    kserve_objects_merge => "kserve-objects/merge",
    kserve_objects_merge_generated => "kserve-objects/merge-generated",
    kserve_objects_metadata => "kserve-objects/metadata",
    kserve_objects_model_mesh => "kserve-objects/model-mesh",
    kserve_objects_multi_node => "kserve-objects/multi-node",
    kserve_objects_placeholders => "kserve-objects/placeholders",
    kserve_objects_raw => "kserve-objects/raw",
    kserve_objects_refused => "kserve-objects/refused",
    kserve_objects_scale => "kserve-objects/scale",
    kserve_objects_server => "kserve-objects/server",
    kserve_objects_storage => "kserve-objects/storage",
    kserve_select_auto_select => "kserve-select/auto-select",
    kserve_select_disabled => "kserve-select/disabled",
    kserve_select_explicit => "kserve-select/explicit",
    kserve_select_format => "kserve-select/format",
    kserve_select_generated => "kserve-select/generated",
    kserve_select_legacy => "kserve-select/legacy",
    kserve_select_mode => "kserve-select/mode",
    kserve_select_multi_model => "kserve-select/multi-model",
    kserve_select_multi_node => "kserve-select/multi-node",
    kserve_select_panics => "kserve-select/panics",
    kserve_select_priority => "kserve-select/priority",
    kserve_select_protocol => "kserve-select/protocol",
    kserve_select_scope => "kserve-select/scope",
    kthena_booster_own => "kthena-booster/own",
    kthena_objects_own => "kthena-objects/own",
    kthena_objects_server => "kthena-objects/server",
    kthena_rollout_own => "kthena-rollout/own",
    ome_accelerators_own => "ome-accelerators/own",
    ome_objects_own => "ome-objects/own",
    ome_releases_own => "ome-releases/own",
    ome_select_own => "ome-select/own",
    pipeline_diff => "pipeline/diff",
    pipeline_formats => "pipeline/formats",
    pipeline_krm => "pipeline/krm",
    pipeline_names => "pipeline/names",
    pipeline_pass_through => "pipeline/pass-through",
    pipeline_schema => "pipeline/schema",
    pipeline_test => "pipeline/test",
    reports_agreement => "reports/agreement",
    reports_reading => "reports/reading",
    reports_releases => "reports/releases",
    reports_remedies => "reports/remedies",
    reports_repositories => "reports/repositories",
    reports_world => "reports/world",
    tools_diff => "tools/diff",
    tools_endpoints => "tools/endpoints",
    tools_flip => "tools/flip",
    tools_import => "tools/import",
    tools_reader => "tools/reader",
    tools_render => "tools/render",
    tools_rollout => "tools/rollout",
    tools_settings => "tools/settings",
    tools_why => "tools/why",
    tools_words => "tools/words",
}

#[test]
fn every_suite_has_a_test() {
    let tree = Path::new(TREE);
    let folder = |case: &Path| -> String {
        let parts: Vec<_> = case
            .strip_prefix(tree)
            .expect("cases are below the tree")
            .iter()
            .take(2)
            .map(|part| part.to_string_lossy())
            .collect();
        parts.join("/")
    };
    let found: BTreeSet<String> = run::cases(tree).iter().map(|case| folder(case)).collect();
    let tested: BTreeSet<String> = SUITES.iter().map(ToString::to_string).collect();
    assert_eq!(found, tested, "folders of testdata/conformance and the list above");
}

#[test]
fn cases_in_the_ome_cases_directory_pass() {
    let Some(tree) = std::env::var_os("OME_CASES") else { return };
    run::suite(&std::fs::canonicalize(&tree).expect("OME_CASES names a directory"), "");
}
