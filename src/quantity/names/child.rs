//! Names of objects that Knative's libraries derive from the name of another object.
//!
//! In: a name and a suffix. Out: a name of at most 63 bytes; what does not fit gives way to a hash
//! (knative.dev/pkg/kmeta/names.go, ChildName).

use ecow::{EcoString, eco_format};
use std::fmt::Write as _;

/// Most bytes of a name.
const LONGEST: usize = 63;
/// Hexadecimal digits of a hash.
const HASH: usize = 32;
/// Bytes beside a hash.
const HEAD: usize = LONGEST - HASH;

/// The name of a child object.
pub(crate) fn child_name(parent: &str, suffix: &str) -> EcoString {
    if parent.len() <= LONGEST.saturating_sub(suffix.len()) {
        return eco_format!("{parent}{suffix}");
    }
    if suffix.len() >= HEAD {
        let hash = md5(format!("{parent}{suffix}").as_bytes());
        let mut name = if parent.len() > HEAD {
            format!("{}{hash}", cut(parent, HEAD))
        } else {
            format!("{parent}{hash}")
        };
        let room = LONGEST.saturating_sub(name.len());
        name.push_str(cut(suffix, room));
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

/// The constants of a round: the integer part of 2^32 times the sine of its number.
const SINES: [u32; 64] = [
    0xd76a_a478,
    0xe8c7_b756,
    0x2420_70db,
    0xc1bd_ceee,
    0xf57c_0faf,
    0x4787_c62a,
    0xa830_4613,
    0xfd46_9501,
    0x6980_98d8,
    0x8b44_f7af,
    0xffff_5bb1,
    0x895c_d7be,
    0x6b90_1122,
    0xfd98_7193,
    0xa679_438e,
    0x49b4_0821,
    0xf61e_2562,
    0xc040_b340,
    0x265e_5a51,
    0xe9b6_c7aa,
    0xd62f_105d,
    0x0244_1453,
    0xd8a1_e681,
    0xe7d3_fbc8,
    0x21e1_cde6,
    0xc337_07d6,
    0xf4d5_0d87,
    0x455a_14ed,
    0xa9e3_e905,
    0xfcef_a3f8,
    0x676f_02d9,
    0x8d2a_4c8a,
    0xfffa_3942,
    0x8771_f681,
    0x6d9d_6122,
    0xfde5_380c,
    0xa4be_ea44,
    0x4bde_cfa9,
    0xf6bb_4b60,
    0xbebf_bc70,
    0x289b_7ec6,
    0xeaa1_27fa,
    0xd4ef_3085,
    0x0488_1d05,
    0xd9d4_d039,
    0xe6db_99e5,
    0x1fa2_7cf8,
    0xc4ac_5665,
    0xf429_2244,
    0x432a_ff97,
    0xab94_23a7,
    0xfc93_a039,
    0x655b_59c3,
    0x8f0c_cc92,
    0xffef_f47d,
    0x8584_5dd1,
    0x6fa8_7e4f,
    0xfe2c_e6e0,
    0xa301_4314,
    0x4e08_11a1,
    0xf753_7e82,
    0xbd3a_f235,
    0x2ad7_d2bb,
    0xeb86_d391,
];
/// Bits that each step of the four rounds turns.
const TURNS: [[u32; 4]; 4] = [[7, 12, 17, 22], [5, 9, 14, 20], [4, 11, 16, 23], [6, 10, 15, 21]];

/// MD5 of a text, in hexadecimal digits (RFC 1321). It only makes names differ.
#[expect(clippy::many_single_char_names, reason = "the names of RFC 1321")]
fn md5(text: &[u8]) -> String {
    let mut padded = text.to_vec();
    padded.push(0x80);
    while padded.len() % 64 != 56 {
        padded.push(0);
    }
    padded.extend((u64::try_from(text.len()).unwrap_or(0).wrapping_mul(8)).to_le_bytes());
    let mut state: [u32; 4] = [0x6745_2301, 0xefcd_ab89, 0x98ba_dcfe, 0x1032_5476];
    for block in padded.chunks_exact(64) {
        let mut words = [0_u32; 16];
        for (word, bytes) in words.iter_mut().zip(block.chunks_exact(4)) {
            *word = u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]);
        }
        let [mut a, mut b, mut c, mut d] = state;
        for step in 0..64 {
            let (mixed, word) = match step / 16 {
                0 => ((b & c) | (!b & d), step),
                1 => ((d & b) | (!d & c), (5 * step + 1) % 16),
                2 => (b ^ c ^ d, (3 * step + 5) % 16),
                _ => (c ^ (b | !d), (7 * step) % 16),
            };
            let sum = a.wrapping_add(mixed).wrapping_add(SINES[step]).wrapping_add(words[word]);
            a = d;
            d = c;
            c = b;
            b = b.wrapping_add(sum.rotate_left(TURNS[step / 16][step % 4]));
        }
        for (part, value) in state.iter_mut().zip([a, b, c, d]) {
            *part = part.wrapping_add(value);
        }
    }
    let mut digits = String::with_capacity(HASH);
    for byte in state.iter().flat_map(|word| word.to_le_bytes()) {
        // Writing into a string cannot fail.
        _ = write!(digits, "{byte:02x}");
    }
    digits
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
