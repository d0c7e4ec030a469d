//! Overlays that are built without being named: `kustomize = "auto"`.
//!
//! In: the trees that no other one includes, with the files that were found. Out: the output of each
//! build in the place of its kustomization, without the files that it is built from, and a finding
//! for each tree that was not built. A tree is built if everything that it names is a file of its
//! repository: [`included()`] decides that before any program runs, and the program has no network.

mod included;

use super::checkout::Checkout;
use super::files::{self, Unread};
use super::find::{Input, repository_root};
use super::kinds;
use super::kustomize::{Failed, INSTALL, ONE_BY_ONE, Overlay, Run, SHARED, Tree, failed};
use super::listed::{Listed, NAMES, plain};
use crate::diag::{Code, Diagnostic, Severity, quoted};
use crate::source::FileText;
use crate::yaml::Limits;
use included::included;
use rayon::prelude::*;
use std::collections::{BTreeSet, HashMap};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// How long the builds of one input take together.
const TIME: Duration = Duration::from_secs(20);

type Text = Result<FileText, Unread>;

/// Where the files of the input are.
pub(super) enum Disk<'c> {
    /// Where their paths say.
    Here,
    /// In the checkout of a revision.
    Revision(&'c str, &'c Checkout),
}

impl Disk<'_> {
    /// The tree of a directory, and the directory that all of its files are below.
    fn tree(&self, overlay: &Overlay) -> Option<(Tree, PathBuf)> {
        match self {
            Self::Here => {
                let is_here = overlay.directory.as_os_str().is_empty();
                let path = if is_here { Path::new(".") } else { &overlay.directory };
                let directory = path.canonicalize().ok()?;
                let named = || Path::new(overlay.root.as_deref()?).canonicalize().ok();
                // Outside of a repository, a tree may use what lies below the directory that was
                // named.
                let root = repository_root(&directory).or_else(named).unwrap_or(directory);
                Some((Tree::on_disk(path), root))
            }
            Self::Revision(revision, checkout) => {
                let (above, below) = checkout.on_disk(&overlay.directory)?;
                // The innermost checkout that has the directory: a submodule is a repository of its
                // own.
                Some((Tree::of_revision(revision, above.clone(), below), above))
            }
        }
    }

    /// The path of a file of the input without links.
    fn real(&self, path: &Path) -> Option<PathBuf> {
        match self {
            Self::Here => path.canonicalize().ok(),
            Self::Revision(_, checkout) => {
                let (above, below) = checkout.on_disk(&plain(path))?;
                above.join(below).canonicalize().ok()
            }
        }
    }
}

/// The directories of the kustomizations of an input.
pub(super) fn directories<T>(inputs: &[(Input, T)]) -> Vec<PathBuf> {
    let paths = inputs.iter().filter_map(|(input, _)| input.path.as_deref());
    let paths = paths.filter(|path| {
        let name = path.file_name().and_then(|name| name.to_str());
        name.is_some_and(|name| NAMES.contains(&name))
    });
    let directories: BTreeSet<PathBuf> =
        paths.filter_map(|path| path.parent().map(plain)).collect();
    directories.into_iter().collect()
}

/// What became of an overlay.
enum Outcome {
    /// The output, its name, and the files that it was built from.
    Built(String, String, BTreeSet<PathBuf>),
    /// It was not tried: why.
    Left(String),
    /// There is no program: which ones were looked for.
    NoProgram(String),
    /// The program refused it.
    Refused(Box<Diagnostic>),
}

