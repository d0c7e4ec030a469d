//! The files that a kustomization is built from, and what keeps it from being built unasked.
//!
//! In: the directory of a tree and the directory that its files must be below. Out: every file that
//! the build reads, or why it is not built: a field that runs a program or is not known here, a
//! resource of another host, a file outside. Kustomize reads a path of a kustomization as a file, as
//! a directory, and as the address of a repository, in this order (kustomize, api/internal/target,
//! `accumulateResources`): a path that is not there is taken for an address if it may be one.

use crate::load::files;
use crate::load::listed::NAMES;
use crate::source::SourceId;
use crate::yaml::{Limits, Node, parse, split};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// Fields that change objects and name no file.
const PLAIN: [&str; 17] = [
    "apiVersion",
    "kind",
    "metadata",
    "namespace",
    "namePrefix",
    "nameSuffix",
    "commonLabels",
    "labels",
    "commonAnnotations",
    "images",
    "imageTags",
    "replicas",
    "generatorOptions",
    "vars",
    "buildMetadata",
    "sortOptions",
    "inventory",
];
/// Fields that are lists of files or directories.
const PATHS: [&str; 6] =
    ["resources", "bases", "components", "crds", "configurations", "patchesStrategicMerge"];
/// Fields that are lists of maps in which `path` names a file.
const WITH_PATH: [&str; 3] = ["patches", "patchesJson6902", "replacements"];
/// Fields that are lists of maps in which `files`, `envs` and `env` name files.
const GENERATED: [&str; 2] = ["configMapGenerator", "secretGenerator"];
/// Fields that are lists of plugins.
const PLUGINS: [&str; 3] = ["generators", "transformers", "validators"];
/// Plugins of Kustomize itself that read no file and run no program.
const BUILT_IN: [&str; 10] = [
    "AnnotationsTransformer",
    "ImageTagTransformer",
    "LabelTransformer",
    "NamespaceTransformer",
    "PrefixSuffixTransformer",
    "PrefixTransformer",
    "ReplicaCountTransformer",
    "SortOrderTransformer",
    "SuffixTransformer",
    "ValueAddTransformer",
];
/// Most kustomizations of one tree.
const MOST: usize = 1000;

/// Every file that the build of a directory reads, by its path without links.
pub(super) fn included(
    directory: &Path,
    root: &Path,
    limits: &Limits,
) -> Result<BTreeSet<PathBuf>, String> {
    let top = directory.canonicalize().map_err(|_| "its directory cannot be read".to_owned())?;
    let mut tree = Tree { root, limits, files: BTreeSet::new(), next: vec![top.clone()] };
    let mut seen: BTreeSet<PathBuf> = BTreeSet::new();
    while let Some(directory) = tree.next.pop() {
        if seen.len() >= MOST {
            return Err(format!("it includes more than {MOST} kustomizations"));
        }
        if seen.insert(directory.clone()) {
            tree.kustomization(&directory, directory == top)?;
        }
    }
    Ok(tree.files)
}

struct Tree<'t> {
    root: &'t Path,
    limits: &'t Limits,
    files: BTreeSet<PathBuf>,
    /// Directories that it includes, to be looked at.
    next: Vec<PathBuf>,
}

