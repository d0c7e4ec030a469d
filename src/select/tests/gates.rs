//! Tests of each rule: matching entries, sizes, automatic selection, score.

use super::{Scene, asks, model, object, runtime};
use crate::decision::{CheckResult, Reason};
use crate::operators::ome::releases::{DOCUMENTED, V0_1_4, V0_1_5};
use crate::policy::Policy;
use crate::select::gates::entry_weight;
use crate::select::input::Trace;

/// Returns all combinations of the four compared names, each absent or one of two values.
fn named() -> impl Iterator<Item = [Option<&'static str>; 4]> {
    let values = [None, Some("a"), Some("b")];
    (0..81).map(move |at| [at / 27, at / 9 % 3, at / 3 % 3, at % 3].map(|at| values[at]))
}

fn fields([format, framework, architecture, quantization]: [Option<&str>; 4]) -> String {
    let of = |value: Option<&str>, text: &str| {
        value.map_or_else(String::new, |value| text.replace('?', value))
    };
    of(format, "modelFormat: {name: ?}, ")
        + &of(framework, "modelFramework: {name: ?}, ")
        + &of(architecture, "modelArchitecture: ?, ")
        + &of(quantization, "quantization: ?, ")
}

/// Returns the expected result for one name. Documented: a runtime that does not set it accepts
/// anything. Controller: both are absent or equal, and the format must be set.
fn expected(
    policy: &Policy,
    place: usize,
    model: Option<&str>,
    entry: Option<&str>,
) -> CheckResult {
    let documented = std::ptr::eq(policy, &raw const DOCUMENTED);
    match entry {
        None if documented => CheckResult::Unconstrained,
        None if place == 0 => CheckResult::Mismatch,
        _ if entry == model => CheckResult::Match,
        _ => CheckResult::Mismatch,
    }
}

#[test]
fn every_named_attribute_of_an_entry_must_match_the_model() {
    let all: Vec<_> = named().collect();
    let mut text = String::new();
    for (at, names) in all.iter().enumerate() {
        text += &model(&format!("m{at}"), &fields(*names));
        text += &runtime(&format!("r{at}"), &fields(*names), "");
    }
    for policy in [&DOCUMENTED, &V0_1_5] {
        let scene = Scene::new(policy, &text);
        for (at, requested) in all.iter().enumerate() {
            let request = asks(scene.model(&format!("m{at}")));
            // Every fifth entry is enough; the varying start covers all of them.
            for (other, entry) in all.iter().enumerate().skip(at % 5).step_by(5) {
                let expected: Vec<CheckResult> =
                    (0..4).map(|at| expected(policy, at, requested[at], entry[at])).collect();
                let mismatches =
                    expected.iter().filter(|result| **result == CheckResult::Mismatch).count();
                let runtime = scene.runtime(&format!("r{other}"));
                let (evaluation, trace) = scene.judge(&request, runtime);
                let (entries, rejections, _) = trace.into_parts();
                let found: Vec<CheckResult> =
                    [0, 2, 4, 5].map(|at| entries[0].checks[at].result).to_vec();
                assert_eq!(found, expected, "{requested:?} {entry:?}");
                assert_eq!(entries[0].matched, mismatches == 0, "{requested:?} {entry:?}");
                assert_eq!(evaluation.matched_entry, (mismatches == 0).then_some(0));
                let attributes = rejections
                    .iter()
                    .filter(|rejection| matches!(rejection.reason, Reason::Attribute { .. }));
                assert_eq!(attributes.count(), mismatches, "{requested:?} {entry:?}");
                if policy.rank != crate::policy::RankRule::Score {
                    assert_eq!(evaluation.eligible(), mismatches == 0, "{requested:?} {entry:?}");
                }
            }
        }
    }
}

