//! Reads the texts of a revision of the repository, without a checkout.
//!
//! In: the paths of a run and the name of a revision. Out: the files that `find` would return for
//! that revision, with their texts. The program `git` is run with `rev-parse`, `ls-tree` and
//! `cat-file`, each with explicit arguments and no shell; nothing is written and nothing is
//! fetched. Files that git ignores are skipped as in a directory.

use super::files::{self, Unread, reason};
use super::find::{Found, Input, RENDERED, is_manifest};
use crate::diag::{Code, Diagnostic, Severity};
use crate::yaml::Limits;
use ignore::gitignore::{Gitignore, GitignoreBuilder};
use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::io::{Read, Write};
use std::path::{Component, Path, PathBuf};
use std::process::{Command, Stdio};

/// Ignore files, those that take precedence first.
const IGNORE_FILES: [&str; 3] = [".omeignore", ".ignore", ".gitignore"];

/// A text of a revision, or why there is none.
pub(super) type Text = Result<String, Unread>;

/// The texts of a revision below some paths.
pub(super) fn texts(
    paths: &[PathBuf],
    revision: &str,
    limits: &Limits,
) -> Result<(Found, Vec<Text>), Box<Diagnostic>> {
    // Git would read it as a flag.
    if revision.is_empty() || revision.starts_with('-') {
        return Err(not_read(
            revision,
            "it is not a path, and no revision begins so",
            "name a path, a branch, a tag or a commit",
        ));
    }
    if paths.iter().any(|path| path == Path::new("-")) {
        return Err(not_read(
            revision,
            "standard input has no revisions",
            "name files or directories with `-f`",
        ));
    }
    // Paths may be in several repositories; a process is started for each of these, not for each
    // path.
    let mut repositories: BTreeMap<PathBuf, Repository> = BTreeMap::new();
    let mut found: BTreeMap<String, (Input, Text)> = BTreeMap::new();
    let mut diagnostics = Vec::new();
    for path in paths {
        let (directory, rest) = nearest_directory(path);
        let root = root(&directory, revision)?;
        if !repositories.contains_key(&root) {
            repositories.insert(root.clone(), Repository::open(&root, revision)?);
        }
        let Some(repository) = repositories.get(&root) else { continue };
        let within = directory.strip_prefix(&root).unwrap_or(Path::new("")).join(rest);
        let entries = repository.list(&within)?;
        if entries.is_empty() {
            let message = format!("`{}` is not in `{revision}`", path.display());
            diagnostics.push(
                Diagnostic::new(Code::FileNotRead, message)
                    .severity(Severity::Info)
                    .in_file(path.display().to_string()),
            );
            continue;
        }
        // Files of the revision decide, since those of the work tree may have changed since.
        let ignored = repository.ignored(&within, &entries)?;
        let rendered: Vec<PathBuf> = entries
            .iter()
            .map(|entry| Path::new(&entry.path))
            .filter(|path| path.file_name().is_some_and(|name| name == RENDERED))
            .filter_map(|path| path.parent().filter(|directory| *directory != within))
            .map(Path::to_owned)
            .collect();
        let is_rendered = |path: &str| {
            Path::new(path).ancestors().any(|part| rendered.iter().any(|path| path == part))
        };
        let wanted = entries.into_iter().filter(|entry| {
            entry.named(&within)
                || (is_manifest(Path::new(&entry.path))
                    && !ignored.leaves_out(&entry.path)
                    && !is_rendered(&entry.path))
        });
        // 100644 and 100755 are files, 120000 is a link, 160000 a submodule.
        let (wanted, links): (Vec<Entry>, Vec<Entry>) =
            wanted.partition(|entry| entry.mode.starts_with("100"));
        for link in links {
            let message = format!(
                "`{revision}:{}` was not read: it is not a regular file in the revision",
                link.path
            );
            diagnostics.push(
                Diagnostic::new(Code::FileNotRead, message)
                    .severity(Severity::Info)
                    .in_file(link.path),
            );
        }
        for (entry, text) in repository.read(wanted, limits)? {
            let name = format!("{revision}:{}", entry.path);
            let input = Input {
                path: Some(root.join(&entry.path)),
                named: entry.named(&within),
                name: name.clone(),
                reported: true,
                outside: false,
                size: entry.size.unwrap_or(0),
                root: (!entry.named(&within))
                    .then(|| format!("{revision}:{}", within.display()).into()),
                overlay: None,
            };
            // Two paths may hold one file: it is one input, as it is in a work tree.
            found.entry(name).or_insert((input, text));
        }
    }
    let (inputs, texts) = found.into_values().unzip();
    Ok((Found { inputs, diagnostics, missing: false }, texts))
}

