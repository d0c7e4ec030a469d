//! Names as the API server accepts them, with its error messages.
//!
//! In: one string. Out: the list of errors, empty for a valid name; several rules can fail at once.
//! Lengths are bytes. Upstream: `k8s.io/apimachinery/pkg/util/validation` and `pkg/api/validation`.

mod child;

pub(crate) use child::child_name;

use super::field_error::FieldError;
use std::net::IpAddr;

/// Most bytes all keys and values of the annotations of one object may have.
pub const ANNOTATIONS_LIMIT: usize = 256 << 10;

const LABEL_LENGTH: usize = 63;
const SUBDOMAIN_LENGTH: usize = 253;

const LABEL_REGEX: &str = "[a-z0-9]([-a-z0-9]*[a-z0-9])?";
const SUBDOMAIN_REGEX: &str = r"[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*";
const QUALIFIED_REGEX: &str = "([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]";

fn lower(byte: u8) -> bool {
    byte.is_ascii_lowercase()
}

fn lower_or_digit(byte: u8) -> bool {
    byte.is_ascii_lowercase() || byte.is_ascii_digit()
}

fn label_byte(byte: u8) -> bool {
    lower_or_digit(byte) || byte == b'-'
}

fn qualified_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.')
}

/// Whether a text is not empty, begins and ends with such bytes and has no other bytes than those
/// of `inner`.
fn shaped(
    text: &str,
    first: impl Fn(u8) -> bool,
    inner: impl Fn(u8) -> bool,
    last: impl Fn(u8) -> bool,
) -> bool {
    let bytes = text.as_bytes();
    bytes.first().is_some_and(|byte| first(*byte))
        && bytes.last().is_some_and(|byte| last(*byte))
        && bytes.iter().all(|byte| inner(*byte))
}

fn is_label(text: &str) -> bool {
    shaped(text, lower_or_digit, label_byte, lower_or_digit)
}

fn is_subdomain(text: &str) -> bool {
    text.split('.').all(is_label)
}

fn is_qualified(text: &str) -> bool {
    shaped(
        text,
        |byte| byte.is_ascii_alphanumeric(),
        qualified_byte,
        |byte| byte.is_ascii_alphanumeric(),
    )
}

fn regex_error(message: &str, regex: &str, examples: &[&str]) -> String {
    let examples: Vec<String> = examples.iter().map(|example| format!("'{example}', ")).collect();
    // Upstream's own text has two spaces before each further example.
    let examples = examples.join(" or ");
    let open = if examples.is_empty() { "" } else { "e.g. " };
    format!("{message} ({open}{examples}regex used for validation is '{regex}')")
}

/// Objects to more than `limit` bytes.
fn too_long(text: &str, limit: usize) -> Option<String> {
    (text.len() > limit).then(|| format!("must be no more than {limit} characters"))
}

/// Collects the objections that are raised.
fn objections<const N: usize>(list: [Option<String>; N]) -> Vec<String> {
    list.into_iter().flatten().collect()
}

fn subdomain_error() -> String {
    let message = "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character";
    regex_error(message, SUBDOMAIN_REGEX, &["example.com"])
}

/// A DNS label (`IsDNS1123Label`): namespaces, names of containers, volumes and most other parts of
/// a pod.
pub fn dns1123_label(name: &str) -> Vec<String> {
    let shape = || {
        // The server has words of its own for a name whose only fault are its dots.
        if is_subdomain(name) {
            return "must not contain dots".to_owned();
        }
        let message = "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character";
        regex_error(message, LABEL_REGEX, &["my-name", "123-abc"])
    };
    objections([too_long(name, LABEL_LENGTH), (!is_label(name)).then(shape)])
}

/// A DNS subdomain (`IsDNS1123Subdomain`): names of most objects.
pub fn dns1123_subdomain(name: &str) -> Vec<String> {
    objections([too_long(name, SUBDOMAIN_LENGTH), (!is_subdomain(name)).then(subdomain_error)])
}

/// A DNS label that begins with a letter (`IsDNS1035Label`): names of services.
pub fn dns1035_label(name: &str) -> Vec<String> {
    let shape = || {
        let message = "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character";
        regex_error(message, "[a-z]([-a-z0-9]*[a-z0-9])?", &["my-name", "abc-123"])
    };
    objections([
        too_long(name, LABEL_LENGTH),
        (!shaped(name, lower, label_byte, lower_or_digit)).then(shape),
    ])
}

