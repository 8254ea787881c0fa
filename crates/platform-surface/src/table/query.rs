//! Query strings of tables: `page`, `per_page`, `order_by`, `query`, `date_from`, `date_to`, and the filters that the
//! table declares, `field=v`, `field[]=v1&field[]=v2`, `field_gt=n`, `field_lt=n`. Other parameters are rejected.

use actix_web::{FromRequest, HttpMessage as _, HttpRequest, dev::Payload};
use chrono::{Datelike as _, Days, NaiveDate};
use futures_util::future::LocalBoxFuture;
use kontor_kernel::listing::{Comparison, Condition, FilterValue, Sort};
use kontor_kernel::{Line, Listing, Violations, Zone};
use kontor_organization::DictionaryService;
use serde_json::{Map, Value};
use utoipa::openapi::path::{Parameter, ParameterBuilder, ParameterIn};
use utoipa::openapi::{ArrayBuilder, ObjectBuilder, Required};

use super::Table;
use kontor_web::body::fields_of_pairs;
use kontor_web::paging::{PageNumber, PageSize, page_of};
use kontor_web::wire::{In, Scalar, WireValue};
use kontor_web::{ApiError, Service, StaffProject};

/// Query string before validation by a table, and the time zone of the days in it.
pub struct TableRequest(Map<String, Value>, Zone);

/// Parameters with days.
const DAYS: [&str; 2] = ["date_from", "date_to"];

impl FromRequest for TableRequest {
    type Error = ApiError;
    type Future = LocalBoxFuture<'static, Result<Self, ApiError>>;

    fn from_request(request: &HttpRequest, _: &mut Payload) -> Self::Future {
        let request = request.clone();
        Box::pin(async move {
            let pairs = fields_of_pairs(request.query_string().as_bytes()).map_err(ApiError::Invalid)?;
            let names_days = DAYS.iter().any(|name| pairs.contains_key(*name));
            // Without days the zone has no effect, so it is not read.
            let zone = if names_days { zone_of_caller(&request).await? } else { Zone::UTC };
            Ok(Self(pairs, zone))
        })
    }
}

async fn zone_of_caller(request: &HttpRequest) -> Result<Zone, ApiError> {
    let project = request.extensions().get::<StaffProject>().copied();
    let project = project.ok_or_else(|| ApiError::internal(&"a filter by day needs a staff caller"))?;
    Ok(Service::<DictionaryService>::of(request)?.time_zone(project.0).await?)
}

/// Filter of a table.
pub struct Filter {
    field: &'static str,
    about: &'static str,
    parse: fn(Scalar) -> Result<FilterValue, String>,
    schema: fn() -> ObjectBuilder,
    ranges: bool,
}

impl Filter {
    /// Creates a filter by referenced or own ids: `field=1`, `field[]=1&field[]=2`.
    pub const fn id<T: WireValue + Into<i64>>(field: &'static str, about: &'static str) -> Self {
        let parse = |scalar| T::from_scalar(scalar).map(|id| FilterValue::Number(id.into()));
        Self { field, about, parse, schema: T::schema, ranges: false }
    }

    /// Creates a filter by a flag: `field=true`.
    pub const fn flag(field: &'static str, about: &'static str) -> Self {
        let parse = |scalar| bool::from_scalar(scalar).map(FilterValue::Flag);
        Self { field, about, parse, schema: <bool as WireValue>::schema, ranges: false }
    }

    /// Creates a filter by words of a domain type: `field=held`, `field[]=held&field[]=sold`.
    pub const fn word<T: WireValue + Into<&'static str>>(field: &'static str, about: &'static str) -> Self {
        let parse = |scalar| {
            let word: Result<&'static str, _> = T::from_scalar(scalar).map(Into::into);
            word.map(|word| FilterValue::Text(word.to_owned()))
        };
        Self { field, about, parse, schema: T::schema, ranges: false }
    }

    /// Creates a filter by a count: `field=5`, `field_gt=5`, `field_lt=5`.
    pub const fn count(field: &'static str, about: &'static str) -> Self {
        let parse = |scalar| i64::from_scalar(scalar).map(FilterValue::Number);
        Self { field, about, parse, schema: <i64 as WireValue>::schema, ranges: true }
    }

    /// Creates a filter by an amount: `field=5.00`, `field_gt=5.00`, `field_lt=5.00`.
    pub const fn money(field: &'static str, about: &'static str) -> Self {
        let parse = |scalar| kontor_kernel::Money::from_scalar(scalar).map(|money| FilterValue::Number(money.minor()));
        Self { field, about, parse, schema: <kontor_kernel::Money as WireValue>::schema, ranges: true }
    }

    fn value(&self, value: Value) -> Result<FilterValue, String> {
        match value {
            Value::String(text) => (self.parse)(Scalar::Text(text)),
            _ => Err("must be sent only once".to_owned()),
        }
    }
}

fn single<T: WireValue>(asked: &mut Map<String, Value>, name: &str, wrong: &mut Violations) -> Option<T> {
    let parsed = match asked.remove(name)? {
        Value::String(text) => T::from_scalar(Scalar::Text(text)),
        _ => Err("must be a single value".to_owned()),
    };
    wrong.check(name, parsed)
}

