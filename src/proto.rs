//! The generated messages and services of `proto/parlor/v1`.

#![expect(
    clippy::allow_attributes,
    clippy::allow_attributes_without_reason,
    clippy::default_trait_access,
    clippy::doc_markdown,
    clippy::missing_errors_doc,
    clippy::struct_excessive_bools,
    clippy::too_many_lines,
    reason = "generated; the protos hold the documentation"
)]

tonic::include_proto!("parlor.v1");

/// All descriptors, for server reflection.
pub const DESCRIPTORS: &[u8] =
    include_bytes!(concat!(env!("OUT_DIR"), "/parlor.v1.descriptors.bin"));
