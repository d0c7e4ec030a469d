//! Expectations next to the catalog: the files of `ome test`.
//!
//! In: a document with `cases`. Out: the expectations of each case with their locations, and the
//! expectations that are not met. Only the keys in a case are compared.

pub(crate) mod actual;
pub(crate) mod judge;
pub(crate) mod read;
#[cfg(test)]
mod tests;

pub use judge::{is_object, is_service, object, open, service};
pub use read::cases;

use crate::pipeline::Each;
use crate::pipeline::what_if::Flip;
use crate::source::Span;
use crate::yaml::Node;
use ecow::EcoString;

/// Keys of a case.
pub const CASE_KEYS: [&str; 6] = ["name", "files", "services", "objects", "findings", "survives"];
/// Keys of a service, beside `env.NAME`.
pub const SERVICE_KEYS: [&str; 7] =
    ["runtime", "accelerator", "mode", "gpus", "fits", "error", "arg"];

/// One case.
#[derive(Clone, Debug)]
pub struct Case {
    /// Its name.
    pub name: EcoString,
    /// The files that it reads, relative to its own file; `None` means those of the command line.
    pub files: Option<Vec<EcoString>>,
    /// Expectations about services.
    pub services: Vec<Stated>,
    /// The key `services` and its value, if it names no service: all services are recorded there.
    pub no_services: Option<(Span, Span)>,
    /// Expectations about objects.
    pub objects: Vec<Stated>,
    /// Codes that must be found.
    pub findings: Vec<(EcoString, Span)>,
    /// Losses after which every pod must have a node: any node, any zone, any class.
    pub survives: Vec<(Each, Span)>,
}

/// The expectations about one service or object.
#[derive(Clone, Debug)]
pub struct Stated {
    /// Its name as it is written.
    pub name: EcoString,
    /// Where the name is.
    pub span: Span,
    /// Where its mapping is.
    pub place: Span,
    /// Keys, or paths, with their values.
    pub values: Vec<Expected>,
}

/// One expectation.
#[derive(Clone, Debug)]
pub struct Expected {
    /// The key, or the path of a field.
    pub key: EcoString,
    /// Where the key is.
    pub span: Span,
    /// What is expected.
    pub value: Node,
}

/// An expectation that is not met.
#[derive(Clone, Debug)]
pub struct Miss {
    /// Path of the key, starting at the case.
    pub path: String,
    /// Where it is.
    pub span: Span,
    /// What is expected.
    pub want: serde_json::Value,
    /// The current value; `None` if there is nothing to compare.
    pub got: Option<serde_json::Value>,
    /// The message.
    pub message: String,
    /// Why the expected runtime was not chosen: codes with their details.
    pub reasons: Vec<(&'static str, String)>,
    /// The edit that would make it chosen.
    pub flip: Option<Flip>,
}

impl Miss {
    /// Reports an expectation about something that does not exist.
    pub fn absent(list: &str, stated: &Stated, what: &str, near: Option<&str>) -> Self {
        let near = near.map_or(String::new(), |near| format!(": did you mean `{near}`?"));
        Self {
            path: format!("{list}.{}", stated.name),
            span: stated.span,
            want: stated.name.as_str().into(),
            got: None,
            message: format!("there is no {what} `{}`{near}", stated.name),
            reasons: Vec::new(),
            flip: None,
        }
    }
}
