//! Placeholders such as `{{.Name}}`: in containers, and in the domain and path templates of ingress
//! configuration.
//!
//! In: a string or a merged container, and the metadata of a service. Out: the expanded string or
//! tree, or an [`Error`] with the string, the action and the reason. This module creates no
//! findings and reads no flags.
//!
//! In documented mode, a placeholder is a field chain of the metadata, and an unknown field is an
//! error ([`expand_documented`]). In controller mode, the text is a Go template with all features
//! of Go: [`expand_container`] with [`Mode::Controller`], [`domain()`] and [`path`]. This module
//! implements the parts of Go's template language that need no function values: branches, loops,
//! variables, definitions, all built-in functions, and the escapes of html templates in text
//! (`html`). Other features (tags, addresses and binary floats of `printf`, complex numbers, bytes
//! that are not UTF-8, methods of times, and unbounded work) are rejected as
//! [`ErrorKind::Unsupported`], never approximated.

pub(crate) mod ast;
pub(crate) mod config;
pub(crate) mod container;
pub(crate) mod documented;
pub(crate) mod domain;
pub(crate) mod error;
pub(crate) mod exec;
pub(crate) mod format;
pub(crate) mod functions;
pub(crate) mod html;
pub(crate) mod lex;
pub(crate) mod parse;
pub(crate) mod quote;
pub(crate) mod reads;
pub(crate) mod value;

#[cfg(test)]
mod tests;

pub(crate) use container::expand_recorded;
pub use container::{Mode, check_container, expand_container};
pub use documented::{check_documented, expand_documented, variables};
pub use domain::{domain, path};
pub use error::{Error, Kind as ErrorKind};
pub(crate) use exec::Ran;
pub use format::sprintf_text;
pub(crate) use reads::Data;
pub use reads::{REQUEST_NAMESPACE, UNSET_FIELD};
pub use value::{DomainValues, Metadata, Pairs};