/// A host of an ingress with a wildcard (`IsWildcardDNS1123Subdomain`).
pub fn wildcard_dns1123_subdomain(name: &str) -> Vec<String> {
    let shape = || {
        let message = "a wildcard DNS-1123 subdomain must start with '*.', followed by a valid DNS subdomain, which must consist of lower case alphanumeric characters, '-' or '.' and end with an alphanumeric character";
        regex_error(message, &format!(r"\*\.{SUBDOMAIN_REGEX}"), &["*.example.com"])
    };
    objections([
        too_long(name, SUBDOMAIN_LENGTH),
        (!name.strip_prefix("*.").is_some_and(is_subdomain)).then(shape),
    ])
}

/// Name of a namespace.
pub fn namespace(name: &str) -> Vec<String> {
    dns1123_label(name)
}

/// Name of a service account.
pub fn service_account(name: &str) -> Vec<String> {
    dns1123_subdomain(name)
}

/// Name of a service.
pub fn service_name(name: &str) -> Vec<String> {
    dns1035_label(name)
}

/// `generateName` of an object named by a subdomain: a dash may end it.
pub fn generate_name_subdomain(prefix: &str) -> Vec<String> {
    dns1123_subdomain(&without_trailing_dash(prefix))
}

/// `generateName` of an object named by a label: a dash may end it.
pub fn generate_name_label(prefix: &str) -> Vec<String> {
    dns1123_label(&without_trailing_dash(prefix))
}

/// Upstream replaces the last two bytes by an `a`, which shortens the text by one and removes the
/// character before the dash.
fn without_trailing_dash(prefix: &str) -> String {
    match prefix.strip_suffix('-') {
        Some(rest) if rest.ends_with(|c: char| c.is_ascii()) => {
            format!("{}a", &rest[..rest.len() - 1])
        }
        Some(rest) if !rest.is_empty() => rest.to_owned(),
        _ => prefix.to_owned(),
    }
}

/// Key of a label or annotation: a name with an optional DNS subdomain and a slash before it
/// (`IsQualifiedName`).
pub fn qualified_name(key: &str) -> Vec<String> {
    let message = "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character";
    let examples = ["MyName", "my.name", "123-abc"];
    // A third part means two slashes, for which there is one objection to the whole.
    let mut parts = key.split('/');
    let (prefix, name) = match (parts.next().unwrap_or(""), parts.next(), parts.next()) {
        (name, None, _) => (None, name),
        (prefix, Some(name), None) => (Some(prefix), name),
        _ => {
            let shape =
                regex_error(&format!("a qualified name {message}"), QUALIFIED_REGEX, &examples);
            return vec![format!(
                "{shape} with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')"
            )];
        }
    };
    let mut errors = match prefix {
        None => Vec::new(),
        Some("") => vec!["prefix part must be non-empty".to_owned()],
        Some(prefix) => dns1123_subdomain(prefix)
            .into_iter()
            .map(|error| format!("prefix part {error}"))
            .collect(),
    };
    if name.is_empty() {
        // The server adds the objection to the form as well.
        errors.push("name part must be non-empty".to_owned());
    }
    errors.extend(too_long(name, LABEL_LENGTH).map(|error| format!("name part {error}")));
    if !is_qualified(name) {
        errors.push(format!("name part {}", regex_error(message, QUALIFIED_REGEX, &examples)));
    }
    errors
}

/// Key of a label.
pub fn label_key(key: &str) -> Vec<String> {
    qualified_name(key)
}

/// Value of a label (`IsValidLabelValue`); may be empty.
pub fn label_value(value: &str) -> Vec<String> {
    let shape = || {
        let message = "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character";
        regex_error(message, &format!("({QUALIFIED_REGEX})?"), &["MyValue", "my_value", "12345"])
    };
    objections([
        too_long(value, LABEL_LENGTH),
        (!value.is_empty() && !is_qualified(value)).then(shape),
    ])
}

/// Key of an annotation: as of a label, but capitals are welcome in the part before the slash.
pub fn annotation_key(key: &str) -> Vec<String> {
    if key.is_ascii() {
        return qualified_name(&key.to_ascii_lowercase());
    }
    // Go lowers letter by letter, so that one character never becomes two.
    let lowered: String = key.chars().map(|c| c.to_lowercase().next().unwrap_or(c)).collect();
    qualified_name(&lowered)
}

/// Returns an error for annotations whose keys and values together exceed [`ANNOTATIONS_LIMIT`].
pub fn annotations_size<'a>(
    annotations: impl IntoIterator<Item = (&'a str, &'a str)>,
) -> Option<FieldError> {
    let size: usize = annotations.into_iter().map(|(key, value)| key.len() + value.len()).sum();
    (size > ANNOTATIONS_LIMIT).then_some(FieldError::TooLong(ANNOTATIONS_LIMIT))
}

