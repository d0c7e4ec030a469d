use super::super::fixture::{codes, run, runtime};
use crate::api::Semantics::{Controller, Documented};
use crate::diag::{Code, Severity};

type Overlap = Option<(Option<String>, Option<String>)>;

const V1: &str = ", protocolVersions: [v1]";

fn pair(first: &str, second: &str) -> Vec<(Code, Vec<String>, Overlap)> {
    let text = format!("{}---\n{}", runtime("a", first), runtime("b", second));
    run(&text, Documented)
        .into_iter()
        .filter(|finding| matches!(finding.code, Code::SamePriority | Code::AmbiguousAutoSelection))
        .map(|finding| (finding.code, finding.objects, finding.overlap))
        .collect()
}

fn spec(format: &str, range: &str) -> String {
    format!(
        "  supportedModelFormats:\n  - {{modelFormat: {{name: safetensors}}, autoSelect: true{format}}}\n{range}"
    )
}

#[test]
fn equal_priorities_tie_where_one_model_fits_both() {
    // OME docs, Serving Runtime, Constraints of priority; docs/decisions.md#same-priority. Rows:
    // first runtime, second runtime, whether they tie.
    let range = |min: &str, max: &str| format!("  modelSizeRange: {{min: {min}, max: {max}}}\n");
    for (first, second, ties) in [
        (
            spec(", priority: 3", &range("5B", "9B")),
            spec(", priority: 3", &range("6B", "12B")),
            true,
        ),
        (
            spec(", priority: 3", &range("5B", "9B")),
            spec(", priority: 3", &range("9B", "12B")),
            true,
        ),
        (
            spec(", priority: 3", &range("5B", "9B")),
            spec(", priority: 3", &range("10B", "12B")),
            false,
        ),
        (
            spec(", priority: 3", &range("5B", "9B")),
            spec(", priority: 4", &range("5B", "9B")),
            false,
        ),
        (spec(", priority: 3", ""), spec(", priority: 3, modelArchitecture: A", ""), true),
        (
            spec(", priority: 3, modelArchitecture: B", ""),
            spec(", priority: 3, modelArchitecture: A", ""),
            false,
        ),
        (
            spec(", priority: 3, quantization: fp8", ""),
            spec(", priority: 3, quantization: int4", ""),
            false,
        ),
        (
            spec(", priority: 3, modelFramework: {name: t, version: '4'}", ""),
            spec(", priority: 3, modelFramework: {name: t, version: 4.1.0}", ""),
            true,
        ),
        (
            spec(", priority: 3, modelFramework: {name: t, version: '4.2'}", ""),
            spec(", priority: 3, modelFramework: {name: t, version: 4.1.0}", ""),
            false,
        ),
        (
            spec(", priority: 3", "  protocolVersions: [openAI]\n"),
            spec(", priority: 3", "  protocolVersions: [cohere]\n"),
            false,
        ),
        (spec(", priority: 3", "  protocolVersions: [openAI]\n"), spec(", priority: 3", ""), true),
        (spec(", priority: 3", "  disabled: true\n"), spec(", priority: 3", ""), false),
        (spec("", ""), spec(", priority: 1", ""), false),
    ] {
        assert_eq!(!pair(&first, &second).is_empty(), ties, "{first}{second}");
    }
}

#[test]
fn a_pair_is_reported_once_with_its_common_sizes() {
    let both = spec(", priority: 1", "  modelSizeRange: {min: 5B}\n");
    let twice = format!(
        "{both}  - {{modelFormat: {{name: safetensors}}, autoSelect: true, priority: 1}}\n"
    )
    .replace("  modelSizeRange: {min: 5B}\n", "");
    let found = pair(&both, &twice);
    let objects = vec!["ClusterServingRuntime/a".to_owned(), "ClusterServingRuntime/b".to_owned()];
    assert_eq!(found, vec![(Code::SamePriority, objects, Some((Some("5B".into()), None)))]);
    assert_eq!(
        pair(&spec("", ""), &spec("", "")).first().map(|found| found.0),
        Some(Code::AmbiguousAutoSelection)
    );
}

#[test]
fn a_pair_that_ties_twice_is_one_pair() {
    let twice = "  supportedModelFormats:\n  - {modelFormat: {name: a}, autoSelect: true, priority: 1}\n  - {modelFormat: {name: b}, autoSelect: true, priority: 2}\n";
    assert_eq!(pair(twice, twice).len(), 1);
}

#[test]
fn an_unset_quantization_ties_with_a_set_one_only_in_documented_mode() {
    let text = format!(
        "{}---\n{}",
        runtime("a", &spec(", priority: 3", "")),
        runtime("b", &spec(", priority: 3, quantization: fp8", ""))
    );
    assert!(codes(&run(&text, Documented)).contains(&"same-priority"));
    assert!(!codes(&run(&text, Controller)).contains(&"same-priority"));
}

