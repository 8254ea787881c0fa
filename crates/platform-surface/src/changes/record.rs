//! Response with the changes of a list.

use chrono::{DateTime, Utc};
use kontor_kernel::Changes;
use serde::Serialize;
use utoipa::ToSchema;

use crate::customers::StaffCustomerRecord;
use crate::inventories::InventoryRecord;
use crate::nomenclatures::NomenclatureRecord;
use crate::orders::StaffOrder;
use crate::subscriptions::StaffSubscription;

/// Defines the response of one record type: `changed_records!(ChangedOrders [StaffOrder]);`.
macro_rules! changed_records {
    ($name:ident [$record:ty]) => {
        /// Part of the changes of a list.
        #[derive(Serialize, ToSchema)]
        pub(super) struct $name {
            /// Current records, ordered by the time of change, oldest first.
            data: Vec<$record>,
            /// Ids of deleted records.
            deleted: Vec<i64>,
            /// Cursor of the next request. Send it at once if `has_more` is `true`, otherwise at the next check.
            next_cursor: String,
            /// `true` if more changes are available now.
            has_more: bool,
            /// Deletions before this time are not reported.
            deletions_since: DateTime<Utc>,
        }

        impl $name {
            /// Builds the response. `records` may be in any order. Records deleted in the meantime are missing and are
            /// reported with the next part.
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
