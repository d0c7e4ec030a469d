//! `ome` as a KRM function: flags come from the functionConfig of a ResourceList.
//!
//! Kustomize calls a function without arguments, so `ome` alone is `ome render -f -` when a
//! ResourceList is on standard input.

use crate::cli::commands::{Command, render};
use crate::cli::{Cli, Failure, Io, Outcome, command};
use crate::diag::{Code, Diagnostic, nearest};
use crate::load;
use crate::yaml::{FieldPath, Limits, Node, Value};
use clap::Parser;
use std::ffi::OsString;

/// Flags of `render` that a functionConfig cannot set: they are about files, help and the terminal.
const NOT_HERE: [&str; 13] = [
    "output",
    "check",
    "diff",
    "force",
    "kustomization",
    "layout",
    "stage",
    "annotate",
    "help",
    "color",
    "verbose",
    "quiet",
    "no-pager",
];

/// Kinds of a functionConfig: our own, and the one that `kpt fn eval -- KEY=VALUE` writes.
const KINDS: [&str; 2] = ["OmeRender", "ConfigMap"];

/// Runs the function when a ResourceList is on standard input.
pub(in crate::cli::commands) fn bare(io: &mut Io<'_>) -> Option<Result<Outcome, Failure>> {
    let mut stdin = io.piped_stdin()?;
    let dash = [std::path::PathBuf::from("-")];
    let peeked = load::peek(&dash, &mut stdin, &Limits::default());
    let list = peeked.list?;
    let typed: Vec<OsString> = ["ome", "render", "-f", "-"].map(OsString::from).to_vec();
    Some(run(&list, &typed, peeked.stdin, io))
}

/// Runs `render` on a ResourceList. `typed` is the command line; its flags override those of
/// the functionConfig.
pub(super) fn run(
    list: &Node,
    typed: &[OsString],
    stdin: Option<Vec<u8>>,
    io: &mut Io<'_>,
) -> Result<Outcome, Failure> {
    let (flags, _) = flags(list);
    let at = typed.iter().position(|word| word == "render").map_or(typed.len(), |at| at + 1);
    let mut words = typed.to_vec();
    words.splice(at..at, flags);
    match parse(&words) {
        Ok(args) => render::function(&args, stdin, io),
        Err(problem) => Err(Failure::Usage(format!("the functionConfig and the flags: {problem}"))),
    }
}

/// Findings about keys of a functionConfig that are not flags of `render`.
pub(super) fn problems(list: &Node) -> Vec<Diagnostic> {
    flags(list).1
}

fn parse(words: &[OsString]) -> Result<render::Args, String> {
    // Flags of the command line come after those of the functionConfig, and the last value of a
    // flag is used.
    let matches = command()
        .mut_subcommand("render", |render| render.args_override_self(true))
        .try_get_matches_from(words)
        .map_err(|error| reason(&error))?;
    let cli = <Cli as clap::FromArgMatches>::from_arg_matches(&matches)
        .map_err(|error| reason(&error))?;
    match cli.command {
        Some(Command::Render(args)) => Ok(*args),
        _ => Err("this is no call of `render`".to_owned()),
    }
}

/// The sentence of an error of clap.
fn reason(error: &clap::Error) -> String {
    let text = error.to_string();
    let first = text.lines().next().unwrap_or_default();
    first.strip_prefix("error: ").unwrap_or(first).to_owned()
}

/// Returns the flags that a functionConfig sets, and findings about it.
fn flags(list: &Node) -> (Vec<OsString>, Vec<Diagnostic>) {
    let (mut flags, mut problems) = (Vec::new(), Vec::new());
    let Some(config) = list.get("functionConfig").filter(|config| !config.is_null()) else {
        return (flags, problems);
    };
    let text = |key: &str| config.get(key).and_then(Node::as_str).unwrap_or_default();
    let group = text("apiVersion").split_once('/').map_or("", |(group, _)| group);
    let place = |key: &str| config.get(key).map_or(config.origin, |node| node.origin).span();
    if !matches!((group, text("kind")), ("ome.io", "OmeRender") | ("", "ConfigMap")) {
        let message = format!(
            "functionConfig is a `{}` of `{}`, not an `OmeRender` of `ome.io`",
            text("kind"),
            text("apiVersion")
        );
        problems.push(
            Diagnostic::new(Code::InvalidValue, message)
                .at(place("kind"))
                .path("kind")
                .help("write `apiVersion: ome.io/v1` and `kind: OmeRender`"),
        );
        return (flags, problems);
    }
    // A ConfigMap has its values below `data`.
    let holder = if text("kind") == KINDS[1] { "data" } else { "spec" };
    for entry in config.entries() {
        let key = entry.key.as_str();
        if !["apiVersion", "kind", "metadata", holder].contains(&key) {
            problems.push(
                unknown(key, &FieldPath::root().field(key), &[holder]).at(entry.key_origin.span()),
            );
        }
    }
    let name = config_keys();
    let names: Vec<&str> = name.iter().map(String::as_str).collect();
    for entry in config.get(holder).into_iter().flat_map(Node::entries) {
        let key = entry.key.as_str();
        let path = FieldPath::root().field(holder).field(key);
        if !names.contains(&key) {
            problems.push(unknown(key, &path, &names).at(entry.key_origin.span()));
            continue;
        }
        match words(key, &entry.node) {
            Ok(words) => flags.extend(words),
            Err(why) => problems.push(
                Diagnostic::new(
                    Code::InvalidValue,
                    format!("`{key}` of the functionConfig: {why}"),
                )
                .at(entry.node.origin.span())
                .path(path.to_string())
                .help(format!("see `--{}` in `ome render --help`", kebab(key))),
            ),
        }
    }
    (flags, problems)
}

