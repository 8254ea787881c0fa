//! Sample records for tests.

use chrono::DateTime;
use kontor_kernel::{CounterpartyId, Inn, Kpp, Name, Phone};

use super::{Customer, CustomerKind, StaffCustomer};

pub(crate) fn customer() -> Customer {
    Customer {
        id: CounterpartyId::new(4).unwrap(),
        kind: CustomerKind { id: 1, name: Name::parse("Person").unwrap(), created_at: DateTime::UNIX_EPOCH },
        manager: None,
        avatar: None,
        first_name: None,
        last_name: None,
        middle_name: None,
        birthday: None,
        address: None,
        phone_1: Phone::parse("79001234567").ok(),
        phone_2: None,
        email: None,
        created_at: DateTime::UNIX_EPOCH,
        updated_at: DateTime::UNIX_EPOCH,
    }
}

pub(crate) fn person() -> StaffCustomer {
    let record = Customer { first_name: Name::parse("Anna").ok(), last_name: Name::parse("Kern").ok(), ..customer() };
    StaffCustomer { record, is_company: false, name: None, inn: None, kpp: None, orders: 0, version: 1 }
}

pub(crate) fn company() -> StaffCustomer {
    StaffCustomer {
        record: customer(),
        is_company: true,
        name: Name::parse("Nord").ok(),
        inn: Inn::parse("7707083893").ok(),
        kpp: Kpp::parse("770701001").ok(),
        orders: 0,
        version: 1,
    }
}
