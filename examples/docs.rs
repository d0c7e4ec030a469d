//! Writes what is generated from the tool itself, or proves it current: completions and the
//! reference pages.
//!
//! `cargo run --example docs [-- --check]`. Out: `completions/` for five shells, `docs/cli.md` from
//! the command line's definition, `docs/codes.md` from the list of codes, `docs/rules.md` from the
//! rules by which values are written, `docs/changes.md` from the table of what a change does to a
//! running object, `docs/plan.svg` from a plan, and the table of workloads in `docs/world.md`. With `--check` nothing is written; the exit code is 1 when a file is stale.

#![expect(
    clippy::disallowed_methods,
    clippy::print_stderr,
    reason = "a generator reads and writes files and reports on the terminal"
)]

use clap::Command;
use clap_complete::Shell;
use ome::internals::report::schemas;
use ome::internals::yaml::Rule;
use std::fmt::Write as _;
use std::path::Path;
use std::process::ExitCode;

/// Scripts by shell, under the names that each shell looks for.
const COMPLETIONS: [(Shell, &str); 5] = [
    (Shell::Bash, "ome.bash"),
    (Shell::Zsh, "_ome"),
    (Shell::Fish, "ome.fish"),
    (Shell::Elvish, "ome.elv"),
    (Shell::PowerShell, "_ome.ps1"),
];

fn main() -> ExitCode {
    let check = match std::env::args().skip(1).collect::<Vec<_>>().as_slice() {
        [] => false,
        [flag] if flag == "--check" => true,
        _ => {
            eprintln!("usage: docs [--check]");
            return ExitCode::FAILURE;
        }
    };
    let root = root();
    let mut stale = 0;
    for (name, text) in pages() {
        let file = root.join(&name);
        if std::fs::read_to_string(&file).is_ok_and(|current| current == text) {
            continue;
        }
        stale += 1;
        if check {
            eprintln!("stale: {name}");
        } else if let Err(error) = file
            .parent()
            .map_or(Ok(()), std::fs::create_dir_all)
            .and_then(|()| std::fs::write(&file, text))
        {
            eprintln!("{name}: {error}");
            return ExitCode::FAILURE;
        } else {
            eprintln!("written: {name}");
        }
    }
    if check && stale > 0 {
        eprintln!("run `cargo run --example docs` and commit what it writes");
        return ExitCode::FAILURE;
    }
    ExitCode::SUCCESS
}

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// Files that name the repository. Its address is `repository` in Cargo.toml, and nowhere else.
const OWNED: [&str; 9] = [
    ".krew.yaml",
    "README.md",
    "action.yml",
    "book.toml",
    "docs/accuracy.md",
    "docs/pipeline.md",
    "docs/validate.md",
    "examples/github/ome.yml",
    "examples/gitlab/.gitlab-ci.yml",
];

/// A text that names the account of Cargo.toml wherever it names one of this repository.
fn owned(text: &str) -> String {
    let mut parts = env!("CARGO_PKG_REPOSITORY").rsplit('/');
    let (name, owner) = (parts.next().unwrap_or_default(), parts.next().unwrap_or_default());
    let mut out = text.to_owned();
    for before in ["github.com/", "ghcr.io/", "uses: "] {
        let mut done = String::new();
        let mut rest = out.as_str();
        while let Some(at) = rest.find(before) {
            let (head, tail) = rest.split_at(at + before.len());
            done.push_str(head);
            rest = tail;
            let is_word = |c: char| c.is_ascii_alphanumeric() || c == '-';
            let behind = tail.trim_start_matches(is_word);
            let of_ours = behind.strip_prefix('/').and_then(|tail| tail.strip_prefix(name));
            if of_ours.is_some_and(|tail| !tail.starts_with(is_word)) {
                done.push_str(owner);
                rest = behind;
            }
        }
        out = done + rest;
    }
    out
}

/// Names and texts of all files.
fn pages() -> Vec<(String, String)> {
    let mut pages = vec![
        ("docs/cli.md".to_owned(), command_line()),
        ("docs/codes.md".to_owned(), ome::internals::report::code::page()),
        ("docs/rules.md".to_owned(), rules()),
        ("docs/changes.md".to_owned(), changes()),
        ("docs/json.md".to_owned(), shapes()),
        ("docs/supported.md".to_owned(), ome::internals::report::supported::page()),
        ("docs/plan.svg".to_owned(), picture(&["plan", "-f", "examples/quickstart"])),
    ];
    pages.extend(schemas::documents().map(|own| (own.file(), format!("{:#}\n", own.schema()))));
    let read = |name: &&str| std::fs::read_to_string(root().join(name)).unwrap_or_default();
    pages.push(("docs/world.md".to_owned(), with_kinds(&read(&"docs/world.md"))));
    pages.extend(OWNED.iter().map(|name| ((*name).to_owned(), owned(&read(name)))));
    for (shell, name) in COMPLETIONS {
        let mut text = Vec::new();
        clap_complete::generate(shell, &mut ome::cli::command(), "ome", &mut text);
        pages.push((format!("completions/{name}"), String::from_utf8_lossy(&text).into_owned()));
    }
    pages
}

