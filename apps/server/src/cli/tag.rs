//! `kontor tag`: the tags that items of a project may carry. The API lists them and has no way to add one.

use std::sync::Arc;

use clap::{Args, Subcommand};
use kontor_catalog::TagService;
use kontor_catalog::model::{PhotoUrl, Tag, TagDraft};
use kontor_kernel::{Name, ProjectId};
use serde_json::json;

use super::operate::open_migrated;
use super::output::Output;
use super::{Failure, process};
use crate::adapters::SystemClock;
use crate::config::{Config, ConfigError};

/// What can be done with tags.
#[derive(Subcommand)]
pub enum TagCommand {
    /// Adds a tag to a project.
    Create {
        #[command(flatten)]
        place: Place,
        /// Its name, unique in the project in any case.
        #[arg(long)]
        name: String,
        /// The address of a picture.
        #[arg(long, value_name = "URL")]
        photo: Option<String>,
    },
    /// The tags of a project.
    List {
        #[command(flatten)]
        place: Place,
    },
}

/// Whose tags.
#[derive(Args)]
pub struct Place {
    /// The project.
    #[arg(long)]
    project: i64,
    #[command(flatten)]
    output: Output,
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
    let project = ProjectId::new(place.project).map_err(|error| format!("--project {error}"))?;
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
