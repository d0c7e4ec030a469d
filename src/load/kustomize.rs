//! Kustomize trees: built by the real `kustomize`, or read file by file without patches and other
//! files that are not objects.
//!
//! In: the directory of `-k`, or the files that were found in directories. Out: the output of the
//! build, or the files without patches, components, generators and transformers, with a finding per
//! tree. The programs are `kustomize build DIR` and `kubectl kustomize DIR`, found on PATH, called
//! with explicit arguments and no shell.

use super::files::{self, Unread};
use super::find::{Input, repository_root};
use super::listed::{Listed, NAMES, plain};
use crate::diag::{Code, Diagnostic, quoted};
use crate::source::SourceId;
use crate::yaml::{Entry, Limits, Node, parse, split};
use std::collections::{BTreeSet, HashSet};
use std::io::{ErrorKind, Read};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

/// The maximum duration of a build.
const TIMEOUT: Duration = Duration::from_mins(1);
/// The interval between two checks for the end of a build.
const PAUSE: Duration = Duration::from_millis(10);
/// The programs that build a tree, in the order in which they are looked for.
const PROGRAMS: [&[&str]; 2] = [&["kustomize", "build"], &["kubectl", "kustomize"]];

/// Whether a directory has a kustomization file.
pub fn is_kustomization(directory: &Path) -> bool {
    NAMES.iter().any(|name| directory.join(name).is_file())
}

/// A tree that is built.
#[derive(Clone, Debug)]
pub(super) struct Tree {
    /// `REV:` where it is one of a revision.
    prefix: String,
    /// As it was named; of a revision from the root of the repository.
    path: PathBuf,
    /// The directory on disk that the path is relative to.
    above: PathBuf,
}

impl Tree {
    /// A directory as it is.
    pub(super) fn on_disk(path: &Path) -> Self {
        Self { prefix: String::new(), path: path.to_owned(), above: PathBuf::new() }
    }

    /// A directory of a revision, with its files in another directory.
    pub(super) fn of_revision(revision: &str, above: PathBuf, path: PathBuf) -> Self {
        Self { prefix: format!("{revision}:"), path, above }
    }

    /// Where it is.
    pub(super) fn directory(&self) -> PathBuf {
        self.above.join(&self.path)
    }

    /// Where its files are: the repository that holds it, else the directory, and the working
    /// directory.
    pub(super) fn roots(&self) -> Vec<PathBuf> {
        let Ok(path) = self.directory().canonicalize() else { return Vec::new() };
        let revision = (!self.prefix.is_empty()).then(|| self.above.canonicalize().ok()).flatten();
        // Kustomize reads bases by `..`, which may lead anywhere in the repository but not beyond
        // it.
        let root = revision.or_else(|| repository_root(&path)).unwrap_or(path);
        [Some(root), Path::new(".").canonicalize().ok()].into_iter().flatten().collect()
    }

    /// The name of its output: the command whose lines are counted.
    pub(super) fn name(&self) -> String {
        format!("{BUILT}{}", self.shown())
    }

    fn shown(&self) -> String {
        format!("{}{}", self.prefix, self.path.display())
    }

    /// A file by its path from the directory: its path on disk, and its displayed name.
    pub(super) fn file(&self, from_here: &Path) -> (PathBuf, String) {
        let path = plain(&self.path.join(from_here));
        let name = format!("{}{}", self.prefix, path.display());
        (self.above.join(path), name)
    }

    /// The stderr of a program, with files as they are displayed: not those of a temporary directory,
    /// and without the working directory, which means nothing to others.
    fn displayed(&self, message: &str) -> String {
        if self.prefix.is_empty() {
            let here = Path::new(".").canonicalize().ok();
            // In the root directory the text to remove would be `//`, which addresses have, too.
            let here = here.filter(|here| here.parent().is_some());
            return match here {
                Some(here) => message.replace(&format!("{}/", here.display()), ""),
                None => message.to_owned(),
            };
        }
        let above = self.above.display();
        message
            // Longer texts first: without it, a slash would be left behind the revision.
            .replace(&format!("{above}/"), &self.prefix)
            .replace(&above.to_string(), self.prefix.trim_end_matches(':'))
    }
}

/// How a build runs.
pub(super) struct Run<'r> {
    /// The program and its arguments before the directory; without it, the first one on PATH.
    pub(super) command: Option<&'r str>,
    /// How much of its output is read.
    pub(super) limits: &'r Limits,
    /// How long it may take.
    pub(super) time: Duration,
    /// What keeps it from the network: nobody asked for this build.
    pub(super) offline: bool,
}

