//! Wire form of every shared domain type.

use std::borrow::Cow;

use chrono::Datelike as _;
use kontor_auth::{miniapp, model as auth};
use kontor_catalog::model as catalog;
use kontor_content::model as content;
use kontor_kernel as kernel;
use kontor_kernel::Word;
use kontor_orders::{model as orders, tickets};
use kontor_organization::model as organization;
use rust_decimal::Decimal;
use utoipa::openapi::ObjectBuilder;
use utoipa::openapi::extensions::ExtensionsBuilder;
use utoipa::openapi::schema::{KnownFormat, SchemaFormat, Type};

use super::{In, Scalar, WireValue};

/// Accepts a text. Text fields of the domain use its own bounded types instead.
pub(super) fn text(scalar: Scalar) -> Result<String, String> {
    match scalar {
        Scalar::Text(text) => Ok(text),
        Scalar::Flag(_) | Scalar::Integer(_) | Scalar::Float(_) => Err("must be a string".to_owned()),
    }
}

/// Accepts a text of digits, which some clients send as a number: a phone, a code.
fn digits(scalar: Scalar) -> Result<String, String> {
    match scalar {
        Scalar::Integer(number) => Ok(number.to_string()),
        scalar => text(scalar),
    }
}

/// Accepts a number, or a text with a number.
fn decimal(scalar: Scalar) -> Result<String, String> {
    match scalar {
        Scalar::Float(number) => Ok(number.to_string()),
        scalar => digits(scalar),
    }
}

/// Accepts the digits of a whole number.
fn whole_digits(scalar: Scalar) -> Result<String, String> {
    match scalar {
        Scalar::Integer(number) => Ok(number.to_string()),
        Scalar::Text(text) => Ok(text),
        Scalar::Flag(_) | Scalar::Float(_) => Err("must be a whole number".to_owned()),
    }
}

/// Accepts a password or a code without changes.
fn secret(text: &str) -> Result<kernel::SecretString, &'static str> {
    if text.is_empty() { Err("must not be empty") } else { Ok(text.into()) }
}

pub(super) fn integer(scalar: Scalar) -> Result<i64, String> {
    match scalar {
        Scalar::Integer(number) => Ok(number),
        Scalar::Text(text) => text.trim().parse().map_err(|_| "must be a whole number".to_owned()),
        Scalar::Flag(_) | Scalar::Float(_) => Err("must be a whole number".to_owned()),
    }
}

pub(super) fn string_schema() -> ObjectBuilder {
    ObjectBuilder::new().schema_type(Type::String)
}

pub(super) fn integer_schema() -> ObjectBuilder {
    ObjectBuilder::new().schema_type(Type::Integer).format(Some(SchemaFormat::KnownFormat(KnownFormat::Int64)))
}

/// Declares a number from a dictionary of the service. It is no enum, because dictionaries may grow.
pub(super) fn listed_at(schema: ObjectBuilder, dictionary: &str) -> ObjectBuilder {
    schema.extensions(Some(ExtensionsBuilder::new().add("x-service-dictionary", dictionary).build()))
}

macro_rules! wire_ids {
    ($($name:ident $(=> $dictionary:literal)?;)+) => {$(
        impl WireValue for kernel::$name {
            fn from_scalar(scalar: Scalar) -> Result<Self, String> {
                integer(scalar).and_then(|number| Self::new(number).map_err(|_| "must be at least 1".to_owned()))
            }

            fn expected() -> Cow<'static, str> {
                Cow::Borrowed("must be a whole number")
            }

            fn member() -> Option<&'static str> {
                Some("id")
            }

            fn schema_name() -> Cow<'static, str> {
                Cow::Borrowed(stringify!($name))
            }

            fn schema() -> ObjectBuilder {
                let schema = integer_schema().minimum(Some(1));
                $(let schema = listed_at(schema, $dictionary);)?
                schema
            }
        }

        #[doc = concat!("[`kernel::", stringify!($name), "`] over the wire.")]
        pub type $name = In<kernel::$name>;
    )+};
}

wire_ids! {
    ApplicationId => "/api/applications";
    BlockId;
    BlockTypeId => "/api/block_types";
    BranchId => "/api/branches";
    BrandId => "/api/brands";
    CategoryId => "/api/categories";
    CounterpartyId;
    CountryId => "/api/counterparty/countries";
    DeliverySubtypeId => "/api/counterparty/delivery_types/{type_id}/subtypes";
    DeliverySubtypeParamId => "/api/counterparty/delivery_types/{type_id}/subtypes/{subtype_id}/params";
    DeliveryTypeId => "/api/delivery_types";
    DepartmentId => "/api/departments";
    DiscountId;
    MenuItemId;
    NomenclatureId;
    NomenclatureTypeId => "/api/nomenclature_types";
    OrderId;
    PageTypeId => "/api/page_types";
    PaymentTypeId => "/api/counterparty/payment_types";
    PermissionId => "/api/permissions";
    ReservationId;
    RoleId => "/api/roles";
    SavedMethodId => "/api/counterparty/payment-methods";
    ScreenId => "/api/screens";
    ShopId => "/api/counterparty/shops";
    StaffMenuId => "/api/menus";
    StorageUnitId => "/api/storage_units";
    TagId => "/api/tags";
    UserId;
    VatId => "/api/vats";
    WarehouseId;
    WebhookId;
}

