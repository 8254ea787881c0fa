//! Payment types of an order.

use actix_web::get;
use kontor_organization::CheckoutOptions;
use kontor_organization::model::PaymentType;
use serde::Serialize;
use utoipa::ToSchema;
use utoipa_actix_web::service_config::ServiceConfig;

use kontor_web::envelope::{Answer, answer, list};
use kontor_web::records::{Picture, picture};
use kontor_web::{CallingApp, Service};

pub(super) fn routes(config: &mut ServiceConfig<'_>) {
    config.service(list_payment_types);
}

#[derive(Serialize, ToSchema)]
pub(super) struct PaymentTypeRecord {
    id: i64,
    photo: Option<Picture>,
    name: String,
    description: Option<String>,
    /// `true` if the order is paid online. Orders with this type require `payment_method_type`; the contact form does
    /// not accept it.
    is_online: bool,
}

impl From<PaymentType> for PaymentTypeRecord {
    fn from(kind: PaymentType) -> Self {
        Self {
            id: kind.id.get(),
            photo: picture(kind.photo),
            name: kind.name.into(),
            description: kind.description,
            is_online: kind.is_online,
        }
    }
}

list!(PaymentTypeList { payment_types: [PaymentTypeRecord], payment_types_count });

/// List payment types
///
/// Returns the payment types that the application accepts.
#[utoipa::path(tag = "Client: dictionaries", responses((status = 200, body = PaymentTypeList)))]
#[get("/api/counterparty/payment_types")]
async fn list_payment_types(app: CallingApp, options: Service<CheckoutOptions>) -> Answer<PaymentTypeList> {
    answer(options.payment_types(*app).await?)
}
