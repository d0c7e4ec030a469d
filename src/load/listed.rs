//! What kustomizations do with the files that they list: which are deployed, and what is filled in.
//!
//! In: the kustomizations of the input. Out: the manifests beside one that none lists, which are left
//! out, and for each file that one lists, the tree to build and whether it gives objects selectors.

use super::files::Unread;
use super::find::Input;
use super::kinds::{self, Whose};
use crate::diag::{Code, Diagnostic, quoted};
use crate::source::{Kustomized, SourceId};
use crate::yaml::{Limits, Node, parse, split};
use std::collections::{BTreeMap, BTreeSet, HashMap, VecDeque};
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

/// Names of the file that describes a tree.
pub(super) const NAMES: [&str; 3] = ["kustomization.yaml", "kustomization.yml", "Kustomization"];

/// Manifests of a directory that are left out.
#[derive(Default)]
struct Left {
    /// The names of the files.
    names: Vec<String>,
    /// The services in them, as KIND/NAMESPACE/NAME.
    services: Vec<String>,
    /// The files with services.
    files: Vec<String>,
}

/// The services that a text defines.
fn services(text: &str, limits: &Limits) -> Vec<String> {
    let documents = split(SourceId(0), text).value.into_iter();
    // Findings of these files are not wanted: none of them is deployed.
    let documents = documents.filter_map(|part| parse(SourceId(0), text, part, limits).value);
    let service = |node: Node| {
        let text = |keys: &[&str]| node.at(keys).and_then(Node::as_str);
        let kind = text(&["kind"])?;
        let name = text(&["metadata", "name"])?;
        let namespace = text(&["metadata", "namespace"]).unwrap_or("default");
        let group = text(&["apiVersion"])?.split_once('/')?.0;
        let is_service = kinds::is_of_operator(group)
            && (kinds::is_like_service(kind)
                || matches!(kind, "InferenceService" | "ModelServing"));
        is_service.then(|| format!("{kind}/{namespace}/{name}"))
    };
    documents.filter_map(service).collect()
}

/// A path without `.` and `..`, by its text alone.
pub(super) fn plain(path: &Path) -> PathBuf {
    let mut out = PathBuf::new();
    for component in path.components() {
        match component {
            Component::CurDir => {}
            // `..` at the very beginning stays, since what is above is not known from the text.
            Component::ParentDir if out.file_name().is_some() => _ = out.pop(),
            other => out.push(other),
        }
    }
    out
}

/// A kustomization.
struct Kustomization {
    /// Its directory as it is shown.
    shown: Arc<str>,
    /// Its labels become selectors.
    selects: bool,
    /// It sets the namespace.
    names_namespace: bool,
    /// It changes more than names, labels and images.
    patches: bool,
    /// The directories that hold its patches and none of its resources.
    patches_in: BTreeSet<PathBuf>,
    /// Its list is known whole.
    is_whole: bool,
}

/// The kustomizations of the input by their directories.
#[derive(Default)]
pub(super) struct Listed {
    all: BTreeMap<PathBuf, Kustomization>,
    /// The kustomizations that list a file or a directory.
    by: HashMap<PathBuf, Vec<PathBuf>>,
}

/// Whether a text names a group of which something is read or checked. Others are what they are:
/// their own notes say so.
fn is_read(text: &str) -> bool {
    let versions = text.match_indices("apiVersion").filter_map(|(at, key)| {
        let rest = text[at + key.len()..].trim_start_matches(['"', '\'', ' ']).strip_prefix(':')?;
        let rest = rest.trim_start_matches([' ', '"', '\'']);
        rest.split(|c: char| c.is_whitespace() || matches!(c, '"' | '\'' | ',' | '}')).next()
    });
    let mut read = versions
        // With the kind left empty, a known group is `UnknownKind`, and that is enough here.
        .filter(|version| !matches!(kinds::whose(version, ""), Whose::Foreign | Whose::NoObject));
    text.contains("kind") && read.next().is_some()
}

/// Kustomizations above a file that are followed.
const MOST_ABOVE: usize = 64;

/// What can set any field of an object.
const CHANGES: [&str; 7] = [
    "patches",
    "patchesStrategicMerge",
    "patchesJson6902",
    "components",
    "replacements",
    "transformers",
    "vars",
];

/// Names of directories that hold what kustomizations list, and nothing that is applied by itself.
const OF_PATCHES: [&str; 2] = ["patches", "patch"];

impl Listed {
    /// Whether there is no kustomization.
    pub(super) fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    /// Adds a kustomization. Files of that name belong to Flux, too.
    pub(super) fn add(
        &mut self,
        directory: PathBuf,
        shown: &str,
        includes: Vec<PathBuf>,
        patches: &[PathBuf],
        node: &Node,
    ) {
        let version = node.get("apiVersion").and_then(Node::as_str);
        // Flux names a kind of its own Kustomization, and its file may have the same name.
        if version.is_some_and(|version| !version.starts_with("kustomize.config.k8s.io/")) {
            return;
        }
        let is_set = |labels: &Node| {
            labels
                .get("includeSelectors")
                .is_some_and(|include_selector| include_selector.as_bool() == Some(true))
        };
        let labels = node.get("labels").map(Node::items).unwrap_or_default();
        let selects = node.get("commonLabels").is_some() || labels.iter().any(is_set);
        // A list with a placeholder or a glob may name any file, so none is left out because of it.
        let is_whole = !includes.iter().any(|path| {
            let path = path.to_string_lossy();
            path.contains("{{") || path.contains('$') || path.contains('*')
        });
        let directories = |paths: &[PathBuf]| -> BTreeSet<PathBuf> {
            paths.iter().filter_map(|path| path.parent().map(Path::to_owned)).collect()
        };
        // A directory with both holds objects that are listed one by one.
        let patches_in = &directories(patches) - &directories(&includes);
        for path in includes {
            self.by.entry(path).or_default().push(directory.clone());
        }
        let kustomization = Kustomization {
            shown: shown.into(),
            selects,
            names_namespace: node.get("namespace").and_then(Node::as_str).is_some(),
            patches: CHANGES.iter().any(|key| node.get(key).is_some()),
            patches_in,
            is_whole,
        };
        self.all.insert(directory, kustomization);
    }

