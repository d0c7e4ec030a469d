//! Names whose value is a secret.
//!
//! In: the name of a variable, a flag, a header, an annotation or a field. Out: whether its value is
//! a secret, which some names leave to the value. This module decides by names; [`Doubt::hides`] is
//! the only function that looks at a value.

use super::MASK;

/// What a name leaves open about its value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Doubt {
    /// Nothing: the value is a secret.
    None,
    /// The value may be the name of a mode instead: `--auth=oidc`.
    Mode,
    /// The value is usually no secret, and is one only if it looks drawn at random: a license, a
    /// file that holds a password.
    Random,
}

/// Values of names that end with `auth`, and are none.
const MODES: [&str; 28] = [
    "anonymous",
    "apikey",
    "auto",
    "basic",
    "bearer",
    "default",
    "disabled",
    "enabled",
    "github",
    "google",
    "jwt",
    "kerberos",
    "key",
    "kubernetes",
    "kubernetes-namespaced",
    "ldap",
    "mtls",
    "no",
    "none",
    "oauth",
    "oauth2",
    "off",
    "oidc",
    "on",
    "password",
    "saml",
    "token",
    "yes",
];

/// Values that switch something on or off, whatever its name.
const SWITCHES: [&str; 7] = ["true", "false", "null", "on", "off", "yes", "no"];

impl Doubt {
    /// Whether a value is a secret, by itself.
    pub fn hides(self, value: &str) -> bool {
        let is_switch = |word: &str| value.eq_ignore_ascii_case(word);
        // Flags such as `--enable-token` name a switch, whose value is not worth hiding.
        if is_reference(value) || SWITCHES.iter().any(|word| is_switch(word)) {
            return false;
        }
        match self {
            Self::None => true,
            Self::Mode => {
                let value = value.to_ascii_lowercase();
                // A mode may be a mode of another: `bearer-static`, `instance_principal` of OCI.
                let first = value.split(['-', '_']).next().unwrap_or_default();
                // SNMP names what it authenticates with by the version of its protocol: `public_v2`.
                let is_named = ["_principal", "_v1", "_v2", "_v3"]
                    .iter()
                    .any(|ending| value.ends_with(ending));
                !(MODES.contains(&value.as_str()) || MODES.contains(&first) || is_named)
            }
            // Of a path, the last part: directories before it are long words as well.
            Self::Random => is_random(value.rsplit('/').next().unwrap_or(value)),
        }
    }
}

/// Whether a text is one long word of letters and digits.
pub(super) fn is_random(text: &str) -> bool {
    // Passwords that are words are not found so, and file names and licenses stay readable.
    text.len() >= 20
        && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'='))
        && text.bytes().any(|byte| byte.is_ascii_digit())
        && text.bytes().any(|byte| byte.is_ascii_alphabetic())
}

/// Words that name a secret wherever they are in a name, in singular.
const WORDS: [&str; 13] = [
    "token",
    "password",
    "passwd",
    "passphrase",
    "secret",
    "apikey",
    "cred",
    "credential",
    "authorization",
    "cookie",
    "jwt",
    "accesskey",
    "privatekey",
];
/// The same as the end of a word that is written without a separator: `PGPASSWORD`, `HFTOKEN`.
const ENDS: [&str; 11] = [
    "token",
    "password",
    "passwd",
    "passphrase",
    "secret",
    "apikey",
    "accesskey",
    "accountkey",
    "secretkey",
    "privatekey",
    "masterkey",
];
/// What `pass` is written behind without a separator: `DBPASS`, and not `bypass`.
const OWNERS: [&str; 22] = [
    "admin", "cert", "db", "ftp", "http", "key", "keystore", "ldap", "mail", "master", "mongo",
    "my", "mysql", "pg", "postgres", "proxy", "redis", "require", "root", "smtp", "sql", "user",
];
/// Words before `key` and `secret` in the name of a field, and before plurals anywhere: Kubernetes
/// has fields named `key`, `topologyKey` and `secret`, and `max_tokens` is a number.
const OPENING: [&str; 31] = [
    "access",
    "account",
    "admin",
    "api",
    "auth",
    "bearer",
    "bot",
    "client",
    "deploy",
    "encryption",
    "github",
    "gitlab",
    "hf",
    "id",
    "license",
    "master",
    "private",
    "proxy",
    "refresh",
    "registry",
    "secret",
    "service",
    "session",
    "shared",
    "signing",
    "ssh",
    "user",
    "vault",
    "webhook",
    "storage",
    "security",
];
/// Words before `token` that make it a token of a text: `eos_token`, `min_token`.
const OF_TEXT: [&str; 16] = [
    "bos", "cls", "eos", "mask", "max", "min", "num", "pad", "per", "sep", "special", "stop",
    "think", "unk", "batched", "total",
];
/// Last words of names that describe a secret and do not hold it.
const DESCRIBING: [&str; 43] = [
    "algorithm",
    "audience",
    "class",
    "count",
    "deserializer",
    "domain",
    "domains",
    "enabled",
    "endpoint",
    "env",
    "expiration",
    "expiry",
    "format",
    "host",
    "id",
    "issuer",
    "length",
    "level",
    "limit",
    "location",
    "log",
    "mode",
    "mount",
    "name",
    "namespace",
    "parallelism",
    "policy",
    "prefix",
    "provider",
    "ref",
    "samesite",
    "seconds",
    "serializer",
    "site",
    "size",
    "store",
    "ttl",
    "type",
    "uri",
    "url",
    "version",
    "volume",
    "usage",
];
/// The same for files, which hold one.
const FILES: [&str; 4] = ["dir", "directory", "file", "path"];
/// Words before `key` that make it the name of something, and a public key, which is meant to be
/// known.
const KNOWN_KEYS: [&str; 6] = ["annotation", "label", "public", "taint", "toleration", "topology"];

