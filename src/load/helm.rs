//! Helm templates: recognized, reported and ignored.

use super::placeholders;
use std::collections::HashMap;
use std::path::{Component, Path, PathBuf};

/// Directories of a chart whose files are input of templates, or templates.
const PARTS: [&str; 4] = ["templates", "files", "ci", "tests"];

/// Whether a path below a chart is in a directory that the chart reads.
pub fn is_chart_part(below: &Path) -> bool {
    let first = below.iter().next().and_then(|part| part.to_str());
    first.is_some_and(|first| PARTS.contains(&first)) && below.iter().nth(1).is_some()
}

/// The charts around the files of an input: each directory is looked at once.
#[derive(Default)]
pub(super) struct Charts<'p> {
    /// The nearest chart that holds a directory, or is it.
    around: HashMap<&'p Path, Option<&'p Path>>,
    /// The way from a chart above the current directory down to it.
    down: Option<PathBuf>,
    /// The paths that were named as presets.
    presets: &'p [PathBuf],
}

/// The way from the nearest chart above the current directory, within its repository, down to it.
fn down_to_here() -> Option<PathBuf> {
    let here = std::env::current_dir().ok()?;
    let mut below = here.as_path();
    while !below.join(".git").exists() {
        below = below.parent()?;
        if below.join("Chart.yaml").is_file() {
            return here.strip_prefix(below).ok().map(Path::to_path_buf);
        }
    }
    None
}

/// A path below the current directory, without `.`.
fn below_here(path: &Path) -> Option<PathBuf> {
    let mut below = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::Normal(name) => below.push(name),
            _ => return None,
        }
    }
    Some(below)
}

impl<'p> Charts<'p> {
    /// The charts around these files: directories with a `Chart.yaml`.
    pub(super) fn of(paths: impl IntoIterator<Item = &'p Path>) -> Self {
        let mut around = HashMap::new();
        let mut down = None;
        for path in paths {
            // The directories above are asked only if something is read below the current one.
            if down.is_none() && path.is_relative() {
                down = Some(down_to_here());
            }
            let is_new = |folder: &&Path| !around.contains_key(folder);
            let new: Vec<&Path> = path.ancestors().skip(1).take_while(is_new).collect();
            // From the outside in, so that the chart of the directory above is known for each.
            for folder in new.into_iter().rev() {
                let chart = if folder.join("Chart.yaml").is_file() {
                    Some(folder)
                } else {
                    folder.parent().and_then(|above| around.get(above).copied().flatten())
                };
                around.insert(folder, chart);
            }
        }
        Self { around, down: down.flatten(), presets: &[] }
    }

    /// The same with paths that were named as presets.
    pub(super) fn with_presets(self, presets: &'p [PathBuf]) -> Self {
        Self { presets, ..self }
    }

    /// The chart above the current directory, as a path from there, for a file below it.
    pub(super) fn above(&self, path: &Path) -> Option<String> {
        below_here(path)?;
        let depth = self.down.as_ref()?.components().count();
        Some(vec![".."; depth].join("/"))
    }

    /// The nearest chart around one of the files.
    pub(super) fn around(&self, path: &Path) -> Option<&'p Path> {
        self.around.get(path.parent()?).copied().flatten()
    }

    /// Whether a file is a part of a chart: below a directory with a `Chart.yaml` only `crds` is
    /// plain YAML (Helm docs, Charts, The Chart File Structure). Manifests in a directory of another
    /// name, which the chart does not read, are plain as well if they have no actions.
    pub(super) fn hold(&self, path: &Path, text: &str) -> bool {
        // Those of KServe's own chart are finished: the controller fills them in, not Helm.
        if self.presets.iter().any(|presets| path.starts_with(presets))
            && placeholders::is_filled_by_controllers(text)
        {
            return false;
        }
        let below = match self.around(path) {
            Some(chart) => path.strip_prefix(chart).ok().map(Path::to_path_buf),
            None => self.down.as_ref().and_then(|down| Some(down.join(below_here(path)?))),
        };
        let Some(below) = below else { return false };
        let mut parts = below.iter().filter_map(|part| part.to_str());
        match (parts.next(), parts.next()) {
            // Helm applies `crds` without rendering them, so braces there are text of the CRD.
            (Some("crds"), Some(_)) => false,
            // The chart's own files: values, its schema, its lock.
            (Some(_), None) => true,
            (Some(_), Some(_)) => {
                // A chart reads only its own directories, and others beside them may hold finished
                // manifests.
                is_chart_part(&below) || (text.contains("{{") && has_actions(text))
            }
            _ => false,
        }
    }
}

