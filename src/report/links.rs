//! URLs of this project's own pages.

use crate::diag::Code;

/// The repository.
pub(super) const HOME: &str = env!("CARGO_PKG_REPOSITORY");

/// The entry of a code in the reference page of this release.
pub fn code(code: Code) -> String {
    let doc = code.doc();
    entry(doc.id, doc.severity.as_str())
}

/// The entry of a code. Its name and severity form the heading.
pub(super) fn entry(id: &str, severity: &str) -> String {
    format!("{HOME}/blob/v{}/docs/codes.md#{id}-{severity}", env!("CARGO_PKG_VERSION"))
}