pub(super) fn not_read(base: &str, why: &str, help: &str) -> Box<Diagnostic> {
    Box::new(
        Diagnostic::new(Code::BaseNotRead, format!("the base `{base}` was not read: {why}"))
            .help(help),
    )
}

/// The nearest existing directory above a path, in full, and the rest of the path.
pub(super) fn nearest_directory(path: &Path) -> (PathBuf, PathBuf) {
    let mut rest = Vec::new();
    // A path that is gone cannot be canonicalized, so its `..` are resolved by text.
    let full = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    let mut plain = PathBuf::new();
    for component in full.components() {
        match component {
            Component::ParentDir => _ = plain.pop(),
            Component::CurDir => {}
            other => plain.push(other),
        }
    }
    let mut directory = plain.as_path();
    while !directory.is_dir() {
        rest.extend(directory.file_name());
        match directory.parent() {
            Some(parent) => directory = parent,
            None => break,
        }
    }
    let canonical = std::fs::canonicalize(directory).unwrap_or_else(|_| directory.to_owned());
    (canonical, rest.iter().rev().collect())
}

/// `git` in a directory, without the repository that a hook has set.
pub(super) fn git(directory: &Path) -> Command {
    let mut git = Command::new("git");
    git.arg("-C").arg(directory).args(["--no-pager", "--literal-pathspecs"]);
    // No program that the configuration of the repository names.
    // A hostile repository could have a command run by either setting.
    git.args(["-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null"]);
    for variable in ["GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_PREFIX", "GIT_NAMESPACE"] {
        // A hook of git sets them, and they would win over `-C`.
        git.env_remove(variable);
    }
    // Messages in one language; no object of a partial clone is fetched.
    git.envs([
        ("LC_ALL", "C"),
        ("GIT_TERMINAL_PROMPT", "0"),
        ("GIT_OPTIONAL_LOCKS", "0"),
        ("GIT_NO_LAZY_FETCH", "1"),
    ]);
    git.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    git
}

/// The output of git; an error when it cannot be started or fails.
pub(super) fn output(
    mut git: Command,
    revision: &str,
    requested: &str,
) -> Result<Vec<u8>, Box<Diagnostic>> {
    let done = git.output().map_err(|error| unavailable(revision, &error))?;
    if done.status.success() {
        return Ok(done.stdout);
    }
    let message = String::from_utf8_lossy(&done.stderr);
    // Git repeats itself in hints; the first line has the reason.
    let message = message.lines().find(|line| !line.is_empty()).map_or_else(
        || requested.to_owned(),
        |line| format!("{requested} (git: {})", line.trim_start_matches("fatal: ")),
    );
    Err(not_read(
        revision,
        &message,
        "name a path, or a revision of the repository that holds the paths of `-f` and `-k`",
    ))
}

fn unavailable(revision: &str, error: &std::io::Error) -> Box<Diagnostic> {
    let why = if error.kind() == std::io::ErrorKind::NotFound {
        "it is not a path, and the program `git`, which reads revisions, was not found".to_owned()
    } else {
        format!("the program `git` cannot be started: {}", reason(error))
    };
    not_read(revision, &why, "install git, or name a directory that holds the base")
}

