//! What an editor asks about a place in a text.
//!
//! In: objects with their places, and texts as they are while they are typed. Out: what is at a
//! place ([`at`]), which objects name which ([`names`]), and what may be written next ([`typing`]).
//! This module has no protocol and decides nothing: names are those that the operators read, fields
//! those of the schemas.

mod cursor;
mod cursor_context;
mod names;
mod proposals;

pub use cursor::{Cursor, at};
pub use cursor_context::{Part, typing};
pub use names::{Naming, namings};
pub use proposals::proposals;