impl Tree<'_> {
    fn kustomization(&mut self, directory: &Path, is_top: bool) -> Result<(), String> {
        // Without one, or with two, the program says so.
        let files = NAMES.iter().map(|name| directory.join(name)).filter(|file| file.exists());
        for file in files {
            let file = self.within(&file, &file.display().to_string())?;
            let Some(node) = self.read(&file)? else { continue };
            self.files.insert(file);
            let text = |key: &str| node.get(key).and_then(Node::as_str);
            // Kustomize fills in both, so they may be left out.
            let version = text("apiVersion").unwrap_or("kustomize.config.k8s.io/");
            if !version.starts_with("kustomize.config.k8s.io/") {
                return Err(format!("its kustomization is of {version}"));
            }
            if is_top && text("kind") == Some("Component") {
                return Err("it is a component, which a kustomization includes".to_owned());
            }
            self.fields(&node, directory)?;
        }
        Ok(())
    }

    fn fields(&mut self, node: &Node, directory: &Path) -> Result<(), String> {
        let Some(map) = node.as_map() else { return Err("its kustomization is no map".to_owned()) };
        for entry in map {
            // A field that is not known here may run a program or open a connection: the default is
            // to refuse.
            let (key, value) = (entry.key.as_str(), &entry.node);
            if PLAIN.contains(&key) {
                continue;
            }
            if PATHS.contains(&key) {
                for item in value.items() {
                    self.path(text(item, key)?, directory)?;
                }
            } else if WITH_PATH.contains(&key) {
                for path in value.items().iter().flat_map(|item| fields(item, "path")) {
                    self.path(text(path, key)?, directory)?;
                }
            } else if GENERATED.contains(&key) {
                for item in value.items() {
                    self.generated(item, key, directory)?;
                }
            } else if PLUGINS.contains(&key) {
                for item in value.items() {
                    self.plugin(text(item, key)?, key, directory)?;
                }
            } else if key == "openapi" {
                for path in fields(value, "path") {
                    self.path(text(path, key)?, directory)?;
                }
            } else {
                return Err(format!("`{key}` is built only where it is asked for"));
            }
        }
        Ok(())
    }

    /// The files of a generator of ConfigMaps or Secrets: `NAME=FILE` or `FILE`.
    fn generated(&mut self, item: &Node, key: &str, directory: &Path) -> Result<(), String> {
        let lists = ["files", "envs"].into_iter().flat_map(|key| fields(item, key));
        for file in lists.flat_map(Node::items).chain(fields(item, "env")) {
            let file = text(file, key)?;
            // With `=` in an address the split would leave a harmless part of it.
            if is_address(file) {
                return Err(remote(file));
            }
            self.path(file.split_once('=').map_or(file, |(_, file)| file), directory)?;
        }
        Ok(())
    }

    /// A plugin: in the list itself, or in a file.
    fn plugin(&mut self, item: &str, key: &str, directory: &Path) -> Result<(), String> {
        if item.contains('\n') {
            return self.plugins(item, key);
        }
        let Some(file) = self.local(item, directory)? else { return Ok(()) };
        if file.is_dir() {
            return Err(format!("`{key}` has the plugins of the directory `{item}`"));
        }
        let text = self.text(&file)?;
        self.files.insert(file);
        self.plugins(&text, key)
    }

    fn plugins(&self, text: &str, key: &str) -> Result<(), String> {
        for part in split(SourceId(0), text).value {
            let Some(node) = parse(SourceId(0), text, part, self.limits).value else { continue };
            let field = |key: &str| node.get(key).and_then(Node::as_str).unwrap_or_default();
            let kind = field("kind");
            let annotations = node.at(&["metadata", "annotations"]).and_then(Node::as_map);
            let is_function = annotations
                .is_some_and(|map| map.iter().any(|entry| entry.key.ends_with("/function")));
            if is_function || field("apiVersion") != "builtin" || !BUILT_IN.contains(&kind) {
                return Err(format!("`{key}` has the plugin `{kind}`"));
            }
        }
        Ok(())
    }

    /// A file or a directory that a kustomization names; or text of an object in its place.
    fn path(&mut self, item: &str, directory: &Path) -> Result<(), String> {
        if item.contains('\n') {
            return Ok(());
        }
        match self.local(item, directory)? {
            Some(path) if path.is_dir() => self.next.push(path),
            Some(path) => _ = self.files.insert(path),
            None => {}
        }
        Ok(())
    }

    /// Where a path leads; `None` if it leads nowhere, which the program will say.
    fn local(&self, item: &str, directory: &Path) -> Result<Option<PathBuf>, String> {
        if is_address(item) {
            return Err(remote(item));
        }
        // The order is Kustomize's: what exists on disk is never taken for an address.
        let path = directory.join(item);
        if path.exists() {
            return self.within(&path, item).map(Some);
        }
        // Without a scheme, `HOST/PATH` is the address of a repository.
        let first = item.split('/').next().unwrap_or_default();
        let is_host = item.contains('/') && first.trim_matches('.').contains('.');
        if is_host { Err(remote(item)) } else { Ok(None) }
    }

    /// A path without links, if it is below the directory that all files must be below.
    fn within(&self, path: &Path, shown: &str) -> Result<PathBuf, String> {
        // Links are resolved first, since a link in the repository may lead out of it.
        let real = path.canonicalize().map_err(|_| format!("`{shown}` cannot be read"))?;
        let is_within = real.starts_with(self.root);
        if is_within { Ok(real) } else { Err(format!("`{shown}` is outside of the repository")) }
    }

    fn text(&self, file: &Path) -> Result<String, String> {
        let name = || file.strip_prefix(self.root).unwrap_or(file).display().to_string();
        files::read(file, self.limits).map_err(|_| format!("`{}` cannot be read", name()))
    }

    /// A kustomization, which must be read here as the program reads it: one document without
    /// findings.
    fn read(&self, file: &Path) -> Result<Option<Node>, String> {
        let text = self.text(file)?;
        let parts = split(SourceId(0), &text);
        let unclear = || {
            let name = file.strip_prefix(self.root).unwrap_or(file).display();
            format!("`{name}` is not one document of plain YAML")
        };
        // Two parsers may read unclear text differently, and the check must see what the program
        // sees.
        let [part] = parts.value.as_slice() else {
            return if parts.value.is_empty() { Ok(None) } else { Err(unclear()) };
        };
        let read = parse(SourceId(0), &text, part.clone(), self.limits);
        if parts.diagnostics.is_empty() && read.diagnostics.is_empty() {
            Ok(read.value)
        } else {
            Err(unclear())
        }
    }
}

