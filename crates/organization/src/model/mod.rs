//! Records of an organization.

mod application;
mod branch;
mod integration;
mod opening;
mod staff_menu;
mod staff_shop;
mod suggestion;
mod task;

pub use crate::checkout::{DeliverySubtype, DeliverySubtypeParam, DeliveryType, PaymentChoice, PaymentType};
pub use crate::delivery_prices::{DeliveryPrice, NewDeliveryPrice};
pub use crate::departments::{Department, DepartmentChange, DepartmentDraft};
pub use crate::dictionaries::{Country, Dictionary, DictionaryItem, ProjectInfo, Setting};
pub use crate::payment_types::{PaymentTypeChange, PaymentTypeDraft};
pub use crate::project_settings::{InvalidPieceLimit, PieceLimit, ProjectChange, ProjectSettings};
pub use crate::projects::{NewProject, PlannedPaymentType, ProjectPlan, ProjectRecords};
pub use crate::shops::Shop;
pub use application::{AppToken, Application, ApplicationChange, ApplicationDraft, IssuedApplication};
pub use branch::{Branch, BranchChange, BranchDraft};
pub use integration::{
    Integration, IntegrationKind, IntegrationOwner, IntegrationParameter, ParameterDraft, ParameterKey, ParameterText,
    StoredValue, UsedIntegration,
};
pub use kontor_kernel::{HoldHours, StorageUnit};
pub use opening::{
    ExceptionTerms, Interval, InvalidInterval, InvalidTime, InvalidWeekday, MAX_DAYS_AHEAD, MAX_HOURS, OpeningTimes,
    ShopException, ShopHoliday, ShopHours, TimeOfDay, TimesChange, TimesRefused, Weekday,
};
pub use staff_menu::{MenuScreen, StaffMenu, StaffMenuItem, StaffMenuItems, WrongItemCount, default_items};
pub use staff_shop::{InvalidLatitude, InvalidLongitude, Latitude, Longitude, ShopChange, ShopDetails, StaffShop};
pub use suggestion::{
    AddressSuggestion, BankDetails, BankSuggestion, CompanyField, CompanyQuery, CompanySuggestion, NotANumber,
    SuggestionQuery,
};

pub use task::{Task, TaskChange, TaskDraft, TaskLine, TaskLinks, TaskMail, TaskNotice, TaskSnapshot, TaskStatus};

#[cfg(test)]
mod tests {
    use super::*;
    use kontor_kernel::Word;

    fn words<T: Word>() -> Vec<&'static str> {
        T::all().iter().map(|value| value.word()).collect()
    }

    #[test]
    fn stored_and_wire_words_do_not_change() {
        let dictionaries = [
            ["order_statuses", "nomenclature_kinds", "nomenclature_types", "vats", "counterparty_types"],
            ["file_types", "call_statuses", "task_statuses", "page_types", "block_types"],
            ["integration_types", "objects", "cities", "sales_strategies", "sales_channels"],
        ];
        assert_eq!(words::<Dictionary>(), dictionaries.concat());
        assert_eq!(words::<IntegrationKind>(), ["warehouse", "bank_requisite"]);
        assert_eq!(words::<CompanyField>(), ["name", "inn", "ogrn"]);
    }
}
