//! What `SECURITY.md` promises, a test for each sentence.

#[cfg(unix)]
mod outside;
mod planted;
mod programs;
mod supply;