fn remote(item: &str) -> String {
    format!("it lists the remote resource `{item}`")
}

/// The values of a field of a map. Programs in Go read its name in any case.
fn fields<'n>(node: &'n Node, key: &str) -> impl Iterator<Item = &'n Node> {
    let map = node.as_map().into_iter().flat_map(|map| map.iter());
    map.filter(move |entry| entry.key.eq_ignore_ascii_case(key)).map(|entry| &entry.node)
}

/// The text of an item; other values are not what the program reads there.
fn text<'n>(node: &'n Node, key: &str) -> Result<&'n str, String> {
    node.as_str().ok_or_else(|| format!("`{key}` has an item that is no text"))
}

/// Whether a path may be the address of a file or a repository of another host.
fn is_address(item: &str) -> bool {
    // The mark `.git/` is found at the end, too.
    let item = format!("{}/", item.trim_end_matches('/').to_ascii_lowercase());
    [":", "?", "//", ".git/", "_git/", "github.com/"].iter().any(|mark| item.contains(mark))
        || item.starts_with('~')
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "tests write their input")]
mod tests {
    use super::*;

    fn of(files: &[(&str, &str)]) -> Result<Vec<String>, String> {
        let folder = tempfile::tempdir().expect("a directory");
        let root = folder.path().canonicalize().expect("a path");
        for (name, text) in files {
            let path = root.join(name);
            std::fs::create_dir_all(path.parent().expect("a parent")).expect("a directory");
            std::fs::write(path, text).expect("a file");
        }
        let found = included(&root.join("repo/over"), &root.join("repo"), &Limits::default())?;
        let name = |path: PathBuf| path.strip_prefix(&root).expect("below").display().to_string();
        Ok(found.into_iter().map(name).collect())
    }

    #[test]
    fn every_file_of_the_tree_is_followed() {
        let over = "resources: [../base/, a.yaml]\ncomponents: [../part]\npatches:\n- path: p.yaml\n- patch: '[]'\nconfigMapGenerator:\n- name: c\n  files: [x=c.txt]\n  envs: [e.env]\ntransformers: [t.yaml]\n";
        let files = of(&[
            ("repo/over/kustomization.yaml", over),
            ("repo/over/a.yaml", ""),
            ("repo/over/p.yaml", ""),
            ("repo/over/c.txt", ""),
            ("repo/over/e.env", ""),
            ("repo/over/t.yaml", "apiVersion: builtin\nkind: LabelTransformer\n"),
            ("repo/over/left.yaml", ""),
            ("repo/base/kustomization.yml", "resources: [b.yaml]\n"),
            ("repo/base/b.yaml", ""),
            ("repo/part/Kustomization", "kind: Component\npatches: [{path: q.yaml}]\n"),
            ("repo/part/q.yaml", ""),
        ]);
        let names = "repo/base/b.yaml repo/base/kustomization.yml repo/over/a.yaml repo/over/c.txt repo/over/e.env repo/over/kustomization.yaml repo/over/p.yaml repo/over/t.yaml repo/part/Kustomization repo/part/q.yaml";
        assert_eq!(files, Ok(names.split(' ').map(str::to_owned).collect()));
    }

