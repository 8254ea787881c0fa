//! `/control/contacts`

use actix_web::HttpResponse;
use actix_web::web::{Bytes, Data};

use super::input::{Input, Wrong, required};
use crate::messenger::share_contact;
use crate::state::World;

const DEFAULT_USER_ID: u64 = 67_890;

/// `POST /control/contacts`
pub async fn share(world: Data<World>, body: Bytes) -> Result<HttpResponse, Wrong> {
    let input = Input::read(&body, &["token", "phone", "user_id"])?;
    let token = required("token", input.text("token")?)?;
    let phone = required("phone", input.text("phone")?)?;
    let user_id = input.whole("user_id", 1, u64::from(u32::MAX))?.unwrap_or(DEFAULT_USER_ID);
    Ok(HttpResponse::Ok().json(share_contact(token, user_id, phone, world.now())))
}
