//! Handlers that only call a use case, defined by one row each.

/// Defines handlers that only call a use case, and `routes`, which registers them. Handlers that do more are functions.
/// `handlers! { fn NAME; ...` names the function that registers them.
///
/// | Row | Endpoint | Call |
/// |---|---|---|
/// | `list PATH as NAME -> List` | `GET`, `200` with the list | `service.list(&staff)` |
/// | `create PATH as NAME(New) -> One` | `POST`, `201` with the record | `service.create(&staff, draft)` |
/// | `read PATH as NAME -> One` | `GET`, `200` with the record | `service.read(&staff, id)` |
/// | `update PATH as NAME(Changed) -> One` | `PUT`, `200` with the record | `service.update(&staff, id, change)` |
/// | `delete PATH as NAME -> "Text."` | `DELETE`, `200` with the text | `service.delete(&staff, id)` |
/// | `history PATH as NAME -> HistoryList` | `GET`, `200` with a page | `service.history(&staff, id, page)` |
/// | `patch PATH as NAME(Changed) = ... -> One` | `PATCH`, `200` with the record | as written |
/// | `post PATH as NAME = ... -> One` | `POST`, `200` with the record | as written |
/// | `table PATH as NAME(Params) = ... -> TABLE` | `GET`, `200` with the table | as written, and the listing |
///
/// - The doc comment of a row is the summary and the description of the operation, NAME is its id.
/// - `= method(arguments)` before `->` names another call. Arguments: `id` and `ids` (one and two ids in the path), `page`
///   (checked before the ids), `input` (the body), `rows Params TABLE 15` (the listing that the table parses, with its
///   default page size), or an expression in braces.
/// - `New` and `Changed` convert into the draft and the change of the service, see `into_domain!`.
/// - `zero ["parent_id"]` behind the response declares the fields for which `0` is `null`.
/// - A row may end with statuses and their descriptions: `, 422 "Other records use the branch."`.
/// - The caller imports `get`, `post`, `put`, `patch` and `delete` of `actix_web`, as far as the rows need them.
macro_rules! handlers {
    (fn $routes:ident; $service:ty, $tag:literal;
        $($(#[$doc:meta])+ $kind:ident $path:literal as $name:ident $(($input:ident))?
            $(= $call:ident($($argument:tt)*))? -> $answer:tt $(zero $zero:tt)?
            $(, $status:tt $refusal:literal)*;)+) => {
        pub(super) fn $routes(config: &mut ::utoipa_actix_web::service_config::ServiceConfig<'_>) {
            config$(.service($name))+;
        }

        $($crate::endpoints::handler! {
            $kind ($($input)?) $(= $call($($argument)*))? -> $answer;
            {
                [$(#[$doc])+] $path $name [$service]
                [tag = $tag, $(extensions(("x-zero-to-null" = json!($zero))),)?]
                [$((status = $status, description = $refusal))*]
            }
        })+
    };
    ($service:ty, $($rows:tt)+) => {
        $crate::endpoints::handlers! { fn routes; $service, $($rows)+ }
    };
}
pub(crate) use handlers;

/// One row of [`handlers`].
#[rustfmt::skip] // It would indent the attributes further each time.
macro_rules! handler {
    // The usual call of each kind.
    (list () -> $($row:tt)+) => { $crate::endpoints::handler! { list () = list() -> $($row)+ } };
    (read () -> $($row:tt)+) => { $crate::endpoints::handler! { read () = read(id) -> $($row)+ } };
    (create $input:tt -> $($row:tt)+) => { $crate::endpoints::handler! { create $input = create(input) -> $($row)+ } };
    (update $input:tt -> $($row:tt)+) => { $crate::endpoints::handler! { update $input = update(id, input) -> $($row)+ } };
    (delete () -> $($row:tt)+) => { $crate::endpoints::handler! { delete () = delete(id) -> $($row)+ } };
    (history () -> $($row:tt)+) => { $crate::endpoints::handler! { history () = history(id, page) -> $($row)+ } };
    // The method and the response of each kind.
    (list $($row:tt)+) => { $crate::endpoints::handler! { @respond get 200 Answer answer $($row)+ } };
    (read $($row:tt)+) => { $crate::endpoints::handler! { @respond get 200 Answer answer $($row)+ } };
    (history $($row:tt)+) => { $crate::endpoints::handler! { @respond get 200 Answer answer $($row)+ } };
    (create $($row:tt)+) => { $crate::endpoints::handler! { @respond post 201 Created created $($row)+ } };
    (update $($row:tt)+) => { $crate::endpoints::handler! { @respond put 200 Answer answer $($row)+ } };
    (patch $($row:tt)+) => { $crate::endpoints::handler! { @respond patch 200 Answer answer $($row)+ } };
    (post $($row:tt)+) => { $crate::endpoints::handler! { @respond post 200 Answer answer $($row)+ } };
    (delete () = $call:ident $arguments:tt -> $text:literal; $row:tt) => {
        $crate::endpoints::handler! {
            @arguments $arguments () {} {} {} {} [delete 200 Answer $text $call [kontor_web::records::Message]] $row
        }
    };
    (table ($params:ident) = $call:ident($($argument:ident),*) -> $table:ident; $row:tt) => {
        $crate::endpoints::handler! {
            @arguments ($($argument,)* rows $params $table 15) () {} {} {} {}
            [get 200 Answer ($table) $call [$crate::table::TableAnswer]] $row
        }
    };
    (@respond $method:ident $status:tt $wrap:ident $respond:ident
        $input:tt = $call:ident $arguments:tt -> $answer:ident; $row:tt) => {
        $crate::endpoints::handler! {
            @arguments $arguments $input {} {} {} {} [$method $status $wrap $respond $call [$answer]] $row
        }
    };
    // Each argument adds what the handler takes, what it gives to the service, what it does first, and what it describes.
    (@arguments (id $(, $($left:tt)+)?) $input:tt
        {$($take:tt)*} {$($give:tt)*} $first:tt $about:tt $head:tt $row:tt) => {
        $crate::endpoints::handler! {
            @arguments ($($($left)+)?) $input
            {$($take)* id: ::actix_web::web::Path<::kontor_web::PathId>,} {$($give)* id.parse()?,}
            $first $about $head $row
        }
    };
    (@arguments (ids $(, $($left:tt)+)?) $input:tt
        {$($take:tt)*} {$($give:tt)*} $first:tt $about:tt $head:tt $row:tt) => {
        $crate::endpoints::handler! {
            @arguments ($($($left)+)?) $input
            {$($take)* ids: ::kontor_web::TwoIds,} {$($give)* ids.0.parse()?, ids.1.parse()?,}
            $first $about $head $row
        }
    };
    (@arguments (page $(, $($left:tt)+)?) $input:tt
        {$($take:tt)*} {$($give:tt)*} {$($first:tt)*} {$($about:tt)*} $head:tt $row:tt) => {
        $crate::endpoints::handler! {
            @arguments ($($($left)+)?) $input
            {$($take)* query: ::kontor_web::Query<::kontor_web::PageQuery>,} {$($give)* page,}
            {$($first)* let page = query.0.page()?;} {$($about)* params(kontor_web::PageQuery),} $head $row
        }
    };
    (@arguments (input $(, $($left:tt)+)?) ($body:ident)
        {$($take:tt)*} {$($give:tt)*} $first:tt {$($about:tt)*} $head:tt $row:tt) => {
        $crate::endpoints::handler! {
            @arguments ($($($left)+)?) ($body)
            {$($take)* body: ::kontor_web::Body<$body>,} {$($give)* body.0.into(),}
            $first {$($about)* request_body = $body,} $head $row
        }
    };
    (@arguments (rows $params:ident $table:ident $size:literal) $input:tt
        {$($take:tt)*} {$($give:tt)*} $first:tt {$($about:tt)*} $head:tt $row:tt) => {
        $crate::endpoints::handler! {
            @arguments () $input
            {$($take)* asked: $crate::table::TableRequest,} {$($give)* $table.listing(asked, $size)?,}
            $first {$($about)* params($params),} $head $row
        }
    };
    (@arguments ({$value:expr} $(, $($left:tt)+)?) $input:tt
        $take:tt {$($give:tt)*} $first:tt $about:tt $head:tt $row:tt) => {
        $crate::endpoints::handler! {
            @arguments ($($($left)+)?) $input $take {$($give)* $value,} $first $about $head $row
        }
    };
    (@arguments () $input:tt {$($take:tt)*} {$($give:tt)*} {$($first:tt)*} {$($about:tt)*}
        [$method:ident $status:tt $wrap:ident $respond:tt $call:ident [$($answer:tt)+]]
        { [$($docs:tt)+] $path:literal $name:ident [$service:ty] [$($tag:tt)+] [$($refusal:tt)*] }) => {
        $($docs)+
        #[utoipa::path($($tag)+ $($about)* responses((status = $status, body = $($answer)+) $(, $refusal)*))]
        #[$method($path)]
        async fn $name(
            staff: ::kontor_web::SignedInStaff,
            service: ::kontor_web::Service<$service>,
            $($take)*
        ) -> ::kontor_web::envelope::$wrap<$($answer)+> {
            $($first)*
            $crate::endpoints::respond!($respond service.$call(&staff, $($give)*).await?)
        }
    };
}
pub(crate) use handler;

/// Response of a row of [`handlers`].
macro_rules! respond {
    (answer $done:expr) => {
        ::kontor_web::envelope::answer($done)
    };
    (created $done:expr) => {
        ::kontor_web::envelope::created($done)
    };
    (($table:ident) $done:expr) => {
        ::kontor_web::envelope::answer($table.render(&$done))
    };
    ($text:literal $done:expr) => {{
        $done;
        ::kontor_web::envelope::answer(::kontor_web::records::Message::new($text))
    }};
}
pub(crate) use respond;
