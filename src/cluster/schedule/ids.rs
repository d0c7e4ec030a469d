//! Ids of nodes, pods and templates within one scheduler.

macro_rules! id {
    ($(#[$doc:meta])* $visibility:vis $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        $visibility struct $name(u32);

        impl $name {
            /// The id with this index. More than 2^32 objects do not fit in memory.
            pub(super) fn new(index: usize) -> Self {
                Self(u32::try_from(index).unwrap_or(u32::MAX))
            }

            /// Its place in a list.
            $visibility fn index(self) -> usize {
                self.0 as usize
            }
        }
    };
}

id! {
    /// A node.
    pub NodeId
}
id! {
    /// A pod.
    pub PodId
}
id! {
    /// A template of pods.
    pub TemplateId
}
id! {
    /// Pods that are placed whole or not at all.
    pub(super) GangId
}
id! {
    /// Labels with a namespace.
    pub(super) LabelSetId
}
id! {
    /// Pods that meet some conditions.
    pub(super) SelectorId
}
