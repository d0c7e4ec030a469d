//! Who may use whom: every path of `src/` into another room is compared with the table below.
//!
//! A room is a module at the top of the crate. Code that is compiled for tests only may use
//! everything.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

const SOURCES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/src");

/// The modules that each module may use, lowest layer first; all others are forbidden. A folder of
/// `operators` is a module of its own.
const MAY_USE: &[(&str, &[&str])] = &[
    ("source", &[]),
    ("quantity", &[]),
    ("builtin", &[]),
    ("diag", &["source"]),
    ("yaml", &["source", "diag"]),
    // Used by all code that prints a source line or a value.
    ("secret", &["source", "diag", "yaml"]),
    ("schema", &["source", "quantity", "diag", "yaml"]),
    // Two states of an object, field by field.
    ("tree", &["source", "quantity", "yaml", "secret", "schema"]),
    ("emit", &["source", "diag", "yaml", "secret"]),
    ("protocol", &["source", "quantity", "diag", "yaml"]),
    ("api", &["source", "quantity", "diag", "yaml"]),
    // The server inside a container; it sees the container only.
    ("engine", &["source", "quantity", "yaml"]),
    ("policy", &["api"]),
    ("facts", &["source", "quantity", "diag", "yaml", "api"]),
    ("hub", &[]),
    // Where pods run; it sees nodes and pods, and no service or catalog.
    // Selectors of devices are expressions, which `schema` evaluates.
    ("cluster", &["source", "quantity", "yaml", "schema", "api", "facts"]),
    // Decisions as data; no verbs.
    ("decision", &["engine", "source", "quantity", "diag", "yaml", "api", "policy"]),
    // Engines: none of them depends on an operator.
    ("merge", &["source", "yaml", "schema"]),
    ("template", &["quantity", "yaml", "schema"]),
    (
        "pods",
        &["source", "quantity", "diag", "yaml", "schema", "api", "policy", "merge", "template"],
    ),
    ("catalog", &["source", "diag", "yaml", "api", "policy", "cluster"]),
    ("rollout", &["quantity", "yaml", "cluster"]),
    ("select", &["quantity", "diag", "yaml", "api", "policy", "decision", "catalog"]),
    (
        "check",
        &[
            "source", "quantity", "diag", "yaml", "secret", "schema", "api", "policy", "template",
            "pods", "catalog", "select",
        ],
    ),
    (
        "objects",
        &["source", "quantity", "diag", "yaml", "schema", "api", "policy", "template", "pods"],
    ),
    // The operations of an operator, which each of the folders below implements.
    (
        "operator",
        &[
            "diag", "yaml", "api", "policy", "decision", "merge", "pods", "catalog", "select",
            "check", "objects",
        ],
    ),
    // An operator is a folder, and none names another.
    (
        "operators/kueue",
        &["quantity", "diag", "yaml", "api", "facts", "cluster", "decision", "catalog", "objects"],
    ),
    (
        "operators/kthena",
        &[
            "quantity", "diag", "yaml", "schema", "api", "policy", "cluster", "pods", "check",
            "objects", "operator",
        ],
    ),
    (
        "operators/kserve",
        &[
            "engine", "source", "quantity", "diag", "yaml", "schema", "api", "policy", "decision",
            "merge", "template", "pods", "catalog", "select", "check", "objects", "operator",
        ],
    ),
    (
        "operators/ome",
        &[
            "engine", "source", "quantity", "diag", "yaml", "schema", "api", "policy", "facts",
            "cluster", "decision", "merge", "template", "pods", "catalog", "select", "check",
            "objects", "operator",
        ],
    ),
    // ModelServings for the rooms above, which do not name their operator.
    ("operators/servings", &["api", "policy", "catalog", "operators/kthena"]),
    // The only files that name all operators; upper layers use them.
    (
        "operators",
        &[
            "quantity",
            "diag",
            "api",
            "policy",
            "decision",
            "merge",
            "pods",
            "catalog",
            "select",
            "check",
            "objects",
            "operator",
            "rollout",
            "operators/kueue",
            "operators/kthena",
            "operators/kserve",
            "operators/ome",
        ],
    ),
    ("load", &["source", "diag", "yaml", "secret", "api", "policy"]),
    // It must not depend on a terminal.
    (
        "workspace",
        &[
            "source",
            "quantity",
            "diag",
            "yaml",
            "schema",
            "api",
            "policy",
            "facts",
            "cluster",
            "catalog",
            "operator",
            "operators/kueue",
            "operators/kthena",
            "operators/servings",
            "operators/kserve",
            "operators/ome",
            "operators",
            "load",
        ],
    ),
    (
        "exchange",
        &[
            "source",
            "quantity",
            "diag",
            "yaml",
            "schema",
            "api",
            "facts",
            "cluster",
            "catalog",
            "operators/kueue",
            "operators/kserve",
            "operators/ome",
        ],
    ),
    (
        "pipeline",
        &[
            "engine",
            "source",
            "quantity",
            "diag",
            "yaml",
            "secret",
            "schema",
            "api",
            "policy",
            "facts",
            "cluster",
            "decision",
            "tree",
            "merge",
            "pods",
            "catalog",
            "rollout",
            "objects",
            "operator",
            "operators/kueue",
            "operators/servings",
            "operators/ome",
            "operators",
            "workspace",
        ],
    ),
    // Answers for editors; without a protocol.
    ("editor", &["source", "yaml", "schema", "api", "catalog", "pipeline"]),
    (
        "diff",
        &[
            "source",
            "quantity",
            "diag",
            "yaml",
            "secret",
            "schema",
            "tree",
            "api",
            "policy",
            "decision",
            "catalog",
            "objects",
            "operators/kserve",
            "operators/servings",
            "operators/ome",
            "operators",
            "workspace",
            "pipeline",
        ],
    ),
    // Words what others decided.
    (
        "report",
        &[
            "engine",
            "source",
            "quantity",
            "builtin",
            "diag",
            "yaml",
            "secret",
            "schema",
            "emit",
            "protocol",
            "api",
            "policy",
            "facts",
            "cluster",
            "decision",
            "operators/servings",
            "workspace",
            "exchange",
            "pipeline",
            "diff",
        ],
    ),
    (
        "cli",
        &[
            "engine",
            "source",
            "quantity",
            "builtin",
            "diag",
            "yaml",
            "secret",
            "schema",
            "emit",
            "protocol",
            "api",
            "policy",
            "facts",
            "hub",
            "cluster",
            "merge",
            "catalog",
            "check",
            "objects",
            "operators/kthena",
            "operators/servings",
            "operators/kserve",
            "operators/ome",
            "operators",
            "load",
            "workspace",
            "exchange",
            "pipeline",
            "editor",
            "diff",
            "report",
        ],
    ),
];

