//! The messages for errors of the scanner.

/// The message and the next action for a complaint of the scanner; `before` and `rest` are the text
/// up to its place and from there on.
pub(super) fn words(info: &str, before: &str, rest: &str) -> (String, Option<&'static str>) {
    const QUOTE: Option<&str> = Some("put the text in quotes");
    const INDENT: Option<&str> = Some("correct the indentation");
    let c = rest.chars().next().unwrap_or('\n');
    let fixed = |message: &str, help: Option<&'static str>| (message.to_owned(), help);
    match info {
        "mapping values are not allowed in this context" => fixed(
            "a `:` is not allowed here",
            Some("put the text in quotes if the `:` belongs to it, else correct the indentation"),
        ),
        "mapping keys are not allowed in this context" => fixed(
            "a key cannot begin here",
            Some("begin it on the next line, or put the text in quotes"),
        ),
        "block sequence entries are not allowed in this context" => fixed(
            "a list cannot begin here",
            Some("begin it on the next line, or put the text in quotes"),
        ),
        "could not find expected ':'" => fixed(
            "a key without `:`",
            Some("add the `:`, or indent the line if it belongs to the one before"),
        ),
        // No indentation closes a text in quotes.
        "did not find expected key" | "did not find expected '-' indicator"
            if before.ends_with('"') && !rest.starts_with([' ', '\t', '\n', '\r']) =>
        {
            fixed(
                "the text in double quotes ends before this",
                Some(
                    "write `\\\"` for each quote within the text, or write it as a block with `|`",
                ),
            )
        }
        "did not find expected key" => fixed("neither a key of the mapping nor its end", INDENT),
        "did not find expected '-' indicator" => {
            fixed("neither an item of the list nor its end", INDENT)
        }
        "did not find expected <document start>" => fixed(
            "directives must be followed by `---`, and kubectl reads no further than that",
            Some("delete the directives, manifests need none"),
        ),
        "found incompatible YAML document" => fixed(
            "kubectl and kustomize read YAML 1.1 only",
            Some("delete the line, manifests need none"),
        ),
        "found duplicate %YAML directive" | "found duplicate %TAG directive" => {
            fixed("the directive is there twice", Some("delete the line, manifests need none"))
        }
        "found unknown directive name"
        | "could not find expected directive name"
        | "found unexpected non-alphabetical character"
        | "did not find expected digit or '.' character"
        | "did not find expected version number"
        | "found extremely long version number"
        | "did not find expected '!'"
        | "did not find expected whitespace" => fixed(
            "a line that begins with `%` is a directive, and this is none",
            Some("delete the line, or put the text in quotes"),
        ),
        "found unexpected end of stream" | "found unexpected document indicator" => {
            fixed("the quote is never closed", Some("close the quote"))
        }
        "found unknown escape character"
        | "did not find expected hexdecimal number"
        | "found invalid Unicode character escape code" => fixed(
            "the text holds an escape that YAML does not have",
            Some("write `\\\\` for a backslash, or use single quotes"),
        ),
        "did not find expected ',' or '}'" => {
            fixed("neither `,` nor `}` where one of them must be", Some("close the `{`"))
        }
        "did not find expected ',' or ']'" => {
            fixed("neither `,` nor `]` where one of them must be", Some("close the `[`"))
        }
        "did not find expected node content" if rest.trim_start().is_empty() => {
            fixed("a bracket or brace is never closed", Some("close it"))
        }
        "did not find expected node content" => {
            (format!("a value cannot begin with `{c}` here"), QUOTE)
        }
        "found an indentation indicator equal to 0" => fixed(
            "the indentation of a block cannot be 0",
            Some("write a digit from 1 to 9, or none"),
        ),
        "did not find expected comment or line break" => fixed(
            "nothing but a comment may follow on this line",
            Some("begin the text on the next line"),
        ),
        "did not find expected alphabetic or numeric character" => fixed(
            "the name of an anchor or alias holds letters, digits, `-` and `_`",
            Some("put the text in quotes if no anchor is meant"),
        ),
        "found undefined tag handle" => {
            fixed("the tag is not declared", Some("delete the tag, manifests need none"))
        }
        "found character that cannot start any token" if c == '\t' => {
            fixed("a tab cannot indent YAML", Some("indent with spaces"))
        }
        "found character that cannot start any token" => {
            (format!("a value cannot begin with `{c}`"), QUOTE)
        }
        _ if info.contains(" tab ") => {
            fixed("a tab cannot indent YAML", Some("indent with spaces"))
        }
        _ => (format!("the text is not YAML: {info}"), None),
    }
}

/// Whether a fault is shown where the thing began that is broken, rather than where that was
/// noticed.
pub(super) fn belongs_to_its_beginning(info: &str) -> bool {
    matches!(
        info,
        "found unexpected end of stream"
            | "found unexpected document indicator"
            | "did not find expected alphabetic or numeric character"
    ) || info.contains("directive")
        || info.contains("tag")
}
