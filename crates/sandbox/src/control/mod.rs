//! The control interface: JSON over HTTP for tests, demos and developers.

mod acquirer;
mod clock;
mod faults;
mod input;
mod outside;
mod scripts;
mod telephony;

use actix_web::web::{self, ServiceConfig};

use crate::server;

/// Registers the routes under `/control`.
pub fn routes(config: &mut ServiceConfig) {
    let path = |path: &str| web::resource(path).default_service(web::to(server::wrong_method));
    config.service(
        web::scope("/control")
            .service(
                path("/acquirer").route(web::get().to(acquirer::settings)).route(web::post().to(acquirer::configure)),
            )
            .service(path("/payments").route(web::get().to(acquirer::payments)))
            .service(path("/payments/{id}").route(web::post().to(acquirer::act_on_payment)))
            .service(path("/receipts").route(web::get().to(acquirer::receipts)))
            .service(path("/payment_methods/{id}").route(web::post().to(acquirer::act_on_method)))
            .service(
                path("/payment_methods/{id}/script")
                    .route(web::get().to(scripts::show))
                    .route(web::post().to(scripts::replace)),
            )
            .service(path("/charges").route(web::get().to(acquirer::charges)))
            .service(path("/refunds/{id}").route(web::post().to(acquirer::end_refund)))
            .service(path("/notifications").route(web::get().to(acquirer::notifications)))
            .service(path("/messages").route(web::get().to(outside::messages)))
            .service(path("/contacts").route(web::post().to(outside::contact)))
            .service(
                path("/telephony")
                    .route(web::get().to(telephony::settings))
                    .route(web::post().to(telephony::configure)),
            )
            .service(path("/calls").route(web::post().to(telephony::call)))
            .service(path("/callchecks").route(web::get().to(telephony::checks)))
            .service(path("/callchecks/{id}").route(web::post().to(telephony::give_up)))
            .service(path("/objects").route(web::get().to(outside::objects)))
            .service(path("/hooks").route(web::post().to(outside::open_hook)))
            .service(path("/hooks/{id}").route(web::get().to(outside::hook_deliveries)))
            .service(
                path("/faults")
                    .route(web::get().to(faults::list))
                    .route(web::post().to(faults::plan))
                    .route(web::delete().to(faults::clear)),
            )
            .service(path("/clock").route(web::get().to(clock::show)).route(web::post().to(clock::advance)))
            .default_service(web::to(server::not_found)),
    );
}
