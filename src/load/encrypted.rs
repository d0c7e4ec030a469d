//! Manifests that SOPS encrypted in place (getsops.io, Encrypting only parts of a file): the tree is
//! readable, its values are not, and `sops` beside `metadata` has the keys. Flux and KSOPS decrypt
//! them before they are applied.
//!
//! In: the tree of a document. Out: the tree without `sops`, and which scalars are encrypted.

use crate::yaml::{Node, Value};

/// Whether a document was encrypted by SOPS.
fn is_encrypted(root: &Node) -> bool {
    let Some(keys) = root.get("sops") else { return false };
    ["mac", "lastmodified"].iter().any(|key| keys.get(key).is_some())
}

/// A document without what SOPS adds to it, which is gone when it is decrypted.
pub(super) fn without_keys(mut root: Node) -> Node {
    if is_encrypted(&root)
        && let Value::Map(map) = &mut root.value
    {
        map.remove("sops");
    }
    root
}

/// Whether a scalar is a value that SOPS encrypted.
pub(super) fn is_value(text: &str) -> bool {
    text.starts_with("ENC[") && text.ends_with(']') && text.contains("data:")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::SourceId;
    use crate::yaml::{Limits, parse};

    #[test]
    fn keys_of_an_encrypted_document_are_no_field_of_it() {
        let read = |text: &str| {
            let tree = parse(SourceId(0), text, 0..text.len(), &Limits::default()).value.unwrap();
            without_keys(tree).get("sops").is_some()
        };
        assert!(!read("kind: Secret\nsops: {mac: \"ENC[AES256_GCM,data:x]\", version: 3.7.1}\n"));
        assert!(read("kind: Secret\nsops: {a: b}\n"));
        assert!(read("kind: Secret\nsops: on\n"));
        assert!(is_value("ENC[AES256_GCM,data:uQ==,iv:a,tag:b,type:str]"));
        assert!(!is_value("ENC[x]"));
    }
}