/// The working tree that contains a directory.
pub(super) fn root(directory: &Path, revision: &str) -> Result<PathBuf, Box<Diagnostic>> {
    let mut git = git(directory);
    git.args(["rev-parse", "--show-toplevel"]);
    let directory =
        format!("it is not a path, and `{}` lies in no repository of git", directory.display());
    let printed = output(git, revision, &directory)?;
    let text = String::from_utf8_lossy(&printed);
    // The path may end with spaces, which `trim` would take away.
    let root = Path::new(text.trim_end_matches(['\n', '\r']));
    Ok(std::fs::canonicalize(root).unwrap_or_else(|_| root.to_owned()))
}

/// Whether a clone has only the last commits, as those of CI jobs have by default.
pub(super) fn is_shallow(root: &Path) -> bool {
    let mut git = git(root);
    git.args(["rev-parse", "--is-shallow-repository"]);
    git.output().is_ok_and(|done| done.stdout.starts_with(b"true"))
}

pub(super) fn shallow(revision: &str) -> Box<Diagnostic> {
    not_read(
        revision,
        "it is not a path, and the clone is shallow: it does not have the commits of other branches",
        "set `fetch-depth: 0` for actions/checkout, or `GIT_DEPTH: 0` for GitLab, or run `git fetch --unshallow`",
    )
}

/// A repository at a commit.
pub(super) struct Repository {
    root: PathBuf,
    revision: String,
    pub(super) commit: String,
}

/// A file of a revision.
struct Entry {
    mode: String,
    id: String,
    size: Option<u64>,
    /// From the root of the repository, with `/`.
    path: String,
}

impl Entry {
    /// Whether the user named this very file.
    fn named(&self, within: &Path) -> bool {
        Path::new(&self.path) == within
    }
}

impl Repository {
    pub(super) fn open(root: &Path, revision: &str) -> Result<Self, Box<Diagnostic>> {
        let mut git = git(root);
        // `^{commit}` turns tags into commits and refuses files and trees.
        git.args(["rev-parse", "--verify", "--quiet"]).arg(format!("{revision}^{{commit}}"));
        let printed =
            output(git, revision, "it is not a path, and the repository has no such revision")
                .map_err(|finding| if is_shallow(root) { shallow(revision) } else { finding })?;
        let commit = String::from_utf8_lossy(&printed).trim().to_owned();
        Ok(Self { root: root.to_owned(), revision: revision.to_owned(), commit })
    }

    /// The files at or below a path.
    fn list(&self, within: &Path) -> Result<Vec<Entry>, Box<Diagnostic>> {
        let mut git = git(&self.root);
        git.args(["ls-tree", "-r", "-l", "-z", "--full-tree", &self.commit]);
        if within != Path::new("") {
            // Only a path of a repository: an empty one would be an error for git.
            git.arg("--").arg(slashed(within));
        }
        let printed = output(git, &self.revision, "its files cannot be listed")?;
        Ok(printed.split(|byte| *byte == 0).filter_map(entry).collect())
    }

    /// Returns the entries that the ignore files at, above and below a path exclude.
    fn ignored(&self, within: &Path, entries: &[Entry]) -> Result<Ignored, Box<Diagnostic>> {
        let is_ignore_file = |entry: &Entry| {
            entry.path.rsplit('/').next().is_some_and(|name| IGNORE_FILES.contains(&name))
        };
        let mut wanted: Vec<Entry> = Vec::new();
        let mut git = git(&self.root);
        git.args(["ls-tree", "-l", "-z", "--full-tree", &self.commit, "--"]);
        // An ignore file above the named path excludes files below it as well.
        for folder in within.ancestors() {
            git.args(IGNORE_FILES.map(|name| slashed(&folder.join(name))));
        }
        let printed = output(git, &self.revision, "its files cannot be listed")?;
        wanted.extend(printed.split(|byte| *byte == 0).filter_map(entry));
        let below = entries.iter().filter(|entry| is_ignore_file(entry));
        wanted.extend(below.map(|entry| Entry {
            mode: entry.mode.clone(),
            id: entry.id.clone(),
            size: entry.size,
            path: entry.path.clone(),
        }));
        let mut ignored = Ignored { files: BTreeMap::new(), root: within.components().count() };
        for (entry, text) in self.read(wanted, &Limits::default())? {
            let (folder, name) = entry.path.rsplit_once('/').unwrap_or(("", &entry.path));
            let (Ok(text), Some(strength)) =
                (text, IGNORE_FILES.iter().position(|other| *other == name))
            else {
                continue;
            };
            let mut builder = GitignoreBuilder::new("");
            for line in text.lines() {
                // A line that is not a pattern has no effect, as in the walk.
                let _ = builder.add_line(None, line);
            }
            if let Ok(patterns) = builder.build() {
                ignored.files.entry(folder.to_owned()).or_default().push((strength, patterns));
            }
        }
        ignored.files.values_mut().for_each(|files| files.sort_by_key(|(strength, _)| *strength));
        Ok(ignored)
    }

