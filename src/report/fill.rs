//! Pages and comments made from templates.
//!
//! [`fill`] is the only place that names minijinja. A template gets data that is worded already; in
//! pages, whose names end in `.html`, every value is escaped.

use minijinja::{Environment, UndefinedBehavior};
use serde::Serialize;

/// Fills a template in; a name it uses and the data lacks is an error.
///
/// # Errors
/// What is wrong with the template.
pub(super) fn fill(
    name: &'static str,
    template: &'static str,
    data: &impl Serialize,
) -> Result<String, String> {
    let failed = |error: minijinja::Error| format!("cannot fill {name}: {error:#}");
    let mut environment = Environment::new();
    environment.set_undefined_behavior(UndefinedBehavior::Strict);
    environment.add_template(name, template).map_err(failed)?;
    let mut text = environment
        .get_template(name)
        .and_then(|template| template.render(minijinja::value::Serde(data)))
        .map_err(failed)?;
    // The engine drops the template's last end of line.
    if !text.ends_with('\n') {
        text.push('\n');
    }
    Ok(super::screen::printable(&text))
}
