//! Query parameters of the storefront.

use std::borrow::Cow;

use deserr::Deserr;
use kontor_catalog::storefront::{ProductFilter, ProductOrder};
use kontor_kernel::{Money, PageRequest, Violations};
use rust_decimal::{Decimal, RoundingStrategy};
use utoipa::IntoParams;
use utoipa::openapi::ObjectBuilder;
use utoipa::openapi::schema::Type;

use kontor_web::ApiError;
use kontor_web::paging::{PageNumber, PageSize, Size, page_of};
use kontor_web::wire::{self, In, InputErrors, Many, Scalar, WireValue};

/// Returns the maximum number of records of a list, at least 1.
pub(super) fn limit(limit: Option<&wire::Integer>) -> Result<Option<u32>, ApiError> {
    let checked = limit.map(|limit| match u32::try_from(limit.0) {
        Ok(limit) if limit >= 1 => Ok(limit),
        _ => Err(ApiError::invalid("limit", "must be a whole number of at least 1")),
    });
    checked.transpose()
}

#[derive(Deserr, IntoParams)]
#[deserr(error = InputErrors, deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(super) struct StorefrontCategoryQuery {
    /// Maximum number of records.
    #[deserr(default)]
    #[param(value_type = Option<i64>, minimum = 1)]
    pub limit: Option<wire::Integer>,
    /// Without it, the root categories of the application are returned.
    #[deserr(default)]
    #[param(value_type = Option<i64>, minimum = 1)]
    pub parent_id: Option<wire::CategoryId>,
}

#[derive(Deserr, IntoParams)]
#[deserr(error = InputErrors, deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(super) struct StorefrontBrandQuery {
    /// Maximum number of records.
    #[deserr(default)]
    #[param(value_type = Option<i64>, minimum = 1)]
    pub limit: Option<wire::Integer>,
}

#[derive(Deserr, IntoParams)]
#[deserr(error = InputErrors, deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(super) struct FavouriteQuery {
    #[deserr(default)]
    #[param(value_type = Option<i64>, minimum = 1)]
    page: Option<PageNumber>,
    /// At most 100, 10 by default.
    #[deserr(default)]
    #[param(value_type = Option<i64>, minimum = 1, maximum = 100)]
    per_page: Option<PageSize>,
}

impl FavouriteQuery {
    /// Returns the requested page.
    pub fn page(&self) -> Result<PageRequest, Violations> {
        page_of(self.page.as_ref(), self.per_page.as_ref(), 10)
    }
}

/// Page of a list that most clients read as a whole. Other parameters have always been ignored.
#[derive(Deserr, IntoParams)]
#[deserr(error = InputErrors)]
#[into_params(parameter_in = Query)]
pub(super) struct OwnListQuery {
    #[deserr(default)]
    #[param(value_type = Option<i64>, minimum = 1)]
    page: Option<PageNumber>,
    /// At most 500, 500 by default.
    #[deserr(default)]
    #[param(value_type = Option<i64>, minimum = 1, maximum = 500)]
    per_page: Option<In<Size<500>>>,
}

impl OwnListQuery {
    /// Returns the requested page.
    pub fn page(&self) -> Result<PageRequest, Violations> {
        page_of(self.page.as_ref(), self.per_page.as_ref(), 500)
    }
}

#[derive(Deserr, IntoParams)]
#[deserr(error = InputErrors, deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(super) struct NotificationQuery {
    #[deserr(default)]
    #[param(value_type = Option<i64>, minimum = 1)]
    page: Option<PageNumber>,
    /// At most 50, 10 by default.
    #[deserr(default)]
    #[param(value_type = Option<i64>, minimum = 1, maximum = 50)]
    per_page: Option<In<Size<50>>>,
}

impl NotificationQuery {
    /// Returns the requested page.
    pub fn page(&self) -> Result<PageRequest, Violations> {
        page_of(self.page.as_ref(), self.per_page.as_ref(), 10)
    }
}

#[derive(Deserr, IntoParams)]
#[deserr(error = InputErrors, deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(super) struct SubscriptionPaymentQuery {
    #[deserr(default)]
    #[param(value_type = Option<i64>, minimum = 1)]
    page: Option<PageNumber>,
    /// At most 100, 20 by default.
    #[deserr(default)]
    #[param(value_type = Option<i64>, minimum = 1, maximum = 100)]
    per_page: Option<PageSize>,
}

impl SubscriptionPaymentQuery {
    /// Returns the requested page.
    pub fn page(&self) -> Result<PageRequest, Violations> {
        page_of(self.page.as_ref(), self.per_page.as_ref(), 20)
    }
}