macro_rules! wire_texts {
    ($($name:ident = $type:ty, $read:ident, $parse:expr, $expected:literal, $schema:expr $(=> $member:literal)?;)+) => {$(
        impl WireValue for $type {
            fn from_scalar(scalar: Scalar) -> Result<Self, String> {
                $parse(&$read(scalar)?).map_err(|error| error.to_string())
            }

            fn expected() -> Cow<'static, str> {
                Cow::Borrowed($expected)
            }

            $(fn member() -> Option<&'static str> {
                Some($member)
            })?

            fn schema_name() -> Cow<'static, str> {
                Cow::Borrowed(stringify!($name))
            }

            fn schema() -> ObjectBuilder {
                $schema
            }
        }

        #[doc = concat!("`", stringify!($type), "` over the wire.")]
        pub type $name = In<$type>;
    )+};
}

wire_texts! {
    Email = kernel::Email, text, kernel::Email::parse, "must be an e-mail address",
        string_schema().format(Some(SchemaFormat::KnownFormat(KnownFormat::Email)));
    Phone = kernel::Phone, digits, kernel::Phone::parse, "must be a phone such as 79001234567",
        string_schema().examples(["79001234567"]);
    Contact = kernel::Contact, digits, kernel::Contact::parse, "must be a phone or an e-mail address",
        string_schema().examples(["79001234567"]);
    Login = auth::Login, digits, auth::Login::parse, "must be a string",
        string_schema().min_length(Some(1)).max_length(Some(100));
    Device = auth::Device, text, auth::Device::parse, "must be a string",
        string_schema().min_length(Some(3)).max_length(Some(50));
    Audience = auth::Audience, text, auth::Audience::parse, "must be a string",
        string_schema().min_length(Some(1)).max_length(Some(64));
    DeviceNote = Option<auth::Device>, text, auth::Device::parse_optional, "must be a string",
        string_schema().max_length(Some(255));
    SignedPhone = miniapp::SignedPhone, digits, miniapp::SignedPhone::parse, "must be a string",
        string_schema().min_length(Some(1)).max_length(Some(miniapp::SignedPhone::MAX)).examples(["+79001234567"]);
    SignedAt = miniapp::SignedAt, whole_digits, miniapp::SignedAt::parse, "must be a whole number",
        integer_schema().minimum(Some(0));
    ContactHash = miniapp::ContactHash, text, miniapp::ContactHash::parse, "must be a string",
        string_schema().pattern(Some("^[0-9A-Fa-f]{64}$"));
    InitData = miniapp::InitData, text, miniapp::InitData::parse, "must be a string",
        string_schema().min_length(Some(1)).max_length(Some(miniapp::InitData::MAX));
    PermissionName = auth::PermissionName, text, auth::PermissionName::parse, "must be a string",
        string_schema().max_length(Some(100)).pattern(Some("^(view|create|edit)-[a-z][a-z_]*$"))
            .examples(["view-reports"]);
    ClientNonce = auth::ClientNonce, text, auth::ClientNonce::parse, "must be a string",
        string_schema().pattern(Some("^[A-Za-z0-9_-]{32,128}$"));
    SessionToken = auth::SessionToken, text, auth::SessionToken::parse, "must be a string",
        string_schema().min_length(Some(1)).max_length(Some(128));
    Secret = kernel::SecretString, digits, secret, "must be a string",
        string_schema().min_length(Some(1)).format(Some(SchemaFormat::KnownFormat(KnownFormat::Password)));
    ScanId = tickets::ScanId, text, tickets::ScanId::parse, "must be a string",
        string_schema().pattern(Some("^[!-~]{1,64}$"));
    Prose = kernel::Prose, text, kernel::Prose::parse, "must be a string",
        string_schema().max_length(Some(kernel::Prose::MAX));
    PromoCode = kernel::PromoCode, text, kernel::PromoCode::parse, "must be a string",
        string_schema().pattern(Some("^[A-Za-z0-9-]{1,64}$"));
    Reason = auth::Reason, text, auth::Reason::parse, "must be a string",
        string_schema().min_length(Some(1)).max_length(Some(auth::Reason::MAX));
    PhotoUrl = catalog::PhotoUrl, text, catalog::PhotoUrl::parse, "must be an http or https address",
        string_schema().format(Some(SchemaFormat::Custom("uri".to_owned()))).max_length(Some(catalog::PhotoUrl::MAX))
        => "url";
    Inn = kernel::Inn, digits, kernel::Inn::parse, "must be a string",
        string_schema().pattern(Some("^(\\d{10}|\\d{12})$")).examples(["7707083893"]);
    Kpp = kernel::Kpp, digits, kernel::Kpp::parse, "must be a string",
        string_schema().pattern(Some("^\\d{4}[0-9A-Z]{2}\\d{3}$")).examples(["770701001"]);
    Bik = kernel::Bik, text, kernel::Bik::parse, "must be a string",
        string_schema().pattern(Some("^0\\d{8}$")).examples(["044525225"]);
    BankAccount = kernel::BankAccount, text, kernel::BankAccount::parse, "must be a string",
        string_schema().pattern(Some("^\\d{20}$")).examples(["40702810938000000001"]);
    TimeOfDay = organization::TimeOfDay, text, organization::TimeOfDay::parse, "must be a string",
        string_schema().pattern(Some("^([01][0-9]|2[0-3]):[0-5][0-9]$|^24:00$")).examples(["09:00"]);
    Latitude = organization::Latitude, decimal, organization::Latitude::parse, "must be a number of degrees",
        string_schema().examples(["55.7558"]);
    Longitude = organization::Longitude, decimal, organization::Longitude::parse, "must be a number of degrees",
        string_schema().examples(["37.6173"]);
    ZoneName = kernel::Zone, text, kernel::Zone::parse, "must be a string",
        string_schema().examples(["Europe/Moscow"]);
    Slug = content::Slug, text, content::Slug::parse, "must be a string",
        string_schema().pattern(Some("^[a-z0-9_-]{1,100}$")).examples(["about-us"]);
    PageQueryText = content::PageQueryText, text, content::PageQueryText::parse, "must be a string",
        string_schema().min_length(Some(3)).max_length(Some(255));
    PlanSlug = catalog::PlanSlug, text, catalog::PlanSlug::parse, "must be a string",
        string_schema()
            .max_length(Some(catalog::PlanSlug::MAX))
            .pattern(Some("^[a-z0-9]([a-z0-9-]*[a-z0-9])?$"))
            .examples(["gold-yearly"]);
    ShareLink = catalog::ShareLink, text, catalog::ShareLink::parse, "must be an http or https address",
        string_schema().format(Some(SchemaFormat::Custom("uri".to_owned()))).max_length(Some(catalog::ShareLink::MAX));
    Link = kernel::Link, text, kernel::Link::parse, "must be a path or an http, https, mailto or tel address",
        string_schema().format(Some(SchemaFormat::Custom("uri-reference".to_owned()))).min_length(Some(1))
            .max_length(Some(kernel::Link::MAX)).examples(["https://shop.example/sale"]);
    SlideLink = content::SlideLink, text, content::SlideLink::parse, "must begin with https://, http:// or /",
        string_schema().format(Some(SchemaFormat::Custom("uri-reference".to_owned()))).min_length(Some(1))
            .max_length(Some(content::SlideLink::MAX)).examples(["/sale"]);
    PaymentMethodType = orders::PaymentMethod, text, orders::PaymentMethod::parse, "must be a string",
        string_schema().enum_values(Some(orders::PaymentMethod::all().iter().map(|method| method.word())));
}