/// Name of a finalizer.
pub fn finalizer(name: &str) -> Vec<String> {
    qualified_name(name)
}

/// Name that becomes a segment of a path in the API (`IsValidPathSegmentName`): the least that
/// every name must obey.
pub fn path_segment_name(name: &str) -> Vec<String> {
    match name {
        "." | ".." => vec![format!("may not be '{name}'")],
        _ => path_segment_prefix(name),
    }
}

/// Start of a name that becomes a segment of a path in the API (`IsValidPathSegmentPrefix`).
pub fn path_segment_prefix(name: &str) -> Vec<String> {
    ["/", "%"]
        .into_iter()
        .filter(|illegal| name.contains(illegal))
        .map(|illegal| format!("may not contain '{illegal}'"))
        .collect()
}

/// Name of a port (`IsValidPortName`).
pub fn port_name(name: &str) -> Vec<String> {
    // Each rule is asked by itself: the server lists every one that a name breaks.
    let shaped = !name.is_empty() && name.bytes().all(label_byte);
    objections([
        too_long(name, 15),
        (!shaped).then(|| {
            "must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)".to_owned()
        }),
        (!name.bytes().any(lower)).then(|| "must contain at least one letter (a-z)".to_owned()),
        name.contains("--").then(|| "must not contain consecutive hyphens".to_owned()),
        (name.starts_with('-') || name.ends_with('-'))
            .then(|| "must not begin or end with a hyphen".to_owned()),
    ])
}

/// Number of a port (`IsValidPortNum`).
pub fn port_number(port: i64) -> Vec<String> {
    if (1..=65535).contains(&port) {
        Vec::new()
    } else {
        vec!["must be between 1 and 65535, inclusive".to_owned()]
    }
}

/// Names that would climb directories when they become files.
fn directory_change(name: &str) -> Option<String> {
    match name {
        "." | ".." => Some(format!("must not be '{name}'")),
        _ => name.starts_with("..").then(|| "must not start with '..'".to_owned()),
    }
}

/// Name of an environment variable by the strict rule (`IsEnvVarName`), as of servers before 1.34.
pub fn env_var_name(name: &str) -> Vec<String> {
    let shape = || {
        let message = "a valid environment variable name must consist of alphabetic characters, digits, '_', '-', or '.', and must not start with a digit";
        regex_error(
            message,
            "[-._a-zA-Z][-._a-zA-Z0-9]*",
            &["my.env-name", "MY_ENV.NAME", "MyEnvName1"],
        )
    };
    let shaped = shaped(
        name,
        |byte| qualified_byte(byte) && !byte.is_ascii_digit(),
        qualified_byte,
        qualified_byte,
    );
    objections([(!shaped).then(shape), directory_change(name)])
}

/// Name of an environment variable by the relaxed rule (`IsRelaxedEnvVarName`).
pub fn relaxed_env_var_name(name: &str) -> Vec<String> {
    let shaped = name.bytes().all(|byte| matches!(byte, b' '..=b'~') && byte != b'=');
    objections([
        name.is_empty().then(|| "environment variable name must be non-empty".to_owned()),
        (!shaped).then(|| "a valid environment variable name must consist only of printable ASCII characters other than '='".to_owned()),
    ])
}

/// Key of a config map or secret (`IsConfigMapKey`).
pub fn config_map_key(key: &str) -> Vec<String> {
    let shape = || {
        let message = "a valid config key must consist of alphanumeric characters, '-', '_' or '.'";
        regex_error(message, "[-._a-zA-Z0-9]+", &["key.name", "KEY_NAME", "key-name"])
    };
    let shaped = !key.is_empty() && key.bytes().all(qualified_byte);
    objections([too_long(key, SUBDOMAIN_LENGTH), (!shaped).then(shape), directory_change(key)])
}

/// An identifier of C (`IsCIdentifier`).
pub fn c_identifier(name: &str) -> Vec<String> {
    let shape = || {
        let message = "a valid C identifier must start with alphabetic character or '_', followed by a string of alphanumeric characters or '_'";
        regex_error(message, "[A-Za-z_][A-Za-z0-9_]*", &["my_name", "MY_NAME", "MyName"])
    };
    let inner = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    let shaped = shaped(name, |byte| byte.is_ascii_alphabetic() || byte == b'_', inner, inner);
    objections([(!shaped).then(shape)])
}

