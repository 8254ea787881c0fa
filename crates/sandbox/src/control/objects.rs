//! `/control/objects`

use actix_web::HttpResponse;
use actix_web::web::Data;

use crate::state::World;

/// `GET /control/objects`: the contents of the bucket.
pub async fn list(world: Data<World>) -> HttpResponse {
    HttpResponse::Ok().json(world.storage.view())
}