fn unknown(key: &str, path: &FieldPath, name: &[&str]) -> Diagnostic {
    let finding = Diagnostic::new(
        Code::UnknownField,
        format!("`{key}` is no flag of `ome render` that a functionConfig may set"),
    )
    .path(path.to_string());
    match nearest(key, name.iter().copied()) {
        Some(near) => finding.help(format!("did you mean `{near}`?")),
        None => finding.help(format!("known are {}", name.join(", "))),
    }
}

/// The keys of a functionConfig.
fn config_keys() -> Vec<String> {
    let command = command();
    let render =
        command.find_subcommand("render").into_iter().flat_map(clap::Command::get_arguments);
    let mut rendered: Vec<String> = render
        .filter_map(clap::Arg::get_long)
        .filter(|name| !NOT_HERE.contains(name))
        .map(camel)
        .collect();
    rendered.push("services".to_owned());
    rendered
}

/// The words of one key: `true` is a flag, a list repeats it.
fn words(key: &str, value: &Node) -> Result<Vec<OsString>, String> {
    let flag = format!("--{}", kebab(key));
    let values: Vec<&Node> =
        if let Value::List(items) = &value.value { items.iter().collect() } else { vec![value] };
    let mut words: Vec<OsString> = Vec::new();
    for value in values {
        let text = value
            .scalar_text()
            .ok_or_else(|| format!("{} is no value of a flag", value.kind_name()))?;
        match (key, text.as_str()) {
            ("services", name) => words.push(name.into()),
            // A switch is off where it is left out.
            (_, "false") if is_switch(key) => {}
            (_, "true") if takes_nothing(key) => words.push(flag.clone().into()),
            (_, text) => words.push(format!("{flag}={text}").into()),
        }
    }
    // Each flag is parsed by itself, so that an error is at its key.
    let line = ["ome", "render"].into_iter().map(OsString::from).chain(words.iter().cloned());
    Cli::try_parse_from(line).map_err(|error| reason(&error))?;
    Ok(words)
}

/// Whether a flag may be without a value.
fn takes_nothing(key: &str) -> bool {
    with_flag(key, |arg| arg.get_num_args().is_none_or(|range| range.min_values() == 0))
}

/// Whether a flag is a switch without a value.
fn is_switch(key: &str) -> bool {
    with_flag(key, |arg| matches!(arg.get_action(), clap::ArgAction::SetTrue))
        || key == "passThrough"
}

fn with_flag(key: &str, ask: impl Fn(&clap::Arg) -> bool) -> bool {
    let (command, name) = (command(), kebab(key));
    let mut render =
        command.find_subcommand("render").into_iter().flat_map(clap::Command::get_arguments);
    render.any(|arg| arg.get_long() == Some(&name) && ask(arg))
}

fn camel(name: &str) -> String {
    let mut words = name.split('-');
    let mut out = words.next().unwrap_or_default().to_owned();
    for word in words {
        let mut letters = word.chars();
        out.extend(letters.next().map(|first| first.to_ascii_uppercase()));
        out.push_str(letters.as_str());
    }
    out
}

fn kebab(key: &str) -> String {
    let mut out = String::new();
    for letter in key.chars() {
        if letter.is_ascii_uppercase() {
            out.push('-');
        }
        out.push(letter.to_ascii_lowercase());
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::SourceId;

    fn read(spec: &str) -> (Vec<OsString>, Vec<Diagnostic>) {
        let text = format!(
            "kind: ResourceList\nfunctionConfig:\n  apiVersion: ome.io/v1\n  kind: OmeRender\n  spec: {spec}\n"
        );
        let whole = 0..text.len();
        flags(&crate::yaml::parse(SourceId(0), &text, whole, &Limits::default()).value.unwrap())
    }

    #[test]
    fn keys_of_a_function_config_are_flags() {
        for (spec, expected) in [
            ("{argocdWaves: true}", &["--argocd-waves"][..]),
            ("{argocdWaves: false, expand: 'true'}", &["--expand"]),
            ("{passThrough: all}", &["--pass-through=all"]),
            ("{passThrough: true}", &["--pass-through"]),
            ("{noBuiltin: false}", &["--no-builtin=false"]),
            (
                "{filename: [a, b], namespace: x}",
                &["--filename=a", "--filename=b", "--namespace=x"],
            ),
            ("{services: [a, b/c]}", &["a", "b/c"]),
        ] {
            let (flags, problems) = read(spec);
            assert_eq!(flags, expected, "{spec}");
            assert!(problems.is_empty(), "{spec}: {problems:?}");
        }
    }

    #[test]
    fn an_unknown_function_config_key_is_reported_at_its_path() {
        for (spec, path, message) in [
            ("{argocdWave: true}", "spec.argocdWave", "did you mean `argocdWaves`?"),
            ("{output: json}", "spec.output", "known are "),
            ("{builtin: sometimes}", "spec.builtin", "see `--builtin`"),
            ("{argocdWaves: [{a: 1}]}", "spec.argocdWaves", "see `--argocd-waves`"),
        ] {
            let (flags, problems) = read(spec);
            assert!(flags.is_empty(), "{spec}");
            assert_eq!(problems[0].path.as_deref(), Some(path));
            assert!(problems[0].help.as_deref().unwrap().starts_with(message), "{problems:?}");
        }
    }
}