impl<'r> Run<'r> {
    /// A build that was asked for.
    fn requested(command: Option<&'r str>, limits: &'r Limits) -> Self {
        Self { command, limits, time: TIMEOUT, offline: false }
    }

    /// Returns the output of a build.
    pub(super) fn build(&self, tree: &Tree) -> Result<String, Failed> {
        let command: Vec<&str> = self.command.unwrap_or_default().split_whitespace().collect();
        let programs: Vec<&[&str]> =
            if command.is_empty() { PROGRAMS.to_vec() } else { vec![&command] };
        for words in &programs {
            match self.run(words, &tree.directory()) {
                // The next program may be there, and does the same work.
                Err(Failed::NotFound(_)) => {}
                Err(Failed::Because(why, help)) => {
                    let line = format!("{} {}", words.join(" "), tree.shown());
                    return Err(Failed::Because(
                        format!("`{line}` {}", tree.displayed(&why)),
                        help,
                    ));
                }
                Ok(text) => return Ok(text),
            }
        }
        let names: Vec<String> = programs.iter().map(|words| format!("`{}`", words[0])).collect();
        Err(Failed::NotFound(format!("{} is not on PATH", names.join(" or "))))
    }
}

/// What makes a program available.
pub(super) const INSTALL: &str =
    "install kustomize or kubectl, or name the program with `--kustomize-command`";

/// Returns the output of a build that was asked for.
pub(super) fn build(
    tree: &Tree,
    command: Option<&str>,
    limits: &Limits,
) -> Result<String, Box<Diagnostic>> {
    let directory = tree.directory();
    if let (true, Some(above)) = (directory.is_file(), tree.path.parent()) {
        let above = if above.as_os_str().is_empty() { Path::new(".") } else { above };
        let help = format!("name its directory: `-k {}`", quoted(&above.to_string_lossy()));
        return Err(failed(tree, "it is a file, and a directory is built", &help));
    }
    Run::requested(command, limits).build(tree).map_err(|error| match error {
        Failed::NotFound(why) => failed(tree, &why, INSTALL),
        Failed::Because(why, help) => failed(tree, &why, &help),
    })
}

/// The finding about a tree that was not built.
pub(super) fn failed(tree: &Tree, why: &str, help: &str) -> Box<Diagnostic> {
    let name = tree.shown();
    Box::new(
        Diagnostic::new(Code::KustomizeFailed, format!("`{name}` was not built: {why}"))
            .in_file(name)
            .help(help),
    )
}

/// Why a program gave no text.
pub(super) enum Failed {
    /// There is none; the sentence names those that were looked for.
    NotFound(String),
    /// It failed: why, and what to do.
    Because(String, String),
}

/// Variables that keep git and HTTP clients from every host (git, `GIT_ALLOW_PROTOCOL`).
const OFFLINE: [(&str, &str); 6] = [
    ("GIT_ALLOW_PROTOCOL", "none"),
    ("GIT_TERMINAL_PROMPT", "0"),
    ("HTTP_PROXY", "http://127.0.0.1:9"),
    ("HTTPS_PROXY", "http://127.0.0.1:9"),
    ("http_proxy", "http://127.0.0.1:9"),
    ("https_proxy", "http://127.0.0.1:9"),
];

