//! The Hugging Face Hub. This is the only code of the crate that opens a connection.
//!
//! In: the address of the Hub, a token, and a file of a repository at a revision. Out: the text of
//! the file, that there is none, or why it could not be fetched. Nothing is written or interpreted
//! here. The environment variables are documented at
//! <https://huggingface.co/docs/huggingface_hub/package_reference/environment_variables>
//! (`HF_ENDPOINT`, `HF_TOKEN`); the kinds of refusals differ in the header `X-Error-Code`, as
//! huggingface_hub does (utils/_http.py, hf_raise_for_status).

use std::io::Read;
use std::time::{Duration, Instant};
use ureq::tls::{PemItem, RootCerts, TlsConfig};

/// The default address of the Hub.
pub const ENDPOINT: &str = "https://huggingface.co";

/// Options for requests to the Hub.
#[derive(Clone)]
pub struct Options {
    /// Its address: `https://…` or, for a mirror on this machine, `http://…`.
    pub endpoint: String,
    /// The access token for private and gated repositories. It is sent to the endpoint only and
    /// never printed.
    pub token: Option<String>,
    /// Certificates in PEM that are trusted instead of the usual ones.
    pub certificates: Option<Vec<u8>>,
    /// How long one file may take.
    pub timeout: Duration,
    /// Bytes of one file, after decompression.
    pub limit: u64,
}

/// Why a file could not be fetched.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Refusal {
    /// The endpoint is no address.
    #[error("`{0}` is no address of a Hub")]
    Endpoint(String),
    /// The given file has no certificates.
    #[error("there is no certificate in what `SSL_CERT_FILE` names")]
    Certificates,
    /// The repository does not exist, or the token does not give access to it.
    #[error("{place} has no repository {id}{}", if *.asked_with_token { "" } else { ", or does not show it without a token" })]
    Repository {
        /// The endpoint.
        place: String,
        /// `ORG/NAME`.
        id: String,
        /// A token was sent.
        asked_with_token: bool,
    },
    /// The repository has no such revision.
    #[error("{id} has no revision `{revision}`")]
    Revision {
        /// `ORG/NAME`.
        id: String,
        /// What was requested.
        revision: String,
    },
    /// A token is required, or the token that was sent is rejected.
    #[error("{place} refuses {id} ({status}){}", if *.asked_with_token { " with the token that was sent" } else { " without a token" })]
    Access {
        /// The endpoint.
        place: String,
        /// `ORG/NAME`.
        id: String,
        /// Status of the answer.
        status: u16,
        /// A token was sent.
        asked_with_token: bool,
    },
    /// The response has an unexpected status.
    #[error("{place} answers {status} for {file} of {id}")]
    Status {
        /// The endpoint.
        place: String,
        /// `ORG/NAME`.
        id: String,
        /// The file.
        file: String,
        /// Status of the answer.
        status: u16,
    },
    /// No response, or an incomplete one.
    #[error("{file} of {id} cannot be read from {place}: {why}")]
    Connection {
        /// The endpoint.
        place: String,
        /// `ORG/NAME`.
        id: String,
        /// The file.
        file: String,
        /// In words.
        why: String,
    },
    /// The answer takes too long.
    #[error("{file} of {id} did not arrive from {place} within {seconds} s")]
    Slow {
        /// The endpoint.
        place: String,
        /// `ORG/NAME`.
        id: String,
        /// The file.
        file: String,
        /// The time it had.
        seconds: u64,
    },
    /// The file is larger than is read.
    #[error("{file} of {id} is larger than {limit} bytes")]
    Large {
        /// `ORG/NAME`.
        id: String,
        /// The file.
        file: String,
        /// The most that is read.
        limit: u64,
    },
    /// The file is not UTF-8.
    #[error("{file} of {id} is not UTF-8")]
    Text {
        /// `ORG/NAME`.
        id: String,
        /// The file.
        file: String,
    },
}

/// The Hub, ready to be asked, by several threads too.
#[derive(Clone)]
pub struct Hub {
    agent: ureq::Agent,
    options: Options,
}

