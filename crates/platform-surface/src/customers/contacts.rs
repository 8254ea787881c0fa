//! Contacts of a customer.

use actix_web::web::{Data, Path};
use actix_web::{get, post, put};
use chrono::{DateTime, Utc};
use deserr::Deserr;
use kontor_customers::CustomerPartService;
use kontor_customers::model::{ContactChange, ContactDraft, CustomerContact};
use kontor_kernel::Word;
use serde::Serialize;
use utoipa::ToSchema;
use utoipa_actix_web::service_config::ServiceConfig;

use kontor_web::envelope::{Answer, Created, answer, created, list, one};
use kontor_web::wire::{self, InputErrors, NonNullPatch, Patch, into_domain};
use kontor_web::{Body, PathId, SignedInStaff, TwoIds};

pub(super) fn routes(config: &mut ServiceConfig<'_>) {
    config
        .service(list_counterparty_contacts)
        .service(create_counterparty_contact)
        .service(show_counterparty_contact)
        .service(update_counterparty_contact);
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

/// List the contacts of a customer
///
/// Oldest first.
#[utoipa::path(tag = "Customers", responses((status = 200, body = ContactList)))]
#[get("/api/counterparties/{id}/contacts")]
async fn list_counterparty_contacts(
    staff: SignedInStaff,
    service: Data<CustomerPartService<CustomerContact>>,
    id: Path<PathId>,
) -> Answer<ContactList> {
    answer(service.list(&staff, id.parse()?).await?)
}

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

/// Add a contact to a customer
///
/// The contact cannot be used for login.
#[utoipa::path(tag = "Customers", request_body = NewContact, responses((status = 201, body = ContactResponse)))]
#[post("/api/counterparties/{id}/contacts")]
async fn create_counterparty_contact(
    staff: SignedInStaff,
    service: Data<CustomerPartService<CustomerContact>>,
    id: Path<PathId>,
    body: Body<NewContact>,
) -> Created<ContactResponse> {
    created(service.create(&staff, id.parse()?, body.0.into()).await?)
}

/// Get a contact of a customer
#[utoipa::path(tag = "Customers", responses((status = 200, body = ContactResponse)))]
#[get("/api/counterparties/{id}/contacts/{contactId}")]
async fn show_counterparty_contact(
    staff: SignedInStaff,
    service: Data<CustomerPartService<CustomerContact>>,
    path: TwoIds,
) -> Answer<ContactResponse> {
    answer(service.read(&staff, path.0.parse()?, path.1.parse()?).await?)
}

#[derive(Deserr, ToSchema)]
#[deserr(error = InputErrors)]
struct ChangedContact {
    #[deserr(default)]
    #[schema(value_type = Option<wire::ContactKind>, nullable = false)]
    kind: NonNullPatch<wire::ContactKind>,
    /// Phone, e-mail address or other value, depending on `kind`.
    #[deserr(default)]
    #[schema(value_type = Option<wire::Name>, nullable = false)]
    value: NonNullPatch<wire::Name>,
    #[deserr(default)]
    #[schema(value_type = Option<wire::Name>)]
    name: Patch<wire::Name>,
    #[deserr(default)]
    #[schema(value_type = Option<wire::Line500>)]
    comment: Patch<wire::Line500>,
}

into_domain!(ChangedContact => ContactChange { kind, value, name, comment });

/// Update a contact of a customer
///
/// Fields that are not sent keep their values.
#[utoipa::path(tag = "Customers", request_body = ChangedContact, responses((status = 200, body = ContactResponse)))]
#[put("/api/counterparties/{id}/contacts/{contactId}")]
async fn update_counterparty_contact(
    staff: SignedInStaff,
    service: Data<CustomerPartService<CustomerContact>>,
    path: TwoIds,
    body: Body<ChangedContact>,
) -> Answer<ContactResponse> {
    answer(service.update(&staff, path.0.parse()?, path.1.parse()?, body.0.into()).await?)
}
