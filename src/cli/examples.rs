//! The help of each command beyond its text: examples, as they are typed in `testdata/quickstart`,
//! and the groups of its options.

use super::args::{AcceleratorArgs, InputArgs};
use clap::Args as _;

/// Commands with their examples: arguments of `ome`, and their effect. The first entries are those
/// of `ome` itself.
pub const EXAMPLES: &[(&str, &[(&str, &str)])] = &[
    (
        "",
        &[
            ("plan", "what each service of this directory becomes"),
            ("explain chat", "why this runtime and this class"),
            ("render chat", "the manifests of one service"),
            ("validate", "mistakes in the input"),
        ],
    ),
    (
        "plan",
        &[
            ("plan", "all services of this directory"),
            ("plan chat -o json", "one service, as JSON"),
            ("plan --semantics controller", "as the shipped operator decides"),
            ("plan -o markdown", "for a pull request comment"),
        ],
    ),
    (
        "explain",
        &[
            ("explain chat", "why this runtime and this class"),
            ("explain chat --all", "every candidate, not only the nearest"),
            ("explain chat --runtime vllm-qwen2-5", "what would have another runtime selected"),
        ],
    ),
    (
        "why",
        &[
            ("why Deployment/chat-engine spec.template.spec.containers", "who sets each field"),
            ("why Deployment/chat-engine spec.strategy", "a default, with its rule"),
        ],
    ),
    (
        "render",
        &[
            ("render chat", "the manifests of one service"),
            ("render chat --annotate", "with the source of each field"),
            ("render -o dir=manifests", "a file for each object"),
        ],
    ),
    (
        "diff",
        &[
            ("diff --base . -f .", "against another directory"),
            ("diff --base . -o json", "the same as JSON"),
        ],
    ),
    (
        "drain",
        &[
            ("drain gpu-l40s-0", "what moves when a node is drained, and what blocks it"),
            ("drain --max", "as many nodes as can be given back"),
        ],
    ),
    (
        "drift",
        &[
            ("drift --live .", "objects of a dump against what is rendered"),
            ("drift chat --live . -o json", "one service, as JSON"),
        ],
    ),
    (
        "rollout",
        &[
            ("rollout chat", "the pods of one service, step by step"),
            ("rollout --all", "all services at once"),
        ],
    ),
    (
        "matrix",
        &[("matrix", "models by accelerator classes"), ("matrix -o json", "the same as JSON")],
    ),
    (
        "validate",
        &[
            ("validate", "everything in this directory"),
            ("validate --strict runtimes.yaml", "warnings fail, too"),
        ],
    ),
    (
        "catalog",
        &[
            ("catalog list --kind model", "models, built-in and your own"),
            ("catalog show sglang-qwen2-5-small", "one object, what it matches"),
        ],
    ),
    (
        "catalog list",
        &[
            ("catalog list --kind model", "models, built-in and your own"),
            ("catalog list --source builtin --engine vllm", "the built-in runtimes of vLLM"),
        ],
    ),
    (
        "catalog show",
        &[
            ("catalog show sglang-qwen2-5-small", "one object, what it matches"),
            ("catalog show runtime vllm-qwen2-5", "a runtime of this name"),
        ],
    ),
    (
        "catalog releases",
        &[
            ("catalog releases", "what `--release` takes"),
            ("catalog releases -o json", "the same as JSON"),
        ],
    ),
    (
        "test",
        &[
            ("test --record chat.ome-test.yaml", "write today's answers into a new file"),
            ("test", "compare with every *.ome-test.yaml of this directory"),
            ("test -o junit", "a report for CI"),
        ],
    ),
    (
        "kueue",
        &[
            ("kueue diff", "where classes and flavors disagree"),
            ("kueue export -o yaml", "the flavors of the classes, for `kubectl apply -f -`"),
        ],
    ),
    (
        "kueue import",
        &[
            ("kueue import", "what would change in the classes"),
            ("kueue import -o yaml", "the classes, for `kubectl apply -f -`"),
        ],
    ),
    (
        "kueue export",
        &[
            ("kueue export", "what would change in the flavors"),
            ("kueue export -o yaml", "the flavors, for `kubectl apply -f -`"),
        ],
    ),
    (
        "kueue diff",
        &[
            ("kueue diff", "where classes and flavors disagree"),
            ("kueue diff -o json", "the same as JSON"),
        ],
    ),
    (
        "payload",
        &[
            ("payload check request.json --protocol v2 --kind infer-request", "a request"),
            ("payload check response.json --protocol v2 --kind infer-response", "a response"),
        ],
    ),
    (
        "payload check",
        &[
            ("payload check request.json --protocol v2 --kind infer-request", "a request"),
            (
                "payload check response.json --protocol v2 --kind infer-response --request request.json",
                "its response",
            ),
        ],
    ),
    (
        "man",
        &[("man", "the manual page of `ome`"), ("man pages", "a page for each command in pages/")],
    ),
    ("version", &[("version", "the version"), ("version -v", "and how long the start takes")]),
    (
        "convert",
        &[
            ("convert --to shipped -f runtimes.yaml", "fields that the shipped CRDs accept"),
            ("convert --to oep -f runtimes.yaml", "the fields of OEP-0003"),
        ],
    ),
    (
        "schema",
        &[
            ("schema isvc", "the fields of an InferenceService"),
            ("schema ClusterServingRuntime", "the fields of a runtime"),
            ("schema output plan", "a JSON Schema of what `ome plan -o json` prints"),
        ],
    ),
    (
        "lsp",
        &[
            ("lsp", "what an editor starts"),
            ("lsp --semantics controller", "findings and decisions of the shipped operators"),
        ],
    ),
    (
        "endpoints",
        &[
            ("endpoints chat", "the URLs of one service"),
            ("endpoints -o json", "of all services, as JSON"),
        ],
    ),
    (
        "dump",
        &[
            ("dump --print-command", "for a shell with access to the cluster"),
            ("dump --print-command --color never", "for a script"),
        ],
    ),
    (
        "code",
        &[("code same-priority", "what a finding means and how to fix it"), ("code", "all codes")],
    ),
    (
        "config",
        &[
            ("config", "every setting, and the flag, variable or line that sets it"),
            ("config --builtin never -o json", "with a flag, as JSON"),
        ],
    ),
    (
        "completions",
        &[
            ("completions bash", "for `source <(ome completions bash)`"),
            ("completions zsh", "for zsh"),
        ],
    ),
];

