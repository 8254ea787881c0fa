use kontor_kernel::{Line, Name, NomenclatureId, Prose};

use super::cell::{PhotoCell, flag, money, quantity, whole};
use super::column_map::Column;
use super::sheet::{Fields, ImportRow, SeenKeys, Sheet};
use super::{CategoryPath, TagNames};
use crate::model::{BillingPeriod, CardChange, Edit, NomenclatureKind, ShareLink};

macro_rules! card_columns {
    ($($(#[doc = $doc:literal])+ $column:ident = $name:literal $(| $other:literal)*;)+) => {
        /// Column of an item sheet.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub enum CardColumn {
            $($(#[doc = $doc])+ $column,)+
        }

        impl Column for CardColumn {
            const ALL: &'static [(Self, &'static str, &'static [&'static str])] =
                &[$((Self::$column, $name, &[$($other),*]),)+];

            fn is_number(self) -> bool {
                use CardColumn as C;
                matches!(self, C::Price | C::PiecesPerPack | C::QuantityPack | C::BillingPeriod | C::Id)
            }
        }
    };
}

card_columns! {
    /// Article (SKU), by which rows are matched with items.
    Article = "article" | "артикул";
    /// Name.
    Name = "name" | "название" | "наименование";
    /// `goods` or `service`.
    Kind = "kind" | "kind_id" | "вид";
    /// Path of the category.
    Category = "category" | "категория";
    /// Name of the brand.
    Brand = "brand" | "бренд";
    /// Name or identifier of the country.
    Country = "country" | "страна";
    /// Name, abbreviation or identifier of the storage unit.
    Unit = "unit" | "storage_unit" | "единица" | "единица измерения" | "ед. изм.";
    /// Name or identifier of the VAT rate.
    Vat = "vat" | "ндс" | "ставка ндс";
    /// Price of the item itself.
    Price = "price" | "цена";
    /// HTML.
    Description = "description" | "описание";
    /// HTML.
    Characteristics = "characteristics" | "характеристики";
    /// `true` if the item is sold wholesale.
    Wholesale = "wholesale" | "опт";
    /// Units per pack.
    PiecesPerPack = "pieces_per_pack" | "штук в упаковке";
    /// Packs per unit of sale.
    QuantityPack = "quantity_pack" | "количество упаковок";
    /// Addresses, separated by white space or `|`; see `PhotoCell`.
    Photos = "photos" | "photo" | "фото" | "фотографии";
    /// `true` if the item is a subscription plan.
    IsSubscription = "is_subscription" | "подписка";
    /// Billing period of a plan, in months.
    BillingPeriod = "billing_period_months" | "период оплаты";
    /// Name or identifier of the type.
    Type = "type" | "type_id" | "тип";
    /// Names of the tags, each on its own line or separated by `|`.
    Tags = "tags" | "tag" | "теги" | "метки";
    /// Link by which customers share the item.
    ShareLink = "share_link" | "ссылка";
    /// Identifier of the item; it matches an item without an article. The name avoids clashes with columns of other
    /// programs.
    Id = "kontor_id";
}

/// Item that a row refers to.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum ItemKey {
    /// Item with this article, or a new item.
    Article(Line<100>),
    /// Existing item.
    Id(NomenclatureId),
}

/// Change of an item by a row. A missing column changes nothing; an empty cell clears an optional field.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CardRow {
    /// Row number as the spreadsheet counts, from 1.
    pub row: u32,
    /// Item of the row.
    pub key: ItemKey,
    /// Fields that need no look-up.
    pub change: CardChange,
    /// Category; created if it does not exist.
    pub category: Edit<Option<CategoryPath>>,
    /// Brand; created if it does not exist.
    pub brand: Edit<Option<Name>>,
    /// Country as written in the file.
    pub country: Edit<Option<String>>,
    /// Storage unit as written in the file.
    pub unit: Edit<Option<String>>,
    /// VAT rate as written in the file.
    pub vat: Edit<Option<String>>,
    /// Type as written in the file.
    pub nomenclature_type: Edit<Option<String>>,
    /// Tags, replacing those of the item; created if they do not exist.
    pub tags: Edit<TagNames>,
}