#[test]
fn versions_and_old_names_are_read_as_each_release_reads_them() {
    let format = |version: &str, operator: &str| {
        format!("modelFormat: {{name: s, version: {version:?}, operator: {operator}}}")
    };
    let framework = |version: &str| {
        format!("modelFormat: {{name: s}}, modelFramework: {{name: f, version: {version:?}}}")
    };
    let plain = "modelFormat: {name: s}".to_owned();
    let legacy = "name: s".to_owned();
    let outdated = "name: s, version: '2'".to_owned();
    // Rows: model, entry, whether it matches by the documents, v0.1.5 and v0.1.4.
    let rows: [(String, String, [bool; 3]); 18] = [
        (format("1.2.0", "Equal"), format("1", "Equal"), [true, false, false]),
        (format("1.2.0", "Equal"), format("1.2", "Equal"), [true, true, false]),
        (format("1.2.0", "Equal"), format("1.2.0", "Equal"), [true, true, true]),
        (format("1.2.0", "Equal"), format("1.3.0", "Equal"), [false, false, false]),
        (format("1.2.0", "Equal"), format("1.3.0", "GreaterThan"), [false, true, true]),
        (format("1.2.0", "Equal"), format("1.1.0", "GreaterThan"), [false, false, false]),
        (format("1.2.0", "Equal"), format("1.2.0", "GreaterThan"), [true, false, false]),
        (format("1.2.0", "Equal"), format("1.2.0", "GreaterThanOrEqual"), [true, true, true]),
        (format("1.2", "Equal"), format("1.2", "Equal"), [true, true, false]),
        (format("v1.2.0", "Equal"), format("1.2.0", "Equal"), [false, true, false]),
        (format("1.2.0", "Equal"), format("v1.2.0", "Equal"), [false, true, false]),
        (plain.clone(), format("1.2.0", "Equal"), [false, false, false]),
        (format("1.2.0", "Equal"), plain.clone(), [true, false, false]),
        (framework("1.0.0"), framework("1.0.0"), [true, true, true]),
        (framework("1.0.0"), framework("2.0.0"), [false, false, false]),
        (plain.clone(), legacy.clone(), [true, false, false]),
        (format("2.1.0", "Equal"), outdated.clone(), [true, false, false]),
        (format("1.0.0", "Equal"), outdated.clone(), [false, false, false]),
    ];
    for (at, (row, entry, fits)) in rows.iter().enumerate() {
        for (policy, fits) in [&DOCUMENTED, &V0_1_5, &V0_1_4].into_iter().zip(fits) {
            let scene = Scene::new(policy, &(model("m", row) + &runtime("r", entry, "")));
            let (evaluation, trace) = scene.judge(&asks(scene.model("m")), scene.runtime("r"));
            assert_eq!(evaluation.matched_entry.is_some(), *fits, "{at} {}", policy.id.tag);
            let (entries, ..) = trace.into_parts();
            let rejected =
                entries[0].checks.iter().filter(|check| check.result == CheckResult::Mismatch);
            assert_eq!(rejected.count() == 0, *fits, "{at} {}", policy.id.tag);
        }
    }
    // A framework that only one side sets is reported once, by its name.
    let text = model("m", "modelFormat: {name: s}") + &runtime("r", &framework("1.0.0"), "");
    let scene = Scene::new(&V0_1_5, &text);
    assert_eq!(
        scene.verdict(&asks(scene.model("m")), scene.runtime("r")),
        "model has no framework name but runtime requires f; the score is 0"
    );
    let text = model("m", &framework("1.0.0")) + &runtime("r", "modelFormat: {name: s}", "");
    let scene = Scene::new(&V0_1_5, &text);
    assert_eq!(
        scene.verdict(&asks(scene.model("m")), scene.runtime("r")),
        "model has framework name f but runtime has no framework name requirement; the score is 0"
    );
    // In documented mode, the deprecated name is compared.
    let text = model("m", "modelFormat: {name: t, version: '1'}") + &runtime("r", &outdated, "");
    let scene = Scene::new(&DOCUMENTED, &text);
    assert_eq!(
        scene.verdict(&asks(scene.model("m")), scene.runtime("r")),
        "format name mismatch (model=t, runtime=s); format version mismatch (model=1, runtime=2)"
    );
}

