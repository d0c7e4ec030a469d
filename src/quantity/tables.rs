//! Reads the tables recorded from the Kubernetes libraries, for tests.

use std::path::PathBuf;

/// The lines of one table, or `None` where the tables are not at hand.
///
/// `OME_APIMACHINERY_DIR` names another directory than the one beside the repository.
#[expect(clippy::disallowed_methods, reason = "a test reads its table")]
pub(super) fn lines(name: &str) -> Option<Vec<String>> {
    let beside = || {
        PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../shared/conformance/apimachinery"))
    };
    let directory = std::env::var_os("OME_APIMACHINERY_DIR").map_or_else(beside, PathBuf::from);
    let text = std::fs::read_to_string(directory.join(name)).ok()?;
    Some(text.lines().map(str::to_owned).collect())
}
