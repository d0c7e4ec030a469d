//! Tests of runtimes that list formats by name: which entry matches, and which sets the priority.

use super::{Scene, object};
use crate::operators::kserve::releases as kserve;
use crate::select::input::Trace;

#[test]
fn kserve_formats_are_compared_by_name_and_version_text() {
    // Rows: model, entry, expected message.
    let rows = [
        ("name: s", "name: s", "entry 0"),
        ("name: s", "name: s, version: '1'", "entry 0"),
        ("name: s, version: '1'", "name: s, version: '1'", "entry 0"),
        (
            "name: s, version: '1'",
            "name: s, version: '1.0'",
            "format version mismatch (model=1, runtime=1.0)",
        ),
        (
            "name: s, version: '1'",
            "name: s",
            "model has format version 1 but runtime has no format version requirement",
        ),
        ("name: s", "name: t", "format name mismatch (model=s, runtime=t)"),
        ("name: 's:1'", "name: s, version: '1'", "entry 0"),
        ("name: 's:1'", "name: 's:1'", "entry 0"),
        ("name: s, version: '1'", "name: 's:1'", "entry 0"),
        ("name: 's:1'", "name: s, version: '2'", "format name mismatch (model=s:1, runtime=s)"),
        ("name: 's:1'", "name: s", "format name mismatch (model=s:1, runtime=s)"),
        (
            "name: 's:1', version: '2'",
            "name: 's:1', version: '3'",
            "format version mismatch (model=2, runtime=3)",
        ),
    ];
    for (format, entry, expected) in rows {
        let spec = format!("supportedModelFormats: [{{{entry}, autoSelect: true}}]");
        let text = object(
            "KServeInferenceService",
            "isvc",
            "",
            &format!("predictor: {{model: {{modelFormat: {{{format}}}}}}}"),
        ) + &object("KServeClusterServingRuntime", "r", "", &spec);
        for policy in [&kserve::DOCUMENTED, &kserve::HEAD] {
            let scene = Scene::new(policy, &text);
            let request = scene.request_of(scene.service("isvc"));
            let runtime = scene.runtime("r");
            let line = scene.verdict(&request, runtime);
            assert_eq!(
                line.trim_end_matches("; protocol unconstrained"),
                expected,
                "{format} {entry}"
            );
            let (evaluation, trace) = scene.judge(&request, runtime);
            let (entries, ..) = trace.into_parts();
            assert_eq!(entries[0].matched, evaluation.matched_entry.is_some(), "{format} {entry}");
            assert_eq!(evaluation.rank.protocol, 5, "no protocol comes last");
        }
    }
}

#[test]
fn a_kserve_format_uses_the_auto_selectable_entry() {
    let entry = |rest: &str| format!("{{name: s, {rest}}}");
    // Rows: entries; verdict; priority by the documents; priority by the controller, which takes
    // the first entry with the name.
    let rows = [
        (vec![entry("autoSelect: true")], "entry 0", None, None),
        (
            vec![entry("autoSelect: false, priority: 7"), entry("autoSelect: true, priority: 2")],
            "entry 1",
            Some(2),
            Some(7),
        ),
        (
            vec![entry("autoSelect: true, priority: 2"), entry("autoSelect: true, priority: 3")],
            "entry 1",
            Some(3),
            Some(2),
        ),
        (
            vec![entry("autoSelect: true, priority: 2"), entry("autoSelect: true, priority: 2")],
            "entry 0",
            Some(2),
            Some(2),
        ),
        (
            vec![
                entry("version: '2', autoSelect: true, priority: 9"),
                entry("version: '1', autoSelect: true, priority: 2"),
            ],
            "entry 1",
            Some(2),
            Some(9),
        ),
        (vec![entry("autoSelect: false")], "autoSelect is off on the matching entry 0", None, None),
        (vec![], "no supported model formats", None, None),
    ];
    for (entries, expected, documented, followed) in rows {
        let requested = if entries.iter().any(|entry| entry.contains("version")) {
            "name: s, version: '1'"
        } else {
            "name: s"
        };
        let spec = format!(
            "protocolVersions: [v2, v1, grpc-v2], supportedModelFormats: [{}]",
            entries.join(", ")
        );
        let text = object(
            "KServeInferenceService",
            "isvc",
            "",
            &format!("predictor: {{model: {{modelFormat: {{{requested}}}}}}}"),
        ) + &object("KServeClusterServingRuntime", "r", "", &spec);
        for (policy, priority) in [(&kserve::DOCUMENTED, documented), (&kserve::HEAD, followed)] {
            let scene = Scene::new(policy, &text);
            let request = scene.request_of(scene.service("isvc"));
            assert_eq!(scene.verdict(&request, scene.runtime("r")), expected, "{entries:?}");
            let (evaluation, _) = scene.judge(&request, scene.runtime("r"));
            assert_eq!(evaluation.rank.priority, priority, "{entries:?}");
            assert_eq!(evaluation.rank.protocol, 1, "v1 is the lowest");
        }
    }
}