/// Remaining arrows in the wrong direction, with the reason. The list only shrinks: an unused pair
/// fails.
const NOT_YET: &[(&str, &str)] = &[];

/// Rooms that may touch the file system.
const TOUCH_FILES: [&str; 2] = ["load", "emit"];
/// The only file that may name the process's streams, but for the hook that reports a bug.
const MAY_PRINT: &str = "cli/io.rs";

/// One file of the crate, without what only tests see.
pub(crate) struct File {
    pub(crate) path: String,
    room: String,
    /// Modules between the root of the crate and this file, itself included.
    depth: usize,
    pub(crate) code: String,
}

/// Every `.rs` file below `src` with its text, sorted.
pub(crate) fn sources() -> Vec<(PathBuf, String)> {
    let mut paths = Vec::new();
    let mut waiting = vec![PathBuf::from(SOURCES)];
    while let Some(directory) = waiting.pop() {
        for entry in std::fs::read_dir(directory).expect("src can be listed") {
            let path = entry.expect("src can be listed").path();
            match path.extension() {
                _ if path.is_dir() => waiting.push(path),
                Some(extension) if extension == "rs" => paths.push(path),
                _ => {}
            }
        }
    }
    paths.sort();
    let read = |path: PathBuf| {
        let text = std::fs::read_to_string(&path).expect("src can be read");
        (path, text)
    };
    paths.into_iter().map(read).collect()
}

/// The name of a file below `src`.
pub(crate) fn below_src(path: &Path) -> &Path {
    path.strip_prefix(SOURCES).expect("below src")
}

