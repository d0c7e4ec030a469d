//! The gRPC service of the open inference protocol: its rpcs and messages with their field numbers
//! (KServe 0.10 docs, Open Inference Protocol, gRPC; docs/decisions.md#inference-protocol).

use serde::Serialize;

/// Full name of the service.
const GRPC_SERVICE: &str = "inference.GRPCInferenceService";

/// A field of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Field {
    /// Name, as in the proto file.
    pub name: &'static str,
    /// Field number.
    pub number: u32,
    /// Type without package: `repeated string`, `map<string, InferParameter>`.
    pub r#type: &'static str,
}

/// A message. Nested messages follow the message that contains them, under their own name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Message {
    /// Name without package.
    pub name: &'static str,
    /// Fields by number; the members of a oneof are fields.
    pub fields: &'static [Field],
}

/// A remote procedure of the service.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Rpc {
    /// Name.
    pub name: &'static str,
    /// Message it takes.
    pub request: &'static str,
    /// Message it returns.
    pub response: &'static str,
}

/// The output of `--proto`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Proto {
    /// Full name of the service.
    pub service: &'static str,
    /// Its rpcs, in the order of the definition.
    pub rpcs: &'static [Rpc],
    /// All messages.
    pub messages: &'static [Message],
}

/// Address of a gRPC service.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct GrpcEndpoint {
    /// Host name.
    pub host: String,
    /// Port.
    pub port: u16,
    /// Full name of the service.
    pub service: &'static str,
    /// Names of its rpcs, in the order of the definition.
    pub rpcs: Vec<&'static str>,
}

/// Returns the endpoint of a service with gRPC.
pub fn grpc(host: impl Into<String>, port: u16) -> GrpcEndpoint {
    GrpcEndpoint {
        host: host.into(),
        port,
        service: GRPC_SERVICE,
        rpcs: RPCS.iter().map(|rpc| rpc.name).collect(),
    }
}

/// Returns the service definition.
pub fn proto() -> &'static Proto {
    &PROTO
}

static PROTO: Proto = Proto { service: GRPC_SERVICE, rpcs: &RPCS, messages: &MESSAGES };

const fn rpc(name: &'static str, request: &'static str, response: &'static str) -> Rpc {
    Rpc { name, request, response }
}

/// The rpcs of the service. The table of the document omits ServerMetadata, its definition includes
/// it (KServe 0.10 docs, Open Inference Protocol, gRPC; docs/decisions.md#inference-protocol).
static RPCS: [Rpc; 6] = [
    rpc("ServerLive", "ServerLiveRequest", "ServerLiveResponse"),
    rpc("ServerReady", "ServerReadyRequest", "ServerReadyResponse"),
    rpc("ModelReady", "ModelReadyRequest", "ModelReadyResponse"),
    rpc("ServerMetadata", "ServerMetadataRequest", "ServerMetadataResponse"),
    rpc("ModelMetadata", "ModelMetadataRequest", "ModelMetadataResponse"),
    rpc("ModelInfer", "ModelInferRequest", "ModelInferResponse"),
];