/// Rows of an item sheet.
pub type CardSheet = Sheet<CardRow>;

impl ImportRow for CardRow {
    type Column = CardColumn;

    const NEEDED: &'static [CardColumn] = &[CardColumn::Article];

    fn parse(fields: &mut Fields<'_, CardColumn>, seen: &mut SeenKeys) -> Option<Self> {
        let key = item_key(fields, CardColumn::Article, CardColumn::Id);
        if let Some(key) = &key
            && let Some(first) = seen.first_row(key, fields.number())
        {
            fields.problem(CardColumn::Article, format!("is already in row {first}"));
        }
        card_row(fields, key)
    }
}

/// Returns the item of a row, by its article or otherwise by its identifier.
pub(super) fn item_key<C: Column>(fields: &mut Fields<'_, C>, article: C, id: C) -> Option<ItemKey> {
    if let Some(article) = fields.parse_filled(article, Line::parse) {
        return Some(ItemKey::Article(article));
    }
    let number = |text: &str| NomenclatureId::new(whole(text)?).map_err(|error| error.to_string());
    if !fields.is_faulty()
        && let Some(id) = fields.parse_filled(id, number)
    {
        return Some(ItemKey::Id(id));
    }
    if !fields.is_faulty() {
        fields.problem(article, "is required");
    }
    None
}

fn card_row(fields: &mut Fields<'_, CardColumn>, key: Option<ItemKey>) -> Option<CardRow> {
    use CardColumn as C;
    let name = |text: &str| Name::parse(text);
    let owned = |text: &str| Name::parse(text).map(String::from);
    let period = |text: &str| -> Result<BillingPeriod, String> {
        BillingPeriod::months(whole(text)?).map_err(|error| error.to_string())
    };
    let change = CardChange {
        name: fields.required(C::Name, name),
        kind: fields.required(C::Kind, kind),
        price: fields.required(C::Price, money),
        description: fields.optional(C::Description, Prose::parse),
        characteristics: fields.optional(C::Characteristics, Prose::parse),
        share_link: fields.optional(C::ShareLink, ShareLink::parse),
        wholesale: fields.required(C::Wholesale, flag),
        pieces_per_pack: fields.required(C::PiecesPerPack, quantity),
        quantity_pack: fields.required(C::QuantityPack, quantity),
        photos: all_or_none(fields.optional(C::Photos, PhotoCell::read)),
        is_subscription: fields.required(C::IsSubscription, flag),
        billing_period_months: fields.optional(C::BillingPeriod, period),
        ..CardChange::default()
    };
    let row = CardRow {
        row: fields.number(),
        change,
        category: fields.optional(C::Category, CategoryPath::parse),
        brand: fields.optional(C::Brand, name),
        country: fields.optional(C::Country, owned),
        unit: fields.optional(C::Unit, owned),
        vat: fields.optional(C::Vat, owned),
        nomenclature_type: fields.optional(C::Type, owned),
        tags: all_or_none(fields.optional(C::Tags, TagNames::parse)),
        key: key?,
    };
    (!fields.is_faulty()).then_some(row)
}

/// Maps an empty cell to an empty list.
fn all_or_none<T: Default>(list: Edit<Option<T>>) -> Edit<T> {
    match list {
        Edit::Keep => Edit::Keep,
        Edit::Set(list) => Edit::Set(list.unwrap_or_default()),
    }
}

fn kind(text: &str) -> Result<NomenclatureKind, &'static str> {
    match text.trim().to_lowercase().as_str() {
        "goods" | "2" | "товар" | "товары" => Ok(NomenclatureKind::Goods),
        "service" | "services" | "1" | "услуга" | "услуги" => Ok(NomenclatureKind::Service),
        _ => Err("must be `goods` or `service`"),
    }
}