#[test]
fn a_diffusion_pipeline_must_have_the_required_components() {
    let pipeline = |parts: &str| format!("diffusionPipeline: {{{parts}}}");
    let whole = "className: P, vae: {library: l, type: T}, scheduler: {library: l, type: S}, \
                 additionalComponents: {image: {library: l, type: I}}";
    let rows = [
        (pipeline(whole), String::new(), "entry 0"),
        (pipeline(whole), pipeline(whole), "entry 0"),
        (pipeline(whole), pipeline("className: P"), "entry 0"),
        (pipeline(whole), pipeline("vae: {library: l}"), "entry 0"),
        (pipeline(whole), pipeline("vae: {type: T}"), "entry 0"),
        (
            String::new(),
            pipeline("className: P"),
            "diffusion pipeline required by runtime but not specified in model",
        ),
        (
            pipeline("vae: {type: T}"),
            pipeline("className: P"),
            "pipeline class mismatch (model=<nil>, runtime=P)",
        ),
        (pipeline(whole), pipeline("className: Q"), "pipeline class mismatch (model=P, runtime=Q)"),
        (
            pipeline("className: P"),
            pipeline("vae: {type: T}"),
            "component vae required by runtime but not specified in model",
        ),
        (
            pipeline(whole),
            pipeline("vae: {library: m, type: T}"),
            "vae library mismatch (model=l, runtime=m)",
        ),
        (
            pipeline(whole),
            pipeline("vae: {library: l, type: U}"),
            "vae type mismatch (model=T, runtime=U)",
        ),
        (
            pipeline(whole),
            pipeline("additionalComponents: {image: {type: J}}"),
            "image type mismatch (model=I, runtime=J)",
        ),
        (
            pipeline(whole),
            pipeline("additionalComponents: {video: {type: J}}"),
            "component video required by runtime but not specified in model",
        ),
    ];
    for (row, entry, expected) in rows {
        let text = model("m", &format!("modelFormat: {{name: s}}, {row}"))
            + &runtime("r", &format!("modelFormat: {{name: s}}, {entry}"), "");
        for policy in [&DOCUMENTED, &V0_1_5] {
            let scene = Scene::new(policy, &text);
            let found = scene.verdict(&asks(scene.model("m")), scene.runtime("r"));
            assert_eq!(found, expected, "{row} {entry}");
        }
    }
}

#[test]
fn the_model_size_must_be_inside_the_size_range() {
    let sizes = ["1B", "7B", "70B"];
    let bounds = [None, Some("1B"), Some("7B"), Some("70B")];
    let number = |text: &str| text.trim_end_matches('B').parse::<f64>().unwrap() * 1e9;
    for size in sizes {
        for min in bounds {
            for max in bounds {
                let bound = |key: &str, value: Option<&str>| {
                    value.map_or_else(String::new, |value| format!("{key}: {value}, "))
                };
                let range =
                    format!("modelSizeRange: {{{}{}}}", bound("min", min), bound("max", max));
                let text =
                    model("m", &format!("modelFormat: {{name: s}}, modelParameterSize: {size}"))
                        + &runtime("r", "modelFormat: {name: s}", &range);
                let value = number(size);
                let (least, most) = (min.map(number), max.map(number));
                let inside = least.is_none_or(|least| least <= value)
                    && most.is_none_or(|most| value <= most);
                let distance = least
                    .zip(most)
                    .map(|(least, most)| (least - value).abs() + (most - value).abs());
                for policy in [&DOCUMENTED, &V0_1_5] {
                    let scene = Scene::new(policy, &text);
                    let request = asks(scene.model("m"));
                    let (evaluation, _) = scene.judge(&request, scene.runtime("r"));
                    assert_eq!(evaluation.rank.distance, distance, "{size} in {range}");
                    let crash = match (min, max) {
                        _ if policy.rank != crate::policy::RankRule::Score => None,
                        (None, _) => Some("min"),
                        (_, None) => Some("max"),
                        _ => None,
                    };
                    assert_eq!(evaluation.crash, crash, "{size} in {range}");
                    let fits = inside || crash.is_some();
                    assert_eq!(evaluation.eligible(), fits, "{size} in {range}");
                    let line = scene.verdict(&request, scene.runtime("r"));
                    assert_eq!(line.contains(" is outside "), !fits, "{size} in {range}: {line}");
                }
            }
        }
    }
    // Without a size or a range, nothing is compared; the controller ranks a missing range as the
    // closest. A rule that failed earlier prevents the crash.
    let rows = [
        (
            "",
            "modelSizeRange: {min: 1B, max: 2B}",
            &DOCUMENTED,
            "entry 0; size unknown, range not checked",
            None,
        ),
        (
            "modelParameterSize: odd",
            "modelSizeRange: {min: 1B}",
            &DOCUMENTED,
            "entry 0; size unknown, range not checked",
            None,
        ),
        ("modelParameterSize: 1B", "", &DOCUMENTED, "entry 0", None),
        (
            "",
            "modelSizeRange: {min: 1B, max: 2B}",
            &V0_1_5,
            "entry 0; size unknown, range not checked",
            None,
        ),
        ("", "", &V0_1_5, "entry 0", None),
        ("modelParameterSize: 1B", "", &V0_1_5, "entry 0", Some(0.0)),
        (
            "modelParameterSize: 1B",
            "modelSizeRange: {min: 1B}, disabled: true",
            &V0_1_5,
            "the runtime is disabled",
            None,
        ),
        (
            "modelParameterSize: 9B",
            "modelSizeRange: {min: 1B, max: 2B}",
            &V0_1_5,
            "9B is outside 1B..2B",
            Some(15e9),
        ),
    ];
    for (row, spec, policy, expected, distance) in rows {
        let text = model("m", &format!("modelFormat: {{name: s}}, {row}"))
            + &runtime("r", "modelFormat: {name: s}", spec);
        let scene = Scene::new(policy, &text);
        let request = asks(scene.model("m"));
        assert_eq!(scene.verdict(&request, scene.runtime("r")), expected, "{row} {spec}");
        let (evaluation, _) = scene.judge(&request, scene.runtime("r"));
        assert_eq!(evaluation.rank.distance, distance, "{row} {spec}");
    }
}

