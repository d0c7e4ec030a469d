//! The releases of operators as a list.

use super::table::{Style, table};
use crate::api::Release;
use serde_json::{Value, json};

/// One release that can be followed.
#[derive(Clone, Debug)]
pub struct ReleaseRow {
    /// The operator, as `--release` names it.
    pub operator: &'static str,
    /// The release.
    pub release: Release,
    /// `--semantics controller` follows it if no release is named.
    pub default: bool,
    /// How many runtimes it ships; `None` if that is unknown.
    pub runtimes: Option<usize>,
}

impl ReleaseRow {
    /// As JSON.
    pub fn json(&self) -> Value {
        let Release { tag, date, commit } = self.release;
        json!({
            "operator": self.operator, "release": tag, "date": date, "commit": commit,
            "default": self.default, "runtimes": self.runtimes,
        })
    }
}

/// The list as text.
pub fn text(rows: &[ReleaseRow], style: Style) -> String {
    let cells = rows.iter().map(|row| {
        vec![
            format!("{}={}", row.operator, row.release.tag),
            row.release.date.to_owned(),
            row.release.commit.to_owned(),
            row.runtimes.map_or_else(|| "unknown".to_owned(), |count| count.to_string()),
            if row.default { "default" } else { "" }.to_owned(),
        ]
    });
    table(&["RELEASE", "DATE", "COMMIT", "RUNTIMES SHIPPED", "CONTROLLER MODE"], cells, style)
}