    /// The texts of files, in their order.
    fn read(
        &self,
        entries: Vec<Entry>,
        limits: &Limits,
    ) -> Result<Vec<(Entry, Text)>, Box<Diagnostic>> {
        let failed = |error: &std::io::Error| {
            not_read(&self.revision, &format!("git stopped: {}", reason(error)), "run it again")
        };
        if entries.is_empty() {
            return Ok(Vec::new());
        }
        let mut git = git(&self.root);
        git.args(["cat-file", "--batch"]).stdin(Stdio::piped()).stderr(Stdio::null());
        let mut child = git.spawn().map_err(|error| unavailable(&self.revision, &error))?;
        let (Some(mut stdin), Some(stdout)) = (child.stdin.take(), child.stdout.take()) else {
            return Ok(Vec::new());
        };
        // A file beyond the limit is not asked for: its bytes would have to be read to be skipped.
        let requested: String = entries
            .iter()
            .filter(|entry| entry.size.is_some_and(|size| size <= limits.file_size))
            .flat_map(|entry| [entry.id.as_str(), "\n"])
            .collect();
        // Git answers before all requests are written, and the capacity of a pipe is limited.
        let asking = std::thread::spawn(move || stdin.write_all(requested.as_bytes()));
        let mut answers = std::io::BufReader::new(stdout);
        let mut read = Vec::with_capacity(entries.len());
        for entry in entries {
            let text = match entry.size {
                None => Err(self.gone(&entry)),
                Some(size) if size > limits.file_size => {
                    Err(Unread::Finding(Box::new(files::too_large(limits))))
                }
                Some(_) => match answer(&mut answers).map_err(|error| failed(&error))? {
                    Some(bytes) => files::decode_bytes(bytes),
                    None => Err(self.gone(&entry)),
                },
            };
            read.push((entry, text));
        }
        // A broken pipe shows in the answers that are missing.
        let _ = asking.join();
        child.wait().map_err(|error| failed(&error))?;
        Ok(read)
    }

    /// Why a file of the revision has no text: the repository lost its content.
    fn gone(&self, entry: &Entry) -> Unread {
        let name = format!("{}:{}", self.revision, entry.path);
        let why = format!("blob {} is missing from the repository", entry.id);
        let finding = files::not_read(&name, &why).help(
            "run `git fetch --refetch --no-filter`, or compare with a directory: `--base DIR`",
        );
        Unread::Finding(Box::new(finding))
    }
}

/// One answer of `cat-file --batch`: `ID blob SIZE`, the bytes, a line feed; `ID missing` for an
/// absent object.
fn answer(answers: &mut impl std::io::BufRead) -> std::io::Result<Option<Vec<u8>>> {
    let mut head = String::new();
    answers.read_line(&mut head)?;
    if head.trim_end().ends_with(" missing") {
        return Ok(None);
    }
    let size = head.split_ascii_whitespace().nth(2).and_then(|size| size.parse::<u64>().ok());
    let size =
        size.ok_or_else(|| std::io::Error::other(format!("unexpected answer `{}`", head.trim())))?;
    let mut bytes = Vec::new();
    answers.take(size).read_to_end(&mut bytes)?;
    answers.read_exact(&mut [0])?;
    Ok(Some(bytes))
}

