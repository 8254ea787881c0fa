use std::error::Error;

use openapi_to_rust::{CodeGenerator, GeneratorConfig, SchemaAnalyzer};

/// Writes `src/kontor`. The folder is a copy that `.ci/run` makes.
fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo::rerun-if-changed=openapi.json");
    let mut analysis = SchemaAnalyzer::new(serde_json::from_str(&std::fs::read_to_string("openapi.json")?)?)?.analyze()?;
    let generator = CodeGenerator::new(GeneratorConfig {
        output_dir: "src/kontor".into(),
        enable_async_client: true,
        enable_sse_client: false,
        tracing_enabled: false,
        ..GeneratorConfig::default()
    });
    let files = generator.generate_all(&mut analysis)?;
    Ok(generator.write_files(&files)?)
}
