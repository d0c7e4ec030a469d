//! `ome completions`: a script for a shell.

use crate::cli::{Failure, Io, Outcome};
use clap_complete::Shell;
use clap_complete::env::Shells;

/// Print a completion script: flags, and the services, runtimes, kinds, fields and codes of the
/// input.
///
/// The script calls `ome` with the `-f` of the command line. `source <(ome completions bash)` turns
/// it on. The files under `completions/` complete flags only.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The shell.
    #[arg(value_enum)]
    shell: Shell,
}

/// Prints the script.
pub(crate) fn run(args: &Args, io: &mut Io<'_>) -> Result<Outcome, Failure> {
    let shell = args.shell.to_string();
    let shells = Shells::builtins();
    let writer = shells.completer(&shell);
    let writer = writer.ok_or_else(|| Failure::Usage(format!("no script for {shell}")))?;
    let mut text = Vec::new();
    writer.write_registration("COMPLETE", "ome", "ome", "ome", &mut text)?;
    io.print(&String::from_utf8_lossy(&text))?;
    Ok(Outcome::Done)
}
