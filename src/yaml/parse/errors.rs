//! What the scanner complains of, in the words of this tool.

/// The message and the next action for a complaint of the scanner; `rest` is the text from its place on.
pub(super) fn words(info: &str, rest: &str) -> (String, Option<&'static str>) {
    const QUOTE: Option<&str> = Some("put the text in quotes");
    const INDENT: Option<&str> = Some("correct the indentation");
    let info = info.rsplit_once(", ").map_or(info, |(_, what)| what);
    let c = rest.chars().next().unwrap_or('\n');
    let fixed = |message: &str, help: Option<&'static str>| (message.to_owned(), help);
    match info {
        "mapping values are not allowed in this context" | "illegal placement of ':' indicator" => {
            fixed("a `:` cannot stand here", Some("put the text in quotes if the `:` belongs to it, else correct the indentation"))
        }
        "block sequence entries are not allowed in this context" => {
            fixed("a list cannot begin here", Some("begin it on the next line, or put the text in quotes"))
        }
        "simple key expect ':'" | "simple key expected" => fixed("a key without `:`", Some("add the `:`, or indent the line if it belongs to the one before")),
        "did not find expected key" => fixed("neither a key of the mapping nor its end", INDENT),
        "did not find expected '-' indicator" => fixed("neither an item of the list nor its end", INDENT),
        "invalid indentation" | "invalid indentation in flow construct" | "wrongly indented line in block scalar" => {
            fixed("the line is indented less than it must be", INDENT)
        }
        "did not find expected <document start>" | "did not find expected <document-start>" => {
            fixed("text follows where the document has ended", Some("correct the indentation, or begin a document with `---`"))
        }
        "found unexpected end of stream" | "found unexpected document indicator" | "invalid indentation in quoted scalar" => {
            fixed("the quote is never closed", Some("close the quote"))
        }
        "invalid trailing content after double-quoted scalar" => {
            fixed("text follows the closing quote", Some("put the whole text in quotes; a quote in single quotes is written twice"))
        }
        "found unknown escape character" | "did not find expected hexadecimal number" | "found invalid Unicode character escape code" => {
            fixed("the text holds an escape that YAML does not know", Some("write `\\\\` for a backslash, or use single quotes"))
        }
        "did not find expected ',' or '}'" => fixed("neither `,` nor `}` where one of them must be", Some("close the `{`")),
        "expected ',' or ']'" => fixed("neither `,` nor `]` where one of them must be", Some("close the `[`")),
        "misplaced bracket" => (format!("`{c}` closes nothing"), QUOTE),
        "did not find expected node content" if rest.trim_start().is_empty() => fixed("a bracket or brace is never closed", Some("close it")),
        "did not find expected node content" => (format!("a value cannot begin with `{c}` here"), QUOTE),
        "unexpected end of plain scalar" => (format!("text in brackets or braces cannot hold `{c}` without quotes"), QUOTE),
        "found an indentation indicator equal to 0" => fixed("the indentation of a block cannot be 0", Some("write a digit from 1 to 9, or none")),
        "did not find expected comment or line break" => fixed("nothing but a comment may follow on this line", Some("begin the text on the next line")),
        "comment intercepting the multiline text" => fixed("a comment interrupts text that goes on below", Some("move the comment, or put the text in quotes")),
        "the handle wasn't declared" => fixed("the tag is not declared", Some("delete the tag, manifests need none")),
        _ if info.starts_with("unexpected character") => (format!("a value cannot begin with `{c}`"), QUOTE),
        _ if info.contains("tab") => fixed("a tab cannot indent YAML", Some("indent with spaces")),
        _ => (format!("the text is not YAML: {info}"), None),
    }
}
