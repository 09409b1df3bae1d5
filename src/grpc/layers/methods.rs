//! The methods of this server, by their paths: what a call is named in logs and traces, whatever
//! its caller wrote.

use std::collections::HashMap;
use std::sync::LazyLock;

use prost::Message as _;
use prost_types::FileDescriptorSet;

use crate::proto;

/// One method.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Method {
    /// Service and method, as in `parlor.v1.MatchService/SubmitAction`.
    pub name: String,
    /// Whether its answer is a stream.
    pub streams: bool,
    /// Whether its request is a stream.
    pub asks_in_a_stream: bool,
}

impl Method {
    /// The method that is called by this path; one that stands for all others, if there is none.
    pub(super) fn of(path: &str) -> &'static Self {
        let name = path.strip_prefix('/').unwrap_or(path);
        METHODS.get(name).unwrap_or(&OTHER)
    }
}

static METHODS: LazyLock<HashMap<String, Method>> = LazyLock::new(|| {
    let sets = [
        proto::DESCRIPTORS,
        tonic_health::pb::FILE_DESCRIPTOR_SET,
        tonic_reflection::pb::v1::FILE_DESCRIPTOR_SET,
        tonic_reflection::pb::v1alpha::FILE_DESCRIPTOR_SET,
    ];
    let methods = sets.into_iter().flat_map(methods);
    methods.map(|method| (method.name.clone(), method)).collect()
});

static OTHER: LazyLock<Method> =
    LazyLock::new(|| Method { name: "_OTHER".to_owned(), streams: false, asks_in_a_stream: false });

fn methods(descriptors: &[u8]) -> Vec<Method> {
    let set = FileDescriptorSet::decode(descriptors).expect("our own descriptors can be read");
    let services = set.file.iter().flat_map(|file| {
        file.service
            .iter()
            .map(|service| (format!("{}.{}", file.package(), service.name()), service))
    });
    let methods = services.flat_map(|(name, service)| {
        service.method.iter().map(move |method| Method {
            name: format!("{name}/{}", method.name()),
            streams: method.server_streaming(),
            asks_in_a_stream: method.client_streaming(),
        })
    });
    methods.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_leads_to_a_method_of_this_server_or_to_the_one_for_all_others() {
        let submit = Method::of("/parlor.v1.MatchService/SubmitAction");
        assert_eq!(submit.name, "parlor.v1.MatchService/SubmitAction");
        assert!(!submit.streams);
        let stream = Method::of("/parlor.v1.MatchService/StreamView");
        assert!(stream.streams && !stream.asks_in_a_stream);
        let reflection = "/grpc.reflection.v1.ServerReflection/ServerReflectionInfo";
        assert!(Method::of(reflection).asks_in_a_stream);
        assert_eq!(Method::of("/grpc.health.v1.Health/Check").name, "grpc.health.v1.Health/Check");
        for path in ["", "/", "/parlor.v1.MatchService/Cheat", "/admin?token=secret"] {
            assert_eq!(Method::of(path).name, "_OTHER", "{path}");
        }
    }
}
