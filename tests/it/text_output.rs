//! The text output of `plan` and `explain`: errors first and once, findings about the named objects
//! only, tables that are complete at any width, and valid Markdown.

use crate::process::{Done, Folder};
use ome::internals::api::Semantics;
use ome::internals::load::{self, Request};
use ome::internals::report::plan::{Extent, Plan};
use ome::internals::report::table::{Style, wrapped};
use ome::internals::report::totals::{Read, classes, verdict};
use ome::internals::yaml::Limits;
use ome::pipeline::{Depth, Planner, together};
use ome::workspace::ReadOptions;
use std::path::{Path, PathBuf};

const ROOT: &str = env!("CARGO_MANIFEST_DIR");

/// Two services, each with an error and a misspelled field of its own.
const TWO: &str = "apiVersion: ome.io/v1beta1
kind: InferenceService
metadata: {name: a}
spec:
  model: {name: nope}
  engine: {minReplica: 1}
---
apiVersion: ome.io/v1beta1
kind: InferenceService
metadata: {name: b}
spec:
  model: {name: other}
  engine: {maxReplica: 1}
";

fn quickstart(args: &str) -> Done {
    let folder = Folder::new(&[]);
    let input = Path::new(ROOT).join("testdata/quickstart");
    folder.ome(&format!("{args} -f {}", input.display()))
}

/// The text of a plan.
fn whole(plan: &Plan<'_>, style: Style) -> String {
    let mut drawn = String::new();
    let mut draw = |piece: &str| {
        drawn.push_str(piece);
        Ok(())
    };
    plan.text(style, &mut draw).expect("nothing fails");
    drawn
}

/// The visible text of a terminal.
fn both(done: &Done) -> String {
    format!("{}{}", done.stderr, done.stdout)
}

#[test]
fn unread_files_are_reported_before_missing_objects() {
    let folder = Folder::new(&[("bad.yaml", "apiVersion: v1\nkind: [\n"), ("two.yaml", TWO)]);
    for call in [
        "explain chat -f no-such.yaml",
        "plan chat -f no-such.yaml",
        "render chat -f no-such.yaml",
        "rollout chat -f no-such.yaml",
        "endpoints chat -f no-such.yaml",
        "why Deployment/chat-engine spec -f no-such.yaml",
        "catalog show chat -f no-such.yaml",
    ] {
        let done = folder.ome(call);
        let (unread, missing) = (done.stderr.find("file-not-read"), done.stderr.find("error: no"));
        assert!(unread.is_some() && unread < missing.or(Some(usize::MAX)), "{call}: {done:?}");
        assert_eq!(done.stderr.matches("file-not-read").count(), 1, "{call}: {done:?}");
    }
    let done = folder.ome("explain chat -f bad.yaml -f two.yaml");
    assert!(done.stderr.starts_with("yaml-syntax\n"), "{done:?}");
    assert!(
        done.stderr.contains("\nerror: no InferenceService or ModelServing `chat`\n"),
        "{done:?}"
    );
    // Findings about the input do not report missing objects.
    assert!(!done.stderr.contains("unknown-field"), "{done:?}");
}

#[test]
fn plan_prints_no_table_when_no_input_was_read() {
    let done = Folder::new(&[]).ome("plan -f no-such-directory");
    let first = "incomplete: 1 part of the input was not read: no-such-directory (file-not-read)\n";
    assert_eq!(done.stdout, first, "{done:?}");
    assert!(done.stderr.contains("no-such-directory"), "{done:?}");
}

#[test]
fn a_command_for_one_service_omits_findings_of_others() {
    let folder = Folder::new(&[("two.yaml", TWO)]);
    for verb in ["explain", "plan", "render", "endpoints"] {
        let text = both(&folder.ome(&format!("{verb} a -f two.yaml")));
        assert!(text.contains("minReplica"), "{verb}: {text}");
        assert!(!text.contains("maxReplica"), "{verb}: {text}");
        let text = both(&folder.ome(&format!("{verb} -f two.yaml")));
        assert!(text.contains("maxReplica"), "{verb}: {text}");
    }
}

