//! The settings of a run, each with its origin.

use super::cell::{Cell, row};
use super::table::{Style, table};
use serde_json::{Value, json};

/// Where a setting comes from, the one that wins first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SettingOrigin {
    /// A flag of the command line, as `--builtin`.
    Flag(String),
    /// A variable of the environment.
    Variable(String),
    /// A line of an `ome.toml`, or of the file that `--config` names.
    File(String, usize),
    /// A line of the user's own file.
    User(String, usize),
    /// Nothing sets it.
    Default,
}

impl SettingOrigin {
    /// Its word in JSON.
    fn word(&self) -> &'static str {
        match self {
            Self::Flag(_) => "flag",
            Self::Variable(_) => "variable",
            Self::File(..) => "file",
            Self::User(..) => "user",
            Self::Default => "default",
        }
    }

    /// As it is shown: the flag, the variable, or the file with its line.
    fn cell(&self) -> Cell {
        match self {
            Self::Flag(name) | Self::Variable(name) => name.as_str().into(),
            Self::File(file, line) | Self::User(file, line) => format!("{file}:{line}").into(),
            Self::Default => Cell::faint("default"),
        }
    }
}

/// A setting.
#[derive(Clone, Debug)]
pub struct SettingRow {
    /// Its key in `ome.toml`; `releases.ome` for one of a table.
    pub name: String,
    /// The value that is followed; none if there is no value.
    pub value: Option<String>,
    /// Where the value comes from.
    pub origin: SettingOrigin,
}

impl SettingRow {
    /// As JSON.
    pub fn json(&self) -> Value {
        let mut out = json!({
            "name": self.name, "value": self.value, "origin": self.origin.word(),
        });
        match &self.origin {
            SettingOrigin::Flag(name) | SettingOrigin::Variable(name) => {
                out["from"] = json!(name);
            }
            SettingOrigin::File(file, line) | SettingOrigin::User(file, line) => {
                out["file"] = json!(file);
                out["line"] = json!(line);
            }
            SettingOrigin::Default => {}
        }
        out
    }
}

/// The settings as a table.
pub fn text(rows: &[SettingRow], style: Style) -> String {
    let cells = rows
        .iter()
        .map(|row| row![row.name.as_str(), Cell::or_none(row.value.as_deref()), row.origin.cell()]);
    table(&["SETTING", "VALUE", "FROM"], cells, style)
}
