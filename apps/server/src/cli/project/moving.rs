//! `kontor project move`

use std::path::Path;

use clap::Args;
use kontor_adapter_diesel::{DatabaseUrl, ProjectMoved};
use kontor_kernel::Clock as _;

use crate::adapters::SystemClock;
use crate::cli::Failure;
use crate::cli::operate::open_migrated;
use crate::cli::process::{self, Output};
use crate::config::{Config, ConfigError, database_url_in};

/// Settings of `kontor project move`.
#[derive(Args)]
pub struct MoveArguments {
    /// Id of the project.
    project: i64,
    /// PostgreSQL database to move it to: an address, or a configuration file with `database_url`. It must be migrated.
    #[arg(long, value_name = "DATABASE")]
    to: String,
    /// End a move that died, instead: the old database goes on without it.
    #[arg(long)]
    abort: bool,
    #[command(flatten)]
    output: Output,
}

/// Runs the command.
pub(super) fn run(
    load: impl FnOnce(Option<String>) -> Result<Config, ConfigError>,
    arguments: MoveArguments,
) -> Result<(), Failure> {
    let MoveArguments { project, to, abort, output } = arguments;
    let project = process::project(project)?;
    let config = load(output.database)?;
    let source = open_migrated(&config)?;
    let to = if to.parse::<DatabaseUrl>().is_ok() { to } else { database_url_in(Path::new(&to))? };
    let target = open_migrated(&Config { database_url: to.into(), ..config })?;
    let runtime = process::runtime()?;
    if abort {
        let was_begun = runtime.block_on(source.abort_project_move(&target, project))?;
        if output.json {
            println!("{}", serde_json::json!({ "project_id": project.get(), "aborted": was_begun }));
        } else {
            println!("project_id  {project}");
            println!("aborted     {was_begun}");
        }
        return Ok(());
    }
    let moved = runtime.block_on(source.move_project(&target, project, SystemClock.now()))?;
    let ProjectMoved { rows, changes, frozen } = moved;
    let (frozen, target) = (u64::try_from(frozen.as_millis()).unwrap_or(u64::MAX), target.url().to_string());
    if output.json {
        let reported = serde_json::json!({
            "project_id": project.get(), "target": target, "rows": rows, "changes": changes, "frozen_ms": frozen,
        });
        println!("{reported}");
    } else {
        println!("project_id  {project}");
        println!("target      {target}");
        println!("rows        {rows}");
        println!("changes     {changes}");
        println!("frozen_ms   {frozen}");
    }
    Ok(())
}
