//! What `SECURITY.md` promises, a test for each sentence.

mod corpus;
mod document;
#[cfg(unix)]
mod outside;
mod planted;
mod programs;
mod supply;
