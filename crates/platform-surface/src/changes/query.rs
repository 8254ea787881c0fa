//! Query parameters of changes of a list.

use deserr::Deserr;
use kontor_kernel::listing::Sort;
use kontor_kernel::{ChangeCursor, ChangeService, ChangedList, Changes, CursorRefusal, Listing, Staff, Violations};
use utoipa::IntoParams;

use kontor_web::ApiError;
use kontor_web::paging::{PageSize, page_of};
use kontor_web::wire::{self, InputErrors};

/// Start position and page size.
#[derive(Deserr, IntoParams)]
#[deserr(error = InputErrors, deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(super) struct ChangesQuery {
    /// Returns records changed at this time or later. Some records changed up to two minutes earlier may be included.
    /// Without it, all records are returned.
    #[deserr(default)]
    #[param(value_type = Option<String>, format = DateTime)]
    updated_since: Option<wire::Moment>,
    /// `next_cursor` of the previous response. `updated_since` must be left out then.
    #[deserr(default)]
    #[param(value_type = Option<String>)]
    cursor: Option<wire::Line250>,
    /// At most 100, 100 by default.
    #[deserr(default)]
    #[param(value_type = Option<i64>, minimum = 1, maximum = 100)]
    per_page: Option<PageSize>,
}

impl ChangesQuery {
    /// Reads the changes of the list, and the records that still exist.
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
                return Err(ApiError::invalid("updated_since", "must not be sent together with a cursor"));
            }
        };
        let listing = (!changes.changed.is_empty())
            .then(|| Listing::unfiltered(Sort::ascending("id"), page).among("id", changes.changed.iter().copied()));
        Ok((changes, listing))
    }
}

fn place(cursor: &wire::Line250) -> Result<ChangeCursor, Violations> {
    cursor.0.parse().map_err(|refusal: CursorRefusal| Violations::single("cursor", refusal))
}
