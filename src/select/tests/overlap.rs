//! Tests that two entries overlap exactly when a model matches both, with every model of a small
//! set.

use super::{Scene, asks, model, object, runtime};
use crate::operators::kserve::releases as kserve;
use crate::operators::ome::releases::{DOCUMENTED, V0_1_4, V0_1_5};
use crate::policy::Policy;
use crate::select::entry::{overlap, share_protocol};

/// Compares the overlap of every pair of entries with the selections for many models.
fn holds(policy: &'static Policy, models: &[String], entries: &[String]) {
    let mut text = String::new();
    for (at, spec) in models.iter().enumerate() {
        text += &model(&format!("m{at}"), spec);
    }
    for (at, entry) in entries.iter().enumerate() {
        text += &runtime(&format!("r{at}"), entry, "");
    }
    let scene = Scene::new(policy, &text);
    let matches: Vec<Vec<bool>> = (0..entries.len())
        .map(|entry| {
            let runtime = scene.runtime(&format!("r{entry}"));
            let matched = |at| {
                let request = asks(scene.model(&format!("m{at}")));
                scene.judge(&request, runtime).0.matched_entry.is_some()
            };
            (0..models.len()).map(matched).collect()
        })
        .collect();
    let mut both = [0, 0];
    for (one, left) in matches.iter().enumerate() {
        for (other, right) in matches.iter().enumerate() {
            let some = left.iter().zip(right).any(|(left, right)| *left && *right);
            let entry = |at: usize| &scene.runtime(&format!("r{at}")).formats[0];
            let overlap = overlap(policy, entry(one), entry(other));
            assert_eq!(overlap, some, "{}: {} | {}", policy.id.tag, entries[one], entries[other]);
            both[usize::from(some)] += 1;
        }
    }
    assert!(both[0] > 9 && both[1] > 9, "{both:?}");
}

/// Returns every concatenation of one text from each list.
fn product(lists: &[&[&str]]) -> Vec<String> {
    lists.iter().fold(vec![String::new()], |joined, list| {
        joined
            .iter()
            .flat_map(|start| list.iter().map(move |end| format!("{start}{end}")))
            .collect()
    })
}

#[test]
fn entries_overlap_when_one_model_matches_both_names() {
    let framework = ["", "modelFramework: {name: f}, ", "modelFramework: {name: g}, "];
    let architecture = ["", "modelArchitecture: A, ", "modelArchitecture: B, "];
    let quantization = ["", "quantization: fp8", "quantization: int4"];
    let format = ["modelFormat: {name: s}, ", "modelFormat: {name: t}, "];
    let models = product(&[&format, &framework, &architecture, &quantization]);
    let entries = product(&[&format[..1], &framework[..2], &architecture, &quantization[..2]]);
    let others = ["", "name: s, ", "modelFormat: {name: t}, quantization: int4, "];
    let entries = [entries, others.map(str::to_owned).to_vec()].concat();
    holds(&DOCUMENTED, &models, &entries);
    // An entry without modelFormat matches no model in controller mode.
    holds(&V0_1_5, &models, &[&entries[..12], &entries[14..]].concat());
}

#[test]
fn versions_overlap_where_a_model_has_one_that_both_admit() {
    let of = |key: &str, versions: &[&str], operators: &[&str]| -> Vec<String> {
        let written = |version: &str, operator: &str| {
            format!("{key}: {{name: s, version: '{version}', operator: {operator}}}")
        };
        let mut all: Vec<String> = versions
            .iter()
            .flat_map(|version| operators.iter().map(move |operator| written(version, operator)))
            .collect();
        all.push(format!("{key}: {{name: s}}"));
        all
    };
    let operators = ["Equal", "GreaterThan", "GreaterThanOrEqual"];
    let whole = ["0.0.1", "0.5.0", "1.0.0", "1.5.0", "2.0.0", "2.5.0"];
    let entries = ["1.0.0", "1.5.0", "2.0.0"];
    for policy in [&V0_1_5, &V0_1_4] {
        holds(
            policy,
            &of("modelFormat", &whole, &["Equal"]),
            &of("modelFormat", &entries, &operators),
        );
        let with = |list: Vec<String>| -> Vec<String> {
            list.iter().map(|framework| format!("modelFormat: {{name: s}}, {framework}")).collect()
        };
        holds(
            policy,
            &with(of("modelFramework", &whole, &["Equal"])),
            &with(of("modelFramework", &entries, &operators)),
        );
    }
    let parts = ["1", "1.0", "1.0.0", "1.1", "1.1.0", "1.1.1", "2", "2.0"];
    let legacy = ["name: s", "name: s, version: '1'", "name: s, version: '1.1'"].map(str::to_owned);
    let entries =
        [of("modelFormat", &["1", "1.0", "1.1", "1.1.1", "2"], &["Equal"]), legacy.to_vec()];
    holds(&DOCUMENTED, &of("modelFormat", &parts, &["Equal"]), &entries.concat());
    // In v0.1.5, an order compares versions with as many parts only, and equality ignores zeros.
    let models = ["0", "0.5", "0.5.0", "1", "1.0", "1.0.0", "2", "2.0", "2.0.0"];
    holds(
        &V0_1_5,
        &of("modelFormat", &models, &["Equal"]),
        &of("modelFormat", &["1", "1.0", "1.0.0", "2", "2.0.0"], &operators),
    );
    // In v0.1.4, a version that is not three numbers matches nothing.
    let two = of("modelFormat", &["1.0", "2.0"], &["Equal", "GreaterThan"]);
    let scene =
        |policy| Scene::new(policy, &(runtime("a", &two[0], "") + &runtime("b", &two[1], "")));
    let message_of = |policy, one, other| {
        let scene = scene(policy);
        overlap(policy, &scene.runtime(one).formats[0], &scene.runtime(other).formats[0])
    };
    assert!(message_of(&V0_1_5, "a", "a") && !message_of(&V0_1_5, "a", "b"));
    assert!(!message_of(&V0_1_4, "a", "a") && !message_of(&V0_1_4, "b", "b"));
    // An invalid version matches nothing, not even itself.
    let odd = "modelFormat: {name: s, version: 'x', operator: GreaterThan}";
    let scene = Scene::new(&V0_1_5, &(runtime("a", odd, "") + &runtime("b", &two[1], "")));
    let [odd, fine] = ["a", "b"].map(|name| &scene.runtime(name).formats[0]);
    assert!(!overlap(&V0_1_5, odd, fine) && !overlap(&V0_1_5, fine, odd));
}

