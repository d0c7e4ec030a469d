//! Placeholders such as `{{.Name}}`: in containers, and in the domain and path templates of ingress
//! configuration.
//!
//! In: a string or a merged container, and the metadata of a service. Out: the expanded string or
//! tree, or an [`Error`] that names the string, the action and the reason. This module makes no
//! findings and knows no flags.
//!
//! Under documented semantics a placeholder is a field chain of the metadata, and what maps to
//! nothing is an error ([`expand_documented`]). Under the controller's semantics the text is a Go
//! template, with all that Go allows: [`expand_container`] with [`Mode::Controller`], [`domain()`]
//! and [`path`]. Go's language is implemented here as far as values without functions reach:
//! branches, loops, variables, definitions, all built-in functions, and the escapes of
//! html templates in text (`html`). What is left out (tags, addresses and binary fractions of
//! `printf`, complex numbers, bytes that are no UTF-8 text, methods of times, and whatever takes
//! unbounded work) is refused as [`ErrorKind::Unsupported`] and never guessed.

pub(crate) mod ast;
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
pub(crate) mod value;

#[cfg(test)]
mod tests;

pub use container::{Mode, check_container, expand_container};
pub use documented::{check_documented, expand_documented, variables};
pub use domain::{domain, path};
pub use error::{Error, Kind as ErrorKind};
pub use format::sprintf_text;
pub use value::{DomainValues, Metadata, Pairs};
