//! Handlers of plain records, defined by one declaration per resource.

/// Defines handlers that only call a use case, and `routes`, which registers them. Handlers that do more are functions.
///
/// | Row | Endpoint | Call |
/// |---|---|---|
/// | `list PATH as NAME -> List` | `GET`, `200` with the list | `service.list(&staff)` |
/// | `create PATH as NAME(New) -> One` | `POST`, `201` with the record | `service.create(&staff, draft)` |
/// | `read PATH as NAME -> One` | `GET`, `200` with the record | `service.read(&staff, id)` |
/// | `update PATH as NAME(Changed) -> One` | `PUT`, `200` with the record | `service.update(&staff, id, change)` |
/// | `delete PATH as NAME -> "Text."` | `DELETE`, `200` with the text | `service.delete(&staff, id)` |
/// | `history PATH as NAME -> HistoryList` | `GET`, `200` with a page | `service.history(&staff, id, page)` |
///
/// - The doc comment of a row is the summary and the description of the operation, NAME is its id.
/// - `New` and `Changed` convert into the draft and the change of the service, see [`into_domain`](crate::into_domain).
/// - A row may end with statuses and their descriptions: `, 422 "Other records use the branch."`.
/// - The caller imports `get`, `post`, `put` and `delete` of `actix_web`, as far as the rows need them.
///
/// `departments.rs` of the platform surface shows all but `history`.
#[macro_export]
macro_rules! handlers {
    ($service:ident, $tag:literal;
        $($(#[$doc:meta])+ $kind:ident $path:literal as $name:ident $(($body:ident))? -> $answer:tt
            $(, $status:tt $refusal:literal)*;)+) => {
        pub(super) fn routes(config: &mut ::utoipa_actix_web::service_config::ServiceConfig<'_>) {
            config$(.service($name))+;
        }

        $($crate::handler! {
            $kind [$(#[$doc])+] $service $tag $path $name ($($body)?) $answer
            [$((status = $status, description = $refusal))*]
        })+
    };
}
pub use crate::handlers;

/// One row of [`handlers`](crate::handlers).
#[doc(hidden)]
#[macro_export]
#[rustfmt::skip] // It would indent the attributes further each time.
macro_rules! handler {
    (list [$($docs:tt)+] $service:ident $tag:literal $path:literal $name:ident () $list:ident
        [$($refusal:tt)*]) => {
        $($docs)+
        #[utoipa::path(tag = $tag, responses((status = 200, body = $list) $(, $refusal)*))]
        #[get($path)]
        async fn $name(
            staff: $crate::SignedInStaff,
            service: ::actix_web::web::Data<$service>,
        ) -> $crate::envelope::Answer<$list> {
            $crate::envelope::answer(service.list(&staff).await?)
        }
    };
    (create [$($docs:tt)+] $service:ident $tag:literal $path:literal $name:ident ($new:ident) $one:ident
        [$($refusal:tt)*]) => {
        $($docs)+
        #[utoipa::path(tag = $tag, request_body = $new, responses((status = 201, body = $one) $(, $refusal)*))]
        #[post($path)]
        async fn $name(
            staff: $crate::SignedInStaff,
            service: ::actix_web::web::Data<$service>,
            body: $crate::Body<$new>,
        ) -> $crate::envelope::Created<$one> {
            $crate::envelope::created(service.create(&staff, body.0.into()).await?)
        }
    };
    (read [$($docs:tt)+] $service:ident $tag:literal $path:literal $name:ident () $one:ident
        [$($refusal:tt)*]) => {
        $($docs)+
        #[utoipa::path(tag = $tag, responses((status = 200, body = $one) $(, $refusal)*))]
        #[get($path)]
        async fn $name(
            staff: $crate::SignedInStaff,
            service: ::actix_web::web::Data<$service>,
            id: ::actix_web::web::Path<$crate::PathId>,
        ) -> $crate::envelope::Answer<$one> {
            $crate::envelope::answer(service.read(&staff, id.parse()?).await?)
        }
    };
    (update [$($docs:tt)+] $service:ident $tag:literal $path:literal $name:ident ($changed:ident) $one:ident
        [$($refusal:tt)*]) => {
        $($docs)+
        #[utoipa::path(tag = $tag, request_body = $changed, responses((status = 200, body = $one) $(, $refusal)*))]
        #[put($path)]
        async fn $name(
            staff: $crate::SignedInStaff,
            service: ::actix_web::web::Data<$service>,
            id: ::actix_web::web::Path<$crate::PathId>,
            body: $crate::Body<$changed>,
        ) -> $crate::envelope::Answer<$one> {
            $crate::envelope::answer(service.update(&staff, id.parse()?, body.0.into()).await?)
        }
    };
    (delete [$($docs:tt)+] $service:ident $tag:literal $path:literal $name:ident () $message:literal
        [$($refusal:tt)*]) => {
        $($docs)+
        #[utoipa::path(tag = $tag, responses((status = 200, body = $crate::records::Message) $(, $refusal)*))]
        #[delete($path)]
        async fn $name(
            staff: $crate::SignedInStaff,
            service: ::actix_web::web::Data<$service>,
            id: ::actix_web::web::Path<$crate::PathId>,
        ) -> $crate::envelope::Answer<$crate::records::Message> {
            service.delete(&staff, id.parse()?).await?;
            $crate::envelope::answer($crate::records::Message::new($message))
        }
    };
    (history [$($docs:tt)+] $service:ident $tag:literal $path:literal $name:ident () $list:ident
        [$($refusal:tt)*]) => {
        $($docs)+
        #[utoipa::path(tag = $tag, params($crate::PageQuery), responses((status = 200, body = $list) $(, $refusal)*))]
        #[get($path)]
        async fn $name(
            staff: $crate::SignedInStaff,
            service: ::actix_web::web::Data<$service>,
            id: ::actix_web::web::Path<$crate::PathId>,
            query: $crate::Query<$crate::PageQuery>,
        ) -> $crate::envelope::Answer<$list> {
            let page = query.0.page()?;
            $crate::envelope::answer(service.history(&staff, id.parse()?, page).await?)
        }
    };
}
