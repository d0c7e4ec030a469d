//! The output formats of an answer.

use super::screen::Draw;
use super::table::Style;
use serde::Serialize;
use std::io;

/// An answer that can be printed as JSON, text, Markdown and HTML.
pub trait Answer {
    /// The documented JSON format. A long answer is written as it is made.
    fn json(&self) -> impl Serialize;

    /// Text for a terminal. A long answer is drawn in pieces, so that it is never in memory as a
    /// whole.
    ///
    /// # Errors
    /// The error of `draw`.
    fn text(&self, style: Style, draw: &mut Draw<'_>) -> io::Result<()>;

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
