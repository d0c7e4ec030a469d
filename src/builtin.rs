//! The built-in catalog: `runtimes/` and `accelerator-classes/` of this repository, embedded in the
//! binary, and the runtimes that releases of operators ship, which are decompressed on demand.

use flate2::read::GzDecoder;
use include_dir::{Dir, include_dir};
use std::io::Read;
use std::sync::OnceLock;

static RUNTIMES: Dir<'_> = include_dir!("$CARGO_MANIFEST_DIR/runtimes");
static ACCELERATOR_CLASSES: Dir<'_> = include_dir!("$CARGO_MANIFEST_DIR/accelerator-classes");

/// The runtimes that each release of an operator ships (`examples/catalogs.rs`).
static SHIPPED: [(&str, &[u8]); 2] = [
    ("kserve", include_bytes!(concat!(env!("CARGO_MANIFEST_DIR"), "/catalogs/kserve.gz"))),
    ("ome", include_bytes!(concat!(env!("CARGO_MANIFEST_DIR"), "/catalogs/ome.gz"))),
];

/// Returns names and texts of all embedded files, sorted by name.
pub fn files() -> &'static [(&'static str, &'static str)] {
    static FILES: OnceLock<Vec<(&'static str, &'static str)>> = OnceLock::new();
    FILES.get_or_init(|| {
        let mut files = Vec::new();
        collect("runtimes", &RUNTIMES, &mut files);
        collect("accelerator-classes", &ACCELERATOR_CLASSES, &mut files);
        // The order of the directory is that of the build machine.
        files.sort_unstable();
        files
    })
}

/// Returns names and texts of the runtimes that a release of an operator ships, sorted by name;
/// empty for an unknown release.
pub fn shipped(operator: &str, tag: &str) -> Vec<(&'static str, &'static str)> {
    let of_release = |(tags, path, text): (&str, &str, &'static str)| {
        // The names are leaked on purpose, once per process and release.
        let name = || &*format!("shipped/{operator}={tag}/{path}").leak();
        tags.split(',').any(|tags| tags == tag).then(|| (name(), text))
    };
    entries(operator).filter_map(of_release).collect()
}

/// Returns the number of runtimes that a release of an operator ships.
pub fn shipped_count(operator: &str, tag: &str) -> usize {
    entries(operator).filter(|(tags, ..)| tags.split(',').any(|tags| tags == tag)).count()
}

/// Returns, for each text, the releases that ship it, its path and the text.
fn entries(
    operator: &str,
) -> impl Iterator<Item = (&'static str, &'static str, &'static str)> + use<> {
    static TEXTS: [OnceLock<String>; SHIPPED.len()] = [const { OnceLock::new() }; SHIPPED.len()];
    let position = SHIPPED.iter().position(|(name, _)| *name == operator);
    let text = position.map_or("", |position| {
        TEXTS[position].get_or_init(|| {
            let mut text = String::new();
            match GzDecoder::new(SHIPPED[position].1).read_to_string(&mut text) {
                Ok(_) => text,
                // A test reads the embedded data, so this does not happen.
                Err(_) => String::new(),
            }
        })
    });
    // The file begins with the mark, without the line feed that the others have.
    text.split("\n#: ").filter_map(|entry| {
        let entry = entry.strip_prefix("#: ").unwrap_or(entry);
        let (head, text) = entry.split_once('\n')?;
        let (tags, path) = head.split_once(' ')?;
        Some((tags, path, text))
    })
}

fn collect(root: &str, directory: &Dir<'static>, files: &mut Vec<(&'static str, &'static str)>) {
    for file in directory.files() {
        if let Some(text) = file.contents_utf8() {
            // The names are leaked on purpose, once per process.
            files.push((format!("{root}/{}", file.path().display()).leak(), text));
        }
    }
    for directory in directory.dirs() {
        collect(root, directory, files);
    }
}

/// Returns the engine and file name of a built-in runtime in the documentation's tables:
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn releases_ship_runtimes() {
        let counts = ["v0.1.3", "v0.1.4", "v0.1.5", "17b77eda", "v1.2.2"]
            .map(|tag| shipped_count("ome", tag));
        assert_eq!(counts, [35, 35, 205, 207, 0]);
        let counts = ["v0.19.0", "v0.20.0", "head"].map(|tag| shipped_count("kserve", tag));
        assert_eq!(counts, [13, 15, 15]);
        let [(name, text), ..] = shipped("ome", "v0.1.4")[..] else {
            panic!("v0.1.4 ships runtimes")
        };
        assert_eq!(name, "shipped/ome=v0.1.4/srt/deepseek-rdma-pd-rt.yaml");
        assert!(
            text.starts_with("apiVersion: ome.io/v1beta1\nkind: ClusterServingRuntime\n"),
            "{text}"
        );
        let all = [shipped("ome", "17b77eda"), shipped("kserve", "head")].concat();
        for (name, text) in all {
            assert!(
                name.contains(".yaml") && text.contains("kind: ClusterServingRuntime"),
                "{name}"
            );
        }
    }
}