/// Columns: entries; verdict and priority by the documents; verdict, score and scored entry by
/// v0.1.5.
type Counted<'a> = (&'a [&'a str], &'a str, Option<i64>, &'a str, i64, Option<usize>);

/// Rows with several matching entries: the entry that applies, its priority, and the score.
#[test]
fn one_matching_entry_decides_priority_and_auto_selection() {
    const OFF: &str = "{modelFormat: {name: s}, autoSelect: false, priority: 9}";
    const SILENT: &str = "{modelFormat: {name: s}, priority: 8}";
    const ON: &str = "{modelFormat: {name: s}, autoSelect: true}";
    const THREE: &str = "{modelFormat: {name: s}, autoSelect: true, priority: 3}";
    const FOUR: &str = "{modelFormat: {name: s}, autoSelect: true, priority: 4}";
    const OTHER: &str = "{modelFormat: {name: t}, autoSelect: true, priority: 5}";
    const NEGATIVE: &str = "{modelFormat: {name: s}, autoSelect: true, priority: -3}";
    let none = "no supported model formats";
    let differs = "format name mismatch (model=s, runtime=t)";
    let off = "autoSelect is on for no entry";
    let rows: [Counted<'_>; 12] = [
        (&[], none, None, &format!("{none}; {off}; the score is 0"), 0, None),
        (&[ON], "entry 0", None, "entry 0", 1, Some(0)),
        (&[ON, THREE], "entry 1", Some(3), "entry 0", 3, Some(1)),
        (&[FOUR, THREE], "entry 0", Some(4), "entry 0", 4, Some(0)),
        (&[THREE, THREE], "entry 0", Some(3), "entry 0", 3, Some(0)),
        (&[OFF, ON], "entry 1", None, "entry 0", 1, Some(1)),
        (
            &[OFF],
            "autoSelect is off on the matching entry 0",
            None,
            &format!("{off}; the score is 0"),
            0,
            None,
        ),
        (
            &[OTHER, OFF],
            "autoSelect is off on the matching entry 1",
            None,
            "the score is 0",
            0,
            Some(0),
        ),
        (&[SILENT], "autoSelect is off on the matching entry 0", None, off, 8, Some(0)),
        (&[OTHER], differs, None, &format!("{differs}; the score is 0"), 0, Some(0)),
        (
            &[SILENT, OTHER],
            "autoSelect is off on the matching entry 0",
            None,
            "entry 0",
            8,
            Some(0),
        ),
        (&[NEGATIVE], "entry 0", Some(-3), "the score is 0", 0, Some(0)),
    ];
    for (entries, documented, priority, followed, score, scored) in rows {
        let spec = format!("supportedModelFormats: [{}]", entries.join(", "));
        let text =
            model("m", "modelFormat: {name: s}") + &object("ClusterServingRuntime", "r", "", &spec);
        let scene = Scene::new(&DOCUMENTED, &text);
        let request = asks(scene.model("m"));
        assert_eq!(scene.verdict(&request, scene.runtime("r")), documented, "{entries:?}");
        let (evaluation, _) = scene.judge(&request, scene.runtime("r"));
        assert_eq!(evaluation.rank.priority, priority, "{entries:?}");
        assert_eq!((evaluation.rank.score, evaluation.scored_entry), (0, None), "{entries:?}");
        let scene = Scene::new(&V0_1_5, &text);
        let request = asks(scene.model("m"));
        assert_eq!(scene.verdict(&request, scene.runtime("r")), followed, "{entries:?}");
        let (evaluation, _) = scene.judge(&request, scene.runtime("r"));
        assert_eq!(evaluation.rank.priority, None, "{entries:?}");
        assert_eq!(
            (evaluation.rank.score, evaluation.scored_entry),
            (score, scored),
            "{entries:?}"
        );
    }
    // No entry matches and none sets autoSelect, which is a second problem.
    let text = model("m", "modelFormat: {name: u}")
        + &object("ClusterServingRuntime", "r", "", &format!("supportedModelFormats: [{OFF}]"));
    let scene = Scene::new(&DOCUMENTED, &text);
    assert_eq!(
        scene.verdict(&asks(scene.model("m")), scene.runtime("r")),
        format!("format name mismatch (model=u, runtime=s); {off}")
    );
}

#[test]
fn weights_add_up_where_names_and_versions_agree() {
    // Rows: model, entry, weight.
    let rows = [
        ("modelFormat: {name: s}", "modelFormat: {name: s}", 1),
        ("modelFormat: {name: s}", "modelFormat: {name: s, weight: 7}", 7),
        ("modelFormat: {name: s}", "modelFormat: {name: s, weight: 0}", 10),
        ("modelFormat: {name: s}", "modelFormat: {name: t, weight: 7}", 0),
        ("modelFormat: {name: s, version: '1'}", "modelFormat: {name: s, version: '2'}", 0),
        (
            "modelFormat: {name: s, version: '1'}",
            "modelFormat: {name: s, version: '1', weight: 3}",
            3,
        ),
        ("modelFormat: {name: s, version: '1'}", "modelFormat: {name: s, weight: 3}", 3),
        ("modelFramework: {name: f}", "modelFramework: {name: f, weight: 0}", 5),
        ("modelFramework: {name: f}", "modelFramework: {name: g, weight: 4}", 0),
        (
            "modelFormat: {name: s}, modelFramework: {name: f}",
            "modelFormat: {name: s, weight: 7}, modelFramework: {name: f, weight: 4}",
            11,
        ),
        (
            "modelFormat: {name: s}, modelFramework: {name: f}",
            "modelFormat: {name: s, weight: 7}, modelFramework: {name: g, weight: 4}",
            0,
        ),
        (
            "modelFormat: {name: s}, modelFramework: {name: f}",
            "modelFormat: {name: s, weight: 7}",
            0,
        ),
        (
            "modelFormat: {name: s}",
            "modelFormat: {name: s, weight: 7}, modelFramework: {name: f, weight: 4}",
            0,
        ),
    ];
    for (row, entry, weight) in rows {
        let text = model("m", row) + &runtime("r", entry, "");
        let scene = Scene::new(&V0_1_5, &text);
        let found = entry_weight(&V0_1_5, scene.model("m"), &scene.runtime("r").formats[0]);
        assert_eq!(found, weight, "{row} {entry}");
    }
}
