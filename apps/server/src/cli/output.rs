//! Options of commands that read the database and print.

use clap::Args;

// Without a doc comment: it would appear in the help of the commands.
#[derive(Args, Clone)]
pub struct Output {
    /// Print JSON.
    #[arg(long)]
    pub json: bool,
    /// Database.
    #[arg(long)]
    pub database: Option<String>,
}
