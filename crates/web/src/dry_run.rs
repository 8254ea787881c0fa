//! Dry run of a write.

use deserr::Deserr;
use utoipa::IntoParams;

use super::wire::{self, InputErrors};

/// Query of a write that supports a dry run.
#[derive(Deserr, IntoParams)]
#[deserr(error = InputErrors, deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct DryRun {
    /// `1` returns the result of the call without writing anything.
    #[deserr(default)]
    #[param(value_type = Option<bool>)]
    dry_run: Option<wire::Flag>,
}

impl DryRun {
    /// Returns `true` if the request is a dry run.
    pub fn is_set(&self) -> bool {
        self.dry_run.as_ref().is_some_and(|flag| flag.0)
    }
}