impl<const MAX: usize> WireValue for kernel::Line<MAX> {
    fn from_scalar(scalar: Scalar) -> Result<Self, String> {
        Self::parse(&text(scalar)?).map_err(|error| error.to_string())
    }

    fn expected() -> Cow<'static, str> {
        Cow::Borrowed("must be a string")
    }

    fn schema_name() -> Cow<'static, str> {
        Cow::Owned(format!("Line{MAX}"))
    }

    fn schema() -> ObjectBuilder {
        string_schema().min_length(Some(1)).max_length(Some(MAX))
    }
}

/// Name: one line of at most 255 characters.
pub type Name = In<kernel::Name>;
/// Postal address: one line of at most 500 characters.
pub type Line500 = In<kernel::Line<500>>;
/// Reason: one line of at most 250 characters.
pub type Line250 = In<kernel::Line<250>>;
/// Search text of suggestions: one line of at most 300 characters.
pub type Line300 = In<kernel::Line<300>>;
/// Article: one line of at most 100 characters.
pub type Line100 = In<kernel::Line<100>>;
/// Value of a setting: one line of at most 2,000 characters.
pub type Line2000 = In<kernel::Line<2000>>;
/// One line of at most 64 characters.
pub type Line64 = In<kernel::Line<64>>;

impl WireValue for kernel::Money {
    /// Accepts the decimal string of the contract and, for hand-written JSON, a number.
    fn from_scalar(scalar: Scalar) -> Result<Self, String> {
        let text = match scalar {
            Scalar::Text(text) => text,
            Scalar::Integer(number) => number.to_string(),
            Scalar::Float(number) => Decimal::try_from(number).map_err(|_| "is not an amount".to_owned())?.to_string(),
            Scalar::Flag(_) => return Err(Self::expected().into_owned()),
        };
        text.parse::<Self>().map_err(|error| error.to_string())
    }

