//! Contacts of a customer.

use actix_web::{get, post, put};
use chrono::{DateTime, Utc};
use deserr::Deserr;
use kontor_customers::CustomerPartService;
use kontor_customers::model::{ContactChange, ContactDraft, CustomerContact};
use kontor_kernel::Word;
use serde::Serialize;
use utoipa::ToSchema;

use crate::endpoints::handlers;
use kontor_web::envelope::{list, one};
use kontor_web::wire::{self, InputErrors, change_body, into_domain};

handlers! {
    CustomerPartService<CustomerContact>, "Customers";

    /// List the contacts of a customer
    ///
    /// Oldest first.
    list "/api/counterparties/{id}/contacts" as list_counterparty_contacts = list(id) -> ContactList;

    /// Add a contact to a customer
    ///
    /// The contact cannot be used for login.
    create "/api/counterparties/{id}/contacts" as create_counterparty_contact(NewContact) = create(id, input)
        -> ContactResponse;

    /// Get a contact of a customer
    read "/api/counterparties/{id}/contacts/{contactId}" as show_counterparty_contact = read(ids) -> ContactResponse;

    /// Update a contact of a customer
    ///
    /// Fields that are not sent keep their values.
    update "/api/counterparties/{id}/contacts/{contactId}" as update_counterparty_contact(ChangedContact)
        = update(ids, input) -> ContactResponse;
}

#[derive(Serialize, ToSchema)]
struct ContactRecord {
    id: i64,
    /// `phone`, `email`, `whatsapp`, `telegram`, `max`, `website` or `other`.
    kind: &'static str,
    value: String,
    name: Option<String>,
    comment: Option<String>,
    created_at: DateTime<Utc>,
    updated_at: DateTime<Utc>,
}

impl From<CustomerContact> for ContactRecord {
    fn from(contact: CustomerContact) -> Self {
        let content = contact.content;
        Self {
            id: contact.id.get(),
            kind: content.kind.word(),
            value: content.value.into(),
            name: content.name.map(Into::into),
            comment: content.comment.map(Into::into),
            created_at: contact.created_at,
            updated_at: contact.updated_at,
        }
    }
}

one!(ContactResponse { contact: ContactRecord });
list!(ContactList { contacts: [ContactRecord], contacts_count });

#[derive(Deserr, ToSchema)]
#[deserr(error = InputErrors)]
struct NewContact {
    kind: wire::ContactKind,
    /// Phone, e-mail address or other value, depending on `kind`.
    value: wire::Name,
    /// Name of the person reached by this contact.
    #[deserr(default)]
    name: Option<wire::Name>,
    #[deserr(default)]
    comment: Option<wire::Line500>,
}

into_domain!(NewContact => ContactDraft { kind, value, name, comment });

change_body! {
    ChangedContact => ContactChange {
        kind: wire::ContactKind,
        /// Phone, e-mail address or other value, depending on `kind`.
        value: wire::Name,
        name: wire::Name | null,
        comment: wire::Line500 | null,
    }
}