impl Hub {
    /// Nothing is sent yet.
    pub fn new(options: Options) -> Result<Self, Refusal> {
        // A slash at the end would be doubled in every address.
        let endpoint = options.endpoint.trim_end_matches('/').to_owned();
        let is_secure = endpoint.starts_with("https://");
        let rest = endpoint.split_once("://").map_or("", |(_, rest)| rest);
        if rest.is_empty() || !(is_secure || endpoint.starts_with("http://")) {
            return Err(Refusal::Endpoint(shown(&endpoint)));
        }
        let mut tls = TlsConfig::builder();
        if let Some(pem) = &options.certificates {
            let found = ureq::tls::parse_pem(pem).filter_map(|item| match item {
                Ok(PemItem::Certificate(certificate)) => Some(certificate),
                _ => None,
            });
            let found: Vec<_> = found.collect();
            // Without any, the usual ones would be trusted instead, against the setting.
            if found.is_empty() {
                return Err(Refusal::Certificates);
            }
            tls = tls.root_certs(RootCerts::from(found));
        }
        let config = ureq::Agent::config_builder()
            .tls_config(tls.build())
            // What came over TLS is never requested again without.
            .https_only(is_secure)
            .timeout_global(Some(options.timeout))
            // Redirects are followed here: the token stays at its origin.
            .max_redirects(0)
            .http_status_as_error(false)
            .user_agent(concat!("ome/", env!("CARGO_PKG_VERSION")))
            .build();
        Ok(Self { agent: config.into(), options: Options { endpoint, ..options } })
    }

    /// The text of a file; none when the repository has no such file.
    pub fn file(
        &self,
        id: &str,
        revision: Option<&str>,
        file: &str,
    ) -> Result<Option<String>, Refusal> {
        let revision = revision.unwrap_or("main");
        let endpoint = &self.options.endpoint;
        // A branch may have a slash, which would end the part of the path.
        let url = format!("{endpoint}/{id}/resolve/{}/{file}", revision.replace('/', "%2F"));
        let mut response = self.call(url).map_err(|error| self.refusal(id, file, &error))?;
        let code = response.headers().get("x-error-code").and_then(|code| code.to_str().ok());
        let place = || shown(endpoint);
        let asked_with_token = self.options.token.is_some();
        match (response.status().as_u16(), code.unwrap_or_default()) {
            (200, _) => {}
            // The Hub hides private repositories: 401 and 404 mean the same without a token.
            (401 | 404, "RepoNotFound") => {
                return Err(Refusal::Repository {
                    place: place(),
                    id: id.into(),
                    asked_with_token,
                });
            }
            (404, "RevisionNotFound") => {
                return Err(Refusal::Revision { id: id.into(), revision: revision.into() });
            }
            // The repository and the revision are there, so the file is what is missing.
            (404, _) => return Ok(None),
            (status @ (401 | 403), _) => {
                return Err(Refusal::Access {
                    place: place(),
                    id: id.into(),
                    status,
                    asked_with_token,
                });
            }
            (status, _) => {
                let (id, file) = (id.into(), file.into());
                return Err(Refusal::Status { place: place(), id, file, status });
            }
        }
        let limit = self.options.limit;
        let mut bytes = Vec::new();
        response
            .body_mut()
            .with_config()
            // The limit of ureq is an error like any other; the one below has its own sentence.
            .limit(u64::MAX)
            .reader()
            .take(limit.saturating_add(1))
            .read_to_end(&mut bytes)
            .map_err(|error| self.refusal(id, file, &ureq::Error::from(error)))?;
        if bytes.len() as u64 > limit {
            return Err(Refusal::Large { id: id.into(), file: file.into(), limit });
        }
        let text = String::from_utf8(bytes);
        text.map(Some).map_err(|_| Refusal::Text { id: id.into(), file: file.into() })
    }

    /// The answer to a request, behind its redirects. Renamed repositories redirect within the Hub;
    /// files elsewhere need no token, and another port of a host is elsewhere (RFC 6454, The Web
    /// Origin Concept, section 4).
    fn call(&self, mut url: String) -> Result<ureq::http::Response<ureq::Body>, ureq::Error> {
        // The time is for the file: each redirect gets what the ones before left.
        let begun = Instant::now();
        for _ in 0..=MOST_REDIRECTS {
            let left = self.options.timeout.saturating_sub(begun.elapsed());
            let mut request = self.agent.get(&url).config().timeout_global(Some(left)).build();
            let token = self.options.token.as_ref();
            // A file may lie with another host, which must not see the token.
            if let Some(token) = token.filter(|_| origin(&url) == origin(&self.options.endpoint)) {
                request = request.header("Authorization", format!("Bearer {token}"));
            }
            let response = request.call()?;
            let next = response.headers().get("location").and_then(|next| next.to_str().ok());
            match next.filter(|_| matches!(response.status().as_u16(), 301..=303 | 307 | 308)) {
                Some(next) => url = resolved(&url, next),
                None => return Ok(response),
            }
        }
        Err(ureq::Error::TooManyRedirects)
    }

