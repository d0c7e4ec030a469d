//! The output formats of an answer.

use super::table::Style;
use serde_json::Value;

/// An answer that can be printed as JSON, text, Markdown and HTML.
pub trait Answer {
    /// The documented JSON format.
    fn json(&self) -> Value;

    /// Text for a terminal.
    fn text(&self, style: Style) -> String;

    /// Markdown for a pull request or an issue.
    ///
    /// # Errors
    /// The error in the template.
    fn markdown(&self) -> Result<String, String>;

    /// A single HTML page.
    ///
    /// # Errors
    /// The error in the template.
    fn html(&self) -> Result<String, String>;
}
