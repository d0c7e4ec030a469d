//! Where the weights of a ModelBooster are: `cacheURI` as volume and as path
//! (pkg/model-booster-controller/convert/model_serving.go, buildCacheVolume and GetCachePath).

use super::backend::Backend;
use crate::objects::build::node;
use crate::operators::kthena::objects::rules::BOOSTER;
use crate::yaml::Node;
use ecow::eco_format;

/// The volume of the weights.
///
/// # Errors
/// The sentence with which the controller fails.
pub(super) fn volume(backend: Backend<'_>) -> Result<Option<Node>, String> {
    let uri = backend.text("cacheURI");
    let name = eco_format!("{}-weights", backend.name());
    if uri.is_empty() {
        return Ok(node!(&BOOSTER; { name: name, emptyDir: {} }));
    }
    if let Some(claim) = uri.strip_prefix("pvc://") {
        // `pvc:///claim` and `pvc://claim/` name the same claim.
        let claim = claim.trim_matches('/');
        if claim.is_empty() {
            return Err(format!("invalid cacheURI \"{uri}\": must include a PVC claim name"));
        }
        return Ok(node!(&BOOSTER; { name: name, persistentVolumeClaim: { claimName: claim } }));
    }
    if uri.starts_with("hostpath://") {
        let path = path(uri);
        if path.is_empty() {
            return Err(format!("invalid cacheURI \"{uri}\": must include a host path"));
        }
        return Ok(
            node!(&BOOSTER; { name: name, hostPath: { path: path, type: "DirectoryOrCreate" } }),
        );
    }
    Err(format!("not support prefix in CacheURI: {uri}"))
}

/// Where the volume is mounted: host and path of the URI without outer slashes; empty when Go's
/// `url.ParseRequestURI` rejects the URI or nothing is left of it.
pub(super) fn path(uri: &str) -> String {
    let inner = host_and_path(uri).unwrap_or_default();
    match inner.trim_matches('/') {
        "" => String::new(),
        inner => format!("/{inner}"),
    }
}

/// Host and path of `scheme://host/path`, unescaped.
fn host_and_path(uri: &str) -> Option<String> {
    // Go refuses control characters before it parses anything.
    if uri.bytes().any(|byte| byte < 0x20 || byte == 0x7f) {
        return None;
    }
    let (_, rest) = uri.split_once("://")?;
    let rest = rest.split('?').next().unwrap_or_default();
    let (authority, path) = match rest.find('/') {
        Some(slash) => rest.split_at(slash),
        None => (rest, ""),
    };
    // A user before the host is no part of the path.
    let host = authority.rsplit('@').next().unwrap_or_default();
    // A colon has to be followed by digits, or by nothing.
    if let Some((_, port)) = host.rsplit_once(':')
        && !port.bytes().all(|byte| byte.is_ascii_digit())
    {
        return None;
    }
    // RFC 3986 has these in a host; Go takes angle brackets and quotes too.
    let in_host = |byte: u8| {
        byte >= 0x80 || byte.is_ascii_alphanumeric() || b"!$&'()*+,;=:[]<>\"-_.~%".contains(&byte)
    };
    if !host.bytes().all(in_host) {
        return None;
    }
    // In a host only bytes beyond ASCII are escaped.
    let host = unescape(host, |byte| byte >= 0x80)?;
    let path = unescape(path, |_| true)?;
    Some(String::from_utf8_lossy(&[host, path].concat()).into_owned())
}

/// The bytes of a percent-encoded text; `None` where Go reports an invalid escape.
fn unescape(text: &str, allowed: impl Fn(u8) -> bool) -> Option<Vec<u8>> {
    let mut bytes = text.bytes();
    let mut out = Vec::with_capacity(text.len());
    while let Some(byte) = bytes.next() {
        if byte != b'%' {
            out.push(byte);
            continue;
        }
        let mut digit = || char::from(bytes.next()?).to_digit(16);
        let (high, low) = (digit()?, digit()?);
        let byte = u8::try_from(high * 16 + low).ok()?;
        if !allowed(byte) {
            return None;
        }
        out.push(byte);
    }
    Some(out)
}
