//! Names shortened as OME shortens them, with a hash in place of what is cut off.
//!
//! In: names as written. Out: names that fit a limit and still differ. Lengths are bytes; all
//! vectors come from OME's pkg/constants/constants.go, truncateWithHash and
//! TruncateNameWithMaxLength.

use sha2::{Digest, Sha256};
use std::fmt::Write as _;

/// Domain of the labels that say which models a node holds.
const MODEL_DOMAIN: &str = "models.ome.io";

/// Most bytes of the name of a model in a label, when the model belongs to the cluster.
const CLUSTER_MODEL_LENGTH: usize = 32;

/// Bytes that a namespace and the name of a model share in a label.
const NAMESPACED_MODEL_LENGTH: usize = 38;

/// Least bytes left to a namespace: exactly a hash.
const NAMESPACE_LENGTH: usize = 8;

/// The first eight hexadecimal digits of the SHA-256 of a text.
pub fn short_hash(text: &str) -> String {
    hex(&Sha256::digest(text.as_bytes())[..4])
}

/// Bytes in hexadecimal digits.
pub fn hex(bytes: &[u8]) -> String {
    let mut digits = String::with_capacity(2 * bytes.len());
    for byte in bytes {
        // Writing into a string cannot fail.
        _ = write!(digits, "{byte:02x}");
    }
    digits
}

/// The last `length` bytes of a text. A character that would be cut is replaced, as it is when Go
/// writes it as JSON.
pub fn tail(text: &str, length: usize) -> String {
    let start = text.len().saturating_sub(length);
    String::from_utf8_lossy(&text.as_bytes()[start..]).into_owned()
}

/// `modelconfig-` and the last 20 bytes of a service's name
/// (reconcilers/modelconfig/modelconfig_reconciler.go).
pub fn model_config_name(service: &str) -> String {
    format!("modelconfig-{}", tail(service, 20))
}

/// The text itself if it has at most `max` bytes, else its hash, a dash and as much of its end as
/// fits.
pub fn limit(text: &str, max: usize) -> String {
    limit_with(text, max, short_hash)
}

fn limit_with(text: &str, max: usize, hash: impl Fn(&str) -> String) -> String {
    if text.len() <= max {
        return text.to_owned();
    }
    let mut limited = hash(text);
    // A hash has 8 bytes, and the dash is one.
    if max > 9 {
        limited.push('-');
        limited.push_str(&tail(text, max - 9));
    } else {
        limited.truncate(max);
    }
    limited
}

/// [`limit`] at 63 bytes with a result that begins with a letter: names of services, values of
/// `app`.
pub fn truncate63(name: &str) -> String {
    truncate(name, 63)
}

/// [`limit`] with a result that begins with a letter, for names that must: `a` replaces a digit.
pub fn truncate(name: &str, max: usize) -> String {
    limit_with(name, max, |name| {
        let hash = short_hash(name);
        if hash.starts_with(|c: char| c.is_ascii_digit()) {
            format!("a{}", &hash[1..])
        } else {
            hash
        }
    })
}

/// Key of the node label that is `Ready` where a model is; `namespace` is `None` for models of the
/// cluster.
pub fn model_ready_label(namespace: Option<&str>, name: &str) -> String {
    let Some(namespace) = namespace else {
        return format!("{MODEL_DOMAIN}/clusterbasemodel.{}", limit(name, CLUSTER_MODEL_LENGTH));
    };
    if namespace.len() + name.len() <= NAMESPACED_MODEL_LENGTH {
        return format!("{MODEL_DOMAIN}/{namespace}.basemodel.{name}");
    }
    // A short namespace leaves the rest of the room to the name.
    let room = namespace.len().min(NAMESPACE_LENGTH);
    format!(
        "{MODEL_DOMAIN}/{}.basemodel.{}",
        limit(namespace, room),
        limit(name, NAMESPACED_MODEL_LENGTH - room)
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::quantity::names;
    use proptest::prelude::*;

    // pkg/controller/v1beta1/inferenceservice/utils/utils.go.
    #[test]
    fn model_ready_labels_match_the_controller() {
        for (namespace, name, label) in [
            (
                None,
                "qwen3-235b-a22b-instruct-2507-fp8",
                "models.ome.io/clusterbasemodel.772a53f0--a22b-instruct-2507-fp8",
            ),
            (None, "llama-3-8b-instruct", "models.ome.io/clusterbasemodel.llama-3-8b-instruct"),
            (
                Some("machine-learning-team"),
                "llama-3-8b-instruct",
                "models.ome.io/b8816cf6.basemodel.llama-3-8b-instruct",
            ),
            (
                Some("default"),
                "llama-4-maverick-17b-128e-instruct-fp8",
                "models.ome.io/default.basemodel.321a5921--17b-128e-instruct-fp8",
            ),
            (
                Some("default"),
                "llama-3-8b-instruct",
                "models.ome.io/default.basemodel.llama-3-8b-instruct",
            ),
        ] {
            assert_eq!(model_ready_label(namespace, name), label);
        }
    }

    // pkg/controller/v1beta1/inferenceservice/components.
    #[test]
    fn long_names_begin_with_a_letter() {
        let name = format!("{}-engine", "a".repeat(60));
        let short = truncate63(&name);
        assert_eq!((short.len(), &short[..9], &short[56..]), (63, "a10ab022-", "-engine"));
        assert_eq!(truncate63(&name[4..]), name[4..]);
    }

    #[test]
    fn length_limits_below_the_hash_truncate_the_hash() {
        let hash = short_hash("machine-learning-team");
        assert_eq!(hash, "b8816cf6");
        assert_eq!(
            [8, 9, 3, 0].map(|max| limit("machine-learning-team", max)),
            [hash.clone(), hash.clone(), hash[..3].to_owned(), String::new()]
        );
        assert_eq!(tail("abc", 2), "bc");
        assert_eq!(tail("aé", 1), "\u{fffd}");
    }

    proptest! {
        #[test]
        fn shortened_names_fit_the_limit_and_stay_valid(name in "[a-z][-a-z0-9]{0,90}[a-z0-9]", max in 10_usize..80) {
            prop_assert!(limit(&name, max).len() <= max);
            prop_assert!(names::dns1035_label(&truncate63(&name)).is_empty());
            prop_assert!(names::label_key(&model_ready_label(Some(&name), &name)).is_empty());
        }

        #[test]
        fn no_text_is_a_panic(text in ".*", max in 0_usize..100) {
            let _ = (limit(&text, max), truncate(&text, max), model_ready_label(Some(&text), &text));
        }
    }
}
