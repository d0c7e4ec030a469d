//! Helm templates: recognized, reported and ignored.

use std::path::Path;

/// Whether a file lies among the templates of a chart: below a directory `templates` beside a
/// `Chart.yaml`.
pub(super) fn in_chart(path: &Path) -> bool {
    path.ancestors().skip(1).any(|folder| {
        folder.file_name().is_some_and(|name| name == "templates")
            && folder.parent().is_some_and(|chart| chart.join("Chart.yaml").is_file())
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
        trimmed
            || action.starts_with("/*")
            || fields.iter().any(|field| action.starts_with(field))
            || (!word.is_empty() && !action.starts_with('"'))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

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