#[test]
fn an_error_is_printed_once_with_its_location() {
    let folder = Folder::new(&[("two.yaml", TWO)]);
    for call in ["explain a", "plan a", "plan", "explain a -o markdown", "plan -o markdown"] {
        let text = both(&folder.ome(&format!("{call} -f two.yaml"))).replace("\\`", "`");
        assert_eq!(text.matches("with the name `nope`").count(), 1, "{call}: {text}");
        assert!(text.contains("two.yaml:5"), "{call}: {text}");
    }
    let page = folder.ome("explain a -f two.yaml").stdout;
    let answer = page.lines().skip_while(|line| !line.starts_with("default/a")).nth(1);
    assert!(answer.is_some_and(|line| line.starts_with("  ✗ model-not-found: ")), "{page}");
}

#[test]
fn errors_of_one_cause_are_one_paragraph() {
    let folder = Folder::new(&[("two.yaml", &TWO.replace("other", "nope"))]);
    let page = folder.ome("plan -f two.yaml").stdout;
    let paragraph = "✗ model-not-found: no BaseModel or ClusterBaseModel with the name `nope`
    default/a  two.yaml:5
    default/b  two.yaml:12
  help: load the model with `-f`
";
    assert!(page.contains(paragraph), "{page}");
    assert!(
        page.ends_with("\n✗ 2 services, 2 in error; 0 pods and 0 GPUs at minReplicas\n"),
        "{page}"
    );
}

#[test]
fn a_run_that_fails_does_not_end_with_a_check_mark() {
    let folder = Folder::new(&[("bad.yaml", "a: [\n"), ("base/two.yaml", TWO)]);
    let input = Path::new(ROOT).join("testdata/quickstart");
    let input = input.display();
    for (call, last) in [
        (
            format!("plan -f {input} -f bad.yaml"),
            "; all pods fit the nodes; a part of the input was not read",
        ),
        (format!("plan -f {input} -f bad.yaml -o html"), "; a part of the input was not read"),
        (
            format!("rollout --all -f {input} -f base --base base"),
            "; 2 services in error are left unchanged",
        ),
    ] {
        let done = folder.ome(&call);
        assert_eq!(done.exit, Some(1), "{call}: {done:?}");
        let end = done.stdout.lines().find(|line| line.contains(last));
        let end = end.unwrap_or_else(|| panic!("{call}: {}", done.stdout));
        assert!(end.contains('✗') && !end.contains('✓'), "{call}: {end}");
    }
}

#[test]
fn a_matrix_without_models_names_the_step_that_adds_models() {
    let folder =
        Folder::new(&[("none.yaml", "apiVersion: v1\nkind: Namespace\nmetadata: {name: a}\n")]);
    let said = folder.ome("matrix -f none.yaml --no-builtin").stderr;
    let line = |what: &str| said.lines().find(|line| line.starts_with(what)).map(str::to_owned);
    let [models, classes] = ["no models", "no accelerator classes"].map(line);
    let models = models.expect("models are missing");
    assert!(models.contains("`ome import --help`") && !models.contains("--builtin"), "{models}");
    assert!(classes.is_some_and(|line| line.contains("`--builtin always`")), "{said}");
}