impl<R> Table<R> {
    /// Returns the requested listing, or all errors of the query string.
    pub fn listing(&self, asked: TableRequest, default_per_page: i64) -> Result<Listing, Violations> {
        let TableRequest(mut asked, zone) = asked;
        let mut wrong = Violations::default();
        let mut conditions = Vec::new();
        for filter in self.filters {
            if let Some(value) = asked.remove(filter.field) {
                let values = match value {
                    Value::Array(values) => values,
                    value => vec![value],
                };
                let values: Result<Vec<_>, String> = values.into_iter().map(|value| filter.value(value)).collect();
                let values = wrong.check(filter.field, values);
                conditions.extend(
                    values.map(|values| Condition { field: filter.field, comparison: Comparison::AnyOf(values) }),
                );
            }
            if filter.ranges {
                let mut bound = |suffix: &str| {
                    let name = format!("{}{suffix}", filter.field);
                    wrong.check(&name, filter.value(asked.remove(&name)?))
                };
                let comparisons = [bound("_gt").map(Comparison::GreaterThan), bound("_lt").map(Comparison::LessThan)];
                conditions.extend(
                    comparisons.into_iter().flatten().map(|comparison| Condition { field: filter.field, comparison }),
                );
            }
        }
        if let Some(field) = self.period {
            let from = single::<NaiveDate>(&mut asked, "date_from", &mut wrong);
            conditions
                .extend(from.map(|day| Condition { field, comparison: Comparison::AtLeast(start_of(day, zone)) }));
            let to = single::<NaiveDate>(&mut asked, "date_to", &mut wrong);
            // There are no records after the last supported day.
            let next = to.and_then(|day| day.checked_add_days(Days::new(1))).filter(|day| day.year() <= 9999);
            conditions
                .extend(next.map(|day| Condition { field, comparison: Comparison::LessThan(start_of(day, zone)) }));
        }
        let text = match self.search {
            Some(_) => single::<Line<255>>(&mut asked, "query", &mut wrong),
            None => None,
        };
        let sort = asked.remove("order_by").map(|word| self.sort(&word));
        let unsorted = sort.is_none();
        let sort = sort.map_or(Some(self.order), |sort| wrong.check("order_by", sort));
        let number = single(&mut asked, "page", &mut wrong).map(|page| -> PageNumber { In(page) });
        let size = single(&mut asked, "per_page", &mut wrong).map(|size| -> PageSize { In(size) });
        let page = page_of(number.as_ref(), size.as_ref(), default_per_page).map_err(|error| wrong.merge(error));
        for unknown in asked.keys() {
            wrong.add(unknown, "is not supported");
        }
        wrong.into_result()?;
        match (page, sort) {
            (Ok(page), Some(sort)) => Ok(Listing { conditions, text, sort, unsorted, page }),
            // Unreachable: both errors are among those returned above.
            _ => Err(Violations::default()),
        }
    }

    fn orders(&self) -> impl Iterator<Item = (String, Sort)> {
        self.sorts.iter().flat_map(|field| {
            [(format!("{field}_asc"), Sort::ascending(field)), (format!("{field}_desc"), Sort::descending(field))]
        })
    }

    fn sort(&self, word: &Value) -> Result<Sort, String> {
        let known = self.orders().find(|(name, _)| Some(name.as_str()) == word.as_str());
        known.map(|(_, sort)| sort).ok_or_else(|| {
            let words: Vec<String> = self.orders().map(|(word, _)| word).collect();
            format!("must be one of {}", words.join(", "))
        })
    }

    /// Returns the parameters of the query string for the API description.
    pub fn parameters(&self) -> Vec<Parameter> {
        let parameter = |name: String, about: &str, schema: ObjectBuilder| {
            let about = (!about.is_empty()).then(|| about.to_owned());
            let builder = ParameterBuilder::new().name(name).parameter_in(ParameterIn::Query);
            builder.required(Required::False).description(about).schema(Some(schema)).build()
        };
        let mut all = Vec::new();
        if let Some(about) = self.search {
            all.push(parameter("query".to_owned(), about, Line::<255>::schema()));
        }
        for filter in self.filters {
            let list = ArrayBuilder::new().items((filter.schema)());
            let about = format!("{} A single value may be sent without the brackets.", filter.about);
            all.push(
                ParameterBuilder::new()
                    .name(format!("{}[]", filter.field))
                    .parameter_in(ParameterIn::Query)
                    .required(Required::False)
                    .description(Some(about))
                    .schema(Some(list))
                    .build(),
            );
            if filter.ranges {
                all.push(parameter(format!("{}_gt", filter.field), "More than this.", (filter.schema)()));
                all.push(parameter(format!("{}_lt", filter.field), "Less than this.", (filter.schema)()));
            }
        }
        if self.period.is_some() {
            let day = <NaiveDate as WireValue>::schema;
            all.push(parameter("date_from".to_owned(), "From this day on, in the project's time zone.", day()));
            all.push(parameter(
                "date_to".to_owned(),
                "Up to and including this day, in the project's time zone.",
                day(),
            ));
        }
        let words: Vec<String> = self.orders().map(|(word, _)| word).collect();
        if !words.is_empty() {
            let schema =
                ObjectBuilder::new().schema_type(utoipa::openapi::schema::Type::String).enum_values(Some(words));
            all.push(parameter("order_by".to_owned(), "", schema));
        }
        all.push(parameter("page".to_owned(), "", <kontor_web::paging::Number as WireValue>::schema()));
        all.push(parameter("per_page".to_owned(), "", <kontor_web::paging::Size<100> as WireValue>::schema()));
        all
    }
}