/// A line of `ls-tree -l`: `MODE blob ID SIZE\tPATH`; a folder or another repository has no text,
/// and the size of a blob that is not there is `BAD`.
fn entry(line: &[u8]) -> Option<Entry> {
    let line = str::from_utf8(line).ok()?;
    let (head, path) = line.split_once('\t')?;
    let mut words = head.split_ascii_whitespace();
    let (mode, kind, id, size) = (words.next()?, words.next()?, words.next()?, words.next()?);
    (kind == "blob").then(|| Entry {
        mode: mode.to_owned(),
        id: id.to_owned(),
        size: size.parse().ok(),
        path: path.to_owned(),
    })
}

fn slashed(path: &Path) -> String {
    path.components()
        .map(|component| component.as_os_str().to_string_lossy())
        .collect::<Vec<_>>()
        .join("/")
}

/// Patterns by folder, the strongest file of a folder first.
struct Ignored {
    files: BTreeMap<String, Vec<(usize, Gitignore)>>,
    /// The number of components of the named path: those above it are not checked.
    root: usize,
}

impl Ignored {
    /// Whether the walk of a directory would not come to a file.
    fn leaves_out(&self, path: &str) -> bool {
        let parts: Vec<&str> = path.split('/').collect();
        // Names above the named path were chosen by the user and are not checked.
        (self.root..parts.len()).any(|index| {
            let is_folder = index + 1 < parts.len();
            let name = parts[index];
            let by_name =
                name.starts_with('.') || (is_folder && matches!(name, "node_modules" | "target"));
            by_name || self.matches(&parts[..=index], is_folder)
        })
    }

    /// The nearest file with an opinion decides.
    fn matches(&self, parts: &[&str], is_folder: bool) -> bool {
        // All `.omeignore` files come before the first `.gitignore`, as in the crate `ignore`.
        for strength in 0..IGNORE_FILES.len() {
            for depth in (0..parts.len()).rev() {
                let Some(files) = self.files.get(&parts[..depth].join("/")) else { continue };
                for (_, patterns) in files.iter().filter(|(file, _)| *file == strength) {
                    let opinion = patterns
                        .matched(Path::new(OsStr::new(&parts[depth..].join("/"))), is_folder);
                    if !opinion.is_none() {
                        return opinion.is_ignore();
                    }
                }
            }
        }
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn git_ls_tree_lines_are_parsed() {
        let found = entry(b"100644 blob 0123abcd      42\tdir/with space\n/a.yaml").unwrap();
        assert_eq!(
            (found.mode.as_str(), found.id.as_str(), found.size, found.path.as_str()),
            ("100644", "0123abcd", Some(42), "dir/with space\n/a.yaml")
        );
        for line in [
            "160000 commit 0123abcd       -\tsub",
            "040000 tree 0123abcd       -\tdir",
            "",
            "nonsense",
        ] {
            assert!(entry(line.as_bytes()).is_none(), "{line}");
        }
    }

    #[test]
    fn a_revision_ignores_the_same_paths_as_a_directory_walk() {
        let patterns = |text: &str| {
            let mut builder = GitignoreBuilder::new("");
            text.lines().for_each(|line| _ = builder.add_line(None, line));
            builder.build().unwrap()
        };
        let files = BTreeMap::from([
            (String::new(), vec![(2, patterns("*.gen.yaml\n/out/"))]),
            ("a".to_owned(), vec![(0, patterns("secret.yaml")), (2, patterns("!keep.gen.yaml"))]),
        ]);
        let ignored = Ignored { files, root: 0 };
        for (path, left_out) in [
            ("x.yaml", false),
            ("x.gen.yaml", true),
            ("out/x.yaml", true),
            ("a/out/x.yaml", false),
            ("a/secret.yaml", true),
            ("secret.yaml", false),
            ("a/keep.gen.yaml", false),
            (".github/x.yaml", true),
            ("a/node_modules/x.yaml", true),
        ] {
            assert_eq!(ignored.leaves_out(path), left_out, "{path}");
        }
        // A directory that was named itself is walked whatever it is called.
        assert!(!Ignored { files: BTreeMap::new(), root: 1 }.leaves_out(".github/x.yaml"));
    }
}
