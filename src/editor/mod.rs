//! Answers for an editor about a position in a text.
//!
//! In: objects with their positions, and texts while they are typed. Out: the field at a position
//! ([`at`]), references between objects ([`names`]), and completions ([`typing`]). This module has
//! no protocol and makes no decisions: references are those that the operators read, fields those
//! of the schemas.

mod cursor;
mod cursor_context;
mod names;
mod proposals;

pub use cursor::{Cursor, at};
pub use cursor_context::{Part, typing};
pub use names::{Naming, namings};
pub use proposals::proposals;
