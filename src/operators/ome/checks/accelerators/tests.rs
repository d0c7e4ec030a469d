use crate::api::Semantics::Documented;
use crate::check::fixture::{codes, run};
use crate::diag::Code;

fn class(spec: &str) -> String {
    format!(
        "apiVersion: ome.io/v1beta1\nkind: AcceleratorClass\nmetadata: {{name: c}}\nspec: {spec}\n"
    )
}

#[test]
fn runtime_capability_minimums_and_routers_are_checked() {
    let runtime = "apiVersion: ome.io/v1beta1\nkind: ClusterServingRuntime\nmetadata: {name: r}\nspec: {acceleratorRequirements: {requiredCapabilities: \
                   {memoryGB: 40, speed: 3}}, routerConfig: {runner: {name: r, resources: {limits: {nvidia.com/gpu: 1}}}}}\n";
    let found = run(runtime, Documented);
    let codes = codes(&found);
    for code in [Code::UnitlessMemory, Code::UnknownCapability, Code::RouterRequestsGpu] {
        assert!(codes.contains(&code.as_str()), "{code:?} in {codes:?}");
    }
}

#[test]
fn each_invalid_class_has_its_finding() {
    for (spec, expected) in [
        ("{discovery: {}, capabilities: {memoryGB: 80Gi}}", vec![Code::MatchesEveryNode]),
        (
            "{nodeSelector: {a: b}, capabilities: {memoryGB: 40}}",
            vec![Code::FieldAlias, Code::UnitlessMemory],
        ),
        (
            "{vendor: nvidia, discovery: {pciVendorID: '1002'}, capabilities: {}}",
            vec![Code::PciVendorMismatch],
        ),
        ("{discovery: {pciVendorID: '0x10de'}, capabilities: {}}", vec![Code::InvalidPciId]),
        (
            "{discovery: {nodeSelector: {a: b}}, capabilities: {speed: 1}, cost: {tier: cheap}}",
            vec![Code::UnknownCapability, Code::UnknownTier],
        ),
        (
            "{discovery: {nodeSelector: {nvidia.com/gpu.product: NVIDIA-H200}}, capabilities: {memoryGB: 96Gi}}",
            vec![Code::CatalogueMismatch],
        ),
    ] {
        let mut expected: Vec<&str> = expected.iter().map(|code: &Code| code.as_str()).collect();
        expected.sort_unstable();
        let found = run(&class(spec), Documented);
        let mut found = codes(&found);
        found.sort_unstable();
        assert_eq!(found, expected, "{spec}");
    }
}