fn start_of(day: NaiveDate, zone: Zone) -> FilterValue {
    FilterValue::Moment(zone.start_of(day))
}

/// Declares a type with the query parameters of a table, for the API description of a handler.
macro_rules! list_params {
    ($(#[$doc:meta])* $name:ident of $table:expr) => {
        $(#[$doc])*
        pub(super) struct $name;

        impl utoipa::IntoParams for $name {
            fn into_params(
                _: impl Fn() -> Option<utoipa::openapi::path::ParameterIn>,
            ) -> Vec<utoipa::openapi::path::Parameter> {
                $table.parameters()
            }
        }
    };
}
pub(crate) use list_params;

#[cfg(test)]
mod tests {
    use super::super::{Cell, Column};
    use super::*;

    const THINGS: Table<i64> = Table {
        id: 1,
        resource: "things",
        version: None,
        columns: &[Column::new("id", "No.", |id| Cell::plain(*id))],
        sorts: &["id"],
        filters: &[
            Filter::id::<kontor_kernel::BrandId>("brand_id", "Of these brands."),
            Filter::money("price", "At this price."),
            Filter::flag("is_active", "Active."),
        ],
        search: Some("The name."),
        period: Some("created_at"),
        order: Sort::ascending("id"),
    };

    fn listing(query: &str) -> Result<Listing, Violations> {
        THINGS.listing(TableRequest(fields_of_pairs(query.as_bytes())?, Zone::parse("Asia/Kamchatka").unwrap()), 15)
    }

    fn wrong(query: &str) -> Vec<String> {
        listing(query).unwrap_err().fields().keys().cloned().collect()
    }

    #[test]
    fn days_have_years_of_four_digits() {
        assert_eq!(listing("date_from=0001-01-01&date_to=9999-12-31").unwrap().conditions.len(), 1);
        assert_eq!(wrong("date_from=-5000-01-01&date_to=%2B12026-01-01"), ["date_from", "date_to"]);
        assert_eq!(wrong("date_from=0000-01-01"), ["date_from"]);
    }

    #[test]
    fn everything_that_is_declared_is_understood() {
        let asked = listing(
            "brand_id[]=1&brand_id[]=2&price_gt=1.50&price_lt=9&is_active=1&query=%D1%91&date_to=2026-01-31\
             &order_by=id_desc&page=2&per_page=7",
        )
        .unwrap();
        let number = FilterValue::Number;
        let comparisons: Vec<_> =
            asked.conditions.iter().map(|condition| (condition.field, condition.comparison.clone())).collect();
        assert_eq!(comparisons[0], ("brand_id", Comparison::AnyOf(vec![number(1), number(2)])));
        assert_eq!(comparisons[1], ("price", Comparison::GreaterThan(number(150))));
        assert_eq!(comparisons[2], ("price", Comparison::LessThan(number(900))));
        assert_eq!(comparisons[3], ("is_active", Comparison::AnyOf(vec![FilterValue::Flag(true)])));
        assert!(
            matches!(&comparisons[4], ("created_at", Comparison::LessThan(FilterValue::Moment(day))) if day.to_rfc3339() == "2026-01-31T12:00:00+00:00")
        );
        assert_eq!(asked.sort, Sort::descending("id"));
        assert_eq!((asked.page.page(), asked.page.per_page()), (2, 7));
        assert_eq!(asked.text.unwrap().as_str(), "ё");
    }

    #[test]
    fn all_errors_are_reported() {
        let query = "brand_id[]=0&price=x&price_gt[]=1&is_active=perhaps&query=&date_from=1.1.2026&order_by=price_asc&page=0\
                     &per_page=1000000000&colour=red&brand_id_gt=1";
        let expected = [
            "brand_id",
            "brand_id_gt",
            "colour",
            "date_from",
            "is_active",
            "order_by",
            "page",
            "per_page",
            "price",
            "price_gt",
            "query",
        ];
        assert_eq!(wrong(query), expected);
        assert_eq!(wrong("page=1&page=2&brand_id=1&brand_id[]=2"), ["brand_id", "page"]);
    }

    #[test]
    fn an_empty_query_is_the_first_page_in_default_order() {
        let asked = listing("").unwrap();
        assert_eq!((asked.sort, asked.page.page(), asked.page.per_page()), (THINGS.order, 1, 15));
        assert!(asked.conditions.is_empty() && asked.text.is_none());
    }
}
