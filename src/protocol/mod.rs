//! Inference protocols: the endpoints of a service, and their requests.
//!
//! In: facts about a service (protocol, model, hosts) or the text of a payload. Out: rows of
//! endpoints, the messages of the gRPC service, and findings about payloads. This module must not
//! open connections and makes no decision about a service.

mod grpc;
mod hosts;
pub mod payload;
mod served_name;
mod skeleton;
mod tables;

pub use grpc::{GrpcEndpoint, Proto, grpc, proto};
pub use hosts::{Entrance, Entry, entry};
pub use served_name::served_model;
pub use tables::{Endpoint, Facts, endpoints};

use serde::Serialize;
use std::fmt;

/// A protocol of a service. KServe and OME use different names for the same protocols.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Protocol {
    /// KServe `v1`, OME `openInference-v1`: the TensorFlow V1 HTTP API.
    V1,
    /// KServe `v2`, OME `openInference-v2`: the open inference protocol over REST.
    V2,
    /// KServe `grpc-v1`: the prediction service of TensorFlow Serving, which KServe does not
    /// define.
    GrpcV1,
    /// KServe `grpc-v2`: the open inference protocol over gRPC.
    GrpcV2,
    /// OME `openAI`.
    OpenAi,
    /// OME `cohere`; no document defines its paths.
    Cohere,
}

impl Protocol {
    /// All of them, in the order of their numbers.
    pub const ALL: [Self; 6] =
        [Self::V1, Self::V2, Self::GrpcV1, Self::GrpcV2, Self::OpenAi, Self::Cohere];

    /// Returns the protocol of a KServe or OME name, compared exactly (KServe 0.10 docs, Open
    /// Inference Protocol).
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL
            .into_iter()
            .find(|protocol| name == protocol.kserve_name() || Some(name) == protocol.ome_name())
    }

    /// Returns its name in a KServe object, or in an OME object if KServe does not have the
    /// protocol.
    pub fn kserve_name(self) -> &'static str {
        match self {
            Self::V1 => "v1",
            Self::V2 => "v2",
            Self::GrpcV1 => "grpc-v1",
            Self::GrpcV2 => "grpc-v2",
            Self::OpenAi => "openAI",
            Self::Cohere => "cohere",
        }
    }

    /// Returns its name in an OME object, if it has one.
    fn ome_name(self) -> Option<&'static str> {
        match self {
            Self::V1 => Some("openInference-v1"),
            Self::V2 => Some("openInference-v2"),
            Self::OpenAi => Some("openAI"),
            Self::Cohere => Some("cohere"),
            Self::GrpcV1 | Self::GrpcV2 => None,
        }
    }
}

impl fmt::Display for Protocol {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.kserve_name())
    }
}

impl Serialize for Protocol {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.kserve_name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // KServe 0.10 docs, Data Plane and Open Inference Protocol; OME docs, Serving Runtime, Core
    // Configuration; docs/decisions.md#protocols.
    #[test]
    fn names_are_compared_exactly() {
        for (name, expected) in [
            ("v1", Some(Protocol::V1)),
            ("v2", Some(Protocol::V2)),
            ("grpc-v1", Some(Protocol::GrpcV1)),
            ("grpc-v2", Some(Protocol::GrpcV2)),
            ("openAI", Some(Protocol::OpenAi)),
            ("openInference-v1", Some(Protocol::V1)),
            ("openInference-v2", Some(Protocol::V2)),
            ("cohere", Some(Protocol::Cohere)),
            ("V2", None),
            ("openai", None),
            ("", None),
        ] {
            assert_eq!(Protocol::named(name), expected, "{name}");
        }
    }
}