    #[test]
    fn nothing_remote_outside_or_executable_is_built() {
        for (text, why) in [
            ("resources: ['https://example.org/a.yaml']", "remote resource"),
            ("resources: ['github.com/a/b//c?ref=main']", "remote resource"),
            ("resources: ['git@example.org:a/b.git']", "remote resource"),
            ("resources: [example.org/a/b]", "remote resource"),
            ("patches: [{path: 'https://example.org/p.yaml'}]", "remote resource"),
            ("patches: [{Path: 'https://example.org/p.yaml'}]", "remote resource"),
            ("configMapGenerator: [{name: c, files: ['k=https://example.org/x']}]", "remote"),
            ("configMapGenerator: [{name: c, Envs: ['https://example.org/x?a=b']}]", "remote"),
            ("openapi: {path: 'https://example.org/s.json'}", "remote resource"),
            ("resources: [../../outside.yaml]", "outside of the repository"),
            ("resources: [../../other]", "outside of the repository"),
            ("resources: [/etc/hostname]", "outside of the repository"),
            ("resources: [../deep]", "remote resource"),
            ("helmCharts: [{name: x}]", "`helmCharts`"),
            ("HelmCharts: [{name: x}]", "`HelmCharts`"),
            ("helmChartInflationGenerator: [{chartName: x}]", "`helmChartInflationGenerator`"),
            ("generators: [gen.yaml]", "the plugin `Maker`"),
            ("validators: [\"apiVersion: v1\\nkind: Own\\n\"]", "the plugin `Own`"),
            ("transformers: [fn.yaml]", "the plugin `LabelTransformer`"),
            ("transformers: [../plugins]", "the directory `../plugins`"),
            ("resources: [a.yaml]\nresources: ['https://example.org/a']", "plain YAML"),
            ("resources: []\n---\nresources: ['https://example.org/a']", "plain YAML"),
            ("resources: [{a: b}]", "no text"),
            ("kind: Component", "a component"),
            ("apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization", "fluxcd"),
        ] {
            let files = [
                ("repo/over/kustomization.yaml", text),
                ("repo/over/a.yaml", ""),
                ("repo/over/gen.yaml", "apiVersion: example.org/v1\nkind: Maker\n"),
                (
                    "repo/over/fn.yaml",
                    "apiVersion: builtin\nkind: LabelTransformer\nmetadata: {annotations: {config.kubernetes.io/function: 'exec: {path: x}'}}\n",
                ),
                ("repo/deep/kustomization.yaml", "resources: ['https://example.org/a.yaml']\n"),
                ("repo/plugins/kustomization.yaml", "resources: []\n"),
                ("outside.yaml", ""),
                ("other/kustomization.yaml", "resources: []\n"),
            ];
            let message = of(&files).expect_err(text);
            assert!(message.contains(why), "{text}: {message}");
        }
    }

    #[test]
    fn a_file_that_is_not_there_is_left_to_the_program() {
        for item in ["gone.yaml", "../gone", "./gone/deeper.yaml"] {
            let text = format!("resources: [{item}]\n");
            assert!(of(&[("repo/over/kustomization.yaml", &text)]).is_ok(), "{item}");
        }
    }

    #[cfg(unix)]
    #[test]
    fn links_that_lead_out_are_refused() {
        let folder = tempfile::tempdir().expect("a directory");
        let root = folder.path().canonicalize().expect("a path");
        std::fs::create_dir_all(root.join("repo/over")).expect("a directory");
        std::fs::write(root.join("secret.yaml"), "a: b\n").expect("a file");
        let file = root.join("repo/over/kustomization.yaml");
        std::fs::write(file, "resources: [link.yaml]\n").expect("a file");
        std::os::unix::fs::symlink(root.join("secret.yaml"), root.join("repo/over/link.yaml"))
            .expect("a link");
        let paths = included(&root.join("repo/over"), &root.join("repo"), &Limits::default());
        assert!(paths.is_err_and(|why| why.contains("outside of the repository")));
    }
}
