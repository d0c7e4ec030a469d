//! What the attributes of HTML hold.

/// The language of an attribute's value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Content {
    Plain,
    Url,
    Css,
    Js,
    Srcset,
    /// Anything that changes how other content is read or sent.
    Unsafe,
}

const URLS: &[&str] = &[
    "action",
    "archive",
    "background",
    "cite",
    "classid",
    "codebase",
    "data",
    "formaction",
    "href",
    "icon",
    "longdesc",
    "manifest",
    "poster",
    "profile",
    "src",
    "usemap",
    "xmlns",
];

const UNSAFE: &[&str] = &[
    "accept-charset",
    "async",
    "challenge",
    "charset",
    "content",
    "crossorigin",
    "defer",
    "enctype",
    "form",
    "formenctype",
    "formmethod",
    "formnovalidate",
    "http-equiv",
    "keytype",
    "language",
    "method",
    "novalidate",
    "pattern",
    "rel",
    "sandbox",
    "srcdoc",
    "type",
    "value",
];

/// What an attribute of this name, in lower case, holds; of an unknown name the worst it may be.
pub(super) fn content(name: &str) -> Content {
    let name = match (name.strip_prefix("data-"), name.split_once(':')) {
        (None, Some(("xmlns", _))) => return Content::Url,
        (Some(rest), _) | (None, Some((_, rest))) => rest,
        (None, None) => name,
    };
    match name {
        "style" => Content::Css,
        "srcset" => Content::Srcset,
        "srclang" => Content::Plain,
        _ if URLS.contains(&name) => Content::Url,
        _ if UNSAFE.contains(&name) => Content::Unsafe,
        _ if name.starts_with("on") => Content::Js,
        _ if ["src", "uri", "url"].iter().any(|part| name.contains(part)) => Content::Url,
        _ => Content::Plain,
    }
}

/// The name in lower case, character by character as Go does.
pub(super) fn lower_case(name: &str) -> String {
    name.chars().filter_map(|c| c.to_lowercase().next()).collect()
}

/// Whether a `script` of this type holds JavaScript, or JSON.
pub(super) fn is_js_type(mime_type: &str) -> bool {
    let essence = mime_type.split(';').next().unwrap_or_default();
    let essence = lower_case(essence);
    let essence = essence.trim();
    match essence.split_once('/') {
        None => matches!(essence, "" | "module"),
        Some(("application", name)) => matches!(
            name,
            "ecmascript" | "javascript" | "json" | "ld+json" | "x-ecmascript" | "x-javascript"
        ),
        Some(("text", name)) => {
            let versioned = name
                .strip_prefix("javascript1.")
                .is_some_and(|version| matches!(version, "0" | "1" | "2" | "3" | "4" | "5"));
            versioned
                || matches!(
                    name,
                    "ecmascript"
                        | "javascript"
                        | "jscript"
                        | "livescript"
                        | "x-ecmascript"
                        | "x-javascript"
                )
        }
        _ => false,
    }
}
