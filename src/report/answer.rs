//! An answer in every output format of a page.

use super::table::Style;
use serde_json::Value;

/// What can be printed as JSON, as text, as Markdown and as a page.
pub trait Answer {
    /// The documented shape.
    fn json(&self) -> Value;

    /// For people.
    fn text(&self, style: Style) -> String;

    /// For a pull request or an issue.
    ///
    /// # Errors
    /// What is wrong with the template.
    fn markdown(&self) -> Result<String, String>;

    /// A single HTML page.
    ///
    /// # Errors
    /// What is wrong with the template.
    fn html(&self) -> Result<String, String>;
}