/// Whether the value of a variable, a flag, a header or an annotation is a secret: a word of its
/// name says so, and the last word does not describe it.
pub fn of_variable(name: &str) -> Option<Doubt> {
    // Of a long text every word is asked for, and its parts cost an allocation each.
    if name.is_ascii() && !may_name(name) { None } else { by_words(name) }
}

/// Parts of words that name secrets.
const PARTS: [&str; 13] = [
    "token", "pass", "secret", "key", "cred", "auth", "cookie", "jwt", "pwd", "salt", "sig", "sas",
    "licen",
];

/// Of each byte which of the parts begin with it, in either case, as bits.
const BEGIN: [u16; 256] = {
    let mut begin = [0; 256];
    let mut at = 0;
    while at < PARTS.len() {
        let first = PARTS[at].as_bytes()[0];
        begin[first as usize] |= 1 << at;
        begin[first.to_ascii_uppercase() as usize] |= 1 << at;
        at += 1;
    }
    begin
};

/// Whether a name has the letters of a word that names secrets, or of a part of one.
fn may_name(name: &str) -> bool {
    let name = name.as_bytes();
    name.iter().enumerate().any(|(at, byte)| {
        let begin = BEGIN[*byte as usize];
        begin != 0
            && PARTS.iter().enumerate().any(|(number, part)| {
                let rest = name.get(at..at + part.len());
                begin & (1 << number) != 0
                    && rest.is_some_and(|rest| rest.eq_ignore_ascii_case(part.as_bytes()))
            })
    })
}

fn by_words(name: &str) -> Option<Doubt> {
    let words = words(name);
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let (last, rest) = words.split_last()?;
    // These are decided by their last word, before it is taken as a description.
    if let Some(doubt) = ending(&words) {
        return Some(doubt);
    }
    let any = |words: &[&str]| {
        (0..words.len()).any(|at| {
            let is_known = at > 0 && KNOWN_KEYS.contains(&words[at - 1]);
            is_secret(words, at) || (words[at] == "key" && !is_known)
        })
    };
    if FILES.contains(last) {
        return any(rest).then_some(Doubt::Random);
    }
    if DESCRIBING.contains(last) {
        // The id of a secret of Vault's AppRole is one half of the credentials.
        let is_half = words.ends_with(&["vault", "secret", "id"]);
        return is_half.then_some(Doubt::None);
    }
    any(&words).then_some(Doubt::None)
}

