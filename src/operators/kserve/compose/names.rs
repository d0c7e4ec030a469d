//! Names that KServe gives to containers, and where it puts models.

/// The container that serves.
pub(crate) const MAIN: &str = crate::api::SERVING_CONTAINER;
/// A transformer in the predictor's own pod.
pub(crate) const TRANSFORMER: &str = "transformer-container";
/// Container of workers.
pub(crate) const WORKER: &str = "worker-container";
/// The init container that fetches.
pub(super) const INITIALIZER: &str = "storage-initializer";
/// The default path of a model.
pub(super) const MODELS: &str = "/mnt/models";
