//! The entry of a code in the reference: why it matters, an example, what to do and the source.
//!
//! In: the text of `codes/CODE.txt`, which is part of the program. Out: [`Entry`]. It is read on
//! demand, so that it costs nothing at start-up.

/// What is written about a code.
///
/// `why: `, `fix: ` and `source: ` are paragraphs; `run: ` is a command of the example, `also: ` the
/// other codes that the command shows. Files of the example follow, each under `-- NAME --`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Entry<'a> {
    /// What happens, or what does not, if it is left as it is.
    pub why: &'a str,
    /// What to do.
    pub fix: &'a str,
    /// Where the rule is published.
    pub source: &'a str,
    /// The command of the example, as it is typed beside the files.
    pub run: &'a str,
    /// Codes that the example shows besides.
    pub also: Vec<&'a str>,
    /// Names and contents of the example's files.
    pub files: Vec<(&'a str, &'a str)>,
}

impl<'a> Entry<'a> {
    /// Reads the text of an entry.
    pub fn read(text: &'a str) -> Self {
        let mut entry = Self::default();
        // Two dashes and a space begin no line of an example, so its files do not end early.
        let (head, mut rest) = text.split_at(text.find("\n-- ").map_or(text.len(), |at| at + 1));
        for line in head.lines() {
            match line.split_once(": ") {
                Some(("why", value)) => entry.why = value,
                Some(("fix", value)) => entry.fix = value,
                Some(("source", value)) => entry.source = value,
                Some(("run", value)) => entry.run = value,
                Some(("also", value)) => entry.also = value.split(' ').collect(),
                _ => {}
            }
        }
        while let Some((name, after)) =
            rest.strip_prefix("-- ").and_then(|rest| rest.split_once(" --\n"))
        {
            // The line break before the next name belongs to this file.
            let end = after.find("\n-- ").map_or(after.len(), |at| at + 1);
            entry.files.push((name, &after[..end]));
            rest = &after[end..];
        }
        entry
    }
}

#[cfg(test)]
mod tests {
    use super::Entry;

    #[test]
    fn an_entry_is_split_into_its_fields_and_files() {
        let text = "why: W: w.\nfix: F\nrun: ome plan -f a\nalso: x y\n-- a --\nb: 1\n---\nc: 2\n-- d/e --\nf\n";
        let entry = Entry::read(text);
        assert_eq!((entry.why, entry.fix, entry.source), ("W: w.", "F", ""));
        assert_eq!(entry.run, "ome plan -f a");
        assert_eq!(entry.also, ["x", "y"]);
        assert_eq!(entry.files, [("a", "b: 1\n---\nc: 2\n"), ("d/e", "f\n")]);
        assert_eq!(Entry::read("why: W.\n").files, []);
    }
}
