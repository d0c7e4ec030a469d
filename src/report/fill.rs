//! Pages and comments made from templates.
//!
//! [`fill`] is the only place that names minijinja. A template gets data that is worded already, and
//! made printable here. In pages, whose names end in `.html`, every value is escaped too.

use super::screen::printable;
use minijinja::{Environment, UndefinedBehavior};
use serde::Serialize;
use serde_json::Value;

/// Fills a template in; a name it uses and the data lacks is an error.
///
/// # Errors
/// What is wrong with the template.
pub(super) fn fill(
    name: &'static str,
    template: &'static str,
    data: &impl Serialize,
) -> Result<String, String> {
    let mut data = serde_json::to_value(data).map_err(|error| error.to_string())?;
    make_printable(&mut data);
    let failed = |error: minijinja::Error| format!("cannot fill {name}: {error:#}");
    let mut environment = Environment::new();
    environment.set_undefined_behavior(UndefinedBehavior::Strict);
    // Tables on narrow screens, in the style of every page.
    let narrow = minijinja::Value::from_safe_string(include_str!("narrow.css").to_owned());
    environment.add_global("narrow", narrow);
    environment.add_template(name, template).map_err(failed)?;
    let mut text = environment
        .get_template(name)
        .and_then(|template| template.render(minijinja::value::Serde(data)))
        .map_err(failed)?;
    // The engine drops the template's last end of line.
    if !text.ends_with('\n') {
        text.push('\n');
    }
    Ok(text)
}

/// Every text that is filled in, without what is obeyed.
fn make_printable(data: &mut Value) {
    match data {
        Value::String(text) => *text = printable(text),
        Value::Array(items) => items.iter_mut().for_each(make_printable),
        Value::Object(fields) => fields.values_mut().for_each(make_printable),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}
