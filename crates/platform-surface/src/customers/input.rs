//! Request bodies for customers.

use deserr::Deserr;
use kontor_customers::model::{CustomerChange, CustomerDraft};
use utoipa::ToSchema;

use kontor_web::wire::{self, InputErrors, Patch, into_domain};

/// Customer to create. A company requires `name`, a person requires `first_name`.
#[derive(Deserr, ToSchema)]
#[deserr(error = InputErrors)]
pub(super) struct NewCustomer {
    /// `true` for a company, `false` for a person.
    is_company: wire::Flag,
    /// Name of a company.
    #[deserr(default)]
    name: Option<wire::Name>,
    /// Taxpayer number (INN): 10 digits for a company, 12 for a person or an entrepreneur.
    #[deserr(default)]
    inn: Option<wire::Inn>,
    /// Only for a company with an INN of 10 digits.
    #[deserr(default)]
    kpp: Option<wire::Kpp>,
    #[deserr(default)]
    first_name: Option<wire::Name>,
    #[deserr(default)]
    last_name: Option<wire::Name>,
    #[deserr(default)]
    middle_name: Option<wire::Name>,
    /// Not in the future and not before 1900.
    #[deserr(default)]
    birthday: Option<wire::Date>,
    #[deserr(default)]
    address: Option<wire::Line500>,
    /// Phone for login. Must not be the login phone of another customer.
    #[deserr(default)]
    phone_1: Option<wire::Phone>,
    /// Additional phone. Not used for login.
    #[deserr(default)]
    phone_2: Option<wire::Phone>,
    /// E-mail address for login. Must not be the login address of another customer.
    #[deserr(default)]
    email: Option<wire::Email>,
    /// Employee of the project.
    #[deserr(default)]
    manager_id: Option<wire::UserId>,
}

into_domain!(NewCustomer => CustomerDraft {
    is_company, name, inn, kpp, first_name, last_name, middle_name, birthday, address,
    phone_1, phone_2, email, manager_id,
});

/// Change of a customer. If a company becomes a person, the fields of companies are cleared.
#[derive(Deserr, ToSchema)]
#[deserr(error = InputErrors)]
pub(super) struct ChangedCustomer {
    /// `true` if the customer is a company after the change.
    is_company: wire::Flag,
    #[deserr(default)]
    #[schema(value_type = Option<wire::Name>)]
    name: Patch<wire::Name>,
    #[deserr(default)]
    #[schema(value_type = Option<wire::Inn>)]
    inn: Patch<wire::Inn>,
    #[deserr(default)]
    #[schema(value_type = Option<wire::Kpp>)]
    kpp: Patch<wire::Kpp>,
    #[deserr(default)]
    #[schema(value_type = Option<wire::Name>)]
    first_name: Patch<wire::Name>,
    #[deserr(default)]
    #[schema(value_type = Option<wire::Name>)]
    last_name: Patch<wire::Name>,
    #[deserr(default)]
    #[schema(value_type = Option<wire::Name>)]
    middle_name: Patch<wire::Name>,
    #[deserr(default)]
    #[schema(value_type = Option<wire::Date>)]
    birthday: Patch<wire::Date>,
    #[deserr(default)]
    #[schema(value_type = Option<wire::Line500>)]
    address: Patch<wire::Line500>,
    /// Must not be the login phone of another customer.
    #[deserr(default)]
    #[schema(value_type = Option<wire::Phone>)]
    phone_1: Patch<wire::Phone>,
    /// Additional phone. Not used for login.
    #[deserr(default)]
    #[schema(value_type = Option<wire::Phone>)]
    phone_2: Patch<wire::Phone>,
    /// Must not be the login address of another customer.
    #[deserr(default)]
    #[schema(value_type = Option<wire::Email>)]
    email: Patch<wire::Email>,
    /// Employee of the project.
    #[deserr(default)]
    #[schema(value_type = Option<wire::UserId>)]
    manager_id: Patch<wire::UserId>,
}

into_domain!(ChangedCustomer => CustomerChange {
    is_company, name, inn, kpp, first_name, last_name, middle_name, birthday, address,
    phone_1, phone_2, email, manager_id,
});
