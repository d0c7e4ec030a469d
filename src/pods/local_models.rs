//! Copies of models that KServe keeps on nodes: what names them on objects, and which copy a model is.

/// The label of objects that use a copy.
pub(crate) const LABEL: &str = "internal.serving.kserve.io/localmodel";
/// The annotation of services that use none.
pub(crate) const DISABLED: &str = "serving.kserve.io/disable-localmodel";

/// Whether the copy of a model has what a URI names: the model, or a part of it.
pub(crate) fn has(model: &str, uri: &str) -> bool {
    let below = uri.trim_end_matches('/').strip_prefix(model.trim_end_matches('/'));
    // A whole path component: `s3://b/a` does not have `s3://b/ab`.
    below.is_some_and(|below| below.is_empty() || below.starts_with('/'))
}

#[cfg(test)]
mod tests {
    #[test]
    fn a_copy_has_the_model_and_what_is_below_it() {
        for (model, uri, expected) in [
            ("hf://a/b", "hf://a/b", true),
            ("hf://a/b/", "hf://a/b", true),
            ("hf://a/b", "hf://a/b/", true),
            ("s3://b/a", "s3://b/a/c", true),
            ("s3://b/a", "s3://b/ab", false),
            ("s3://b/a", "s3://b", false),
        ] {
            assert_eq!(super::has(model, uri), expected, "{model} {uri}");
        }
    }
}