#[test]
fn pipelines_overlap_where_one_has_the_parts_of_both() {
    let class = ["", "className: P, ", "className: Q, "];
    let part = ["", "vae: {library: l, type: T}", "vae: {library: l}", "vae: {type: U}"];
    let more =
        ["", "additionalComponents: {x: {type: I}}, ", "additionalComponents: {x: {type: J}}, "];
    let of = |parts: Vec<String>| -> Vec<String> {
        let written = parts
            .iter()
            .map(|parts| format!("modelFormat: {{name: s}}, diffusionPipeline: {{{parts}}}"));
        written.collect()
    };
    let full = [
        &class[1..],
        &more[1..],
        &["vae: {library: l, type: T}", "vae: {library: l, type: U}", "vae: {library: k, type: U}"],
    ];
    let mut entries = of(product(&[&class, &more, &part]));
    entries.push("modelFormat: {name: s}".to_owned());
    holds(&DOCUMENTED, &of(product(&full)), &entries);
}

#[test]
fn the_webhook_of_kserve_compares_texts() {
    let of = |entry: &str, spec: &str| {
        let spec = format!("supportedModelFormats: [{{{entry}}}], {spec}");
        object("KServeClusterServingRuntime", "r", "", &spec)
    };
    // Rows: two entries; whether they overlap by the documents and by the webhook.
    let rows = [
        ("name: s", "name: s", [true, true]),
        ("name: s", "name: S", [false, true]),
        ("name: s", "name: t", [false, false]),
        ("name: s, version: '1'", "name: s, version: '1.0'", [true, false]),
        ("name: s, version: '1'", "name: s, version: '1'", [true, true]),
        ("name: s, version: '1'", "name: s", [true, false]),
    ];
    for (one, other, overlaps) in rows {
        for (policy, overlaps) in [&kserve::DOCUMENTED, &kserve::HEAD].into_iter().zip(overlaps) {
            let [one_scene, other_scene] =
                [one, other].map(|entry| Scene::new(policy, &of(entry, "")));
            let [a, b] = [&one_scene, &other_scene].map(|scene| &scene.runtime("r").formats[0]);
            assert_eq!(overlap(policy, a, b), overlaps, "{one} {other} {}", policy.id.tag);
        }
    }
    // Rows: two runtimes; whether one request can match both, by the documents and by the webhook.
    let rows = [
        ("protocolVersions: [v1]", "protocolVersions: [v2, v1]", [true, true]),
        ("protocolVersions: [v1]", "protocolVersions: [v2]", [false, false]),
        ("protocolVersions: [v1]", "", [true, false]),
        ("", "protocolVersions: [v1]", [true, false]),
        ("", "", [true, false]),
        ("multiModel: true, protocolVersions: [v1]", "protocolVersions: [v1]", [false, false]),
        (
            "multiModel: true, protocolVersions: [v1]",
            "multiModel: true, protocolVersions: [v1]",
            [true, true],
        ),
    ];
    for (one, other, reach) in rows {
        for (policy, reach) in [&kserve::DOCUMENTED, &kserve::HEAD].into_iter().zip(reach) {
            let [a, b] = [one, other].map(|spec| Scene::new(policy, &of("name: s", spec)));
            let shared = share_protocol(policy, a.runtime("r"), b.runtime("r"));
            assert_eq!(shared, reach, "{one} {other} {}", policy.id.tag);
        }
    }
    // OME's controller does not follow the rule of KServe's webhook.
    let scene = Scene::new(
        &V0_1_5,
        &(runtime("a", "modelFormat: {name: s}", "") + &runtime("b", "modelFormat: {name: S}", "")),
    );
    assert!(share_protocol(&V0_1_5, scene.runtime("a"), scene.runtime("b")));
    assert!(!overlap(&V0_1_5, &scene.runtime("a").formats[0], &scene.runtime("b").formats[0]));
}