impl Run<'_> {
    fn run(&self, words: &[&str], directory: &Path) -> Result<String, Failed> {
        let (limits, time) = (self.limits, self.time);
        let because = |why: &str, help: &str| Failed::Because(why.to_owned(), help.to_owned());
        let mut child = Command::new(words[0])
            .args(&words[1..])
            .arg(directory)
            .envs(OFFLINE.into_iter().filter(|_| self.offline))
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .map_err(|error| match error.kind() {
                ErrorKind::NotFound => Failed::NotFound(String::new()),
                _ => because(&format!("cannot run: {error}"), "make the program executable"),
            })?;
        // Both pipes are read while it runs: a full one would stop it.
        let most = limits.document_size.saturating_add(1);
        let (out, err) = (child.stdout.take(), child.stderr.take());
        let reader = |pipe: Option<Box<dyn Read + Send>>| {
            thread::spawn(move || {
                let mut bytes = Vec::new();
                if let Some(pipe) = pipe {
                    // After a read error the text is incomplete, and the exit code gives the reason.
                    let _ = pipe.take(most).read_to_end(&mut bytes);
                }
                bytes
            })
        };
        let out = reader(out.map(|pipe| Box::new(pipe) as Box<dyn Read + Send>));
        let err = reader(err.map(|pipe| Box::new(pipe) as Box<dyn Read + Send>));
        let start = Instant::now();
        let status = loop {
            match child.try_wait() {
                Ok(Some(status)) => break status,
                Ok(None) if start.elapsed() < time => thread::sleep(PAUSE),
                Ok(None) => {
                    let _ = child.kill();
                    let _ = child.wait();
                    let why = format!("took longer than {} s and was stopped", time.as_secs());
                    return Err(because(&why, "run it by itself to see what it waits for"));
                }
                Err(error) => return Err(because(&format!("failed: {error}"), "run it by itself")),
            }
        };
        let out = out.join().unwrap_or_default();
        let err = err.join().unwrap_or_default();
        // Before its exit code: a program whose output is cut off ends with an error of its own.
        if out.len() as u64 > limits.document_size {
            let finding = files::too_large(limits);
            return Err(because(
                "printed more than `--max-file-size`",
                &finding.help.unwrap_or_default(),
            ));
        }
        if !status.success() {
            let message = without_warnings(&String::from_utf8_lossy(&err));
            let message = one_line(without_clock(&message));
            let why = if message.is_empty() {
                format!("failed: {status}")
            } else {
                format!("failed: {message}")
            };
            return Err(because(&why, "correct what it reports; nothing else was read"));
        }
        files::decode_bytes(out)
            .map_err(|_| because("printed bytes that are not UTF-8", "save the files as UTF-8"))
    }
}

/// What a program wrote without its warnings about old fields, if it wrote more.
fn without_warnings(message: &str) -> String {
    let is_warning = |line: &&str| line.starts_with("# Warning:");
    let lines: Vec<&str> = message.trim().lines().collect();
    let rest: Vec<&str> = lines.iter().copied().filter(|line| !is_warning(line)).collect();
    if rest.is_empty() { lines.join("\n") } else { rest.join("\n") }
}

/// The message of kubectl without the log prefix, whose time and process differ in every run (klog,
/// Header format: `E1123 04:40:59.934854   18414 run.go:72] `).
fn without_clock(message: &str) -> &str {
    let is_level = message.starts_with(['I', 'W', 'E', 'F']);
    let is_dated = message.get(1..6).is_some_and(|day| {
        day.ends_with(' ') && day[..4].bytes().all(|digit| digit.is_ascii_digit())
    });
    match message.split_once("] ") {
        Some((_, rest)) if is_level && is_dated => rest,
        _ => message,
    }
}

/// An error of kubectl or kustomize as one sentence: kubectl writes it as a quoted value of its log, or
/// as an indented block between `<` and `>` (klog, textlogger).
fn one_line(message: &str) -> String {
    const FAILED: &str = "\"command failed\" err=";
    let error = message.strip_prefix(FAILED).unwrap_or(message).trim();
    let quoted = error.strip_prefix('"').and_then(|rest| rest.strip_suffix('"'));
    let block = error.strip_prefix('<').and_then(|rest| rest.strip_suffix('>'));
    let text = match (quoted, block) {
        (Some(text), _) => text.replace("\\\"", "\"").replace("\\n", "\n"),
        (None, Some(text)) => text.to_owned(),
        (None, None) => error.to_owned(),
    };
    let lines: Vec<&str> = text.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    lines.join(" ")
}

/// What the name of the output of a tree begins with.
const BUILT: &str = "kustomize build ";

/// Whether an input of this name is the output of a tree.
pub(super) fn is_built(name: &str) -> bool {
    name.starts_with(BUILT)
}