#[test]
fn disjoint_ranges_do_not_tie_and_equal_ranges_are_one_finding() {
    let disjoint: String = (0..3000)
        .map(|index| {
            runtime(
                &format!("r{index}"),
                &spec(
                    ", priority: 1, modelArchitecture: A",
                    &format!("  modelSizeRange: {{min: {0}M, max: {0}M}}\n", index + 1),
                ),
            ) + "---\n"
        })
        .collect();
    assert!(run(&disjoint, Documented).iter().all(|finding| finding.code != Code::SamePriority));
    let equal = |count: usize| {
        let text: String = (0..count)
            .map(|index| runtime(&format!("r{index:03}"), &spec(", priority: 1", "")) + "---\n")
            .collect();
        let found = run(&text, Documented);
        found.into_iter().filter(|finding| finding.code == Code::SamePriority).collect()
    };
    // One finding per pair for few runtimes, one finding in total for many.
    let few: Vec<_> = equal(10);
    assert_eq!(few.len(), 45);
    let many: Vec<_> = equal(200);
    assert_eq!(many.len(), 1);
    let message = "`r000` and 199 more like it can match one model and all have priority 1";
    assert_eq!(many[0].message, message);
    assert_eq!((many[0].objects.len(), many[0].labels.len()), (super::MOST_NAMED, 2));
    assert!(few.iter().chain(&many).all(|finding| finding.severity == Severity::Error));
}

#[test]
fn tied_groups_are_one_finding_and_listed_ties_are_limited() {
    let text: String = (0..60)
        .map(|index| {
            let architecture = if index % 2 == 0 { "" } else { ", modelArchitecture: A" };
            let name = format!("{}{index:02}", if index % 2 == 0 { "any" } else { "exact" });
            runtime(&name, &spec(&format!(", priority: 1{architecture}"), "")) + "---\n"
        })
        .collect();
    let found: Vec<_> = run(&text, Documented)
        .into_iter()
        .filter(|finding| finding.code == Code::SamePriority)
        .map(|finding| finding.message)
        .collect();
    let end = "can match one model and all have priority 1";
    assert_eq!(
        found,
        [
            format!("`exact01` and 29 more like it {end}"),
            format!("`exact01` and 29 more like it, and `any00` and 29 more like it, {end}"),
            format!("`any00` and 29 more like it {end}"),
        ]
    );
    // Every runtime is a different kind, and every pair ties.
    let unlike: String = (0..60)
        .map(|index| {
            let range = format!("  modelSizeRange: {{min: {}B}}\n", index + 1);
            runtime(&format!("r{index}"), &spec(", priority: 1", &range)) + "---\n"
        })
        .collect();
    let found = run(&unlike, Documented);
    let ties: Vec<_> = found.iter().filter(|finding| finding.code == Code::SamePriority).collect();
    assert_eq!(ties.len(), super::MOST_TIES + 1);
    let rest = format!("{} more ties", 60 * 59 / 2 - super::MOST_TIES);
    assert!(ties.iter().any(|finding| finding.message.contains(&rest)), "{rest}");
}

#[test]
fn overlaps_are_listed_as_groups() {
    let range = |min: &str, max: &str| format!("  modelSizeRange: {{min: {min}, max: {max}}}\n");
    let text = [
        ("wide", "5B", "9B"),
        ("narrow", "6B", "8B"),
        ("lone", "20B", "30B"),
        ("high", "8.5B", "12B"),
    ]
    .map(|(name, min, max)| {
        runtime(name, &spec(", priority: 1, modelArchitecture: A", &range(min, max)))
    })
    .join("---\n");
    let found: Vec<_> =
        super::super::fixture::run_with(&text, Documented, &[Code::AutoselectOverlap])
            .into_iter()
            .filter(|finding| finding.code == Code::AutoselectOverlap)
            .map(|finding| {
                (finding.objects.join(" ").replace("ClusterServingRuntime/", ""), finding.overlap)
            })
            .collect();
    let overlap = |min: &str, max: &str| Some((Some(min.to_owned()), Some(max.to_owned())));
    assert_eq!(found.len(), 2, "{found:?}");
    assert!(
        found.contains(&("narrow wide".into(), overlap("6B", "8B")))
            && found.contains(&("high wide".into(), overlap("8.5B", "9B"))),
        "{found:?}"
    );
}

// pkg/webhook/admission/servingruntime/servingruntime_webhook.go (KServe). Rows: two runtimes, and
// whether they tie in documented and in controller mode.
#[test]
fn kserve_runtimes_tie_by_the_webhook_rules() {
    let runtime = |name: &str, format: &str, rest: &str| {
        format!(
            "apiVersion: serving.kserve.io/v1alpha1\nkind: ClusterServingRuntime\nmetadata: {{name: {name}}}\nspec: {{supportedModelFormats: [{{name: {format}, version: '1', autoSelect: true, priority: 1}}]{rest}}}\n"
        )
    };
    for (first, second, documented, controller) in [
        (("sklearn", V1), ("sklearn", V1), true, true),
        (("sklearn", V1), ("SKLearn", V1), false, true),
        (("sklearn", V1), ("sklearn", ", protocolVersions: [v2]"), false, false),
        (("sklearn", V1), ("sklearn", ""), true, false),
        (("sklearn", V1), ("sklearn", ", protocolVersions: [v1], multiModel: true"), false, false),
        (("sklearn", V1), ("sklearn", ", protocolVersions: [v1], disabled: true"), false, false),
    ] {
        let text =
            format!("{}---\n{}", runtime("a", first.0, first.1), runtime("b", second.0, second.1));
        for (semantics, expected) in [(Documented, documented), (Controller, controller)] {
            assert_eq!(
                codes(&run(&text, semantics)).contains(&"same-priority"),
                expected,
                "{first:?} {second:?} {semantics:?}"
            );
        }
    }
}
