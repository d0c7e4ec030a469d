//! The outside world as the commands see it: where data and talk go, and how they may look.
//!
//! stdout is data, stderr is talk. This is the only place that prints.

use std::io::{self, IsTerminal, Write};

/// When to use colour.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum ColorChoice {
    /// On a terminal, unless `NO_COLOR` is set; `CLICOLOR_FORCE` forces it.
    #[default]
    Auto,
    /// Always.
    Always,
    /// Never.
    Never,
}

/// Streams and what is known of them.
pub struct Io<'a> {
    out: &'a mut dyn Write,
    err: &'a mut dyn Write,
    out_is_terminal: bool,
    err_is_terminal: bool,
    color: ColorChoice,
}

impl<'a> Io<'a> {
    /// Streams that are no terminal: tests and files.
    pub fn plain(out: &'a mut dyn Write, err: &'a mut dyn Write) -> Self {
        Self { out, err, out_is_terminal: false, err_is_terminal: false, color: ColorChoice::Auto }
    }

    /// The process's own streams.
    pub fn standard(out: &'a mut dyn Write, err: &'a mut dyn Write) -> Self {
        Self { out, err, out_is_terminal: io::stdout().is_terminal(), err_is_terminal: io::stderr().is_terminal(), color: ColorChoice::Auto }
    }

    /// Sets the colour choice of this run.
    pub fn set_color(&mut self, color: ColorChoice) {
        self.color = color;
    }

    fn colored(&self, terminal: bool) -> bool {
        let set = |name: &str| std::env::var_os(name).is_some_and(|value| !value.is_empty() && value != "0");
        match self.color {
            ColorChoice::Always => true,
            ColorChoice::Never => false,
            ColorChoice::Auto => set("CLICOLOR_FORCE") || (terminal && !set("NO_COLOR")),
        }
    }

    /// Whether data may be coloured.
    pub fn out_color(&self) -> bool {
        self.colored(self.out_is_terminal)
    }

    /// Whether talk may be coloured.
    pub fn err_color(&self) -> bool {
        self.colored(self.err_is_terminal)
    }

    /// Whether data goes to a terminal.
    pub fn out_is_terminal(&self) -> bool {
        self.out_is_terminal
    }

    /// Width for tables: that of the terminal, else wide enough for anything.
    pub fn width(&self) -> Option<u16> {
        if !self.out_is_terminal {
            return None;
        }
        std::env::var("COLUMNS").ok().and_then(|columns| columns.parse().ok()).or_else(|| comfy_table::Table::new().width())
    }

    /// Where data goes.
    pub fn out(&mut self) -> &mut dyn Write {
        self.out
    }

    /// Where talk goes.
    pub fn err(&mut self) -> &mut dyn Write {
        self.err
    }

    /// Writes data.
    pub fn print(&mut self, text: &str) -> io::Result<()> {
        self.out.write_all(text.as_bytes())
    }

    /// Writes talk; a closed stderr is nobody's problem.
    pub fn say(&mut self, text: &str) {
        let _ = self.err.write_all(text.as_bytes());
    }

    /// Writes a JSON document.
    pub fn print_json(&mut self, value: &impl serde::Serialize) -> io::Result<()> {
        serde_json::to_writer_pretty(&mut *self.out, value).map_err(io::Error::from)?;
        self.out.write_all(b"\n")
    }
}
