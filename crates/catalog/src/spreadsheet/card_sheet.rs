use std::path::Path;

use kontor_kernel::{Line, Name, NomenclatureId, Prose};

use super::cell::{flag, money, quantity, whole};
use super::columns::Column;
use super::photo_cell::PhotoCell;
use super::ports::SheetReader;
use super::sheet::{Fields, PartSink, Seen, Sheet};
use super::{CategoryPath, Layout, ReadOptions, SheetRefused, TagNames};
use crate::model::{BillingPeriod, CardChange, Edit, NomenclatureKind, ShareLink};

macro_rules! card_columns {
    ($($(#[doc = $doc:literal])+ $column:ident = $name:literal $(| $other:literal)*;)+) => {
        /// A column of a sheet of cards.
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
    /// The article, by which rows and items find each other.
    Article = "article" | "артикул";
    /// The name.
    Name = "name" | "название" | "наименование";
    /// `goods` or `service`.
    Kind = "kind" | "kind_id" | "вид";
    /// The path of the category.
    Category = "category" | "категория";
    /// The name of the brand.
    Brand = "brand" | "бренд";
    /// The name or number of the country.
    Country = "country" | "страна";
    /// The name, abbreviation or number of the storage unit.
    Unit = "unit" | "storage_unit" | "единица" | "единица измерения" | "ед. изм.";
    /// The name or number of the VAT rate.
    Vat = "vat" | "ндс" | "ставка ндс";
    /// The card price.
    Price = "price" | "цена";
    /// HTML.
    Description = "description" | "описание";
    /// HTML.
    Characteristics = "characteristics" | "характеристики";
    /// Whether it is sold wholesale.
    Wholesale = "wholesale" | "опт";
    /// Pieces in one pack.
    PiecesPerPack = "pieces_per_pack" | "штук в упаковке";
    /// Packs in one unit of sale.
    QuantityPack = "quantity_pack" | "количество упаковок";
    /// Addresses, parted by white space or `|`; see `PhotoCell`.
    Photos = "photos" | "photo" | "фото" | "фотографии";
    /// Whether it is a subscription plan.
    IsSubscription = "is_subscription" | "подписка";
    /// Months between two charges of a plan.
    BillingPeriod = "billing_period_months" | "период оплаты";
    /// The name or number of the type.
    Type = "type" | "type_id" | "тип";
    /// The names of the tags, each on its own line or parted by `|`.
    Tags = "tags" | "tag" | "теги" | "метки";
    /// The link customers pass the item on by.
    ShareLink = "share_link" | "ссылка";
    /// The number of the item; it finds an item without an article. No other program gives a column this name.
    Id = "kontor_id";
}

/// Which item a row is about.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum ItemKey {
    /// The one with this article, or a new one.
    Article(Line<100>),
    /// This one.
    Id(NomenclatureId),
}

/// What a row says about an item. A missing column changes nothing; an empty cell clears what may be empty.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CardRow {
    /// The row as the spreadsheet counts.
    pub row: u32,
    /// Which item.
    pub key: ItemKey,
    /// The fields that need no look-up.
    pub change: CardChange,
    /// The category; it is created when it is missing.
    pub category: Edit<Option<CategoryPath>>,
    /// The brand; it is created when it is missing.
    pub brand: Edit<Option<Name>>,
    /// What the file calls the country.
    pub country: Edit<Option<String>>,
    /// What the file calls the storage unit.
    pub unit: Edit<Option<String>>,
    /// What the file calls the VAT rate.
    pub vat: Edit<Option<String>>,
    /// What the file calls the type.
    pub nomenclature_type: Edit<Option<String>>,
    /// The tags in the place of those the item has; they are created when they are missing.
    pub tags: Edit<TagNames>,
}

/// The rows of a sheet of cards.
pub type CardSheet = Sheet<CardRow>;

impl CardSheet {
    /// Reads a file of at most so many rows. Rows that cannot be understood are left out and their problems collected.
    pub fn read(reader: &dyn SheetReader, file: &Path, most: u32) -> Result<Self, SheetRefused> {
        Self::read_with(reader, file, &ReadOptions::default(), most)
    }

    /// As [`CardSheet::read`], the way the sender chose.
    pub fn read_with(
        reader: &dyn SheetReader,
        file: &Path,
        options: &ReadOptions,
        most: u32,
    ) -> Result<Self, SheetRefused> {
        Self::read_rows(reader, file, &[CardColumn::Article], (options, most), unique(Seen::default()))
    }

    /// As [`CardSheet::read_with`], only the first rows.
    pub fn read_top(reader: &dyn SheetReader, file: &Path, options: &ReadOptions) -> Result<Self, SheetRefused> {
        Self::read_first(reader, file, &[CardColumn::Article], options, unique(Seen::default()))
    }

    /// As [`CardSheet::read_with`], in parts of so many rows; rows up to `after` are read over. Returns the place
    /// of the rows.
    pub fn read_parts(
        reader: &dyn SheetReader,
        file: &Path,
        options: &ReadOptions,
        (size, after): (usize, u32),
        sink: &mut PartSink<'_, CardRow>,
    ) -> Result<Layout, SheetRefused> {
        Self::read_in_parts(reader, file, &[CardColumn::Article], (options, size, after), unique(Seen::default()), sink)
    }
}

fn unique(mut seen: Seen) -> impl FnMut(&mut Fields<'_, CardColumn>) -> Option<CardRow> {
    move |fields| {
        let key = item_key(fields, CardColumn::Article, CardColumn::Id);
        if let Some(key) = &key
            && let Some(first) = seen.again(key, fields.number())
        {
            fields.problem(CardColumn::Article, format!("stands in row {first} already"));
        }
        card_row(fields, key)
    }
}

/// The item that a row names by its article, or else by its number.
pub(super) fn item_key<C: Column>(fields: &mut Fields<'_, C>, article: C, id: C) -> Option<ItemKey> {
    if let Some(article) = fields.given(article, Line::parse) {
        return Some(ItemKey::Article(article));
    }
    let number = |text: &str| NomenclatureId::new(whole(text)?).map_err(|error| error.to_string());
    if !fields.is_faulty()
        && let Some(id) = fields.given(id, number)
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

/// A list that an empty cell makes empty.
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
