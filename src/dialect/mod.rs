//! Field spellings: the only room that knows how a thing is written in a file.
//!
//! In: documents of `load`. Out: typed objects of [`crate::api`] and findings about values that the
//! schema cannot judge (sizes, versions, fields that contradict each other). A dialect decides
//! nothing and nothing downstream asks which dialect an object came from.

mod go_json;
mod ingress;
pub mod kserve;
pub mod kthena;
pub mod kueue;
pub mod ome;
mod parts;
