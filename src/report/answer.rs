//! The output formats of an answer.

use super::table::Style;
use serde::Serialize;

/// An answer that can be printed as JSON, text, Markdown and HTML.
pub trait Answer {
    /// The documented JSON format. A long answer is written as it is made.
    fn json(&self) -> impl Serialize;

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
