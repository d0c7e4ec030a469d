//! Domain and path templates of the ingress configuration, and the check of their output.
//!
//! In: a template and its values. Out: a host name or a URL path, or the controller's error message
//! (pkg/controller/v1beta1/inferenceservice/reconcilers/ingress/services/domain_service.go and
//! path_service.go of OME; reconcilers/ingress/domain.go and path.go of KServe).

use super::error::{Error, Failure, Kind};
use super::exec::{Flavour, execute};
use super::parse::parse;
use super::value::{DomainValues, Root};
use crate::quantity::{go_quote, names};

/// Expands a domain template and checks that the result is a fully qualified domain name.
///
/// # Errors
/// The controller's message where the controller fails; `Unsupported` for features that are not
/// supported here.
pub fn domain(template: &str, values: &DomainValues<'_>) -> Result<String, Error> {
    expand("domain-template", "error rendering the domain template", template, Root::Domain(values))
        .and_then(|host| {
            // The controller reports the first objection.
            let Some(objection) = names::fully_qualified_domain_name(&host).into_iter().next()
            else {
                return Ok(host);
            };
            let message =
                format!("invalid domain name {}: {}", go_quote(&host), objection.at("url"));
            Err(Failure::new(Kind::Result, message).into_error(template))
        })
}

/// Expands a path template to a decoded URL path without query.
///
/// # Errors
/// The controller's message where the controller fails; `Unsupported` for features that are not
/// supported here.
pub fn path(template: &str, name: &str, namespace: &str) -> Result<String, Error> {
    let url = expand(
        "url-template",
        "error rendering the url template",
        template,
        Root::Path { name, namespace },
    )?;
    request_path(&url).map_err(|failure| failure.into_error(template))
}

fn expand(
    name: &'static str,
    context: &str,
    template: &str,
    root: Root<'_>,
) -> Result<String, Error> {
    let output = parse(name, template).and_then(|program| {
        execute(&program, Flavour::Text, root).map_err(|failure| Failure {
            message: format!("{context}: {}", failure.message),
            ..failure
        })
    });
    output.map(|output| output.text).map_err(|failure| failure.into_error(template))
}

/// Returns the path of a request URI (`url.ParseRequestURI`) without scheme or host.
fn request_path(url: &str) -> Result<String, Failure> {
    let invalid = |reason: &str| {
        Failure::new(Kind::Result, format!("invalid url {0}: parse {0}: {reason}", go_quote(url)))
    };
    if url.bytes().any(|byte| byte < b' ' || byte == 0x7f) {
        return Err(Failure::new(
            Kind::Result,
            format!(
                "invalid url {0}: parse {0}: net/url: invalid control character in URL",
                go_quote(url)
            ),
        ));
    }
    if url.is_empty() {
        return Err(invalid("empty url"));
    }
    // Go takes it for a request URI without a path below `/`.
    if url == "*" {
        return Ok(url.into());
    }
    let scheme = url
        .find(|c: char| !(c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.')))
        // A colon behind other characters is part of a path.
        .filter(|end| url[*end..].starts_with(':'));
    match scheme {
        Some(0) => return Err(invalid("missing protocol scheme")),
        Some(_) if url.starts_with(|c: char| c.is_ascii_alphabetic()) => {
            return Err(Failure::new(
                Kind::Result,
                format!("invalid url path {}: contains either a scheme or a host", go_quote(url)),
            ));
        }
        _ => {}
    }
    // The query is no part of the path, and a request URI has no fragment.
    let path = url.split_once('?').map_or(url, |(path, _)| path);
    if !path.starts_with('/') {
        return Err(invalid("invalid URI for request"));
    }
    // Bytes and not characters: an escape may be a part of a character.
    let mut decoded = Vec::with_capacity(path.len());
    let mut bytes = path.as_bytes();
    while let [byte, rest @ ..] = bytes {
        bytes = rest;
        if *byte != b'%' {
            decoded.push(*byte);
            continue;
        }
        let hex =
            |byte: &u8| char::from(*byte).to_digit(16).and_then(|digit| u8::try_from(digit).ok());
        let code = rest.first().and_then(hex).zip(rest.get(1).and_then(hex));
        let Some((high, low)) = code else {
            let escape: Vec<u8> =
                std::iter::once(b'%').chain(rest.iter().take(2).copied()).collect();
            return Err(invalid(&format!(
                "invalid URL escape {}",
                go_quote(&String::from_utf8_lossy(&escape))
            )));
        };
        decoded.push(high << 4 | low);
        bytes = &rest[2..];
    }
    String::from_utf8(decoded).map_err(|_| {
        Failure::new(
            Kind::Unsupported,
            "a path that is no UTF-8 text after decoding is not supported",
        )
    })
}
