//! Names of objects, and how long names are shortened.
//!
//! In: names as written. Out: the names that the operator and KubeRay derive from them. Shortening
//! counts bytes, as in Go; Kubernetes names are ASCII, so that no character is cut.

use crate::quantity::hash::tail;
use ecow::{EcoString, eco_format};

/// `lws-` and the last 50 bytes of a component's name (reconcilers/lws/lws_reconciler.go).
pub(crate) fn leader_worker_set(component: &str) -> EcoString {
    eco_format!("lws-{}", tail(component, 50))
}

/// `scaledobject-` and the last 50 bytes of a component's name
/// (reconcilers/keda/keda_reconciler.go).
pub(crate) fn scaled_object(component: &str) -> EcoString {
    eco_format!("scaledobject-{}", tail(component, 50))
}

/// KubeRay's CheckName: the last 50 bytes; a digit or punctuation in front becomes `r`.
pub(crate) fn ray(name: &str) -> EcoString {
    let name = tail(name, 50);
    match name.chars().next() {
        Some(first) if first.is_ascii_digit() || first.is_ascii_punctuation() => {
            eco_format!("r{}", &name[first.len_utf8()..])
        }
        _ => name.into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LONG: &str = "my-extremely-long-inference-service-name-for-llama-3-70b-instruct";

    #[test]
    fn long_names_keep_their_end() {
        let engine = format!("{LONG}-engine");
        assert_eq!(
            crate::quantity::hash::model_config_name(LONG),
            "modelconfig-llama-3-70b-instruct"
        );
        assert_eq!(
            leader_worker_set(&engine),
            "lws-rence-service-name-for-llama-3-70b-instruct-engine"
        );
        assert_eq!(scaled_object("chat-engine"), "scaledobject-chat-engine");
        assert_eq!(
            ray(&format!("{engine}-0-mnp")),
            "service-name-for-llama-3-70b-instruct-engine-0-mnp"
        );
    }

    #[test]
    fn ray_names_begin_with_a_letter() {
        for (name, expected) in
            [("3d-engine-0", "rd-engine-0"), ("-a", "ra"), ("a-0", "a-0"), ("", "")]
        {
            assert_eq!(ray(name), expected, "{name}");
        }
    }
}