#[derive(Deserr, IntoParams)]
#[deserr(error = InputErrors, deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(super) struct ProductQuery {
    /// Words of the name and the article, or parts of them, in any order and case.
    #[deserr(default)]
    #[param(value_type = Option<String>, min_length = 1, max_length = 255)]
    query: Option<wire::Name>,
    /// Products of any of these categories, not of their subcategories. At most 200 ids.
    #[deserr(default)]
    #[param(rename = "category_id[]", value_type = Option<Vec<i64>>)]
    category_id: Many<wire::CategoryId>,
    /// Products of any of these brands, at most 200 ids.
    #[deserr(default)]
    #[param(rename = "brand_id[]", value_type = Option<Vec<i64>>)]
    brand_id: Many<wire::BrandId>,
    /// Products from any of these countries, at most 200 ids.
    #[deserr(default)]
    #[param(rename = "country_id[]", value_type = Option<Vec<i64>>)]
    country_id: Many<wire::CountryId>,
    /// Products with any of these tags, at most 200 ids.
    #[deserr(default)]
    #[param(rename = "tag_id[]", value_type = Option<Vec<i64>>)]
    tag_id: Many<wire::TagId>,
    /// `name_asc`, `name_desc`, `popularity_asc`, `popularity_desc`, `price_asc` or `price_desc`.
    #[deserr(default)]
    #[param(value_type = Option<String>)]
    order_by: Option<wire::ProductOrder>,
    #[deserr(default)]
    #[param(value_type = Option<f64>, minimum = 0)]
    price_from: Option<In<PriceFrom>>,
    #[deserr(default)]
    #[param(value_type = Option<f64>, minimum = 1)]
    price_to: Option<In<PriceTo>>,
    /// `1` returns only products with a current discount.
    #[deserr(default)]
    #[param(value_type = Option<bool>)]
    sale: Option<wire::Flag>,
    /// `1` adds `facets` to the response: the values of the filters with their product counts.
    #[deserr(default)]
    #[param(value_type = Option<bool>)]
    facets: Option<wire::Flag>,
    #[deserr(default)]
    #[param(value_type = Option<i64>, minimum = 1)]
    page: Option<PageNumber>,
    /// At most 100, 10 by default.
    #[deserr(default)]
    #[param(value_type = Option<i64>, minimum = 1, maximum = 100)]
    per_page: Option<PageSize>,
}

/// Parses a price bound and rounds it to a whole minor unit.
fn bound(text: &str, least: u32, rounding: RoundingStrategy) -> Result<Money, String> {
    // `Decimal` accepts `_` between digits. Numbers in a query string must not contain it.
    let number = if text.contains('_') { None } else { exact(text) };
    let number = number.ok_or_else(|| "must be a number".to_owned())?;
    if number < Decimal::from(least) {
        return Err(format!("must be at least {least}"));
    }
    Money::from_decimal(number.round_dp_with_strategy(2, rounding)).map_err(|error| error.to_string())
}

fn exact(text: &str) -> Option<Decimal> {
    Decimal::from_str_exact(text).or_else(|_| Decimal::from_scientific(text)).ok()
}

macro_rules! price_bounds {
    ($($(#[doc = $doc:literal])+ $name:ident = $least:literal, $rounding:ident;)+) => {$(
        $(#[doc = $doc])+
        #[derive(Debug, Clone, Copy)]
        pub(super) struct $name(Money);

        impl WireValue for $name {
            fn from_scalar(scalar: Scalar) -> Result<Self, String> {
                let Scalar::Text(text) = scalar else { return Err(Self::expected().into_owned()) };
                bound(&text, $least, RoundingStrategy::$rounding).map(Self)
            }

            fn expected() -> Cow<'static, str> {
                "must be a number".into()
            }

            fn schema_name() -> Cow<'static, str> {
                stringify!($name).into()
            }

            fn schema() -> ObjectBuilder {
                ObjectBuilder::new().schema_type(Type::Number).minimum(Some($least))
            }
        }
    )+};
}

price_bounds! {
    /// Lowest price, rounded up to a minor unit.
    PriceFrom = 0, ToPositiveInfinity;
    /// Highest price, rounded down to a minor unit.
    PriceTo = 1, ToZero;
}

impl ProductQuery {
    /// Returns the filter, the order and the page.
    pub fn list(&self) -> Result<(ProductFilter, Option<ProductOrder>, PageRequest), Violations> {
        let (filter, order) = self.filter()?;
        Ok((filter, order, page_of(self.page.as_ref(), self.per_page.as_ref(), 10)?))
    }

    /// Returns `true` if facets are requested.
    pub fn wants_facets(&self) -> bool {
        self.facets.as_ref().is_some_and(|facets| facets.0)
    }

    /// Returns the filter and the order.
    pub fn filter(&self) -> Result<(ProductFilter, Option<ProductOrder>), Violations> {
        let mut violations = Violations::default();
        let filter = ProductFilter {
            query: self.query.as_ref().map(|query| query.0.clone()),
            category_ids: self.category_id.0.iter().map(|id| id.0).collect(),
            brand_ids: self.brand_id.0.iter().map(|id| id.0).collect(),
            country_ids: self.country_id.0.iter().map(|id| id.0).collect(),
            tag_ids: self.tag_id.0.iter().map(|id| id.0).collect(),
            price_from: self.price_from.as_ref().map(|bound| bound.0.0),
            price_to: self.price_to.as_ref().map(|bound| bound.0.0),
            on_sale: self.sale.as_ref().is_some_and(|sale| sale.0),
        };
        for (field, count) in [
            ("category_id", filter.category_ids.len()),
            ("brand_id", filter.brand_ids.len()),
            ("country_id", filter.country_ids.len()),
            ("tag_id", filter.tag_ids.len()),
        ] {
            if count > MAX_IDS {
                violations.add(field, format!("must have at most {MAX_IDS} values"));
            }
        }
        if filter.price_from.zip(filter.price_to).is_some_and(|(from, to)| from > to) {
            violations.add("price_to", "must not be less than price_from");
        }
        violations.into_result()?;
        Ok((filter, self.order_by.as_ref().map(|order| order.0)))
    }
}

/// Maximum number of values per filter. It bounds the length of SQL statements.
const MAX_IDS: usize = 200;
