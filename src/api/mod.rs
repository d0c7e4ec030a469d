//! Typed views of models, runtimes, services and nodes, independent of the operator that reads
//! them.
//!
//! In: trees of [`crate::yaml`]. Out: typed views whose every value keeps its origin. This module
//! does not read field names from files (each operator does) and makes no decision.

mod accelerator;
mod config;
mod edit;
mod failure;
pub(crate) mod fields;
pub(crate) mod ingress;
mod kueue;
mod mode;
mod model;
mod model_serving;
mod object;
mod reading;
mod release;
mod runtime;
mod service;
pub mod serving_names;
mod version;
mod webhook;

pub use accelerator::{
    AcceleratorAnnotations, AcceleratorClass, AcceleratorConfiguration, AcceleratorRequirements,
    AcceleratorSelector, AcceleratorWish, Capabilities, ClassResource, Constraints, Cost,
    Discovery, Figure, PreferenceCondition, PreferenceEntry, RuntimeConfigurations,
};
pub use config::{
    Amounts, CollectorConfig, CredentialConfig, GPU_TYPES, ImageConfig, IngressConfig,
    KSERVE_DISALLOWED, KServeConfig, KnativeDomain, LlmConfig, LlmPlaces, LoggerStore, ModelImages,
    NEWEST_PROBER, OperatorConfig, ProxyConfig, WvaConfig,
};
pub use edit::{FieldEdit, Today};
pub use failure::Failure;
pub use kueue::{
    ClusterQueue, FlavorQuotas, LocalQueue, ResourceFlavor, ResourceGroup, ResourceQuota,
};
pub use mode::DeploymentMode;
pub use model::{
    COMPARED, Completed, Completion, Diffusion, DiffusionPart, Evidence, FineTunedWeight, Model,
    NamedVersion, Size,
};
pub use model_serving::{
    Booster, Budget, GangPolicy, ModelServing, Plugin, PodTemplate, RecoveryPolicy, Role,
    RolloutType, Topology,
};
pub(crate) use object::was_in_cluster;
pub use object::{Api, Field, Object, ObjectRef, SET_BY_SERVER, Scope, Template, name_of_shown};
pub use reading::{PerReading, Views};
pub use release::{Knowledge, Release, Semantics};
pub use runtime::{
    DecodedConfigs, FormatEntry, Runtime, SERVING_CONTAINER, SizeRange, model_container,
};
pub use service::{
    Component, ComponentKind, InlineModel, ModelLookup, ModelRef, Predictor, RuntimeRef, Service,
};
pub use version::Version;
pub use webhook::is_about_creation;