/// A page with the table of workloads whose pods count, between its two marks.
fn with_kinds(page: &str) -> String {
    const MARKS: [&str; 2] =
        ["<!-- kinds: generated by `cargo run --example docs` -->\n", "<!-- end of kinds -->"];
    let mut table = String::from("| kind | group | pods |\n|---|---|---|\n");
    for (group, kind, pods) in ome::internals::pipeline::counted_kinds() {
        let group = if group.is_empty() { "core" } else { group };
        let _ = writeln!(table, "| {kind} | {group} | {} |", cell(&pods));
    }
    let split = page.split_once(MARKS[0]);
    let split = split.and_then(|(head, rest)| Some((head, rest.split_once(MARKS[1])?.1)));
    split.map_or_else(
        || page.to_owned(),
        |(head, tail)| [head, MARKS[0], &table, MARKS[1], tail].concat(),
    )
}

/// What a command prints on a terminal, as a picture that follows light and dark.
fn picture(command: &[&str]) -> String {
    const CELL: f32 = 7.8;
    const LINE: f32 = 18.0;
    const MARGIN: f32 = 16.0;
    let (mut out, mut err) = (Vec::new(), Vec::new());
    std::env::set_current_dir(root()).expect("the repository is there");
    let arguments = ["ome", "--color", "always"].iter().chain(command).map(Into::into);
    ome::cli::run(arguments, &mut ome::cli::Io::plain(&mut out, &mut err));
    let text = String::from_utf8_lossy(&out).into_owned();
    let lines: Vec<Vec<(&str, String)>> =
        std::iter::once(vec![("prompt", format!("$ ome {}", command.join(" ")))])
            .chain(text.lines().map(pieces))
            .collect();
    let length = |line: &Vec<(&str, String)>| {
        line.iter().map(|(_, text)| text.chars().count()).sum::<usize>()
    };
    let columns = lines.iter().map(length).max().unwrap_or(0);
    #[expect(clippy::cast_precision_loss, reason = "a few hundred columns")]
    let (width, height) =
        (columns as f32 * CELL + 2.0 * MARGIN, lines.len() as f32 * LINE + 2.0 * MARGIN);
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width:.0} {height:.0}\" font-family=\"ui-monospace,Menlo,Consolas,monospace\" font-size=\"13\">\n\
         <style>.back{{fill:#f6f8fa}}text{{fill:#1f2328;white-space:pre}}.prompt,.bold{{font-weight:600}}.good{{fill:#1a7f37}}.bad{{fill:#cf222e}}.dim{{fill:#59636e}}.warn{{fill:#9a6700}}\
         @media(prefers-color-scheme:dark){{.back{{fill:#151b23}}text{{fill:#f0f6fc}}.good{{fill:#3fb950}}.bad{{fill:#f85149}}.dim{{fill:#9198a1}}.warn{{fill:#d29922}}}}</style>\n\
         <rect class=\"back\" width=\"100%\" height=\"100%\" rx=\"8\"/>\n"
    );
    let mut y = MARGIN + LINE * 0.75;
    for line in &lines {
        let spans = line.iter().map(|(class, text)| {
            let text = text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
            if class.is_empty() { text } else { format!("<tspan class=\"{class}\">{text}</tspan>") }
        });
        let _ = writeln!(
            svg,
            "<text x=\"{MARGIN}\" y=\"{y:.1}\" xml:space=\"preserve\">{}</text>",
            spans.collect::<String>()
        );
        y += LINE;
    }
    svg + "</svg>\n"
}

/// A line of a terminal in pieces of one look.
fn pieces(line: &str) -> Vec<(&'static str, String)> {
    let mut parts = line.split("\u{1b}[");
    let mut found = vec![("", parts.next().unwrap_or_default().to_owned())];
    for part in parts {
        let (code, text) = part.split_once('m').unwrap_or(("", part));
        let class = match code {
            "1" => "bold",
            "38;5;10" => "good",
            "38;5;9" => "bad",
            "38;5;11" => "warn",
            "38;5;8" => "dim",
            _ => "",
        };
        found.push((class, text.to_owned()));
    }
    found.retain(|(_, text)| !text.is_empty());
    found
}

