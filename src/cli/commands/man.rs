//! `ome man`: the manual page, verbs included.

use crate::cli::{Failure, Io, Outcome, command};

/// Print the manual page.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {}

/// Prints roff.
pub(crate) fn run(io: &mut Io<'_>) -> Result<Outcome, Failure> {
    let mut text = Vec::new();
    let root = command();
    clap_mangen::Man::new(root.clone()).render(&mut text)?;
    for verb in root.get_subcommands() {
        let named = verb.clone().name(format!("ome-{}", verb.get_name()));
        clap_mangen::Man::new(named).render(&mut text)?;
    }
    io.print(&String::from_utf8_lossy(&text))?;
    Ok(Outcome::Done)
}