/// Whether the value of a field or a parameter is a secret, by its last words.
pub(super) fn of_field(name: &str) -> Option<Doubt> {
    // A name without lower-case letters is that of a variable, as a key of a mapping.
    if !name.contains(|c: char| c.is_ascii_lowercase()) {
        return of_variable(name);
    }
    // Fields are asked for by the thousand, and their words cost an allocation each.
    if name.is_ascii() && !may_end(name) {
        return None;
    }
    let words = words(name);
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    if let Some(doubt) = ending(&words) {
        // `license` as a field of a model is a name such as `mit`.
        return Some(doubt).filter(|_| words.last() != Some(&"license"));
    }
    let last = words.len().checked_sub(1)?;
    let opens = |at: usize| at > 0 && OPENING.contains(&words[at - 1]);
    match words[last] {
        // Of other fields, `key` and `secret` name things: `topologyKey`, `secret` of a volume.
        "secret" | "secrets" | "key" | "keys" => opens(last),
        _ => is_secret(&words, last),
    }
    .then_some(Doubt::None)
}

/// Names that only their last word decides.
fn ending(words: &[&str]) -> Option<Doubt> {
    let (last, rest) = words.split_last()?;
    let behind = |owner: &str| OWNERS.contains(&owner);
    match *last {
        "pass" | "sas" => Some(Doubt::None),
        // Alone these words mean other things: `PWD` is a directory.
        "pwd" | "salt" | "sig" if !rest.is_empty() => Some(Doubt::None),
        // Lists of header names: `headersToExtAuth` of Envoy Gateway.
        "auth" if rest.first() == Some(&"headers") => None,
        "auth" => Some(Doubt::Mode),
        word if word.starts_with("licen") => Some(Doubt::Random),
        word if word.strip_suffix("pass").is_some_and(behind) => Some(Doubt::None),
        word if word
            .strip_suffix("auth")
            .is_some_and(|owner| owner == "basic" || behind(owner)) =>
        {
            Some(Doubt::Mode)
        }
        _ => None,
    }
}

/// Whether a word of a name names a secret.
fn is_secret(words: &[&str], at: usize) -> bool {
    let before = at.checked_sub(1).map_or("", |at| words[at]);
    let word = words[at];
    // The `s` of `pass` and of `access` is no plural.
    let one = word.strip_suffix('s').filter(|one| !one.ends_with('s')).unwrap_or(word);
    let is_plural = one.len() < word.len();
    match one {
        // Names of Secrets with which images are pulled.
        "secret" if before == "pull" => false,
        "token" | "key" if is_plural => OPENING.contains(&before),
        "token" => !OF_TEXT.contains(&before),
        _ if WORDS.contains(&one) => true,
        _ => ENDS.iter().any(|end| {
            let owner = one.strip_suffix(end).filter(|owner| !owner.is_empty());
            // `maxtokens` and `eostoken` are of a text.
            owner.is_some_and(|owner| *end != "token" || (!is_plural && !OF_TEXT.contains(&owner)))
        }),
    }
}

/// Last words of names of secrets.
const LAST: [&str; 18] = [
    "token",
    "password",
    "passwd",
    "passphrase",
    "secret",
    "key",
    "cred",
    "credential",
    "authorization",
    "cookie",
    "jwt",
    "pass",
    "pwd",
    "salt",
    "sas",
    "auth",
    "apikey",
    "sig",
];

/// The bytes with which they end, in either case, or with the `s` of a plural.
const END: [bool; 256] = {
    let mut end = [false; 256];
    let mut at = 0;
    while at < LAST.len() {
        let word = LAST[at].as_bytes();
        let last = word[word.len() - 1];
        end[last as usize] = true;
        end[last.to_ascii_uppercase() as usize] = true;
        at += 1;
    }
    end[b's' as usize] = true;
    end[b'S' as usize] = true;
    end
};

/// Whether a name ends with the letters of a last word of secrets. Most do not, and need not be
/// taken apart.
fn may_end(name: &str) -> bool {
    // Behind the letters there may be a number, as in `token_1`.
    let name = name.trim_end_matches(|c: char| !c.is_ascii_alphabetic()).as_bytes();
    let ends = |name: &[u8], last: &str| {
        name.len()
            .checked_sub(last.len())
            .is_some_and(|start| name[start..].eq_ignore_ascii_case(last.as_bytes()))
    };
    if !name.last().is_some_and(|last| END[*last as usize]) {
        return false;
    }
    let singular = name.strip_suffix(b"s").or(name.strip_suffix(b"S"));
    LAST.iter().any(|last| ends(name, last) || singular.is_some_and(|one| ends(one, last)))
}

