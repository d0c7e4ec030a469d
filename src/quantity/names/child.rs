//! Names of objects that Knative's libraries derive from the name of another object.
//!
//! In: a name and a suffix. Out: a name of at most 63 bytes; what does not fit gives way to a hash
//! (knative.dev/pkg/kmeta/names.go, ChildName).

use crate::quantity::hash::hex;
use ecow::{EcoString, eco_format};
use md5::{Digest, Md5};

/// Most bytes of a name.
const LONGEST: usize = 63;
/// Hexadecimal digits of a hash.
const HASH: usize = 32;
/// Bytes beside a hash.
const HEAD: usize = LONGEST - HASH;

/// The name of a child object.
pub(crate) fn child_name(parent: &str, suffix: &str) -> EcoString {
    // The common case: nothing is cut off.
    if parent.len() <= LONGEST.saturating_sub(suffix.len()) {
        return eco_format!("{parent}{suffix}");
    }
    // A suffix that leaves no room for the parent is hashed together with it.
    if suffix.len() >= HEAD {
        let hash = md5(format!("{parent}{suffix}").as_bytes());
        let mut name = if parent.len() > HEAD {
            format!("{}{hash}", cut(parent, HEAD))
        } else {
            format!("{parent}{hash}")
        };
        let room = LONGEST.saturating_sub(name.len());
        name.push_str(cut(suffix, room));
        // A name must not end in a dash or a dot, where the suffix may have been cut.
        let end = name.trim_end_matches(|c: char| !c.is_ascii_alphanumeric()).len();
        name.truncate(end);
        return name.into();
    }
    eco_format!("{}{}{suffix}", cut(parent, HEAD - suffix.len()), md5(parent.as_bytes()))
}

/// The first bytes of a text, at a border of characters.
fn cut(text: &str, mut length: usize) -> &str {
    length = length.min(text.len());
    while !text.is_char_boundary(length) {
        length -= 1;
    }
    &text[..length]
}

/// MD5 of a text, in hexadecimal digits. It only makes names differ.
fn md5(text: &[u8]) -> String {
    hex(&Md5::digest(text))
}

#[cfg(test)]
mod tests {
    use super::*;

    // RFC 1321, A.5.
    #[test]
    fn hashes_are_those_of_the_standard() {
        assert_eq!(md5(b""), "d41d8cd98f00b204e9800998ecf8427e");
        assert_eq!(md5(b"message digest"), "f96b697d7cb7938d525a2f31aaf161d0");
        let long =
            b"12345678901234567890123456789012345678901234567890123456789012345678901234567890";
        assert_eq!(md5(long), "57edf4a22be3c955ac49da2e2107b67a");
    }

    #[test]
    fn long_names_end_in_a_hash() {
        assert_eq!(child_name("demo", "-kserve"), "demo-kserve");
        let name = child_name(&"a".repeat(60), "-kserve");
        assert_eq!(name.len(), 63);
        assert!(name.ends_with("-kserve") && name.starts_with(&"a".repeat(24)), "{name}");
        let name = child_name("lora-pvc-", &"b".repeat(70));
        assert!(name.len() <= 63 && name.starts_with("lora-pvc-"), "{name}");
    }
}