/// Builds what can be built. The output of an overlay is in the place of its kustomization, and
/// files that it was built from are left out of the input.
pub(super) fn build(
    overlays: Vec<Overlay>,
    inputs: &mut Vec<(Input, Option<Text>)>,
    disk: &Disk<'_>,
    command: Option<&str>,
    limits: &Limits,
    listed: &Listed,
) -> Vec<Diagnostic> {
    // One time for all: many slow trees must not add up to minutes.
    let until = Instant::now() + TIME;
    let is_missing = AtomicBool::new(false);
    let outcomes: Vec<Outcome> = overlays
        .par_iter()
        .map(|overlay| {
            let Some(time) = until.checked_duration_since(Instant::now()) else {
                return late();
            };
            // Once no program was found, each further tree would search PATH in vain.
            if is_missing.load(Ordering::Relaxed) {
                return Outcome::NoProgram(String::new());
            }
            let outcome = one(overlay, disk, &Run { command, limits, time, offline: true });
            if matches!(outcome, Outcome::NoProgram(_)) {
                is_missing.store(true, Ordering::Relaxed);
            }
            // A build that was stopped by the time is no fault of its tree.
            if matches!(outcome, Outcome::Refused(_)) && Instant::now() >= until {
                return late();
            }
            outcome
        })
        .collect();
    let mut found = Vec::new();
    // Findings about trees that were not built, by the trees.
    let mut left: Vec<(Arc<str>, Diagnostic)> = Vec::new();
    let mut missing: Option<(String, usize)> = None;
    let mut texts: HashMap<PathBuf, (Input, Option<Text>)> = HashMap::new();
    let mut used: BTreeSet<PathBuf> = BTreeSet::new();
    for (overlay, outcome) in overlays.into_iter().zip(outcomes) {
        match outcome {
            Outcome::Built(name, text, files) => {
                // Also of files that another overlay shares: the outputs have them already.
                used.extend(files);
                texts.insert(overlay.file.clone(), built(overlay, name, text));
            }
            Outcome::Left(why) => {
                let finding = overlay.not_built(Some(&why));
                left.push((overlay.shown, finding));
            }
            Outcome::NoProgram(why) => {
                let (listed, count) = missing.get_or_insert_with(|| (String::new(), 0));
                *count += 1;
                if listed.is_empty() {
                    // Only the first outcome lists the programs; those after it were not tried.
                    *listed = why;
                }
                let finding = overlay.not_built(Some("no program builds it"));
                left.push((overlay.shown, finding));
            }
            Outcome::Refused(finding) => left.push((overlay.shown, *finding)),
        }
    }
    if let Some((why, count)) = missing {
        let overlays = if count == 1 { "1 overlay was" } else { &format!("{count} overlays were") };
        let finding =
            Diagnostic::new(Code::KustomizeFailed, format!("{overlays} not built: {why}"));
        found.push(finding.severity(Severity::Warning).help(INSTALL));
    }
    if texts.is_empty() {
        found.extend(left.into_iter().map(|(_, finding)| finding));
        return found;
    }
    // Trees with a file that only the output of others has, and whether an answer may depend on it.
    let mut sharing: HashMap<Arc<str>, bool> = HashMap::new();
    let all = std::mem::take(inputs).into_iter().filter_map(|(input, text)| {
        let path = input.path.as_deref();
        if let Some(built) = path.and_then(|path| texts.remove(path)) {
            return Some(built);
        }
        // A file that was named itself is read.
        let real = path.filter(|_| input.root.is_some()).and_then(|path| disk.real(path));
        let used = real.filter(|path| used.contains(path));
        // Trees that were not built lose a file that a built tree uses, and their reader must know.
        if let (Some(path), Some(real), false) = (path, &used, left.is_empty()) {
            let matters = may_matter(real, limits);
            for tree in listed.of(path).into_iter().flat_map(|kustomized| kustomized.trees) {
                *sharing.entry(tree).or_default() |= matters;
            }
        }
        used.is_none().then_some((input, text))
    });
    *inputs = all.collect();
    found.extend(left.into_iter().map(|(tree, finding)| match sharing.get(&tree) {
        Some(matters) => shared(finding, *matters),
        None => finding,
    }));
    found
}

/// The finding about a tree that was not built, where built ones share files with it: its own
/// services of them are in no answer.
fn shared(mut finding: Diagnostic, matters: bool) -> Diagnostic {
    finding.message = finding.message.replace(ONE_BY_ONE, SHARED);
    finding.help = finding.help.map(|help| help.replace(ONE_BY_ONE, SHARED));
    // An error stays one, and without anything of services a note is enough.
    let is_less = matters && finding.severity < Severity::Warning;
    if is_less { finding.severity(Severity::Warning) } else { finding }
}

fn late() -> Outcome {
    Outcome::Left(format!("the builds of other overlays took {} s", TIME.as_secs()))
}

/// Builds one overlay.
fn one(overlay: &Overlay, disk: &Disk<'_>, run: &Run<'_>) -> Outcome {
    let Some((tree, root)) = disk.tree(overlay) else {
        return Outcome::Left("its directory cannot be read".to_owned());
    };
    // Before any program runs: a build may run plugins and open connections.
    let files = match included(&tree.directory(), &root, run.limits) {
        Ok(files) => files,
        Err(why) => return Outcome::Left(why),
    };
    match run.build(&tree) {
        Ok(text) => Outcome::Built(tree.name(), text, files),
        Err(Failed::NotFound(why)) => Outcome::NoProgram(why),
        Err(Failed::Because(why, _)) => {
            let help = format!(
                "correct what it reports: `kustomize build {}`; {ONE_BY_ONE}",
                quoted(&overlay.shown)
            );
            let mut finding = failed(&tree, &why, &help);
            // Of a tree without anything that is read, nothing depends.
            if !files.iter().any(|file| may_matter(file, run.limits)) {
                finding.severity = Severity::Info;
            }
            Outcome::Refused(finding)
        }
    }
}

/// Whether a file may hold an object that an answer depends on.
fn may_matter(file: &Path, limits: &Limits) -> bool {
    // What cannot be read could hold anything.
    let Ok(text) = files::read(file, limits) else { return true };
    let decides = |kind| kinds::touches_answers(kind, false) && !kinds::is_named_by_others(kind);
    kinds::named(&text).any(decides)
}

/// The output of an overlay as a part of the input.
fn built(overlay: Overlay, name: String, text: String) -> (Input, Option<Text>) {
    let input = Input {
        path: Some(overlay.file),
        name,
        named: false,
        reported: true,
        outside: false,
        size: text.len() as u64,
        root: overlay.root,
        overlay: Some(overlay.shown),
    };
    (input, Some(Ok(text.into())))
}