#[test]
fn no_word_of_a_plan_is_broken_at_any_width() {
    let input = PathBuf::from(ROOT).join("testdata/quickstart");
    let files = ome::internals::builtin::files().iter();
    let builtin = files.map(|(name, text)| load::Builtin { name, text, is_wanted: |_| true });
    let loaded = load::load(
        &Request { paths: &[input], builtin: &builtin.collect::<Vec<_>>(), ..Request::default() },
        &mut std::io::empty(),
        &Limits::default(),
    );
    let semantics = Semantics::Documented;
    let world = ome::workspace::read(loaded, &ReadOptions::new(semantics));
    let services: Vec<_> = world.catalog.services().collect();
    let planner = Planner::new(&world.catalog);
    let mut planned = planner.plan_all(&services, Depth::Plan);
    let together = together(
        &planner,
        &mut planned,
        &mut Vec::new(),
        ome::pipeline::PlacementOptions::default(),
    );
    let totals = ome::pipeline::totals(&planned, &[], world.catalog.machines(), together.as_ref());
    let plan = Plan {
        readings: *world.catalog.readings(),
        header: " · runtimes: 3 read",
        planned: &planned,
        sources: &world.sources,
        extent: Extent::Short,
        arguments: "",
    };
    let read = Read {
        whole: true,
        is_partly_read: false,
        fails: false,
        has_errors: false,
        warnings: 0,
        without_presets: 0,
        stopped: &[],
    };
    for width in [None, Some(40), Some(80), Some(100), Some(120), Some(200)] {
        let style = Style { color: false, width };
        let last = verdict(&totals, &planned, &[], together.as_ref(), read);
        let last = wrapped(&last.expect("there are services").text, width, "  ");
        let page = whole(&plan, style) + &classes(&totals, style) + &last;
        for word in ["RawDeployment", "nvidia-h100-80gb", "minReplicas"] {
            assert!(page.contains(word), "{width:?}: {word}\n{page}");
        }
        // Names are whole in a block and where the table fits; it has 126 columns.
        let is_block = width.is_some_and(|width| width < 72);
        let is_whole = is_block || width.is_none_or(|width| width >= 126);
        for word in ["qwen2-5-32b-instruct", "sglang-qwen2-5-small", "nightly-summary"] {
            assert!(!is_whole || page.contains(word), "{width:?}: {word}\n{page}");
        }
        assert_eq!(page.contains("\n  model "), is_block, "{width:?}\n{page}");
        // Few rows keep every column where they fit.
        let is_folded = !is_block && width != Some(200);
        assert_eq!(page.contains("in every row: namespace quickstart"), is_folded, "{page}");
        // The last line is the verdict; the third service is scaled to zero.
        let rows = page.lines().filter(|line| !line.starts_with([' ', '✓']) && line.contains("✓ "));
        assert_eq!(rows.count(), if is_block { 0 } else { 2 }, "{width:?}\n{page}");
        if let Some(width) = width {
            let longest = page.lines().map(|line| line.chars().count()).max().unwrap_or_default();
            assert!(width == 40 || longest <= usize::from(width), "{width}: {longest}\n{page}");
        }
    }
    let colored = whole(&plan, Style { color: true, width: Some(200) });
    assert!(colored.contains("\u{1b}[38;5;10m✓ 1 of 1"), "{colored:?}");
}

#[test]
fn explain_prints_the_selection_in_its_first_lines() {
    let page = quickstart("explain chat").stdout;
    let lines: Vec<&str> =
        page.lines().skip_while(|line| !line.starts_with("quickstart/chat")).collect();
    assert_eq!(
        lines[1],
        "  sglang-qwen2-5-small (highest priority) · engine on builtin:nvidia-h100-80gb (highest score of the strategy)"
    );
    assert_eq!(
        lines[2],
        "  next: vllm-qwen2-5: priority 1 < 2 · builtin:nvidia-l40s for the engine: score 0.40 < 0.75"
    );
    // Every candidate has a rule and, unless it is a class, the compared values.
    for line in lines.iter().filter(|line| {
        ["✓ chosen", "· eligible", "✗ rejected"].iter().any(|verdict| line.contains(verdict))
    }) {
        let cells = line.split("  ").filter(|cell| !cell.trim().is_empty()).count();
        assert!(cells >= 6, "{line}");
    }
}

#[test]
fn explain_markdown_has_headings_tables_and_one_block_of_arithmetic() {
    let page = quickstart("explain chat -o markdown").stdout;
    // The operands of the KV cache stay below each other.
    assert!(page.matches("```").count() == 2 && page.contains("```\nKV cache of"), "{page}");
    for part in ["\n### quickstart/chat", "\n| RUNTIME | SCOPE | VERDICT |", "\n- **model**: "] {
        assert!(page.contains(part), "{part}: {page}");
    }
}