const fn field(name: &'static str, number: u32, r#type: &'static str) -> Field {
    Field { name, number, r#type }
}

const PARAMETERS: &str = "map<string, InferParameter>";

/// The two fields that identify a model in every request about one.
const NAME_AND_VERSION: &[Field] = &[field("name", 1, "string"), field("version", 2, "string")];

/// Fields of a tensor with contents, the same in requests and responses.
const TENSOR: &[Field] = &[
    field("name", 1, "string"),
    field("datatype", 2, "string"),
    field("shape", 3, "repeated int64"),
    field("parameters", 4, PARAMETERS),
    field("contents", 5, "InferTensorContents"),
];

static MESSAGES: [Message; 18] = [
    Message { name: "ServerLiveRequest", fields: &[] },
    Message { name: "ServerLiveResponse", fields: &[field("live", 1, "bool")] },
    Message { name: "ServerReadyRequest", fields: &[] },
    Message { name: "ServerReadyResponse", fields: &[field("ready", 1, "bool")] },
    Message { name: "ModelReadyRequest", fields: NAME_AND_VERSION },
    Message { name: "ModelReadyResponse", fields: &[field("ready", 1, "bool")] },
    Message { name: "ServerMetadataRequest", fields: &[] },
    Message {
        name: "ServerMetadataResponse",
        fields: &[
            field("name", 1, "string"),
            field("version", 2, "string"),
            field("extensions", 3, "repeated string"),
        ],
    },
    Message { name: "ModelMetadataRequest", fields: NAME_AND_VERSION },
    Message {
        name: "ModelMetadataResponse",
        fields: &[
            field("name", 1, "string"),
            field("versions", 2, "repeated string"),
            field("platform", 3, "string"),
            field("inputs", 4, "repeated TensorMetadata"),
            field("outputs", 5, "repeated TensorMetadata"),
        ],
    },
    Message {
        name: "TensorMetadata",
        fields: &[
            field("name", 1, "string"),
            field("datatype", 2, "string"),
            field("shape", 3, "repeated int64"),
        ],
    },
    Message {
        name: "ModelInferRequest",
        fields: &[
            field("model_name", 1, "string"),
            field("model_version", 2, "string"),
            field("id", 3, "string"),
            field("parameters", 4, PARAMETERS),
            field("inputs", 5, "repeated InferInputTensor"),
            field("outputs", 6, "repeated InferRequestedOutputTensor"),
            field("raw_input_contents", 7, "repeated bytes"),
        ],
    },
    Message { name: "InferInputTensor", fields: TENSOR },
    Message {
        name: "InferRequestedOutputTensor",
        fields: &[field("name", 1, "string"), field("parameters", 2, PARAMETERS)],
    },
    Message {
        name: "ModelInferResponse",
        fields: &[
            field("model_name", 1, "string"),
            field("model_version", 2, "string"),
            field("id", 3, "string"),
            field("parameters", 4, PARAMETERS),
            field("outputs", 5, "repeated InferOutputTensor"),
            field("raw_output_contents", 6, "repeated bytes"),
        ],
    },
    Message { name: "InferOutputTensor", fields: TENSOR },
    Message {
        name: "InferParameter",
        fields: &[
            field("bool_param", 1, "bool"),
            field("int64_param", 2, "int64"),
            field("string_param", 3, "string"),
        ],
    },
    Message {
        name: "InferTensorContents",
        fields: &[
            field("bool_contents", 1, "repeated bool"),
            field("int_contents", 2, "repeated int32"),
            field("int64_contents", 3, "repeated int64"),
            field("uint_contents", 4, "repeated uint32"),
            field("uint64_contents", 5, "repeated uint64"),
            field("fp32_contents", 6, "repeated float"),
            field("fp64_contents", 7, "repeated double"),
            field("bytes_contents", 8, "repeated bytes"),
        ],
    },
];

#[cfg(test)]
mod tests {
    use super::*;

    fn named(name: &str) -> &'static Message {
        MESSAGES
            .iter()
            .find(|message| message.name == name)
            .unwrap_or_else(|| panic!("{name} is no message"))
    }

    // KServe 0.10 docs, Open Inference Protocol, gRPC; docs/decisions.md#inference-protocol.
    #[test]
    fn grpc_types_are_all_defined_and_field_numbers_are_sequential() {
        let scalars =
            ["bool", "int32", "int64", "uint32", "uint64", "float", "double", "string", "bytes"];
        for message in &MESSAGES {
            for (position, field) in message.fields.iter().enumerate() {
                assert_eq!(field.number as usize, position + 1, "{}.{}", message.name, field.name);
                let inner = field.r#type.trim_start_matches("repeated ");
                let inner = inner
                    .strip_prefix("map<string, ")
                    .map_or(inner, |rest| rest.trim_end_matches('>'));
                assert!(
                    scalars.contains(&inner) || MESSAGES.iter().any(|other| other.name == inner),
                    "{inner}"
                );
            }
        }
        for rpc in &RPCS {
            assert_eq!(
                (rpc.request, rpc.response),
                (format!("{}Request", rpc.name).as_str(), format!("{}Response", rpc.name).as_str())
            );
            named(rpc.request);
            named(rpc.response);
        }
        assert_eq!(
            grpc("h", 9000).rpcs,
            [
                "ServerLive",
                "ServerReady",
                "ModelReady",
                "ServerMetadata",
                "ModelMetadata",
                "ModelInfer"
            ]
        );
    }
}
