//! What staff write about customers.

use deserr::Deserr;
use kontor_customers::model::{CustomerChange, CustomerDraft};
use utoipa::ToSchema;

use crate::http::wire::{self, InputErrors, Patch};

/// A new customer. A company has a `name`, a person a `first_name`.
#[derive(Deserr, ToSchema)]
#[deserr(error = InputErrors)]
pub(super) struct NewCustomer {
    is_company: wire::Flag,
    /// Of a company.
    #[deserr(default)]
    name: Option<wire::Name>,
    /// Taxpayer's number: 10 digits of a company, 12 of a person, an entrepreneur included.
    #[deserr(default)]
    inn: Option<wire::Inn>,
    /// Of a company with an INN of 10 digits.
    #[deserr(default)]
    kpp: Option<wire::Kpp>,
    #[deserr(default)]
    first_name: Option<wire::Name>,
    #[deserr(default)]
    last_name: Option<wire::Name>,
    #[deserr(default)]
    middle_name: Option<wire::Name>,
    /// Not in the future, not before 1900.
    #[deserr(default)]
    birthday: Option<wire::Date>,
    #[deserr(default)]
    address: Option<wire::Line500>,
    /// Signs the customer in. Not one that signs another customer in.
    #[deserr(default)]
    phone_1: Option<wire::Phone>,
    #[deserr(default)]
    phone_2: Option<wire::Phone>,
    /// Signs the customer in. Not one that signs another customer in.
    #[deserr(default)]
    email: Option<wire::Email>,
    /// An employee of the project.
    #[deserr(default)]
    manager_id: Option<wire::UserId>,
}

impl From<NewCustomer> for CustomerDraft {
    fn from(new: NewCustomer) -> Self {
        fn value<T>(field: Option<wire::In<T>>) -> Option<T> {
            field.map(|field| field.0)
        }
        Self {
            is_company: new.is_company.0,
            name: value(new.name),
            inn: value(new.inn),
            kpp: value(new.kpp),
            first_name: value(new.first_name),
            last_name: value(new.last_name),
            middle_name: value(new.middle_name),
            birthday: value(new.birthday),
            address: value(new.address),
            phone_1: value(new.phone_1),
            phone_2: value(new.phone_2),
            email: value(new.email),
            manager_id: value(new.manager_id),
        }
    }
}

/// A change of a customer. A company that turns out to be a person loses what only companies have.
#[derive(Deserr, ToSchema)]
#[deserr(error = InputErrors)]
pub(super) struct ChangedCustomer {
    /// Whether it is a company from now on.
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
    /// Not one that signs another customer in.
    #[deserr(default)]
    #[schema(value_type = Option<wire::Phone>)]
    phone_1: Patch<wire::Phone>,
    #[deserr(default)]
    #[schema(value_type = Option<wire::Phone>)]
    phone_2: Patch<wire::Phone>,
    /// Not one that signs another customer in.
    #[deserr(default)]
    #[schema(value_type = Option<wire::Email>)]
    email: Patch<wire::Email>,
    /// An employee of the project.
    #[deserr(default)]
    #[schema(value_type = Option<wire::UserId>)]
    manager_id: Patch<wire::UserId>,
}

impl From<ChangedCustomer> for CustomerChange {
    fn from(changed: ChangedCustomer) -> Self {
        Self {
            is_company: changed.is_company.0,
            name: changed.name.into(),
            inn: changed.inn.into(),
            kpp: changed.kpp.into(),
            first_name: changed.first_name.into(),
            last_name: changed.last_name.into(),
            middle_name: changed.middle_name.into(),
            birthday: changed.birthday.into(),
            address: changed.address.into(),
            phone_1: changed.phone_1.into(),
            phone_2: changed.phone_2.into(),
            email: changed.email.into(),
            manager_id: changed.manager_id.into(),
        }
    }
}
