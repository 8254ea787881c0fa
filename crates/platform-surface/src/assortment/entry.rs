//! Operations on one category or brand of an application: read, move, remove.

use actix_web::web::{Data, Json, Path};
use actix_web::{delete, get, post};
use kontor_catalog::AssortmentService;
use kontor_catalog::model::{Brand, Category, MoveDirection};
use kontor_catalog::ports::Assignable;
use kontor_kernel::InvalidId;
use utoipa_actix_web::service_config::ServiceConfig;

use super::super::brands::BrandResponse;
use super::super::categories::CategoryResponse;
use super::refusal;
use kontor_web::records::Message;
use kontor_web::{ApiError, PathId, SignedInStaff};

type Ids = (PathId, PathId);

async fn read<R: Assignable<Id: TryFrom<i64, Error = InvalidId>>, Answer: From<R>>(
    staff: &SignedInStaff,
    service: &AssortmentService<R>,
    (application, id): &Ids,
) -> Result<Json<Answer>, ApiError> {
    let record = service.read(staff, application.parse()?, id.parse()?).await;
    record.map(|record| Json(record.into())).map_err(|error| refusal(error, "id"))
}

async fn shift<R: Assignable<Id: TryFrom<i64, Error = InvalidId>>, Answer: From<R>>(
    staff: &SignedInStaff,
    service: &AssortmentService<R>,
    (application, id): &Ids,
    shift: MoveDirection,
) -> Result<Json<Answer>, ApiError> {
    let record = service.shift(staff, application.parse()?, id.parse()?, shift).await;
    record.map(|record| Json(record.into())).map_err(|error| refusal(error, "id"))
}

async fn withdraw<R: Assignable<Id: TryFrom<i64, Error = InvalidId>>>(
    staff: &SignedInStaff,
    service: &AssortmentService<R>,
    (application, id): &Ids,
    done: &'static str,
) -> Result<Json<Message>, ApiError> {
    let gone = service.withdraw(staff, application.parse()?, id.parse()?).await;
    gone.map(|()| Json(Message::new(done))).map_err(|error| refusal(error, "id"))
}

/// Defines the operations of one record type. Categories and brands differ only in path and type.
#[rustfmt::skip] // It would indent the attributes further each time.
macro_rules! one_shown {
    ($record:ty as $answer:ident, $what:literal in $id:literal, $path:literal
        by $show:ident, $withdraw:ident, $up_path:literal by $up:ident, $down_path:literal by $down:ident) => {
        #[utoipa::path(
            summary = concat!("Get a ", $what, " of an application"),
            tag = "Application categories, brands, menu items",
            params(("id" = i64, Path), ($id = i64, Path)),
            responses((status = 200, body = $answer)),
        )]
        #[get($path)]
        async fn $show(
            staff: SignedInStaff,
            service: Data<AssortmentService<$record>>,
            ids: Path<Ids>,
        ) -> Result<Json<$answer>, ApiError> {
            read(&staff, &service, &ids).await
        }

        #[utoipa::path(
            summary = concat!("Remove a ", $what, " from an application"),
            tag = "Application categories, brands, menu items",
            params(("id" = i64, Path), ($id = i64, Path)),
            responses((status = 200, body = Message)),
        )]
        #[delete($path)]
        async fn $withdraw(
            staff: SignedInStaff,
            service: Data<AssortmentService<$record>>,
            ids: Path<Ids>,
        ) -> Result<Json<Message>, ApiError> {
            withdraw(&staff, &service, &ids, concat!("The ", $what, " is no longer shown.")).await
        }

        #[utoipa::path(
            summary = concat!("Move a ", $what, " of an application one place up"),
            description = concat!("The first ", $what, " keeps its place."),
            tag = "Application categories, brands, menu items",
            params(("id" = i64, Path), ($id = i64, Path)),
            responses((status = 200, body = $answer)),
        )]
        #[post($up_path)]
        async fn $up(
            staff: SignedInStaff,
            service: Data<AssortmentService<$record>>,
            ids: Path<Ids>,
        ) -> Result<Json<$answer>, ApiError> {
            shift(&staff, &service, &ids, MoveDirection::Up).await
        }

        #[utoipa::path(
            summary = concat!("Move a ", $what, " of an application one place down"),
            description = concat!("The last ", $what, " keeps its place."),
            tag = "Application categories, brands, menu items",
            params(("id" = i64, Path), ($id = i64, Path)),
            responses((status = 200, body = $answer)),
        )]
        #[post($down_path)]
        async fn $down(
            staff: SignedInStaff,
            service: Data<AssortmentService<$record>>,
            ids: Path<Ids>,
        ) -> Result<Json<$answer>, ApiError> {
            shift(&staff, &service, &ids, MoveDirection::Down).await
        }
    };
}

one_shown! {
    Category as CategoryResponse, "category" in "category_id",
    "/api/applications/{id}/categories/{category_id}" by show_application_category, unassign_category,
    "/api/applications/{id}/categories/{category_id}/up" by move_category_up,
    "/api/applications/{id}/categories/{category_id}/down" by move_category_down
}

one_shown! {
    Brand as BrandResponse, "brand" in "brand_id",
    "/api/applications/{id}/brands/{brand_id}" by show_application_brand, unassign_brand,
    "/api/applications/{id}/brands/{brand_id}/up" by move_brand_up,
    "/api/applications/{id}/brands/{brand_id}/down" by move_brand_down
}

pub(super) fn routes(config: &mut ServiceConfig<'_>) {
    config
        .service(show_application_category)
        .service(unassign_category)
        .service(move_category_up)
        .service(move_category_down)
        .service(show_application_brand)
        .service(unassign_brand)
        .service(move_brand_up)
        .service(move_brand_down);
}
