//! The `ome` binary.

use std::process::ExitCode;

fn main() -> ExitCode {
    ome::cli::main()
}
