//! `kontor tag`: tags for the items of a project. The API lists them, but cannot add one.

use std::sync::Arc;

use clap::Subcommand;
use kontor_catalog::TagService;
use kontor_catalog::model::{PhotoUrl, Tag, TagDraft};
use kontor_kernel::Name;
use serde_json::json;

use super::operate::open_migrated;
use super::process::OfProject;
use super::{Failure, process};
use crate::adapters::SystemClock;
use crate::config::{Config, ConfigError};

/// Subcommands of `kontor tag`.
#[derive(Subcommand)]
pub enum TagCommand {
    /// Add a tag to a project.
    Create {
        #[command(flatten)]
        place: OfProject,
        /// Name, unique in the project regardless of case.
        #[arg(long)]
        name: String,
        /// URL of a picture.
        #[arg(long, value_name = "URL")]
        photo: Option<String>,
    },
    /// List the tags of a project.
    List {
        #[command(flatten)]
        place: OfProject,
    },
}

/// Runs the command.
pub fn run(
    load: impl FnOnce(Option<String>) -> Result<Config, ConfigError>,
    command: TagCommand,
) -> Result<(), Failure> {
    let (place, draft) = match command {
        TagCommand::Create { place, name, photo } => {
            let name = Name::parse(&name).map_err(|error| format!("--name {error}"))?;
            let photo = photo.map(|photo| PhotoUrl::parse(&photo)).transpose();
            (place, Some(TagDraft { name, photo: photo.map_err(|error| format!("--photo {error}"))? }))
        }
        TagCommand::List { place } => (place, None),
    };
    let project = place.project()?;
    let database = open_migrated(&load(place.output.database)?)?;
    let service = TagService { tags: Arc::new(database), clock: Arc::new(SystemClock) };
    let tags = process::runtime()?.block_on(async {
        match draft {
            Some(draft) => service.add(project, draft).await.map(|tag| vec![tag]),
            None => service.of_project(project).await,
        }
    })?;
    for tag in tags {
        let Tag { id, name, photo, .. } = tag;
        if place.output.json {
            let photo = photo.map(String::from);
            println!("{}", json!({ "tag_id": id.get(), "name": name.as_str(), "photo": photo }));
        } else {
            println!("{:>6}  {}", id.get(), name);
        }
    }
    Ok(())
}