/// Removes the files that a kustomization lists as patch, component, generator or transformer, which
/// are not objects, and the manifests beside a kustomization that none lists, which are not
/// deployed: one finding for each directory with manifests that are not listed. Returns the trees
/// that no other one includes, too.
pub(super) fn set_aside<T: AsRef<str>>(
    found: &mut Vec<(Input, Option<Result<T, Unread>>)>,
    limits: &Limits,
) -> (Vec<Diagnostic>, Listed, Vec<Overlay>) {
    let mut no_objects: HashSet<PathBuf> = HashSet::new();
    let mut included: BTreeSet<PathBuf> = BTreeSet::new();
    let mut trees: Vec<Overlay> = Vec::new();
    let mut listed_by = Listed::default();
    for (input, text) in found.iter() {
        // A kustomization that was named with `-f` is a plain file to read, as it is for kubectl.
        let Some(path) = input.path.as_deref().filter(|_| !input.named) else { continue };
        let is_one = path
            .file_name()
            .and_then(|name| name.to_str())
            .is_some_and(|name| NAMES.contains(&name));
        let (true, Some(Ok(text))) = (is_one, text) else { continue };
        let text = text.as_ref();
        let directory = plain(path.parent().unwrap_or(Path::new("")));
        let above = input.root.as_deref().unwrap_or(".");
        let shown = input.name.rsplit_once('/').map_or(above, |(directory, _)| directory);
        let mut empty = false;
        for part in split(SourceId(0), text).value {
            let Some(node) = parse(SourceId(0), text, part, limits).value else { continue };
            empty |= is_empty(&node);
            let aside: Vec<PathBuf> =
                listed(&node).map(|name| plain(&directory.join(name))).collect();
            let paths: Vec<PathBuf> =
                includes(&node).map(|name| plain(&directory.join(name))).collect();
            included.extend(paths.iter().cloned());
            listed_by.add(directory.clone(), shown, paths, &aside, &node);
            no_objects.extend(aside);
        }
        // Context is not reported on, so that no overlay of it is built or noted.
        if input.reported && !empty {
            let (shown, root) = (Arc::from(shown), input.root.clone());
            trees.push(Overlay { directory, file: path.to_owned(), shown, root });
        }
    }
    if listed_by.is_empty() && trees.is_empty() {
        return (Vec::new(), listed_by, trees);
    }
    let is_aside = |input: &Input| {
        !input.named
            // With an empty set, each file would be split into its components for nothing.
            && !no_objects.is_empty()
            && input
                .path
                .as_deref()
                // Any part of the path: a component is a directory, and all below it is a part of
                // it.
                .is_some_and(|path| plain(path).ancestors().any(|part| no_objects.contains(part)))
    };
    found.retain(|(input, _)| !is_aside(input));
    let findings = listed_by.leave_out(found, &included, limits);
    // A tree that is included is built by the tree that includes it.
    trees.retain(|overlay| {
        !included.contains(&overlay.directory) && !no_objects.contains(&overlay.directory)
    });
    (findings, listed_by, trees)
}

/// A tree that no other one includes.
pub(super) struct Overlay {
    /// Its directory, without `.` and `..`.
    pub(super) directory: PathBuf,
    /// Its kustomization.
    pub(super) file: PathBuf,
    /// Its directory as it is displayed.
    pub(super) shown: Arc<str>,
    /// The directory of the command line above it.
    pub(super) root: Option<Arc<str>>,
}

/// What became of a tree that was not built.
pub(super) const ONE_BY_ONE: &str = "its files were read one by one, without patches";
/// The same if built trees share files with it.
pub(super) const SHARED: &str = "the files that it shares with built overlays are read only as those, and its others one by one, without patches";
/// Why it was not, where no build was asked for.
const UNASKED: &str = "the directory holds a kustomization";

impl Overlay {
    /// The note that it was not built, and why if a build was asked for.
    pub(super) fn not_built(&self, why: Option<&str>) -> Diagnostic {
        let message = format!("{}: {ONE_BY_ONE}", why.unwrap_or(UNASKED));
        Diagnostic::new(Code::KustomizeNotBuilt, message)
            .in_file(&*self.shown)
            .help(format!("`ome plan -k {}` builds it", quoted(&self.shown)))
    }
}

/// Why a tree was not built by `kustomize = "auto"`, from its note.
pub fn why_not_built(finding: &Diagnostic) -> Option<&str> {
    let message = &finding.message;
    let why = [ONE_BY_ONE, SHARED]
        .iter()
        .find_map(|name| message.strip_suffix(name))?
        .trim_end_matches([':', ' ']);
    (why != UNASKED).then_some(why)
}

/// Whether kustomize refuses to build a kustomization: nothing but its kind is set (kustomize,
/// api/types/kustomization.go, `CheckEmpty`).
fn is_empty(node: &Node) -> bool {
    let is_set = |entry: &Entry| {
        !matches!(entry.key.as_str(), "apiVersion" | "kind") && !entry.node.is_null()
    };
    node.as_map().is_some_and(|map| !map.iter().any(is_set))
}

/// Paths that a kustomization lists and that hold no objects.
fn listed(node: &Node) -> impl Iterator<Item = &str> {
    let items = |key: &str| node.get(key).map(Node::items).unwrap_or_default();
    let paths = ["patches", "patchesJson6902"]
        .into_iter()
        .flat_map(items)
        .filter_map(|item| item.get("path")?.as_str());
    let names = ["patchesStrategicMerge", "components", "generators", "transformers"]
        .into_iter()
        .flat_map(items)
        .filter_map(Node::as_str);
    // A patch, a generator or a transformer may be written in the list itself.
    paths.chain(names).filter(|name| !name.is_empty() && !name.contains('\n'))
}