#[test]
fn explain_lists_the_services_of_a_runtime_or_model() {
    let page = quickstart("explain sglang-qwen2-5-small").stdout;
    assert!(
        page.contains("\n  used by 2 of 3 services; 0 more could use it, 1 cannot\n"),
        "{page}"
    );
    let refused = page.lines().find(|line| line.starts_with("quickstart/assistant"));
    let refused = refused.expect("a row");
    assert!(
        ["✗ cannot use it", "size-range", "32.8B is outside 5B..9B", "runtimes.yaml:19"]
            .iter()
            .all(|part| refused.contains(part)),
        "{page}"
    );
    // The assistant names this runtime; the others would be served by it too.
    let page = quickstart("explain runtime/vllm-qwen2-5").stdout;
    assert!(page.contains("· could use it"), "{page}");
    let page = quickstart("explain model qwen2-5-7b-instruct").stdout;
    assert!(
        page.contains(
            "\n  used by 2 services; automatic selection accepts 2 of 3 runtimes, first sglang-qwen2-5-small (highest priority)\n"
        ),
        "{page}"
    );
    let json: serde_json::Value =
        serde_json::from_str(&quickstart("explain vllm-qwen2-5 -o json").stdout).expect("JSON");
    assert_eq!(json["runtime"]["name"], "vllm-qwen2-5");
    assert_eq!(json["services"].as_array().map(Vec::len), Some(3));
}

#[test]
fn an_unknown_name_is_reported_with_the_available_names() {
    for (args, help) in [
        ("explain nope", "the input has assistant, chat, nightly-summary"),
        ("rollout nope", "the input has assistant, chat, nightly-summary"),
        ("plan chatt", "did you mean `chat`?"),
    ] {
        let done = quickstart(args);
        assert!(done.exit == Some(1) && done.stderr.contains(help), "{args}: {}", done.stderr);
    }
}

#[test]
fn schema_accepts_kubectl_explain_paths() {
    let folder = Folder::new(&[]);
    let expected = folder.ome("schema isvc spec.engine.runner");
    assert!(expected.stdout.contains("image"), "{}", expected.stdout);
    for word in ["isvc.spec.engine.runner", "inferenceservice.ome.io.spec.engine.runner"] {
        let done = folder.ome(&format!("schema {word}"));
        assert!(expected.stdout.starts_with(&done.stdout) && !done.stdout.is_empty(), "{word}");
    }
    let unknown = folder.ome("schema isv.spec");
    assert!(unknown.stderr.contains("did you mean `isvc`?"), "{}", unknown.stderr);
}

/// A service that is in error has no endpoints and no rollout: neither is "none".
#[test]
fn what_was_not_rendered_is_not_reported_as_nothing() {
    let service = "apiVersion: serving.kserve.io/v1alpha1\nkind: LLMInferenceService\nmetadata: {name: i}\nspec: {model: {uri: \"hf://a/b\"}}\n";
    let folder = Folder::new(&[("s.yaml", service)]);
    let done = folder.ome("drift -f s.yaml");
    assert_eq!(done.exit, Some(1), "{done:?}");
    assert!(done.stdout.contains("nothing is compared: 1 service in error"), "{done:?}");
    assert!(!done.stdout.contains("no drift"), "{done:?}");
    for command in ["endpoints", "rollout i"] {
        let done = folder.ome(&format!("{command} -f s.yaml"));
        assert_eq!(done.exit, Some(1), "{done:?}");
        assert!(done.stdout.contains("i: not known: it was not rendered"), "{done:?}");
        assert!(!done.stdout.contains("none"), "{done:?}");
    }
}

/// What was probably meant is offered as a command that works, without findings about others.
#[test]
fn why_offers_the_command_that_was_meant() {
    let image = "'spec.template.spec.containers[0].image'";
    let folder = Folder::new(&[]);
    for (words, expected) in [
        ("chat-engine spec", "did you mean `ome why Deployment/chat-engine spec"),
        ("deployment/chat-engine image", &*format!("ome why deployment/chat-engine {image}")),
        (
            "chat image",
            &*format!(
                "`chat` is a service, for which objects are rendered: `ome why Deployment/chat-engine {image}"
            ),
        ),
        ("chat", "objects are rendered: `ome why Deployment/chat-engine"),
        ("Deployment chat image", &*format!("`ome why Deployment/chat-engine {image}")),
        ("isvc chat", "objects are rendered: `ome why Deployment/chat-engine"),
        ("InferenceService/chat spec.template", "`ome why Deployment/chat-engine spec.template"),
        ("Service/chatt", "did you mean `ome why Service/chat"),
    ] {
        let done = quickstart(&format!("why {words}"));
        assert_eq!(done.exit, Some(1), "{done:?}");
        assert!(done.stderr.contains(expected), "{words}: {}", done.stderr);
        assert!(!done.stderr.contains("warning"), "{}", done.stderr);
        let command = done.stderr.rsplit("`ome ").next().and_then(|rest| rest.split_once('`'));
        let (command, _) = command.expect("a command");
        let again = folder.ome(&command.replace('\'', ""));
        assert_eq!(again.exit, Some(0), "{command}: {}", again.stderr);
    }
    let done = quickstart("why services.yaml spec");
    assert!(done.stderr.contains("name an object as KIND/NAME, such as `"), "{done:?}");
}