/// Name of an HTTP header, as of probes (`IsHTTPHeaderName`).
pub fn http_header_name(name: &str) -> Vec<String> {
    let shape = || {
        regex_error(
            "a valid HTTP header must consist of alphanumeric characters or '-'",
            "[-A-Za-z0-9]+",
            &["X-Header-Name"],
        )
    };
    let shaped =
        !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-');
    objections([(!shaped).then(shape)])
}

/// A percentage without sign or fraction (`IsValidPercent`); may exceed 100%.
pub fn percent(text: &str) -> Vec<String> {
    let shape = || {
        regex_error(
            "a valid percent string must be a numeric string followed by an ending '%'",
            "[0-9]+%",
            &["1%", "93%"],
        )
    };
    let shaped = text.strip_suffix('%').is_some_and(|digits| {
        !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit())
    });
    objections([(!shaped).then(shape)])
}

/// A host name of at least two labels; a dot may end it (`IsFullyQualifiedDomainName`).
pub fn fully_qualified_domain_name(name: &str) -> Vec<FieldError> {
    if name.is_empty() {
        return vec![FieldError::Required];
    }
    // Before the rules for subdomains, which take no dot at the end.
    let name = name.strip_suffix('.').unwrap_or(name);
    let wrong = dns1123_subdomain(name);
    if !wrong.is_empty() {
        return vec![FieldError::invalid(name, wrong.join(","))];
    }
    if !name.contains('.') {
        return vec![FieldError::invalid(
            name,
            "should be a domain with at least two segments separated by dots",
        )];
    }
    let label = name
        .split('.')
        .map(|label| (label, dns1123_label(label)))
        .find(|(_, wrong)| !wrong.is_empty());
    label.map(|(label, wrong)| FieldError::invalid(label, wrong.join(","))).into_iter().collect()
}

/// A name of at least three segments, as of controllers (`IsFullyQualifiedName`).
pub fn fully_qualified_name(name: &str) -> Vec<FieldError> {
    if name.is_empty() {
        return vec![FieldError::Required];
    }
    let wrong = dns1123_subdomain(name);
    if !wrong.is_empty() {
        return vec![FieldError::invalid(name, wrong.join(","))];
    }
    if name.split('.').count() < 3 {
        return vec![FieldError::invalid(
            name,
            "should be a domain with at least three segments separated by dots",
        )];
    }
    Vec::new()
}

/// A DNS subdomain, a slash and a path (`IsDomainPrefixedPath`).
pub fn domain_prefixed_path(text: &str) -> Vec<FieldError> {
    if text.is_empty() {
        return vec![FieldError::Required];
    }
    let (host, path) = match text.split_once('/') {
        Some((host, path)) if !host.is_empty() && !path.is_empty() => (host, path),
        _ => {
            return vec![FieldError::invalid(
                text,
                "must be a domain-prefixed path (such as \"acme.io/foo\")",
            )];
        }
    };
    let mut errors: Vec<FieldError> =
        dns1123_subdomain(host).into_iter().map(|error| FieldError::invalid(host, error)).collect();
    if !path
        .bytes()
        .all(|byte| byte.is_ascii_alphanumeric() || b"/-._~%!$&'()*+,;=:".contains(&byte))
    {
        errors.push(FieldError::invalid(
            path,
            regex_error("Invalid path", r"[A-Za-z0-9/\-._~%!$&'()*+,;=:]+", &[]),
        ));
    }
    errors
}

/// An IP address in canonical form (`IsValidIP`).
pub fn ip_address(text: &str) -> Vec<FieldError> {
    let invalid = |detail: &str| vec![FieldError::invalid(text, detail)];
    match text.parse::<IpAddr>() {
        // A text that is an address only without its leading zeros has another message than one
        // that is none.
        Err(_) if without_leading_zeros(text).parse::<IpAddr>().is_ok() => {
            invalid("must not have leading 0s")
        }
        Err(_) => invalid("must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)"),
        Ok(IpAddr::V6(address)) if address.to_ipv4_mapped().is_some() => {
            invalid("must not be an IPv4-mapped IPv6 address")
        }
        Ok(address) if address.to_string() != text => {
            invalid(&format!("must be in canonical form (\"{address}\")"))
        }
        Ok(_) => Vec::new(),
    }
}

/// The text without the zeros that begin its numbers.
fn without_leading_zeros(text: &str) -> String {
    let strip = |piece: &str| {
        // The separator belongs to the piece; of zeros alone the last one stays.
        let end = piece.trim_end_matches(['.', ':']);
        let zeros = end.len() - end.trim_start_matches('0').len();
        piece[if zeros == end.len() { zeros.saturating_sub(1) } else { zeros }..].to_owned()
    };
    text.split_inclusive(['.', ':']).map(strip).collect()
}

#[cfg(test)]
mod tests;