    /// Removes the manifests beside a kustomization that no one lists. A finding for each
    /// directory.
    pub(super) fn leave_out<T: AsRef<str>>(
        &self,
        found: &mut Vec<(Input, Option<Result<T, Unread>>)>,
        included: &BTreeSet<PathBuf>,
        limits: &Limits,
    ) -> Vec<Diagnostic> {
        let mut left: BTreeMap<&str, Left> = BTreeMap::new();
        found.retain(|(input, text)| {
            // Without a text there is a finding already, whoever lists the file.
            let (Some(path), Some(Ok(text))) = (input.path.as_deref(), text) else { return true };
            let path = plain(path);
            let kustomization = path.parent().and_then(|above| self.above(above));
            // Of a directory that was named itself, all files are read, as kubectl reads them.
            let is_root = input
                .root
                .as_deref()
                .is_some_and(|root| path.parent() == Some(&plain(root.as_ref())));
            let Some(kustomization) = kustomization
                .filter(|kustomization| kustomization.is_whole && !input.named && !is_root)
            else {
                return true;
            };
            let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
            if NAMES.contains(&name) || included.contains(&path) || !is_read(text.as_ref()) {
                return true;
            }
            let left = left.entry(&kustomization.shown).or_default();
            if input.reported {
                left.names.push(name.to_owned());
                let services = services(text.as_ref(), limits);
                // Two definitions of one service are no input of one command.
                let is_new = services.iter().all(|service| !left.services.contains(service));
                if !services.is_empty() && is_new {
                    left.files.push(input.name.clone());
                    left.services.extend(services);
                }
            }
            false
        });
        let left = left.into_iter().filter(|(_, left)| !left.names.is_empty());
        left.map(|(shown, Left { mut names, services, files })| {
            names.sort_unstable();
            let message = match names.as_slice() {
                [one] => format!("`{one}` is in no kustomization: it is not deployed"),
                [first, ..] => format!(
                    "{} files such as `{first}` are in no kustomization: they are not deployed",
                    names.len()
                ),
                [] => String::new(),
            };
            let finding = Diagnostic::new(Code::NotDeployed, message).in_file(shown);
            if services.is_empty() {
                return finding.help("add them to `resources`, or name a file with `-f`");
            }
            let command = files.iter().fold("ome plan".to_owned(), |command, file| {
                format!("{command} -f {}", quoted(file))
            });
            services.into_iter().fold(finding, Diagnostic::object).help(match files.len() {
                1 => format!("`{command}` plans it"),
                _ => format!("`{command}` plans them"),
            })
        })
        .collect()
    }

    /// The kustomization that decides which files of a directory are deployed: its own, or that of
    /// the directory above if only its patches lie here.
    fn above(&self, directory: &Path) -> Option<&Kustomization> {
        self.all.get(directory).or_else(|| {
            let kustomization = self.all.get(directory.parent()?)?;
            let name = directory.file_name().and_then(|name| name.to_str());
            let is_of_patches = name.is_some_and(|name| OF_PATCHES.contains(&name));
            (is_of_patches || kustomization.patches_in.contains(directory)).then_some(kustomization)
        })
    }

    /// What the kustomizations that list a file do with it: the tree that nothing else includes is
    /// the one to build.
    pub(super) fn of(&self, path: &Path) -> Option<Kustomized> {
        let mut kustomized: Option<Kustomized> = None;
        let mut seen: BTreeSet<&PathBuf> = BTreeSet::new();
        let start = plain(path);
        let mut next: VecDeque<&PathBuf> = self.by.get(&start).into_iter().flatten().collect();
        // The first chain of kustomizations names the tree, all of them what may be filled in.
        let mut first = next.front().copied();
        while let Some(directory) = next.pop_front() {
            // Bases of many overlays have many chains to the top, and circles are possible.
            if seen.len() >= MOST_ABOVE || !seen.insert(directory) {
                continue;
            }
            let Some(kustomization) = self.all.get(directory) else { continue };
            let above = self.by.get(directory);
            let kustomized = kustomized.get_or_insert_with(|| Kustomized {
                tree: Arc::clone(&kustomization.shown),
                trees: Vec::new(),
                selects: false,
                names_namespace: false,
                patches: false,
            });
            if first == Some(directory) {
                kustomized.tree = Arc::clone(&kustomization.shown);
                first = above.and_then(|above| above.first());
            }
            if above.is_none() {
                kustomized.trees.push(Arc::clone(&kustomization.shown));
            }
            kustomized.selects |= kustomization.selects;
            kustomized.names_namespace |= kustomization.names_namespace;
            kustomized.patches |= kustomization.patches;
            next.extend(above.into_iter().flatten());
        }
        kustomized
    }
}
