//! `ome completions`: a script for a shell.

use crate::cli::{Failure, Io, Outcome, command};
use clap_complete::Shell;

/// Print a completion script.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The shell.
    #[arg(value_enum)]
    shell: Shell,
}

/// Prints the script.
pub(crate) fn run(args: &Args, io: &mut Io<'_>) -> Result<Outcome, Failure> {
    io.print(&script(args.shell))?;
    Ok(Outcome::Done)
}

/// The script of a shell; the files under `completions/` are made of it.
pub(crate) fn script(shell: Shell) -> String {
    let mut text = Vec::new();
    clap_complete::generate(shell, &mut command(), "ome", &mut text);
    String::from_utf8_lossy(&text).into_owned()
}
