//! Reads the tables recorded from the Kubernetes libraries, for tests.

use std::path::PathBuf;

/// Where the tables are: beside the repository, or where `OME_APIMACHINERY_DIR` says.
pub(crate) fn directory() -> PathBuf {
    std::env::var_os("OME_APIMACHINERY_DIR").map_or_else(
        || concat!(env!("CARGO_MANIFEST_DIR"), "/../shared/conformance/apimachinery").into(),
        PathBuf::from,
    )
}

/// The lines of one table, or `None` where the tables are not at hand.
#[expect(clippy::disallowed_methods, reason = "a test reads its table")]
pub(crate) fn lines(name: &str) -> Option<Vec<String>> {
    let text = std::fs::read_to_string(directory().join(name)).ok()?;
    Some(text.lines().map(str::to_owned).collect())
}