/// The command with the examples of its commands, and with their options in groups.
pub(crate) fn with_examples(command: clap::Command) -> clap::Command {
    let command = grouped(command);
    EXAMPLES.iter().fold(command, |command, (name, examples)| with(command, name, examples))
}

/// Options that select among what was read.
const SELECTION: [&str; 5] = ["namespace", "all_namespaces", "selector", "r#in", "directory"];

/// Options that are in `--help` alone: `-h` fits a screen.
const RARE: [&str; 35] = [
    "no_builtin",
    "kthena_profile",
    "deployment_mode",
    "model_configs",
    "hf_cache",
    "model_facts",
    "partial",
    "config",
    "no_config",
    "max_file_size",
    "max_depth",
    "max_nodes",
    "max_files",
    "jobs",
    "protocol",
    "feature_gates",
    "strict_preferred",
    "allow_unknown",
    "request_size",
    "strict_cost",
    "args_order",
    "dedupe_args",
    "no_pager",
    "kustomize_command",
    "overlays",
    "exclude",
    "follow_outside",
    "device_tolerations",
    "presets",
    "recursive",
    "all_namespaces",
    "color",
    "cluster_domain",
    "own_catalog",
    "quiet",
];

/// The command with the options of each command in the groups input, selection, accelerators and
/// output, the rare ones in `--help` alone.
fn grouped(command: clap::Command) -> clap::Command {
    let ids = |part: clap::Command| -> Vec<String> {
        part.get_arguments().map(|arg| arg.get_id().to_string()).collect()
    };
    let input = ids(InputArgs::augment_args(clap::Command::new("")));
    let accelerators = ids(AcceleratorArgs::augment_args(clap::Command::new("")));
    in_groups(command, &input, &accelerators)
}

fn in_groups(command: clap::Command, input: &[String], accelerators: &[String]) -> clap::Command {
    let command = command.mut_args(|arg| {
        let id = arg.get_id().as_str();
        let is_rare = RARE.contains(&id);
        let heading = if SELECTION.contains(&id) {
            "Selection"
        } else if input.iter().any(|input| input == id) {
            "Input"
        } else if accelerators.iter().any(|accelerator| accelerator == id) {
            "Accelerators (documented mode)"
        } else {
            "Output"
        };
        // Positional arguments have a section of their own.
        let arg = if arg.is_positional() { arg } else { arg.help_heading(heading) };
        if is_rare { arg.hide_short_help(true) } else { arg }
    });
    command.mut_subcommands(|verb| in_groups(verb, input, accelerators))
}

/// The command with the examples of one command below it.
fn with(command: clap::Command, name: &str, examples: &[(&str, &str)]) -> clap::Command {
    if name.is_empty() {
        return command.after_help(text(examples));
    }
    match name.split_once(' ') {
        Some((group, name)) => command.mut_subcommand(group, |group| with(group, name, examples)),
        None => command.mut_subcommand(name, |verb| verb.after_help(text(examples))),
    }
}

fn text(examples: &[(&str, &str)]) -> String {
    let width = examples.iter().map(|(typed, _)| typed.len()).max().unwrap_or(0);
    let lines = examples.iter().map(|(typed, what)| format!("\n  ome {typed:<width$}    {what}"));
    format!("Examples:{}", lines.collect::<String>())
}