/// The files of [`sources`] without what only tests see.
pub(crate) fn files() -> Vec<File> {
    let texts = sources();
    let hidden: BTreeSet<PathBuf> =
        texts.iter().flat_map(|(path, text)| test_modules(path, text)).collect();
    let shown = texts.into_iter().filter(|(path, _)| {
        !path
            .ancestors()
            .any(|part| hidden.contains(part) || hidden.contains(&part.with_extension("")))
    });
    shown
        .map(|(path, text)| {
            let path = below_src(&path);
            let modules: Vec<String> = path
                .with_extension("")
                .iter()
                .map(|part| part.to_string_lossy().into_owned())
                .filter(|part| part != "mod")
                .collect();
            File {
                path: path.display().to_string(),
                room: room(&modules),
                depth: modules.len(),
                code: code(&text),
            }
        })
        .filter(|file| !["lib", "main", "internals"].contains(&file.room.as_str()))
        .collect()
}

/// Whether a module of `operators` is the folder of one of them.
fn is_operator(module: Option<&String>) -> bool {
    module.is_some_and(|module| {
        ["kserve", "kthena", "kueue", "ome", "servings"].contains(&module.as_str())
    })
}

/// The room of a file: the module at the top of the crate, or the folder of an operator.
fn room(modules: &[String]) -> String {
    let folders = if modules[0] == "operators" && is_operator(modules.get(1)) { 2 } else { 1 };
    modules.iter().take(folders).map(String::as_str).collect::<Vec<_>>().join("/")
}

/// Paths, without extension, of modules that a file declares for tests only.
fn test_modules(path: &Path, text: &str) -> Vec<PathBuf> {
    let folder = if path.ends_with("mod.rs") || path.ends_with("lib.rs") {
        path.parent().expect("a file is in a folder").to_owned()
    } else {
        path.with_extension("")
    };
    let mut lines = text.lines().map(str::trim).peekable();
    let mut found = Vec::new();
    while let Some(line) = lines.next() {
        let declared = lines.peek().and_then(|next| {
            next.trim_start_matches("pub(crate) ").strip_prefix("mod ")?.strip_suffix(';')
        });
        if let (true, Some(name)) = (line == "#[cfg(test)]", declared) {
            found.push(folder.join(name));
        }
    }
    found
}

/// A text without comments and without its tests, which come last; lines keep their numbers.
fn code(text: &str) -> String {
    let mut lines: Vec<&str> = Vec::new();
    let mut rest = text.lines().peekable();
    while let Some(line) = rest.next() {
        if line == "#[cfg(test)]"
            && rest.peek().is_some_and(|next| next.starts_with("mod ") && next.ends_with('{'))
        {
            break;
        }
        lines.push(if line.trim_start().starts_with("//") { "" } else { line });
    }
    lines.join("\n")
}

/// The names that follow a prefix such as `crate::`, groups in braces taken apart, each with its
/// line.
pub(crate) fn names_after(code: &str, prefix: &str) -> Vec<(usize, String)> {
    let mut found = Vec::new();
    for (at, _) in code.match_indices(prefix) {
        // `my_crate::` is another word.
        if code[..at].ends_with(|c: char| c.is_alphanumeric() || c == '_') {
            continue;
        }
        let line = code[..at].matches('\n').count() + 1;
        let rest = &code[at + prefix.len()..];
        if rest.starts_with('{') {
            found.extend(group(rest).into_iter().map(|name| (line, name)));
        } else {
            found.push((line, word(rest)));
        }
    }
    found
}

fn word(text: &str) -> String {
    text.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect()
}

/// First words of the members of a `{…}` group.
fn group(text: &str) -> Vec<String> {
    let (mut depth, mut start) = (0, true);
    let mut found = Vec::new();
    for (at, c) in text.char_indices() {
        match c {
            '{' => depth += 1,
            '}' if depth == 1 => break,
            '}' => depth -= 1,
            ',' if depth == 1 => start = true,
            c if start && depth == 1 && !c.is_whitespace() => {
                found.push(word(&text[at..]));
                start = false;
            }
            _ => {}
        }
    }
    found
}

