//! What commands that read the database and print are told alike.

use clap::Args;

// Without a doc comment: it would stand in the help of the commands.
#[derive(Args, Clone)]
pub struct Output {
    /// Print JSON.
    #[arg(long)]
    pub json: bool,
    /// The database.
    #[arg(long)]
    pub database: Option<String>,
}
