//! `kontor openapi`

use std::path::PathBuf;

use super::Failure;
use crate::service::openapi::{description, pinned_text};

/// Prints, writes or checks the description.
pub fn run(out: Option<PathBuf>, check: bool) -> Result<(), Failure> {
    let text = pinned_text(&description())?;
    if check {
        let file = out.unwrap_or_else(|| PathBuf::from("docs/openapi.json"));
        let pinned = std::fs::read_to_string(&file).map_err(|error| format!("{}: {error}", file.display()))?;
        if pinned != text {
            let path = file.display();
            return Err(format!("{path} differs from the code; run `kontor openapi --out {path}`").into());
        }
        println!("{} is up to date", file.display());
    } else if let Some(file) = out {
        std::fs::write(&file, text).map_err(|error| format!("{}: {error}", file.display()))?;
    } else {
        print!("{text}");
    }
    Ok(())
}
