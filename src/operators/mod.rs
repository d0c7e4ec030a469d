//! The operators, a folder each, whole: what they read, choose, compose, write and check. None names
//! another.

pub mod kserve;
pub mod kthena;
pub mod kueue;
pub mod ome;
