//! `/control/objects`

use actix_web::HttpResponse;
use actix_web::web::Data;

use crate::world::World;

/// `GET /control/objects`: what lies in the bucket.
pub async fn list(world: Data<World>) -> HttpResponse {
    HttpResponse::Ok().json(world.storage.view())
}
