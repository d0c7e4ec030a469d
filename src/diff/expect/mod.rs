//! Expectations beside the catalog: the files of `ome test`.
//!
//! In: a document with `cases`. Out: what each case states, with its place; and the expectations
//! that are not met. Only what is stated is compared.

pub(crate) mod actual;
pub(crate) mod judge;
pub(crate) mod read;

pub use judge::{is_object, is_service, object, service};
pub use read::cases;

use crate::pipeline::what_if::Flip;
use crate::source::Span;
use crate::yaml::Node;
use ecow::EcoString;

/// Keys of a case.
pub const CASE_KEYS: [&str; 5] = ["name", "files", "services", "objects", "findings"];
/// Keys of a service, beside `env.NAME`.
pub const SERVICE_KEYS: [&str; 7] =
    ["runtime", "accelerator", "mode", "gpus", "fits", "error", "arg"];

/// One case.
#[derive(Clone, Debug)]
pub struct Case {
    /// Its name.
    pub name: EcoString,
    /// Where the name is.
    pub span: Span,
    /// What it reads, relative to its file; none: what the command line names.
    pub files: Option<Vec<EcoString>>,
    /// Services and what is stated about them.
    pub services: Vec<Stated>,
    /// The key `services` and its value, where no service is named: all are recorded there.
    pub no_services: Option<(Span, Span)>,
    /// Objects and what is stated about them.
    pub objects: Vec<Stated>,
    /// Codes that must be found.
    pub findings: Vec<(EcoString, Span)>,
}

/// What is stated about a service or an object.
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
    /// The key as it is written, from the case on.
    pub path: String,
    /// Where it is.
    pub span: Span,
    /// What is expected.
    pub want: serde_json::Value,
    /// What is; none where there is nothing to compare with.
    pub got: Option<serde_json::Value>,
    /// One sentence.
    pub message: String,
    /// Why the runtime that is expected was not chosen: codes with their details.
    pub reasons: Vec<(&'static str, String)>,
    /// What would make it win.
    pub flip: Option<Flip>,
}

impl Miss {
    /// Something that is stated about and is not there.
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
