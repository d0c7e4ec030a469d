//! An answer in every output format of a page.

use super::table::Style;
use serde_json::Value;

/// An answer that can be printed as JSON, text, Markdown and HTML.
pub trait Answer {
    /// The documented shape.
    fn json(&self) -> Value;

    /// For people.
    fn text(&self, style: Style) -> String;

    /// For a pull request or an issue.
    ///
    /// # Errors
    /// The error of the template.
    fn markdown(&self) -> Result<String, String>;

    /// A single HTML page.
    ///
    /// # Errors
    /// The error of the template.
    fn html(&self) -> Result<String, String>;
}
