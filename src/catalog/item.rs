//! What a catalog is built from.

use crate::api::{
    AcceleratorClass, ClusterQueue, FineTunedWeight, LocalQueue, Model, ModelServing, Object,
    PerReading, ResourceFlavor, Runtime, Views,
};

/// One typed object.
#[derive(Clone)]
pub enum Item {
    /// A model.
    Model(Box<Model>),
    /// A runtime.
    Runtime(Box<Runtime>),
    /// A fine-tuned weight.
    Weight(Box<FineTunedWeight>),
    /// A service.
    Service(Box<Views>),
    /// A ModelServing.
    ModelServing(Box<ModelServing>),
    /// An accelerator class.
    AcceleratorClass(Box<PerReading<AcceleratorClass>>),
    /// A node.
    Node(Object),
    /// A flavor of Kueue.
    Flavor(Box<ResourceFlavor>),
    /// A ClusterQueue.
    ClusterQueue(Box<ClusterQueue>),
    /// A LocalQueue.
    LocalQueue(Box<LocalQueue>),
    /// An object that is kept without an index.
    Other(Object),
}

impl Item {
    /// Whether an operator decides and renders it.
    pub fn is_planned(&self) -> bool {
        matches!(self, Self::Service(_) | Self::ModelServing(_))
    }

    /// The object.
    pub fn object(&self) -> &Object {
        match self {
            Self::Model(model) => &model.object,
            Self::Runtime(runtime) => &runtime.object,
            Self::Weight(weight) => &weight.object,
            Self::Service(views) => &views.documented.object,
            Self::ModelServing(serving) => &serving.object,
            Self::AcceleratorClass(views) => &views.documented.object,
            Self::Flavor(flavor) => &flavor.object,
            Self::ClusterQueue(queue) => &queue.object,
            Self::LocalQueue(queue) => &queue.object,
            Self::Node(object) | Self::Other(object) => object,
        }
    }
}
