//! The list of files that a run wrote: `.ome-manifest.json`.

use super::path::is_ours;
use std::collections::BTreeMap;

/// Name of the file.
pub(super) const NAME: &str = ".ome-manifest.json";

/// Version of its shape.
const SCHEMA_VERSION: &str = "ome/v1";

/// Files by path, each with the SHA-256 of its content in hexadecimal.
pub(super) type Files = BTreeMap<String, String>;

/// Reads a manifest.
///
/// # Errors
/// What is wrong with it: other text, or a path that leads elsewhere.
pub(super) fn parse(text: &str) -> Result<Files, String> {
    let value: serde_json::Value = serde_json::from_str(text).map_err(|error| error.to_string())?;
    let files =
        value.get("files").and_then(|files| files.as_array()).ok_or("`files` is no list")?;
    let mut found = Files::new();
    for file in files {
        let text = |key: &str| file.get(key).and_then(|value| value.as_str());
        let path = text("path").ok_or("a file has no `path`")?;
        if !is_ours(path) {
            return Err(format!(
                "`{path}` is no path of the form NAMESPACE/SERVICE/KIND-NAME.yaml"
            ));
        }
        found.insert(path.to_owned(), text("sha256").unwrap_or_default().to_owned());
    }
    Ok(found)
}

/// Writes a manifest, sorted by path.
pub(super) fn write(files: &Files) -> String {
    let files: Vec<_> = files
        .iter()
        .map(|(path, sha256)| serde_json::json!({ "path": path, "sha256": sha256 }))
        .collect();
    let mut text = serde_json::to_string_pretty(
        &serde_json::json!({ "schemaVersion": SCHEMA_VERSION, "files": files }),
    )
    .expect("text and lists are JSON");
    text.push('\n');
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_manifest_reads_as_it_was_written() {
        let files: Files =
            [("b/c/d.yaml".to_owned(), "2".to_owned()), ("a/b/c.yaml".to_owned(), "1".to_owned())]
                .into();
        assert_eq!(parse(&write(&files)), Ok(files));
    }

    #[test]
    fn a_manifest_that_leads_elsewhere_is_refused() {
        for text in [
            "",
            "[]",
            "{}",
            r#"{"files":[{}]}"#,
            r#"{"files":[{"path":"../../etc/x.yaml","sha256":""}]}"#,
            r#"{"files":[{"path":"/etc/a/b.yaml"}]}"#,
        ] {
            assert!(parse(text).is_err(), "{text}");
        }
    }
}
