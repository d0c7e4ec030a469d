//! The releases of operators as a list.

use super::cell::{Cell, row};
use super::table::{Style, table};
use crate::api::{Knowledge, Release};
use crate::quantity::grouped;
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
    /// In how many rules it differs from the release before it; `None` if that is not counted.
    pub rules: Option<usize>,
}

impl ReleaseRow {
    /// As JSON.
    pub fn json(&self) -> Value {
        let Release { tag, date, commit, knowledge } = self.release;
        // A release that is read was not recorded, and names what was not read of it.
        let (services, unread) = match knowledge {
            Knowledge::Recorded(services) => (Some(services).filter(|count| *count > 0), &[][..]),
            Knowledge::Read(unread) => (None, unread),
            Knowledge::Documents => (None, &[][..]),
        };
        json!({
            "operator": self.operator, "release": tag, "date": date, "commit": commit,
            "default": self.default, "runtimes": self.runtimes, "known": knowledge.as_str(),
            "services": services, "rules": self.rules, "unread": unread,
        })
    }
}

/// How a release is known: `recorded (3,090 services)`, `read (4 rules)`.
fn evidence(row: &ReleaseRow) -> String {
    let word = row.release.knowledge.as_str();
    match (row.release.knowledge, row.rules) {
        (Knowledge::Recorded(services @ 1..), _) => {
            format!("{word} ({} services)", grouped(services.into()))
        }
        (Knowledge::Read(_), Some(1)) => format!("{word} (1 rule)"),
        (Knowledge::Read(_), Some(rules)) => format!("{word} ({rules} rules)"),
        _ => word.to_owned(),
    }
}

/// The list as text.
pub fn text(rows: &[ReleaseRow], style: Style) -> String {
    let cells = rows.iter().map(|row| {
        row![
            format!("{}={}", row.operator, row.release.tag),
            row.release.date,
            row.release.commit,
            row.runtimes.map_or_else(|| "unknown".to_owned(), |count| count.to_string()),
            evidence(row),
            if row.default { Cell::faint("default") } else { Cell::default() },
        ]
    });
    table(
        &["RELEASE", "DATE", "COMMIT", "RUNTIMES SHIPPED", "KNOWN BY", "CONTROLLER MODE"],
        cells,
        style,
    )
}
