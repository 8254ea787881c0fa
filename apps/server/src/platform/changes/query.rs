//! Question for the changes of a list.

use deserr::Deserr;
use kontor_kernel::listing::Sort;
use kontor_kernel::{ChangeCursor, ChangeService, ChangedList, Changes, CursorRefusal, Listing, Staff, Violations};
use utoipa::IntoParams;

use crate::http::ApiError;
use crate::http::paging::{PageSize, page_of};
use crate::http::wire::{self, InputErrors};

/// Place at which to begin, or to go on.
#[derive(Deserr, IntoParams)]
#[deserr(error = InputErrors, deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(super) struct ChangesQuery {
    /// Records that changed at this moment or later, and some that changed up to two minutes before. Without it, all records.
    #[deserr(default)]
    #[param(value_type = Option<String>, format = DateTime)]
    updated_since: Option<wire::Moment>,
    /// `next_cursor` of the answer before. Takes the place of `updated_since`.
    #[deserr(default)]
    #[param(value_type = Option<String>)]
    cursor: Option<wire::Line250>,
    /// At most 100, without it 100.
    #[deserr(default)]
    #[param(value_type = Option<i64>, minimum = 1, maximum = 100)]
    per_page: Option<PageSize>,
}

impl ChangesQuery {
    /// The changes of the list, and the page of the records that are there.
    pub(super) async fn read(
        &self,
        staff: &Staff,
        service: &ChangeService,
        list: ChangedList,
    ) -> Result<(Changes, Option<Listing>), ApiError> {
        let page = page_of(None, self.per_page.as_ref(), 100)?;
        let limit = u32::try_from(page.limit()).unwrap_or(u32::MAX);
        let changes = match (&self.cursor, &self.updated_since) {
            (None, since) => service.since(staff, list, since.as_ref().map(|since| since.0), limit).await?,
            (Some(cursor), None) => service.after(staff, list, place(cursor)?, limit).await?,
            (Some(_), Some(_)) => {
                return Err(ApiError::invalid("updated_since", "must be left out when there is a cursor"));
            }
        };
        let listing = (!changes.changed.is_empty())
            .then(|| Listing::everything(Sort::ascending("id"), page).among("id", changes.changed.iter().copied()));
        Ok((changes, listing))
    }
}

fn place(cursor: &wire::Line250) -> Result<ChangeCursor, Violations> {
    cursor.0.parse().map_err(|refusal: CursorRefusal| Violations::one("cursor", refusal))
}
