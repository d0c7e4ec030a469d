//! Command lines that an answer proposes: with the arguments of the input that they need to work as
//! printed.

use super::args::{BuiltinArg, InputArgs, SemanticsArg};
use std::path::Path;

/// Commands that read the input of a run.
const READING: [&str; 9] =
    ["plan", "explain", "render", "rollout", "matrix", "why", "endpoints", "drift", "diff"];

impl InputArgs {
    /// The arguments of the input as they are typed, each with a blank before it; `None` if standard
    /// input was read, which is gone.
    pub(crate) fn typed(&self) -> Option<String> {
        let mut out = String::new();
        let mut add = |flag: &str, value: &str| {
            out.push(' ');
            out.push_str(flag);
            out.push(' ');
            out.push_str(&quoted(value));
        };
        for file in &self.files {
            if file == Path::new("-") {
                return None;
            }
            add("-f", &file.to_string_lossy());
        }
        self.kustomize.iter().for_each(|tree| add("-k", &tree.to_string_lossy()));
        self.presets.iter().for_each(|path| add("--presets", &path.to_string_lossy()));
        self.release.iter().for_each(|release| add("--release", release));
        if let Some(namespace) = &self.namespace {
            add("-n", namespace);
        }
        match self.semantics {
            Some(SemanticsArg::Controller) => add("--semantics", "controller"),
            Some(SemanticsArg::Documented) => add("--semantics", "documented"),
            None => {}
        }
        if self.no_builtin == Some(true) || self.builtin == Some(BuiltinArg::Never) {
            out.push_str(" --no-builtin");
        }
        Some(out)
    }

    /// A text with the arguments of the input in the commands that it quotes with backticks.
    pub(crate) fn complete(&self, text: &str) -> String {
        self.typed().map_or_else(|| text.to_owned(), |typed| complete(text, &typed))
    }
}

/// A text with some arguments in the commands that it quotes with backticks and that read an input;
/// commands that have them, or read another input, stay.
pub(crate) fn complete(text: &str, typed: &str) -> String {
    if typed.is_empty() || !text.contains("`ome ") {
        return text.to_owned();
    }
    let mut parts = text.split('`').peekable();
    let mut out = String::with_capacity(text.len() + typed.len());
    let mut is_quoted = false;
    while let Some(part) = parts.next() {
        out.push_str(part);
        let reads = part
            .strip_prefix("ome ")
            .and_then(|rest| rest.split(' ').next())
            .is_some_and(|command| READING.contains(&command));
        let is_complete = [" -f ", " -k ", typed].iter().any(|own| part.contains(own));
        if is_quoted && reads && !is_complete {
            out.push_str(typed);
        }
        if parts.peek().is_some() {
            out.push('`');
        }
        is_quoted = !is_quoted;
    }
    out
}

/// A word as a shell takes it.
pub(crate) fn quoted(word: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_./:=@%+,".contains(c);
    if !word.is_empty() && word.chars().all(is_plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', "'\\''"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::PathBuf;

    #[test]
    fn commands_get_the_arguments_of_the_input() {
        let args = InputArgs {
            files: vec![PathBuf::from("a b.yaml")],
            namespace: Some("ml".into()),
            no_builtin: Some(true),
            ..InputArgs::default()
        };
        for (text, expected) in [
            (
                "`ome explain x` shows it",
                "`ome explain x -f 'a b.yaml' -n ml --no-builtin` shows it",
            ),
            ("set `a` or `ome code x`", "set `a` or `ome code x`"),
            ("`ome plan -f c.yaml`", "`ome plan -f c.yaml`"),
        ] {
            assert_eq!(args.complete(text), expected);
            assert_eq!(args.complete(expected), expected);
        }
        let stdin = InputArgs { files: vec![PathBuf::from("-")], ..InputArgs::default() };
        assert_eq!(stdin.complete("`ome plan`"), "`ome plan`");
    }
}
