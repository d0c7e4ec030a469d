//! Names whose value is a secret.
//!
//! This module does not read values.

/// If a variable or flag has one of these words in its name, its value is a secret.
const WORDS: [&str; 11] = [
    "TOKEN",
    "PASSWORD",
    "PASSWD",
    "PASSPHRASE",
    "SECRET",
    "KEY",
    "APIKEY",
    "CREDS",
    "CREDENTIAL",
    "CREDENTIALS",
    "AUTHORIZATION",
];

/// The same for words behind another one. `PWD` alone is the working directory of a shell.
const LAST_WORDS: [&str; 2] = ["PASS", "PWD"];

/// Whether the value of a variable or a flag is a secret, by its name: one word is in [`WORDS`],
/// and the last word is not in `LAST`, which names descriptions of a secret, such as its file; or
/// the last of several words is in [`LAST_WORDS`].
pub fn names_secret(name: &str) -> bool {
    const LAST: [&str; 10] =
        ["FILE", "PATH", "DIR", "NAME", "ID", "URL", "URI", "ENDPOINT", "HOST", "SIZE"];
    let name = name.to_ascii_uppercase();
    let is_separator = |c: char| matches!(c, '_' | '-' | '.');
    if let Some((_, last)) = name.trim_matches(is_separator).rsplit_once(is_separator)
        && LAST_WORDS.contains(&last)
    {
        return true;
    }
    let mut words = name.split(is_separator);
    words.clone().any(|word| WORDS.contains(&word))
        && words.next_back().is_some_and(|last| !LAST.contains(&last))
}

/// Last words of the names of fields that hold a secret.
const SECRETS: [&str; 8] = [
    "token",
    "password",
    "passwd",
    "passphrase",
    "credentials",
    "apikey",
    "authorization",
    "accesskey",
];
/// A field whose name ends with `key` or `secret` is secret only if the word before it is one of
/// these, because Kubernetes has fields named `key`, `topologyKey` and `secret`.
const OPENING: [&str; 9] =
    ["api", "access", "secret", "private", "encryption", "account", "auth", "signing", "client"];

/// Whether the value of a field or a parameter is a secret, by its name.
pub(super) fn is_secret_key(name: &str) -> bool {
    // A name without lower-case letters is that of a variable, as a key of a mapping.
    if !name.contains(|c: char| c.is_ascii_lowercase()) {
        return names_secret(name);
    }
    if name.is_ascii() && !ends_like_secret(name) {
        return false;
    }
    let words = words(name);
    match words.iter().map(String::as_str).collect::<Vec<_>>().as_slice() {
        [.., last] if SECRETS.contains(last) => true,
        [.., kind, "key" | "secret"] => OPENING.contains(kind),
        _ => false,
    }
}

/// Whether a name ends with the letters of a last word of secrets. Most do not, and need not be
/// taken apart.
fn ends_like_secret(name: &str) -> bool {
    let name = name.trim_end_matches(|c: char| !c.is_ascii_alphanumeric()).as_bytes();
    SECRETS.iter().chain(&["key", "secret"]).any(|last| {
        name.len()
            .checked_sub(last.len())
            .is_some_and(|start| name[start..].eq_ignore_ascii_case(last.as_bytes()))
    })
}

/// Lower-case words of a name: `secretAccessKey` and `secret_access_key` have three.
fn words(name: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut lower = false;
    for c in name.chars() {
        if !c.is_alphanumeric() || (c.is_uppercase() && lower) {
            words.push(String::new());
        }
        lower = c.is_lowercase();
        if c.is_alphanumeric() {
            words.last_mut().into_iter().for_each(|word| word.extend(c.to_lowercase()));
        }
    }
    words.retain(|word| !word.is_empty());
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secret_variables_are_recognized_by_a_word_of_their_name() {
        for (name, secret) in [
            ("HF_TOKEN", true),
            ("aws-secret-access-key", true),
            ("API_KEY", true),
            ("FILE_TOKEN", true),
            ("MY_CREDS", true),
            ("CREDS", true),
            ("DB_PWD", true),
            ("smtp-pass", true),
            ("PWD", false),
            ("OLDPWD", false),
            ("PASS_THROUGH", false),
            ("MAX_TOKENS", false),
            ("TOKENIZER", false),
            ("LEVEL", false),
            ("SSL_KEY_FILE", false),
            ("AWS_ACCESS_KEY_ID", false),
            ("ssl-key-path", false),
        ] {
            assert_eq!(names_secret(name), secret, "{name}");
        }
    }

    #[test]
    fn credential_fields_are_secret_and_references_are_not() {
        for (name, secret) in [
            ("secretAccessKey", true),
            ("secret_access_key", true),
            ("apiKey", true),
            ("hfToken", true),
            ("password", true),
            ("clientSecret", true),
            ("HF_TOKEN", true),
            ("key", false),
            ("secret", false),
            ("topologyKey", false),
            ("secretName", false),
            ("imagePullSecret", false),
            ("accessKeyId", false),
            ("tokenizer", false),
            ("maxTokens", false),
            ("tokenExpirationSeconds", false),
            ("", false),
        ] {
            assert_eq!(is_secret_key(name), secret, "{name}");
        }
    }
}