/// The documents that commands print as JSON.
fn shapes() -> String {
    let mut out = String::from(
        "# JSON\n\nEvery command that answers with decisions, findings or objects prints one JSON document with `-o json`, with every exit code\nbut that of a bad flag. Its JSON Schema (2020-12) is in `schemas/output`, and `ome schema output NAME` prints that of this build. A test\nchecks everything that the test cases print against them. Generated by `cargo run --example docs`.\n\n`-o yaml` prints the same document as YAML, and `-o jsonpath=TEMPLATE` what a [template of kubectl](https://kubernetes.io/docs/reference/kubectl/jsonpath/)\ntakes of it: `ome plan -f . -o jsonpath='{range .services[*]}{.namespace}/{.name}{\"\\n\"}{end}'`. A field that is absent prints nothing.\n\n| document | what it is | schema |\n|---|---|---|\n",
    );
    for own in schemas::documents() {
        let _ = writeln!(out, "| `{}` | {} | [{2}](../{2}) |", own.name, own.text, own.file());
    }
    out.push_str(
        "\n## What may change\n\n- `schemaVersion` names the version of all shapes. Within a version a field keeps its name, its type and its meaning, and is there\n  whenever its schema requires it. A release may add fields, and words where the schema lists none: readers ignore what they do not know.\n- Another version comes with a release that says so in the changelog, and the schemas of both stay in the repository.\n- `message`, `help`, `detail` and other sentences are for people; programs compare `code`.\n- Numbers that are unknown are `null`, never 0. Values of secrets are `•••`.\n\n`ome render -o json` prints a `v1` `List` of the manifests, and `validate -o sarif|gitlab|rdjson` the formats of others; they have\nschemas of their own.\n",
    );
    out
}

/// The help of every verb.
fn command_line() -> String {
    let mut out = String::from(
        "# Command line\n\nThe help of every command, as `ome COMMAND --help` prints it. Generated by `cargo run --example docs`.\n",
    );
    // Neither the terminal nor the environment of whoever generates the page may show in it.
    let mut root = settled(ome::cli::command().term_width(110));
    root.build();
    section(&mut out, "ome", root);
    out
}

fn settled(command: Command) -> Command {
    let names: Vec<String> =
        command.get_subcommands().map(|verb| verb.get_name().to_owned()).collect();
    let command = command.mut_args(|argument| argument.hide_env_values(true));
    names.into_iter().fold(command, |command, name| command.mut_subcommand(name, settled))
}

fn section(out: &mut String, name: &str, mut command: Command) {
    let help = command.render_long_help().to_string();
    let lines: Vec<&str> = help.trim_end().lines().map(str::trim_end).collect();
    let _ = write!(out, "\n## `{name}`\n\n```text\n{}\n```\n", lines.join("\n"));
    for verb in command.get_subcommands() {
        section(out, &format!("{name} {}", verb.get_name()), verb.clone());
    }
}

/// Every rule by which a value is written that stands in no file.
fn rules() -> String {
    let mut out = String::from(
        "# Rules\n\nA field of a rendered object that no file sets has one of these rules as its origin: `ome why OBJECT FIELD` prints it. Citations name a\n\
         document with its item, or a file upstream. Generated by `cargo run --example docs`.\n",
    );
    for (title, rules) in [
        ("Composing", ome::internals::pods::rules::ALL),
        ("Rendering", ome::internals::objects::rules::ALL),
        ("ModelServings", ome::internals::operators::kthena::objects::rules::ALL),
    ] {
        let _ =
            write!(out, "\n## {title}\n\n| rule | what it does | source |\n| --- | --- | --- |\n");
        for Rule { id, text, cite } in rules {
            let _ = writeln!(out, "| `{id}` | {} | {} |", cell(text), cell(cite));
        }
    }
    out
}

/// What a change of a field does to a running object.
fn changes() -> String {
    let mut out = String::from(
        "# Changes\n\nWhat a change of a field does to an object that runs, as `ome diff` judges it. A field may change, and no pod restarts, where nothing\n\
         else is said. Generated by `cargo run --example docs`.\n\n| kind | pods restart with | but not with | may not change | but may | source |\n\
         | --- | --- | --- | --- | --- | --- |\n",
    );
    let list = |fields: &[&str]| {
        fields.iter().map(|field| format!("`{field}`")).collect::<Vec<_>>().join(", ")
    };
    for effect in ome::internals::diff::EFFECTS {
        let group = if effect.group.is_empty() { "core" } else { effect.group };
        let refused: Vec<String> = effect
            .immutable
            .iter()
            .map(|(field, when)| format!("`{field}` ({})", when.as_str()))
            .collect();
        let sealed: Vec<&str> = effect.sealed.iter().map(|(field, _)| *field).collect();
        let sealed = match (refused.is_empty(), sealed.as_slice()) {
            (_, []) => None,
            (is_all, sealed) => {
                let comma = if is_all { "" } else { ", " };
                Some(format!("{comma}{} (if `immutable` is true)", list(sealed)))
            }
        };
        let unless = effect.unless.map(|(field, value)| format!(", unless `{field}` is {value}"));
        let _ = writeln!(
            out,
            "| {} ({group}) | {} | {} | {} | {} | {} |",
            effect.kind,
            list(effect.restarts),
            list(effect.spares),
            refused.join(", ") + &sealed.or(unless).unwrap_or_default(),
            list(effect.mutable),
            cell(effect.cite)
        );
    }
    out
}

/// Text that may hold a bar.
fn cell(text: &str) -> String {
    text.replace('|', "\\|")
}
