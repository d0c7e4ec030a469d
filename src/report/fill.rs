//! Renders pages and comments from templates.
//!
//! Only [`fill`] uses minijinja. A template gets finished texts, which are made printable here. In
//! pages, whose names end in `.html`, every value is also escaped. Every page extends
//! `page/layout.html`: one design, one stylesheet, one script, no external resources.

use super::markdown;
use super::screen::printable;
use minijinja::{Environment, UndefinedBehavior};
use serde::Serialize;
use serde_json::Value;

/// Renders a template; a name that is missing in the data is an error.
///
/// # Errors
/// The error in the template.
pub(super) fn fill(
    name: &'static str,
    template: &'static str,
    data: &impl Serialize,
) -> Result<String, String> {
    let mut data = serde_json::to_value(data).map_err(|error| error.to_string())?;
    make_printable(&mut data);
    let failed = |error: minijinja::Error| format!("cannot fill {name}: {error:#}");
    let mut environment = Environment::new();
    // A name that is misspelled in a template would leave a gap that no reader notices.
    environment.set_undefined_behavior(UndefinedBehavior::Strict);
    // Parts of this program, which must not be escaped.
    for (name, text) in
        [("style", include_str!("page/style.css")), ("script", include_str!("page/script.js"))]
    {
        environment.add_global(name, minijinja::Value::from_safe_string(text.to_owned()));
    }
    for (name, text) in [
        ("layout.html", include_str!("page/layout.html")),
        ("parts.html", include_str!("page/parts.html")),
    ] {
        environment.add_template(name, text).map_err(failed)?;
    }
    environment.add_filter("code", |text: &str| markdown::code(text));
    environment.add_filter("cell", |text: &str| markdown::code_cell(text));
    environment.add_filter("text", |text: &str| markdown::text(text));
    environment.add_template(name, template).map_err(failed)?;
    let mut text = environment
        .get_template(name)
        .and_then(|template| template.render(minijinja::value::Serde(data)))
        .map_err(failed)?;
    // The template engine drops the last newline of a template.
    if !text.ends_with('\n') {
        text.push('\n');
    }
    Ok(text)
}

/// Makes every text printable, so that terminals do not interpret control characters.
fn make_printable(data: &mut Value) {
    match data {
        Value::String(text) => *text = printable(text),
        Value::Array(items) => items.iter_mut().for_each(make_printable),
        Value::Object(fields) => fields.values_mut().for_each(make_printable),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}