/// The top-level modules that a file uses, with the line.
fn uses(file: &File) -> Vec<(usize, String)> {
    let mut found = names_after(&file.code, "crate::");
    found.extend(
        names_after(&file.code, &"super::".repeat(file.depth))
            .into_iter()
            .filter(|(_, name)| name != "super"),
    );
    let operators = format!("{}operators::", "super::".repeat(file.depth));
    let beside = "super::".repeat(file.depth - 1);
    let mut folders = names_after(&file.code, "crate::operators::");
    folders.extend(names_after(&file.code, &operators));
    if file.room.starts_with("operators/") {
        let named = names_after(&file.code, &beside);
        folders
            .extend(named.into_iter().filter(|(_, name)| !["super", "crate"].contains(&&**name)));
    }
    found.retain(|(_, name)| name != "operators");
    found.extend(folders.into_iter().map(|(line, name)| {
        let folder = is_operator(Some(&name));
        (line, if folder { format!("operators/{name}") } else { "operators".to_owned() })
    }));
    found
}

#[test]
fn modules_use_only_modules_allowed_by_the_table() {
    let table: BTreeMap<&str, &[&str]> = MAY_USE.iter().copied().collect();
    let (mut problems, mut met) = (Vec::new(), BTreeSet::new());
    let files = files();
    assert!(files.len() > 50, "the scan finds the crate");
    for file in &files {
        let Some(allowed) = table.get(file.room.as_str()) else {
            problems.push(format!("src/{}:1: {} has no row in the table", file.path, file.room));
            continue;
        };
        for (line, used) in uses(file) {
            let (own, used) = (file.room.as_str(), used.as_str());
            if let Some(pair) = NOT_YET.iter().find(|pair| **pair == (own, used)) {
                met.insert(pair);
            } else if used != own && !allowed.contains(&used) {
                problems.push(format!("src/{}:{line}: {} uses {used}", file.path, file.room));
            }
        }
    }
    for pair in NOT_YET.iter().filter(|pair| !met.contains(*pair)) {
        problems.push(format!("{} no longer uses {}: strike it from NOT_YET", pair.0, pair.1));
    }
    assert!(problems.is_empty(), "\n{}", problems.join("\n"));
}

/// The most files outside `operators` whose code names an operator other than the first. The number
/// only shrinks.
const NAMING_FILES: usize = 25;
/// The most comparisons of an [`Api`] outside `operators`. The number only shrinks.
const COMPARISONS: usize = 5;

/// A text without its string literals.
fn without_texts(code: &str) -> String {
    let (mut shown, mut in_text, mut escaped) = (String::new(), false, false);
    for c in code.chars() {
        match c {
            _ if escaped => escaped = false,
            '\\' if in_text => escaped = true,
            '"' => in_text = !in_text,
            _ if !in_text => shown.push(c),
            _ => {}
        }
    }
    shown
}

#[test]
fn modules_above_the_operators_seldom_name_one() {
    let (mut naming, mut comparisons) = (Vec::new(), Vec::new());
    for file in files().iter().filter(|file| !file.path.starts_with("operators")) {
        let code = without_texts(&file.code);
        let lower = code.to_lowercase();
        if ["kserve", "kthena"].iter().any(|name| lower.contains(name)) {
            naming.push(file.path.clone());
        }
        for line in code.lines() {
            let compares = ["== Api::", "!= Api::"].iter().any(|sign| line.contains(sign));
            if compares {
                comparisons.push(format!("src/{}: {}", file.path, line.trim()));
            }
        }
    }
    assert!(!naming.is_empty(), "the scan finds names");
    for (found, most) in [(naming, NAMING_FILES), (comparisons, COMPARISONS)] {
        assert!(found.len() <= most, "{} > {most}:\n{}", found.len(), found.join("\n"));
    }
}

/// Names that do not tell what they name: code has none of them.
const EMPTY_NAMES: [&str; 7] = ["own", "said", "made", "known", "asked", "told", "beside"];

/// The words of a code.
fn words(code: &str) -> impl Iterator<Item = &str> {
    code.split(|c: char| !c.is_alphanumeric() && c != '_').filter(|word| !word.is_empty())
}

#[test]
fn names_tell_what_they_name() {
    let mut places: BTreeMap<String, usize> = BTreeMap::new();
    for file in files() {
        let code = without_texts(&file.code);
        let count = words(&code).filter(|word| EMPTY_NAMES.contains(word)).count();
        if count > 0 {
            places.insert(file.path, count);
        }
    }
    assert!(places.is_empty(), "{places:#?}");
}

