//! Answer with the changes of a list.

use chrono::{DateTime, Utc};
use kontor_kernel::Changes;
use serde::Serialize;
use utoipa::ToSchema;

use crate::platform::customers::StaffCustomerRecord;
use crate::platform::inventories::InventoryRecord;
use crate::platform::nomenclatures::NomenclatureRecord;
use crate::platform::orders::StaffOrder;
use crate::platform::subscriptions::StaffSubscription;

/// `changed_records!(ChangedOrders [StaffOrder]);`: part of the changes of a list.
macro_rules! changed_records {
    ($name:ident [$record:ty]) => {
        /// Part of the changes of a list.
        #[derive(Serialize, ToSchema)]
        pub(super) struct $name {
            /// Records as they are now, the one that changed first first.
            data: Vec<$record>,
            /// Ids of records that were deleted.
            deleted: Vec<i64>,
            /// Where to go on: at once if there is more, else at the next look.
            next_cursor: String,
            /// `true` if there are more changes now.
            has_more: bool,
            /// Deletions before this moment are not reported.
            deletions_since: DateTime<Utc>,
        }

        impl $name {
            /// The answer with these records, which come in whatever order. Of those that were deleted since, the next part
            /// tells.
            pub(super) fn new<R>(
                changes: Changes,
                mut records: Vec<R>,
                id: fn(&R) -> i64,
                record: impl Fn(R) -> $record,
            ) -> Self {
                records.sort_by_cached_key(|record| changes.changed.iter().position(|changed| *changed == id(record)));
                Self {
                    data: records.into_iter().map(record).collect(),
                    deleted: changes.deleted,
                    next_cursor: changes.next.to_string(),
                    has_more: changes.has_more,
                    deletions_since: changes.deletions_since,
                }
            }
        }
    };
}

changed_records!(ChangedCounterparties[StaffCustomerRecord]);
changed_records!(ChangedInventories[InventoryRecord]);
changed_records!(ChangedNomenclatures[NomenclatureRecord]);
changed_records!(ChangedOrders[StaffOrder]);
changed_records!(ChangedSubscriptions[StaffSubscription]);