/// Lower-case words of a name: `secretAccessKey` and `secret_access_key` have three. Numbers at the
/// end only count: `TOKEN_1`.
fn words(name: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut lower = false;
    for c in name.chars() {
        // Upper case begins a word only behind lower case: `HFToken` stays one word, which `ENDS`
        // finds.
        if !c.is_alphanumeric() || (c.is_uppercase() && lower) {
            words.push(String::new());
        }
        lower = c.is_lowercase();
        if c.is_alphanumeric() {
            words.last_mut().into_iter().for_each(|word| word.extend(c.to_lowercase()));
        }
    }
    words.retain(|word| !word.is_empty());
    while words.len() > 1
        && words.last().is_some_and(|word| word.bytes().all(|byte| byte.is_ascii_digit()))
    {
        words.pop();
    }
    words
}

/// Whether a value only refers to a secret, or is a placeholder for one.
pub(super) fn is_reference(text: &str) -> bool {
    let within = |open: &str, close: &str| text.starts_with(open) && text.ends_with(close);
    text.is_empty()
        || text.starts_with(MASK)
        || within("$(", ")")
        || within("${", "}")
        || within("{{", "}}")
        || within("<", ">")
}

#[cfg(test)]
mod tests {
    use super::*;

    proptest::proptest! {
        #[test]
        fn a_name_that_is_passed_over_names_no_secret(name in "([tT]oken|pass|PWD|[kK]ey|s[ia][gs]|salt|license|[aA]uth|jwt|[cC]ookie|cred|secret|id|max|a|B|1|_|-|\u{212a}){0,6}") {
            proptest::prop_assert_eq!(of_variable(&name), by_words(&name));
        }

        #[test]
        fn a_name_of_any_letters_is_passed_over_if_it_names_no_secret(name in "[a-zA-Z_]{0,12}") {
            proptest::prop_assert_eq!(of_variable(&name), by_words(&name));
        }
    }

    fn is_variable(name: &str) -> bool {
        of_variable(name) == Some(Doubt::None)
    }

    fn is_field(name: &str) -> bool {
        of_field(name) == Some(Doubt::None)
    }

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
            ("pass", true),
            ("PGPASSWORD", true),
            ("HFTOKEN", true),
            ("hfToken", true),
            ("DBPASS", true),
            ("ACCESS_TOKENS", true),
            ("API_KEYS", true),
            ("PASSWORDS", true),
            ("TOKEN_1", true),
            ("SESSION_COOKIE", true),
            ("VAULT_SECRET_ID", true),
            ("PWD", false),
            ("OLDPWD", false),
            ("PASS_THROUGH", false),
            ("BYPASS", false),
            ("MAX_TOKENS", false),
            ("max-num-batched-tokens", false),
            ("EOS_TOKEN", false),
            ("IMAGE_PULL_SECRET", false),
            ("TOKENIZER", false),
            ("TOKENIZERS_PARALLELISM", false),
            ("LEVEL", false),
            ("AWS_ACCESS_KEY_ID", false),
            ("SSL_KEY_FILE", false),
            ("ssl-key-path", false),
            ("", false),
        ] {
            assert_eq!(is_variable(name), secret, "{name}");
        }
        assert_eq!(of_variable("SSL_KEY_FILE"), Some(Doubt::Random));
        assert_eq!(of_variable("REDISCLI_AUTH"), Some(Doubt::Mode));
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
            ("account_key", true),
            ("sas", true),
            ("key", false),
            ("secret", false),
            ("topologyKey", false),
            ("secretName", false),
            ("imagePullSecret", false),
            ("imagePullSecrets", false),
            ("accessKeyId", false),
            ("tokenizer", false),
            ("maxTokens", false),
            ("tokenExpirationSeconds", false),
            ("license", false),
            ("", false),
        ] {
            assert_eq!(is_field(name), secret, "{name}");
        }
    }

    #[test]
    fn some_names_leave_it_to_the_value() {
        for (doubt, value, hidden) in [
            (Doubt::None, "abc", true),
            (Doubt::None, "$(TOKEN)", false),
            (Doubt::None, "true", false),
            (Doubt::Mode, "OIDC", false),
            (Doubt::Mode, "bot:abc", true),
            (Doubt::Random, "/etc/tls/tls.key", false),
            (Doubt::Random, "Apache-2.0", false),
            (Doubt::Random, "/run/4f8b2c0d9e1a7b6c5d4e3f2a", true),
        ] {
            assert_eq!(doubt.hides(value), hidden, "{value}");
        }
    }
}