/// The least comments inside functions for ten thousand lines of code. The number only grows.
const COMMENTS_INSIDE: usize = 350;

#[test]
fn functions_have_comments_that_say_why() {
    let shown: BTreeSet<String> = files().into_iter().map(|file| file.path).collect();
    let (mut comments, mut lines) = (0, 0);
    for (path, text) in sources() {
        if !shown.contains(&below_src(&path).display().to_string()) {
            continue;
        }
        let tests = code(&text).lines().count();
        for line in text.lines().take(tests) {
            let indented = line.starts_with(' ');
            match line.trim_start() {
                "" => {}
                line if line.starts_with("///") || line.starts_with("//!") => {}
                line if line.starts_with("//") => comments += usize::from(indented),
                _ => lines += 1,
            }
        }
    }
    let share = comments * 10_000 / lines;
    assert!(share >= COMMENTS_INSIDE, "{comments} comments inside functions, {lines} lines");
}

#[test]
fn the_dependency_table_has_no_upward_references() {
    for (index, (room, used)) in MAY_USE.iter().enumerate() {
        for name in *used {
            let below = MAY_USE[..index].iter().any(|(room, _)| room == name);
            assert!(below, "{room} may use {name}, which does not stand above it in the table");
        }
    }
}

#[test]
fn only_listed_modules_use_std_fs_and_print() {
    let mut problems = Vec::new();
    for file in files() {
        for (number, line) in file.code.lines().enumerate() {
            let place = format!("src/{}:{}", file.path, number + 1);
            if line.contains("std::fs") && !TOUCH_FILES.contains(&file.room.as_str()) {
                problems.push(format!("{place}: {} touches files", file.room));
            }
            let prints =
                ["println!", "eprintln!", "print!(", "eprint!(", "io::stdout()", "io::stderr()"]
                    .iter()
                    .any(|word| line.contains(word));
            if prints && file.path != MAY_PRINT && file.path != "cli/mod.rs" {
                problems.push(format!("{place}: {} prints", file.room));
            }
        }
    }
    assert!(problems.is_empty(), "\n{}", problems.join("\n"));
}

#[test]
fn the_import_scan_finds_every_form_of_module_path() {
    let text = "use crate::{\n    api::{A, B},\n    yaml,\n};\nfn f() -> crate::diag::Code { $crate::source::x() } // \n// crate::cli\nuse super::policy;\n#[cfg(test)]\nmod tests {\n    use crate::report;\n}\n";
    let file =
        File { path: "select/mod.rs".into(), room: "select".into(), depth: 1, code: code(text) };
    let found: Vec<(usize, String)> = uses(&file);
    let want = [(1, "api"), (1, "yaml"), (5, "diag"), (5, "source"), (7, "policy")]
        .map(|(line, name)| (line, name.to_owned()));
    assert_eq!(found, want);
    let deeper =
        File { depth: 2, code: "use super::near;\nuse super::super::cli::Io;".into(), ..file };
    assert_eq!(uses(&deeper), [(2, "cli".to_owned())]);
    let path = Path::new("src/objects/mod.rs");
    assert_eq!(
        test_modules(
            path,
            "#[cfg(test)]\npub(crate) mod testing;\nmod x;\n#[cfg(test)]\nmod tests {"
        ),
        [Path::new("src/objects/testing")]
    );
}

/// Connections are opened in one room, by one command.
#[test]
fn only_the_hub_opens_connections() {
    const WORDS: [&str; 4] = ["ureq", "TcpStream", "UdpSocket", "UnixStream"];
    let all = files();
    let names = |file: &&File| WORDS.iter().any(|word| file.code.contains(word));
    let found: BTreeSet<&str> = all.iter().filter(names).map(|file| file.room.as_str()).collect();
    assert_eq!(found, BTreeSet::from(["hub"]));
    let askers: Vec<&str> = all
        .iter()
        .filter(|file| file.room != "hub" && uses(file).iter().any(|(_, name)| name == "hub"))
        .map(|file| file.path.as_str())
        .collect();
    assert!(askers.iter().all(|path| path.contains("import")) && !askers.is_empty(), "{askers:?}");
}
