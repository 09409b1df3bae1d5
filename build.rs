//! Compiles the protos without protoc and keeps the descriptor set for reflection.

use std::path::PathBuf;
use std::{env, fs};

use prost::Message as _;

#[expect(
    clippy::disallowed_methods,
    reason = "where the output goes, cargo says in the environment"
)]
fn main() -> Result<(), Box<dyn std::error::Error>> {
    println!("cargo:rerun-if-changed=proto");
    let protos = ["parlor/v1/catalog.proto", "parlor/v1/matches.proto"];
    let descriptors = protox::compile(protos, ["proto"])?;
    let out = PathBuf::from(env::var("OUT_DIR")?);
    fs::write(out.join("parlor.v1.descriptors.bin"), descriptors.encode_to_vec())?;
    tonic_prost_build::configure().compile_fds(descriptors)?;
    Ok(())
}
