//! Texts that mean harm: the tool ends with a finding, soon, and a terminal obeys nothing of what
//! it prints.
//!
//! The bodies are those of the fuzz targets, so that what they promise is checked without a nightly
//! compiler. A text that a fuzzer found becomes a row of [`awkward`].

use super::process::{Call, run};
use proptest::prelude::*;
use proptest::test_runner::{RngAlgorithm, TestRng, TestRunner};
use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

#[path = "../../fuzz/src/bodies.rs"]
#[expect(unreachable_pub, reason = "the fuzz targets are another crate")]
mod bodies;

#[path = "../../fuzz/src/commands.rs"]
#[expect(unreachable_pub, reason = "the fuzz targets are another crate")]
mod commands;

/// A target with its name.
type Body = (&'static str, fn(&[u8]));

const BODIES: [Body; 10] = [
    ("reader", bodies::reader),
    ("load", bodies::load),
    ("quantity", bodies::quantity),
    ("version", bodies::version),
    ("names", bodies::names),
    ("template", bodies::template),
    ("merge", bodies::merge),
    ("validate", bodies::validate),
    ("plan", bodies::plan),
    ("render", bodies::render),
];

const COMMANDS: [Body; 18] = [
    ("diff", commands::diff),
    ("rollout", commands::rollout),
    ("discover", commands::discover),
    ("kueue", commands::kueue),
    ("import", commands::import),
    ("payload", commands::payload),
    ("convert", commands::convert),
    ("why", commands::why),
    ("endpoints", commands::endpoints),
    ("matrix", commands::matrix),
    ("settings", commands::settings),
    ("fix", commands::fix),
    ("directory", commands::directory),
    ("expand", commands::expand),
    ("config_map", commands::config_map),
    ("cel", commands::cel),
    ("pattern", commands::pattern),
    ("revision", commands::revision),
];

const SERVICE: &str = "apiVersion: ome.io/v1beta1\nkind: InferenceService\nmetadata: {name: a, namespace: b}\nspec:\n";
const RUNTIME: &str =
    "apiVersion: ome.io/v1beta1\nkind: ClusterServingRuntime\nmetadata: {name: r}\nspec:\n";

/// So many lines, each made from its number.
fn lines(count: usize, line: impl Fn(usize) -> String) -> String {
    (0..count).map(line).collect::<Vec<String>>().concat()
}

/// Lists of lists by alias, each level ten times the one before.
fn alias_bomb(levels: usize) -> String {
    let level = |level: usize| match level {
        0 => "l0: &l0 [x, x, x, x, x, x, x, x, x, x]\n".to_owned(),
        _ => format!("l{level}: &l{level} [{}]\n", vec![format!("*l{}", level - 1); 10].join(", ")),
    };
    lines(levels, level)
}

/// Mappings merged into mappings, each with the keys of two others.
fn merge_bomb(levels: usize) -> String {
    let level = |level: usize| match level {
        0 => "m0: &m0 {a: 1, b: 2}\n".to_owned(),
        _ => format!("m{level}: &m{level} {{<<: [*m{0}, *m{0}], k{level}: *m{0}}}\n", level - 1),
    };
    lines(levels, level)
}

/// Texts with what each is about.
fn awkward() -> Vec<(&'static str, String)> {
    let quantity = |text: &str| {
        format!(
            "{RUNTIME}  engineConfig: {{runner: {{name: m, image: i, resources: {{limits: {{cpu: {text}}}}}}}}}\n"
        )
    };
    let size = |text: &str| {
        format!(
            "{RUNTIME}  supportedModelFormats: [{{modelFormat: {{name: s, version: {text}}}}}]\n  modelSizeRange: {{min: {text}, max: {text}}}\n"
        )
    };
    let template = |text: &str| {
        format!("{RUNTIME}  engineConfig: {{runner: {{name: m, image: i, args: ['{text}']}}}}\n")
    };
    vec![
        ("a bomb of aliases", alias_bomb(12)),
        ("a bomb of merge keys", merge_bomb(40)),
        ("an alias of itself", "a: &a [*a]\nb: &b {<<: *b}\n".to_owned()),
        ("200,000 levels of lists", "[".repeat(200_000)),
        ("200,000 levels of mappings", "{a: ".repeat(200_000)),
        ("200,000 levels of dashes", "- ".repeat(200_000)),
        ("deep indentation", lines(2000, |level| format!("{}a:\n", " ".repeat(level)))),
        ("a quantity with a great exponent", quantity("1e1000000000")),
        ("a quantity of 4,000 digits", quantity(&"9".repeat(4000))),
        ("a size of 4,000 digits", size(&format!("{}B", "9".repeat(4000)))),
        ("a version of 4,000 parts", size(&vec!["1"; 4000].join("."))),
        (
            "a template that calls itself",
            template("{{define \"a\"}}{{template \"a\" .}}{{end}}{{template \"a\" .}}"),
        ),
        (
            "a template of 5,000 parentheses",
            template(&format!("{{{{ {}.Name{} }}}}", "(".repeat(5000), ")".repeat(5000))),
        ),
        ("a width of a thousand million", template("{{printf \"%1000000000d\" 1}}")),
        (
            "a name that leads elsewhere",
            format!("{SERVICE}  runtime: {{name: ../../etc/passwd}}\n  engine: {{}}\n")
                .replace("name: a,", "name: ../../../tmp/x,"),
        ),
        (
            "escapes in every string",
            format!(
                "{SERVICE}  model: {{name: \"\\e[2J\\x9b31m\\u202e\"}}\n  \"\\e]0;x\\a\": 1\n  engine: {{}}\n"
            ),
        ),
        (
            "two thousand million workers",
            format!(
                "{SERVICE}  engine: {{leader: {{}}, worker: {{size: 2000000000}}, minReplicas: 2000000000}}\n"
            ),
        ),
        ("many keys of one name", "a: 1\n".repeat(20_000)),
        ("anchors without end", lines(20_000, |number| format!("- &a{number} x\n"))),
        ("bytes of no text", "\u{0}\u{1}\u{feff}\u{fffe}\u{2028}\u{85}".to_owned()),
        ("documents without end", "---\n".repeat(20_000)),
        ("a tab, a carriage return, a form feed", "a:\tb\r\u{c}\n\t- c\r\n".to_owned()),
    ]
}

#[test]
fn fuzz_targets_hold_on_awkward_texts() {
    for (what, text) in awkward() {
        for (name, body) in BODIES {
            let outcome = std::panic::catch_unwind(|| body(text.as_bytes()));
            assert!(outcome.is_ok(), "{name}: {what}");
        }
    }
}

/// Manifests of testdata whose values were changed as the fuzz targets change them.
fn mutated() -> impl Iterator<Item = String> {
    let seeds = [
        concat!(
            include_str!("../../testdata/quickstart/models.yaml"),
            "---\n",
            include_str!("../../testdata/quickstart/runtimes.yaml"),
            "---\n",
            include_str!("../../testdata/quickstart/services.yaml")
        ),
        include_str!("../../testdata/mixed/kserve.yaml"),
        include_str!("../../testdata/stories/common/classes.yaml"),
    ];
    (0_u32..).filter_map(move |number| {
        let mut dice = commands::grammar::Dice::new(number);
        let mut text = seeds[number as usize % seeds.len()].to_owned();
        for _ in 0..=number % 5 {
            text = commands::grammar::mutate(&text, &mut dice)?;
        }
        Some(text)
    })
}

/// How many texts each target gets: `PROPTEST_CASES`, else a few.
fn rounds() -> usize {
    std::env::var("PROPTEST_CASES").ok().and_then(|cases| cases.parse().ok()).unwrap_or(2)
}

#[test]
fn command_fuzz_targets_hold_on_mutated_values() {
    let mut texts = mutated();
    for (name, body) in COMMANDS {
        for text in texts.by_ref().take(rounds()) {
            let outcome = std::panic::catch_unwind(|| body(text.as_bytes()));
            assert!(outcome.is_ok(), "{name}:\n{text}");
        }
    }
}

#[test]
#[ignore = "it measures time: run it by name, in release, on an idle machine"]
fn command_cost_is_not_quadratic_in_list_length() {
    let text = mutated().next().expect("there is no end of them");
    for which in 0..=u8::MAX {
        commands::cost(&[&[which], text.as_bytes()].concat());
    }
}

#[test]
fn mutated_inputs_fit_the_buffer_and_stay_utf8() {
    let text = mutated().next().expect("there is no end of them");
    let (size, most) = (text.len(), 2 * text.len());
    let mut changed = 0;
    for seed in 0..50 {
        let mut buffer = text.clone().into_bytes();
        buffer.resize(most, b'x');
        if let Some(size) = commands::grammar::in_place(&mut buffer, size, most, seed) {
            assert!(std::str::from_utf8(&buffer[..size]).is_ok());
            changed += usize::from(&buffer[..size] != text.as_bytes());
        }
    }
    assert!(changed > 25, "{changed}");
}

#[test]
fn mutated_inputs_still_parse_as_yaml() {
    let limits = ome::internals::yaml::Limits::default();
    let source = ome::internals::source::SourceId(0);
    for text in mutated().take(60) {
        let parts = ome::internals::yaml::split(source, &text).value;
        assert!(!parts.is_empty(), "{text}");
        for range in parts {
            let read = ome::internals::yaml::parse(source, &text, range, &limits);
            assert!(read.value.is_some(), "{:?}\n{text}", read.diagnostics);
        }
    }
}

/// A manifest of testdata with bytes of another or of anything put somewhere.
fn spoilt() -> impl Strategy<Value = Vec<u8>> {
    let seeds: Vec<&'static str> = vec![
        include_str!("../../testdata/quickstart/services.yaml"),
        include_str!("../../testdata/quickstart/runtimes.yaml"),
        include_str!("../../testdata/quickstart/models.yaml"),
        include_str!("../../testdata/mixed/kserve.yaml"),
        include_str!("../../testdata/stories/common/classes.yaml"),
        "7B\n1.5Gi 100m 80GB 50% v0.4.6.post1 {{ .Name }} a.b/c=d,e in (f)",
    ];
    let pieces = prop_oneof![
        prop::sample::select(vec![
            "{{",
            "}}",
            "&a ",
            "*a",
            "<<: *a",
            "!!binary ",
            "|+\n ",
            "? ",
            ": ",
            "- ",
            "\t",
            "\"",
            "'",
            "#",
            "%YAML 1.1\n",
            "---\n",
            "...\n",
            "~",
            "null",
            "[",
            "]",
            "{",
            "}",
            ",",
            "0x1F",
            "1e999999",
            "-9223372036854775809",
            "$patch: delete\n",
            "\u{1b}[31m",
            "\u{9b}",
            "\r",
            "\u{feff}",
            "é",
            "𝔸",
        ])
        .prop_map(|text| text.as_bytes().to_vec()),
        prop::collection::vec(any::<u8>(), 0..12),
    ];
    (
        prop::sample::select(seeds),
        prop::collection::vec((any::<prop::sample::Index>(), 0_usize..40, pieces), 1..6),
    )
        .prop_map(|(seed, edits)| {
            let mut bytes = seed.as_bytes().to_vec();
            for (at, cut, piece) in edits {
                let start = at.index(bytes.len() + 1);
                let end = (start + cut).min(bytes.len());
                bytes.splice(start..end, piece);
            }
            bytes
        })
}