    fn expected() -> Cow<'static, str> {
        Cow::Borrowed("must be an amount such as \"265.00\"")
    }

    fn schema_name() -> Cow<'static, str> {
        Cow::Borrowed("Money")
    }

    fn schema() -> ObjectBuilder {
        string_schema().pattern(Some(r"^\d+\.\d{2}$")).examples(["265.00"])
    }
}

/// Amount of money.
pub type Money = In<kernel::Money>;

macro_rules! wire_counts {
    ($($owner:ident $name:ident, $least:literal;)+) => {$(
        impl WireValue for $owner::$name {
            fn from_scalar(scalar: Scalar) -> Result<Self, String> {
                integer(scalar).and_then(|number| Self::new(number).map_err(|error| error.to_string()))
            }

            fn expected() -> Cow<'static, str> {
                Cow::Borrowed("must be a whole number")
            }

            fn schema_name() -> Cow<'static, str> {
                Cow::Borrowed(stringify!($name))
            }

            fn schema() -> ObjectBuilder {
                integer_schema().minimum(Some($least)).maximum(Some(1_000_000_000))
            }
        }

        #[doc = concat!("[`", stringify!($owner), "::", stringify!($name), "`] over the wire.")]
        pub type $name = In<$owner::$name>;
    )+};
}

wire_counts! {
    kernel Quantity, 1;
    catalog StockLevel, 0;
}

impl WireValue for i64 {
    fn from_scalar(scalar: Scalar) -> Result<Self, String> {
        integer(scalar)
    }

    fn expected() -> Cow<'static, str> {
        Cow::Borrowed("must be a whole number")
    }

    fn schema_name() -> Cow<'static, str> {
        Cow::Borrowed("Integer")
    }

    fn schema() -> ObjectBuilder {
        integer_schema()
    }
}

/// Whole number.
pub type Integer = In<i64>;

impl WireValue for bool {
    /// Accepts `true`/`false` of new fields and `0`/`1` of legacy fields. A query string has only texts.
    fn from_scalar(scalar: Scalar) -> Result<Self, String> {
        match scalar {
            Scalar::Flag(flag) => Ok(flag),
            Scalar::Integer(1) => Ok(true),
            Scalar::Integer(0) => Ok(false),
            Scalar::Text(text) if matches!(text.as_str(), "1" | "true") => Ok(true),
            Scalar::Text(text) if matches!(text.as_str(), "0" | "false") => Ok(false),
            _ => Err("must be true or false".to_owned()),
        }
    }

    fn expected() -> Cow<'static, str> {
        Cow::Borrowed("must be true or false")
    }

    fn schema_name() -> Cow<'static, str> {
        Cow::Borrowed("Flag")
    }

    fn schema() -> ObjectBuilder {
        ObjectBuilder::new().schema_type(Type::Boolean)
    }
}

/// `true` or `false`.
pub type Flag = In<bool>;

/// Supported years. Others have a sign or more digits: SQLite compares times as texts, and PostgreSQL does not support
/// all of them.
pub(super) const YEARS: std::ops::RangeInclusive<i32> = 1..=9999;

impl WireValue for chrono::NaiveDate {
    fn from_scalar(scalar: Scalar) -> Result<Self, String> {
        let text = text(scalar)?;
        // Parsing alone accepts years of other lengths, signs and days without leading zeros.
        let day = text.parse::<Self>().ok().filter(|day| day.to_string() == text);
        day.filter(|day| YEARS.contains(&day.year())).ok_or_else(|| Self::expected().into_owned())
    }

    fn expected() -> Cow<'static, str> {
        Cow::Borrowed("must be a date such as 2026-01-31")
    }

    fn schema_name() -> Cow<'static, str> {
        Cow::Borrowed("Date")
    }

    fn schema() -> ObjectBuilder {
        string_schema().format(Some(SchemaFormat::KnownFormat(KnownFormat::Date)))
    }
}

/// Date.
pub type Date = In<chrono::NaiveDate>;