/// A kind is offered in the versions that it has, of each operator that has it.
#[test]
fn the_offered_version_is_one_of_the_kind() {
    for (head, expected) in [
        (
            "apiVersion: serving.kserve.io/v1\nkind: InferenceService",
            "help: write `serving.kserve.io/v1beta1`\n",
        ),
        (
            "apiVersion: serving.kserve.io/v1\nkind: LLMInferenceService",
            "help: write `serving.kserve.io/v1alpha1` or `serving.kserve.io/v1alpha2`\n",
        ),
        (
            "apiVersion: kserve.io/v1beta1\nkind: ServingRuntime",
            "did you mean `serving.kserve.io/v1alpha1`?",
        ),
        (
            "kind: InferenceService",
            "add `apiVersion: ome.io/v1beta1` or `apiVersion: serving.kserve.io/v1beta1`",
        ),
    ] {
        let folder =
            Folder::new(&[("a.yaml", &format!("{head}\nmetadata: {{name: a}}\nspec: {{}}\n"))]);
        let done = folder.ome("plan -f a.yaml");
        assert!(done.stderr.contains(expected), "{head}: {done:?}");
    }
}

/// A word that is no service, code, field or file is answered with what it is, or with a near one.
#[test]
fn near_misses_of_arguments_are_answered_with_the_next_step() {
    for (call, expected) in [
        (
            "plan qwen2-5-7b-instruct",
            "is a ClusterBaseModel: `ome explain model/qwen2-5-7b-instruct",
        ),
        ("render vllm-qwen2-5", "is a ClusterServingRuntime: `ome explain runtime/vllm-qwen2-5"),
        ("explain Runtime/vllm-qwen25", "did you mean `ome explain runtime/vllm-qwen2-5"),
        ("explain model/qwen2-5-7b", "did you mean `ome explain model/qwen2-5-7b-instruct"),
        ("explain quickstart", "`quickstart` is a namespace: `-n quickstart` selects its services"),
        ("drift live.yaml", "there is no file `live.yaml`, either; `-f` names files"),
    ] {
        let done = quickstart(call);
        assert_eq!(done.exit, Some(1), "{done:?}");
        assert!(done.stderr.contains(expected), "{call}: {}", done.stderr);
    }
    let folder = Folder::new(&[("services.yaml", ""), ("deploy/a.yaml", "")]);
    for (call, expected) in [
        ("schema isvc.spec.engin", "did you mean `ome schema InferenceService spec.engine`?"),
        ("schema isvc engine", "did you mean `ome schema InferenceService spec.engine`?"),
        ("schema Deployment image", "Deployment spec.template.spec.containers.image`?"),
        ("schema isvc nothing", "`ome schema InferenceService` lists the fields"),
        ("code zzzzzzzzzz", "`ome code` lists them all"),
        ("plan -f service.yaml", "did you mean `services.yaml`?"),
        ("plan -f deploy/b.yaml", "did you mean `deploy/a.yaml`?"),
        ("plan -f zzzzzzz", "correct the path"),
        ("convert services.yaml", "tip: `-f services.yaml` reads a file or directory"),
        ("catalog list deploy", "tip: `-f deploy` reads a file or directory"),
        ("diff main --base services.yaml", "load it with `-f`"),
    ] {
        let done = folder.ome(call);
        assert!(done.stderr.contains(expected), "{call}: {}", done.stderr);
    }
}
