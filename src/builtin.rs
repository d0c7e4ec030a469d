//! The built-in catalog: `runtimes/` and `accelerator-classes/` of this repository, embedded in the
//! binary.

use include_dir::{Dir, include_dir};
use std::sync::OnceLock;

static RUNTIMES: Dir<'_> = include_dir!("$CARGO_MANIFEST_DIR/runtimes");
static ACCELERATOR_CLASSES: Dir<'_> = include_dir!("$CARGO_MANIFEST_DIR/accelerator-classes");

/// Names and texts of all embedded files, sorted by name.
pub fn files() -> &'static [(&'static str, &'static str)] {
    static FILES: OnceLock<Vec<(&'static str, &'static str)>> = OnceLock::new();
    FILES.get_or_init(|| {
        let mut files = Vec::new();
        collect("runtimes", &RUNTIMES, &mut files);
        collect("accelerator-classes", &ACCELERATOR_CLASSES, &mut files);
        files.sort_unstable();
        files
    })
}

fn collect(root: &str, directory: &Dir<'static>, files: &mut Vec<(&'static str, &'static str)>) {
    for file in directory.files() {
        if let Some(text) = file.contents_utf8() {
            // Once per process: the names live as long as it does.
            files.push((format!("{root}/{}", file.path().display()).leak(), text));
        }
    }
    for directory in directory.dirs() {
        collect(root, directory, files);
    }
}

/// Engine and file name in the documentation's tables of a built-in runtime:
/// `srt-mistral-7b-instruct` is `sglang/mistral-7b-instruct-rt` (OME docs, Serving Runtime, SGLang
/// Runtimes; docs/decisions.md#runtime-names).
pub fn alias(object_name: &str) -> Option<(&'static str, &'static str)> {
    let (engine, prefix) = [("sglang", "srt-"), ("vllm", "vllm-")]
        .into_iter()
        .find(|(_, prefix)| object_name.starts_with(prefix))?;
    let base = &object_name[prefix.len()..];
    files().iter().find_map(|(name, _)| {
        let file = name
            .strip_prefix("runtimes/")?
            .strip_prefix(engine)?
            .strip_prefix('/')?
            .strip_suffix(".yaml")?;
        (file.strip_suffix("-rt") == Some(base)).then_some((engine, file))
    })
}
