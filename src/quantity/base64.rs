//! Base64: the decoded bytes of a text, and their number.
//!
//! The JSON form of proto messages allows both alphabets, with or without padding; Secrets use the
//! first one.

use base64::Engine;
use base64::alphabet;
use base64::engine::general_purpose::STANDARD;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};

/// Bits behind the last whole byte are ignored, as Go's decoder does.
const fn decoder(padding: DecodePaddingMode) -> GeneralPurpose {
    let config = GeneralPurposeConfig::new();
    let config = config.with_decode_allow_trailing_bits(true).with_decode_padding_mode(padding);
    GeneralPurpose::new(&alphabet::STANDARD, config)
}

const PADDED: GeneralPurpose = decoder(DecodePaddingMode::RequireCanonical);
const UNPADDED: GeneralPurpose = decoder(DecodePaddingMode::RequireNone);

/// The number of bytes, or none when the text is not base64.
pub fn decoded_length(text: &str) -> Option<u64> {
    u64::try_from(bytes(text)?.len()).ok()
}

/// The bytes; `None` if the text is not base64. Line breaks are ignored, as in Kubernetes.
pub fn decoded(text: &str) -> Option<Vec<u8>> {
    bytes(&text.split_ascii_whitespace().collect::<String>())
}

fn bytes(text: &str) -> Option<Vec<u8>> {
    // Padding has to be complete where there is any.
    let decoder = if text.ends_with('=') { PADDED } else { UNPADDED };
    decoder.decode(text.replace('-', "+").replace('_', "/")).ok()
}

/// The text of bytes, with padding, as Secrets have it.
pub fn encoded(bytes: &[u8]) -> String {
    STANDARD.encode(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decoded_length_is_known_only_for_valid_base64() {
        for (text, length) in [
            ("", Some(0)),
            ("YQ==", Some(1)),
            ("YQ", Some(1)),
            ("YWI=", Some(2)),
            ("YWJj", Some(3)),
            ("AAAAAAAAAAA=", Some(8)),
            ("-_+/", Some(3)),
            ("Y", None),
            ("YQ=", None),
            ("YWJj=", None),
            ("YQ===", None),
            ("Y Q=", None),
            ("=YQ=", None),
        ] {
            assert_eq!(decoded_length(text), length, "{text}");
        }
    }

    #[test]
    fn valid_base64_decodes_to_bytes() {
        for (text, bytes) in [
            ("", Some("")),
            ("YQ==", Some("a")),
            ("YWI", Some("ab")),
            ("aHR0\ncHM6", Some("https:")),
            ("YQ=", None),
            ("?", None),
        ] {
            assert_eq!(decoded(text).as_deref(), bytes.map(str::as_bytes), "{text}");
        }
        assert_eq!(decoded("-_+/"), Some(vec![0xfb, 0xff, 0xbf]));
    }
}
