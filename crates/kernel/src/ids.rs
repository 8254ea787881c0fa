//! Identifiers: whole numbers from 1, one type per record so that they cannot be confused.

use std::fmt;

/// A number that cannot be an identifier: identifiers are whole numbers from 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("an identifier is a whole number of at least 1")]
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

            /// The number itself.
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
    /// A project: the top boundary of data and access of one owner.
    ProjectId;
    /// A branch: a business, legal entity or operating unit inside a project.
    BranchId;
    /// An application: one site, app or service inside a project.
    ApplicationId;
    /// An employee.
    UserId;
    /// A role: a named set of permissions.
    RoleId;
    /// A permission: of the service, or defined by a project.
    PermissionId;
    /// A screen of the staff interface: groups the permissions of one resource.
    ScreenId;
    /// A department of a project.
    DepartmentId;
    /// A customer.
    CounterpartyId;
    /// A way to reach a customer, noted beside their record.
    CustomerContactId;
    /// An account in a bank, noted beside the record it belongs to.
    BankRequisiteId;
    /// An issued access token (the part before the `|`).
    TokenId;
    /// One time a customer was there, from his first sign of life to his last.
    ClientSessionId;
    /// One attempt of a customer to log in by calling a number.
    CallbackAttemptId;
    /// A catalogue item: goods, service or subscription plan.
    NomenclatureId;
    /// An assignment of a subscription plan to an application.
    PlanAssignmentId;
    /// A category of the catalogue.
    CategoryId;
    /// A brand.
    BrandId;
    /// A tag of catalogue items.
    TagId;
    /// A country of the system-wide dictionary.
    CountryId;
    /// A storage unit of the system-wide dictionary.
    StorageUnitId;
    /// A VAT rate of the system-wide dictionary.
    VatId;
    /// A type of catalogue items, of the system-wide dictionary.
    NomenclatureTypeId;
    /// An entry of a system-wide dictionary.
    DictionaryItemId;
    /// A job: an import that runs in the background.
    JobId;
    /// A warehouse.
    WarehouseId;
    /// The stock of one item in one warehouse.
    InventoryId;
    /// An integration of the system-wide dictionary.
    IntegrationId;
    /// A parameter of an integration that a record of a project uses.
    IntegrationParameterId;
    /// A discount or promo code.
    DiscountId;
    /// A promotion: a named campaign.
    PromotionId;
    /// An order.
    OrderId;
    /// An order line: the claim of an order on one item.
    ReservationId;
    /// A charge: one attempt to take money from a customer.
    ChargeId;
    /// A refund of a charge, in part or in full.
    RefundId;
    /// What goes back of an order in one step: money, and with it goods.
    OrderRefundId;
    /// A scan of tickets at the door.
    TicketScanId;
    /// What a customer was told.
    NotificationId;
    /// A fiscal receipt on its way to the register.
    ReceiptId;
    /// A payment method that a customer has saved.
    SavedMethodId;
    /// A subscription of a customer.
    SubscriptionId;
    /// A payment of a subscription: one attempt to charge a period.
    SubscriptionPaymentId;
    /// One attempt to bind a payment method without a purchase.
    MethodBindingId;
    /// One verification of a customer by a payment.
    VerificationId;
    /// One search of a customer in a storefront.
    SearchRequestId;
    /// A slide of an application.
    SlideId;
    /// A delivery type; `1` is pickup from a shop, `2` is delivery.
    DeliveryTypeId;
    /// A delivery subtype; `1` is a pickup point, `2` is a courier to an address.
    DeliverySubtypeId;
    /// A parameter of a delivery subtype, such as a pickup point.
    DeliverySubtypeParamId;
    /// A payment type of a project.
    PaymentTypeId;
    /// A shop.
    ShopId;
    /// A webhook endpoint of an application.
    WebhookId;
    /// One delivery of one event to one webhook.
    DeliveryId;
    /// An uploaded file.
    FileId;
    /// An interval of the opening hours of a shop.
    ShopHoursId;
    /// A holiday of a shop.
    ShopHolidayId;
    /// Other hours of a shop on one day.
    ShopExceptionId;
    /// A menu of the staff interface.
    StaffMenuId;
    /// A task of employees.
    TaskId;
    /// A page of a project's content.
    PageId;
    /// A type of pages, of the system-wide dictionary.
    PageTypeId;
    /// A tag of pages.
    PageTagId;
    /// A block of an application's content.
    BlockId;
    /// A type of blocks, of the system-wide dictionary.
    BlockTypeId;
    /// An item of the menus of an application.
    MenuItemId;
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