/// Trees that a kustomization includes.
fn includes(node: &Node) -> impl Iterator<Item = &str> {
    ["resources", "bases"]
        .into_iter()
        .filter_map(|key| node.get(key))
        .flat_map(Node::items)
        .filter_map(Node::as_str)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn input(path: &str) -> Input {
        Input {
            path: Some(path.into()),
            name: path.into(),
            named: false,
            reported: true,
            outside: false,
            size: 0,
            root: None,
            overlay: None,
        }
    }

    fn left(files: &[(&str, &str)]) -> (Vec<String>, Vec<String>) {
        let mut found =
            files.iter().map(|(path, text)| (input(path), Some(Ok((*text).to_owned())))).collect();
        let (_, _, trees) = set_aside(&mut found, &Limits::default());
        (
            found.into_iter().map(|(input, _)| input.name).collect(),
            trees.into_iter().map(|tree| tree.shown.to_string()).collect(),
        )
    }

    #[test]
    fn patches_and_components_are_no_objects() {
        let base = "resources: [a.yaml]\npatches:\n- path: p.yaml\n- patch: '[]'\npatchesStrategicMerge:\n- q.yaml\n- |\n  kind: X\n";
        let over = "resources: [../base]\ncomponents: [../part]\ntransformers: [t/x.yaml]\n";
        let (files, trees) = left(&[
            ("r/base/a.yaml", ""),
            ("r/base/kustomization.yaml", base),
            ("r/base/p.yaml", ""),
            ("r/base/q.yaml", ""),
            ("r/over/kustomization.yml", over),
            ("r/over/t/x.yaml", ""),
            ("r/over/y.yaml", ""),
            ("r/part/kustomization.yaml", "patches: [{path: z.yaml}]"),
            ("r/part/z.yaml", ""),
        ]);
        assert_eq!(
            files,
            [
                "r/base/a.yaml",
                "r/base/kustomization.yaml",
                "r/over/kustomization.yml",
                "r/over/y.yaml"
            ]
        );
        assert_eq!(trees, ["r/over"]);
    }

    #[test]
    fn a_kustomization_without_a_field_is_no_overlay() {
        let empty =
            "apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\nresources:\n";
        let (files, trees) =
            left(&[("a/kustomization.yaml", empty), ("b/kustomization.yaml", "resources: []\n")]);
        assert_eq!((files.len(), trees), (2, vec!["b".to_owned()]));
    }

    #[cfg(unix)]
    #[test]
    fn output_beyond_the_limit_is_named_as_why_a_build_failed() {
        let limits = Limits { document_size: 1000, ..Limits::default() };
        let run = Run::requested(Some("yes"), &limits);
        let Err(Failed::Because(why, _)) = run.run(&["yes"], Path::new("x")) else {
            panic!("`yes` prints without end");
        };
        assert_eq!(why, "printed more than `--max-file-size`");
    }

    #[test]
    fn warnings_about_old_fields_are_not_why_a_build_failed() {
        let warning = "# Warning: 'bases' is deprecated.";
        assert_eq!(without_warnings(&format!("{warning}\nError: x\n  y\n")), "Error: x\n  y");
        assert_eq!(without_warnings(warning), warning);
    }

    #[test]
    fn the_klog_prefix_of_kubectl_errors_is_removed() {
        let head = "E1123 04:40:59.934854   18414 run.go:72] ";
        assert_eq!(without_clock(&format!("{head}\"command failed\"")), "\"command failed\"");
        for plain in ["Error: [a] b", "E11 x] y", "", "E1123", "Ä1123 x] y"] {
            assert_eq!(without_clock(plain), plain);
        }
    }

    #[test]
    fn errors_of_kubectl_are_one_sentence() {
        for (message, expected) in [
            ("\"command failed\" err=\"no \\\"a\\\" in 'b'\"", "no \"a\" in 'b'"),
            (
                "\"command failed\" err=<\n\ttrouble with `\n\tpath: p.yaml\n\t`: no such file\n >",
                "trouble with ` path: p.yaml `: no such file",
            ),
            ("Error: a\n  b", "Error: a b"),
            ("", ""),
        ] {
            assert_eq!(one_line(message), expected);
        }
    }

    #[test]
    fn without_a_kustomization_all_files_are_loaded() {
        assert_eq!(left(&[("a/p.yaml", "patches: [{path: q.yaml}]"), ("a/q.yaml", "")]).0.len(), 2);
    }
}
