//! Asking what a write would do.

use deserr::Deserr;
use utoipa::IntoParams;

use super::wire::{self, InputErrors};

/// The query of a write that can be tried out.
#[derive(Deserr, IntoParams)]
#[deserr(error = InputErrors, deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct DryRun {
    /// `1` answers with what the call would do, and writes nothing.
    #[deserr(default)]
    #[param(value_type = Option<bool>)]
    dry_run: Option<wire::Flag>,
}

impl DryRun {
    /// Whether nothing is to be written.
    pub fn is_set(&self) -> bool {
        self.dry_run.as_ref().is_some_and(|flag| flag.0)
    }
}