/// Whether a text is a template of a chart wherever it is: it reads the values of one.
pub(super) fn is_template(text: &str) -> bool {
    text.match_indices("{{").any(|(at, _)| {
        let end = text[at..].find("}}").map_or(text.len(), |end| at + end);
        let action = &text[at + 2..end];
        [".Values.", ".Release.", ".Chart.", "include \""].iter().any(|name| action.contains(name))
    })
}

/// Whether a text contains Helm actions. Placeholders of runtimes, which are chains of fields such
/// as `{{.Name}}` or `{{.Labels.app}}`, are not Helm actions.
pub(super) fn has_actions(text: &str) -> bool {
    text.match_indices("{{").any(|(at, _)| {
        let rest = &text[at + 2..];
        let action =
            rest.strip_prefix('-').unwrap_or(rest).trim_start_matches([' ', '\t', '\n', '\r', '(']);
        let trimmed = rest.starts_with("- ") || rest.starts_with("-\n");
        let word =
            action.split(|c: char| !(c.is_ascii_alphanumeric() || c == '_')).next().unwrap_or("");
        let fields = [
            ".Values",
            ".Release",
            ".Chart",
            ".Capabilities",
            ".Files",
            ".Subcharts",
            ".Template",
            "$",
        ];
        // `{{- ` trims white space, which placeholders of controllers have no use for.
        trimmed
            || action.starts_with("/*")
            || fields.iter().any(|field| action.starts_with(field))
            // A first word is a function or a keyword; fields of runtimes begin with a dot.
            || (!word.is_empty() && !action.starts_with('"'))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[expect(clippy::disallowed_methods, reason = "the test looks for files")]
    fn the_nearest_chart_holds_a_file() {
        let root = tempfile::tempdir().unwrap();
        let at = |name: &str| root.path().join(name);
        for folder in ["a/templates", "a/crds", "a/charts/b/other", "c"] {
            std::fs::create_dir_all(at(folder)).unwrap();
        }
        for chart in ["a/Chart.yaml", "a/charts/b/Chart.yaml"] {
            std::fs::write(at(chart), "").unwrap();
        }
        let cases = [
            ("a/values.yaml", Some("a"), true),
            ("a/templates/x.yaml", Some("a"), true),
            ("a/crds/x.yaml", Some("a"), false),
            ("a/charts/b/other/x.yaml", Some("a/charts/b"), false),
            ("c/x.yaml", None, false),
        ];
        let paths: Vec<_> = cases.iter().map(|(name, ..)| at(name)).collect();
        let charts = Charts::of(paths.iter().map(|path| &**path));
        for (path, (name, chart, is_part)) in paths.iter().zip(cases) {
            let expected = chart.map(at);
            assert_eq!(charts.around(path), expected.as_deref(), "{name}");
            assert_eq!(charts.hold(path, "a: b"), is_part, "{name}");
        }
    }

    #[test]
    #[expect(clippy::disallowed_methods, reason = "the test looks for files")]
    fn presets_of_a_chart_are_read_where_they_are_named() {
        let root = tempfile::tempdir().unwrap();
        std::fs::create_dir_all(root.path().join("files")).unwrap();
        std::fs::write(root.path().join("Chart.yaml"), "").unwrap();
        let path = root.path().join("files/x.yaml");
        let presets = [root.path().join("files")];
        let charts = || Charts::of([&*path]);
        for (kind, is_part) in [("LLMInferenceServiceConfig", false), ("ConfigMap", true)] {
            let text =
                format!("kind: {kind}\nspec: {{a: '{{{{ if .Spec.Model }}}}x{{{{ end }}}}'}}\n");
            assert!(charts().hold(&path, &text), "{kind}");
            assert_eq!(charts().with_presets(&presets).hold(&path, &text), is_part, "{kind}");
        }
    }

    #[test]
    fn helm_actions_are_distinguished_from_ome_placeholders() {
        for text in [
            "{{ include \"chat.fullname\" . }}",
            "{{- if .Values.x }}",
            "{{ .Release.Name }}",
            "a: {{ $x }}",
            "{{/* c */}}",
            "{{ toYaml .Values.y | nindent 4 }}",
        ] {
            assert!(has_actions(text), "{text}");
        }
        for text in [
            "{{.Annotations.image}}",
            "{{ .Name }}",
            "a: {b: {c: 1}}",
            "{{.Labels.app}}-x",
            "a: '}}'",
        ] {
            assert!(!has_actions(text), "{text}");
        }
    }
}
