//! Character references of HTML, such as `&amp;`.

use super::transition::find_any;
use std::collections::BTreeMap;
use std::sync::LazyLock;

/// The named characters: the name, whether it stands without `;` too, and the text.
static NAMED: LazyLock<BTreeMap<&str, (bool, String)>> = LazyLock::new(|| {
    let lines = include_str!("entities.txt").lines().filter(|line| !line.starts_with('#'));
    let mut named = BTreeMap::new();
    for line in lines {
        let mut words = line.split(' ');
        let codes = words.next().unwrap_or_default().split('+');
        let text: String = codes
            .filter_map(|code| u32::from_str_radix(code, 16).ok().and_then(char::from_u32))
            .collect();
        for word in words {
            let name = word.trim_end_matches('!');
            named.insert(name, (name.len() < word.len(), text.clone()));
        }
    }
    named
});

/// The longest name that stands without `;`.
const LONGEST_BARE: usize = 6;

/// What numbers from 0x80 on mean where they were meant in Windows-1252.
const WINDOWS: [u32; 32] = [
    0x20ac, 0x81, 0x201a, 0x192, 0x201e, 0x2026, 0x2020, 0x2021, 0x2c6, 0x2030, 0x160, 0x2039,
    0x152, 0x8d, 0x17d, 0x8f, 0x90, 0x2018, 0x2019, 0x201c, 0x201d, 0x2022, 0x2013, 0x2014, 0x2dc,
    0x2122, 0x161, 0x203a, 0x153, 0x9d, 0x17e, 0x178,
];

/// The text with its character references resolved.
pub(super) fn unescape(text: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = find_any(rest, b"&") {
        out.extend_from_slice(&rest[..at]);
        rest = &rest[at..];
        let (length, text) = reference(rest).unwrap_or_else(|| (1, "&".into()));
        out.extend_from_slice(text.as_bytes());
        rest = &rest[length..];
    }
    out.extend_from_slice(rest);
    out
}

/// The reference that begins here: its length and what it stands for.
fn reference(text: &[u8]) -> Option<(usize, String)> {
    if text.get(1) == Some(&b'#') {
        return number(text);
    }
    let letters = text[1..].iter().take_while(|byte| byte.is_ascii_alphanumeric()).count();
    let name = std::str::from_utf8(&text[1..=letters]).ok()?;
    let closed = text.get(1 + letters) == Some(&b';');
    if let Some((bare, text)) = NAMED.get(name)
        && (closed || *bare)
    {
        return Some((1 + letters + usize::from(closed), text.clone()));
    }
    // Go leaves out the last character, which was looked up just before: the `;` where there is
    // one.
    let most = if closed { letters } else { letters.saturating_sub(1) };
    (2..=most.min(LONGEST_BARE)).rev().find_map(|length| match NAMED.get(&name[..length]) {
        Some((true, text)) => Some((1 + length, text.clone())),
        _ => None,
    })
}

fn number(text: &[u8]) -> Option<(usize, String)> {
    if text.len() <= 3 {
        return None;
    }
    let (radix, start) = if text[2].eq_ignore_ascii_case(&b'x') { (16, 3) } else { (10, 2) };
    let digits = text[start..]
        .iter()
        .map_while(|byte| char::from(*byte).to_digit(radix))
        .collect::<Vec<_>>();
    let end = start + digits.len();
    let length = end + usize::from(text.get(end) == Some(&b';'));
    // Go's measure of whether there was a digit: it also refuses one digit at the end, and takes
    // `&#x;`.
    if length <= 3 {
        return None;
    }
    // Go's number wraps around too.
    let code =
        digits.iter().fold(0_u32, |code, digit| code.wrapping_mul(radix).wrapping_add(*digit));
    let code = code
        .checked_sub(0x80)
        .and_then(|index| WINDOWS.get(index as usize))
        .copied()
        .unwrap_or(code);
    let c = char::from_u32(code).filter(|c| *c != '\0').unwrap_or(char::REPLACEMENT_CHARACTER);
    Some((length, c.into()))
}