#[test]
fn fuzz_targets_hold_on_corrupted_texts() {
    let config = ProptestConfig {
        cases: ProptestConfig::default().cases.min(96),
        failure_persistence: None,
        ..ProptestConfig::default()
    };
    let mut runner =
        TestRunner::new_with_rng(config, TestRng::deterministic_rng(RngAlgorithm::ChaCha));
    let checked = runner.run(&spoilt(), |bytes| {
        for (_, body) in BODIES {
            body(&bytes);
        }
        Ok(())
    });
    if let Err(failure) = checked {
        panic!("{failure}");
    }
}

#[test]
fn commands_end_in_time_and_print_no_control_characters() {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR"));
    let environment = BTreeMap::new();
    for (what, text) in awkward() {
        for command in [&["validate", "-"][..], &["plan", "-f", "-"], &["render", "-f", "-"]] {
            let args = command
                .iter()
                .copied()
                .chain(["--no-builtin", "--no-config"])
                .map(str::to_owned)
                .collect();
            let call = Call {
                args,
                stdin: &text,
                directory,
                env: &environment,
                time: Duration::from_secs(20),
            };
            let done = run(&call).unwrap_or_else(|| panic!("{command:?} takes too long: {what}"));
            assert!(
                matches!(done.exit, Some(0..=2)),
                "{command:?} ends with {:?}: {what}\n{}",
                done.exit,
                done.stderr
            );
            let obeyed =
                |text: &str| text.chars().any(|c| c.is_control() && !matches!(c, '\n' | '\t'));
            assert!(!obeyed(&done.stdout) && !obeyed(&done.stderr), "{command:?}: {what}");
        }
    }
}