    fn refusal(&self, id: &str, file: &str, error: &ureq::Error) -> Refusal {
        let (place, id, file) = (shown(&self.options.endpoint), id.to_owned(), file.to_owned());
        if is_timeout(error) {
            let seconds = self.options.timeout.as_secs();
            return Refusal::Slow { place, id, file, seconds };
        }
        let why = match error {
            ureq::Error::Io(error) => error.to_string(),
            other => other.to_string(),
        };
        Refusal::Connection { place, id, file, why }
    }
}

/// Redirects that are followed for one file.
const MOST_REDIRECTS: usize = 5;

/// Scheme, host and port of an address.
fn origin(url: &str) -> Option<(String, String, u16)> {
    let (scheme, rest) = url.split_once("://")?;
    let scheme = scheme.to_ascii_lowercase();
    let authority = rest.split(['/', '?', '#', '\\']).next()?;
    let place = authority.rsplit('@').next()?;
    let usual = if scheme == "https" { 443 } else { 80 };
    let (host, port) = match place.rsplit_once(':') {
        // The colons of an IPv6 address are in brackets.
        Some((host, port)) if !port.contains(']') => (host, port),
        _ => (place, ""),
    };
    let port = if port.is_empty() { usual } else { port.parse().ok()? };
    Some((scheme, host.to_ascii_lowercase(), port))
}

/// Where a redirect leads (RFC 3986, Reference Resolution, without dot segments).
fn resolved(url: &str, next: &str) -> String {
    // Only HTTP addresses come here, and a broken one is asked as it is.
    let scheme = url.split_once("://").map_or("https", |(scheme, _)| scheme);
    let start = scheme.len() + "://".len();
    let end = url[start..].find(['/', '?', '#']).map_or(url.len(), |at| start + at);
    if next.contains("://") && !next.starts_with('/') {
        next.to_owned()
    } else if next.starts_with("//") {
        format!("{scheme}:{next}")
    } else if next.starts_with('/') {
        format!("{}{next}", &url[..end])
    } else {
        let path = url.split(['?', '#']).next().unwrap_or(url);
        let directory = path.rfind('/').filter(|at| *at >= end).unwrap_or(path.len());
        format!("{}/{next}", &path[..directory])
    }
}

fn is_timeout(error: &ureq::Error) -> bool {
    match error {
        ureq::Error::Timeout(_) => true,
        ureq::Error::Io(error) => {
            error.kind() == std::io::ErrorKind::TimedOut
                // A timeout within a read is wrapped in an error of I/O.
                || error
                    .get_ref()
                    .and_then(|inner| inner.downcast_ref::<ureq::Error>())
                    .is_some_and(is_timeout)
        }
        _ => false,
    }
}

/// An address without name and password.
fn shown(address: &str) -> String {
    match address.split_once("://") {
        Some((scheme, rest)) => {
            let end = rest.find('/').unwrap_or(rest.len());
            // A name may hold `@`, so the last one ends it.
            let start = rest[..end].rfind('@').map_or(0, |at| at + 1);
            format!("{scheme}://{}", &rest[start..])
        }
        None => address.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_origin_is_scheme_host_and_port() {
        let hub = origin("https://hub.example");
        for (url, same) in [
            ("https://hub.example/a", true),
            ("https://HUB.example:443/a?b", true),
            ("https://me@hub.example/a", true),
            ("https://hub.example:8443/a", false),
            ("http://hub.example/a", false),
            ("https://hub.example.evil/a", false),
            ("https://hub.example@evil.example/a", false),
            ("https://evil.example/https://hub.example", false),
            ("https://evil.example\\@hub.example/", false),
        ] {
            assert_eq!(origin(url) == hub, same, "{url}");
        }
        assert_eq!(origin("http://[::1]:8080/a"), Some(("http".into(), "[::1]".into(), 8080)));
    }

    #[test]
    fn redirects_are_resolved_against_the_address_that_gave_them() {
        for (next, expected) in [
            ("https://b.example/x", "https://b.example/x"),
            ("//b.example/x", "https://b.example/x"),
            ("/x?y", "https://a.example/x?y"),
            ("x", "https://a.example/m/x"),
            ("/x?to=https://b.example", "https://a.example/x?to=https://b.example"),
        ] {
            assert_eq!(resolved("https://a.example/m/f?z", next), expected, "{next}");
        }
    }
}
