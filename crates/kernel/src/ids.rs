//! Identifiers: whole numbers from 1, with one type per record so that they cannot be confused.

use std::fmt;

use crate::Name;

/// Error: the number is not an identifier. Identifiers are whole numbers from 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("an identifier must be a whole number of at least 1")]
pub struct InvalidId;

macro_rules! ids {
    ($($(#[doc = $doc:literal])+ $name:ident;)+) => {$(
        $(#[doc = $doc])+
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize)]
        #[serde(try_from = "i64", into = "i64")]
        pub struct $name(i64);

        impl $name {
            /// Accepts a whole number of at least 1.
            pub const fn new(value: i64) -> Result<Self, InvalidId> {
                if value >= 1 { Ok(Self(value)) } else { Err(InvalidId) }
            }

            /// Returns the number.
            pub fn get(self) -> i64 {
                self.0
            }
        }

        impl TryFrom<i64> for $name {
            type Error = InvalidId;

            fn try_from(value: i64) -> Result<Self, InvalidId> {
                Self::new(value)
            }
        }

        impl From<$name> for i64 {
            fn from(id: $name) -> i64 {
                id.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.fmt(f)
            }
        }
    )+};
}

ids! {
    /// Project: the tenant that owns all data and access rights.
    ProjectId;
    /// Branch: business, legal entity or operating unit of a project.
    BranchId;
    /// Application: site, app or service of a project.
    ApplicationId;
    /// Employee.
    UserId;
    /// Role: named set of permissions.
    RoleId;
    /// Permission, of the service or defined by a project.
    PermissionId;
    /// Screen of the staff interface: groups the permissions of one resource.
    ScreenId;
    /// Department of a project.
    DepartmentId;
    /// Customer.
    CounterpartyId;
    /// Additional contact of a customer.
    CustomerContactId;
    /// Bank account of a customer or of a business.
    BankRequisiteId;
    /// Issued access token (the part before the `|`).
    TokenId;
    /// Client session: one continuous visit of a customer, from the first heartbeat to the last.
    ClientSessionId;
    /// Attempt of a customer to log in by calling a number.
    CallbackAttemptId;
    /// Catalog item: goods, service or subscription plan.
    NomenclatureId;
    /// Assignment of a subscription plan to an application.
    PlanAssignmentId;
    /// Category of the catalog.
    CategoryId;
    /// Brand.
    BrandId;
    /// Tag of catalog items.
    TagId;
    /// Country of the system-wide dictionary.
    CountryId;
    /// Storage unit of the system-wide dictionary.
    StorageUnitId;
    /// VAT rate of the system-wide dictionary.
    VatId;
    /// Type of catalog items, of the system-wide dictionary.
    NomenclatureTypeId;
    /// Entry of a system-wide dictionary.
    DictionaryItemId;
    /// Job: an import that runs in the background.
    JobId;
    /// Warehouse.
    WarehouseId;
    /// Stock level of one item in one warehouse.
    InventoryId;
    /// Integration of the system-wide dictionary.
    IntegrationId;
    /// Parameter of an integration, used by a record of a project.
    IntegrationParameterId;
    /// Discount or promo code.
    DiscountId;
    /// Promotion: a named campaign.
    PromotionId;
    /// Order.
    OrderId;
    /// Order line: reservation of one item for an order.
    ReservationId;
    /// Charge: one attempt to take money from a customer.
    ChargeId;
    /// Refund of a charge, in part or in full.
    RefundId;
    /// Refund of an order: money, and the units returned with it.
    OrderRefundId;
    /// Scan of tickets at the door.
    TicketScanId;
    /// Notification sent to a customer.
    NotificationId;
    /// Fiscal receipt.
    ReceiptId;
    /// Saved payment method of a customer.
    SavedMethodId;
    /// Subscription of a customer.
    SubscriptionId;
    /// Subscription payment: one attempt to charge a period.
    SubscriptionPaymentId;
    /// Attempt to save a payment method without a purchase.
    MethodBindingId;
    /// Verification of a customer by a payment.
    VerificationId;
    /// Search of a customer in a storefront.
    SearchRequestId;
    /// Slide of an application.
    SlideId;
    /// Delivery type; `1` is pickup from a shop, `2` is delivery.
    DeliveryTypeId;
    /// Delivery subtype; `1` is a pickup point, `2` is a courier to an address.
    DeliverySubtypeId;
    /// Parameter of a delivery subtype, such as a pickup point.
    DeliverySubtypeParamId;
    /// Payment type of a project.
    PaymentTypeId;
    /// Shop.
    ShopId;
    /// Webhook endpoint of an application.
    WebhookId;
    /// Delivery of one event to one webhook.
    DeliveryId;
    /// Uploaded file.
    FileId;
    /// Interval of the opening hours of a shop.
    ShopHoursId;
    /// Holiday of a shop.
    ShopHolidayId;
    /// Exceptional opening hours of a shop on one day.
    ShopExceptionId;
    /// Menu of the staff interface.
    StaffMenuId;
    /// Task of employees.
    TaskId;
    /// Content page of a project.
    PageId;
    /// Type of content pages, of the system-wide dictionary.
    PageTypeId;
    /// Tag of content pages.
    PageTagId;
    /// Block of an application's content.
    BlockId;
    /// Type of blocks, of the system-wide dictionary.
    BlockTypeId;
    /// Item of the menus of an application.
    MenuItemId;
}

/// Reference to another record, by identifier and name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reference<Id> {
    /// Identifier of the record.
    pub id: Id,
    /// Name.
    pub name: Name,
}

/// Identifier of a record that another one refers to, with its name as stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Named<Id> {
    /// Identifier of the record.
    pub id: Id,
    /// Name.
    pub name: String,
}

/// Unit in which goods are counted or measured, of the system-wide dictionary.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StorageUnit {
    /// Identifier of the unit.
    pub id: StorageUnitId,
    /// Name.
    pub name: Name,
    /// Abbreviation, such as `kg`.
    pub abbreviation: Name,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_identifier_is_at_least_one() {
        assert_eq!(OrderId::new(0), Err(InvalidId));
        assert_eq!(OrderId::new(-4), Err(InvalidId));
        assert_eq!(OrderId::new(7).unwrap().get(), 7);
        assert!(serde_json::from_str::<OrderId>("0").is_err());
    }
}
