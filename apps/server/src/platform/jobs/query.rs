//! Which jobs are asked for.

use std::borrow::Cow;

use deserr::Deserr;
use kontor_catalog::bulk::{JobFilter, JobKind, JobState};
use kontor_kernel::{PageRequest, Violations};
use utoipa::IntoParams;
use utoipa::openapi::ObjectBuilder;
use utoipa::openapi::schema::Type;

use crate::http::paging::{PageNumber, PageSize, page_of};
use crate::http::wire::{In, InputErrors, Many, Scalar, WireValue};

macro_rules! wire_names {
    ($($type:ident;)+) => {$(
        impl WireValue for $type {
            fn from_scalar(scalar: Scalar) -> Result<Self, String> {
                let named = if let Scalar::Text(text) = &scalar { Self::named(text) } else { None };
                named.ok_or_else(|| Self::expected().into_owned())
            }

            fn expected() -> Cow<'static, str> {
                Cow::Owned(format!("must be one of {}", Self::ALL.map(Self::name).join(", ")))
            }

            fn schema_name() -> Cow<'static, str> {
                Cow::Borrowed(stringify!($type))
            }

            fn schema() -> ObjectBuilder {
                ObjectBuilder::new().schema_type(Type::String).enum_values(Some(Self::ALL.map(Self::name)))
            }
        }
    )+};
}

wire_names! {
    JobKind;
    JobState;
}

/// Filters and page of the list of jobs.
#[derive(Deserr, IntoParams)]
#[deserr(error = InputErrors, deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(super) struct JobQuery {
    /// `nomenclatures_import` or `inventories_upload`; one may be given without the brackets, too.
    #[deserr(default)]
    #[param(rename = "kind[]", value_type = Option<Vec<String>>)]
    kind: Many<In<JobKind>>,
    /// `queued`, `running`, `succeeded`, `failed` or `canceled`; one may be given without the brackets, too.
    #[deserr(default)]
    #[param(rename = "status[]", value_type = Option<Vec<String>>)]
    status: Many<In<JobState>>,
    #[deserr(default)]
    #[param(inline)]
    page: Option<PageNumber>,
    /// 15 by default.
    #[deserr(default)]
    #[param(inline)]
    per_page: Option<PageSize>,
}

impl JobQuery {
    /// The page asked for.
    pub(super) fn page(&self) -> Result<PageRequest, Violations> {
        page_of(self.page.as_ref(), self.per_page.as_ref(), 15)
    }
}

impl From<JobQuery> for JobFilter {
    fn from(query: JobQuery) -> Self {
        Self {
            kinds: query.kind.0.into_iter().map(|kind| kind.0).collect(),
            states: query.status.0.into_iter().map(|state| state.0).collect(),
        }
    }
}
