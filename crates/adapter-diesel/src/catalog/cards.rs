//! Reads and writes items.

use std::collections::{BTreeSet, HashMap};

use chrono::NaiveDateTime;
use diesel::prelude::*;
use kontor_catalog::CardReference;
use kontor_catalog::model::{
    BillingPeriod, Card, CardLabels, Gallery, Nomenclature, NomenclatureKind, Packaging, PhotoUrl, Reference,
    ShareLink, StorageUnit,
};
use kontor_kernel::{Name, ProjectId, ProjectScoped, Quantity, StoreError, TagId};

use super::CHUNK;
use crate::database::{Abort, AnyConnection, found, on_each};
use crate::decode::{self, reference};
use crate::records;
use crate::schema::{
    brands, categories, countries, dictionary_items, nomenclature_photos, nomenclature_tags, nomenclatures,
    storage_units, tags,
};

/// Dictionaries that an item refers to.
const KINDS: &str = "nomenclature_kinds";
pub(super) const TYPES: &str = "nomenclature_types";
pub(super) const VATS: &str = "vats";

#[derive(Queryable, Selectable)]
#[diesel(table_name = nomenclatures)]
struct NomenclatureRow {
    id: i64,
    project_id: i64,
    article: Option<String>,
    name: String,
    kind_id: i64,
    type_id: Option<i64>,
    category_id: Option<i64>,
    brand_id: Option<i64>,
    country_id: Option<i64>,
    storage_unit_id: Option<i64>,
    vat_id: Option<i64>,
    price: Option<i64>,
    description: Option<String>,
    characteristics: Option<String>,
    share_link: Option<String>,
    is_subscription: bool,
    billing_period_months: Option<i32>,
    wholesale: bool,
    pieces_per_pack: i32,
    quantity_pack: i32,
    version: i64,
    created_at: NaiveDateTime,
    updated_at: NaiveDateTime,
}

/// Names of category, brand, country and storage unit, and the abbreviation of the unit.
type Names = (Option<String>, Option<String>, Option<String>, Option<String>, Option<String>);

/// Records that the items of one load share, and lists that belong to each of them.
struct SharedRecords {
    kinds: HashMap<i64, String>,
    types: HashMap<i64, String>,
    vats: HashMap<i64, String>,
    photos: HashMap<i64, Vec<PhotoUrl>>,
    tags: HashMap<i64, Vec<Reference<TagId>>>,
}

impl SharedRecords {
    fn load<R>(connection: &mut AnyConnection, ids: &[i64]) -> Result<Self, Abort<R>> {
        let mut all = Self {
            kinds: HashMap::new(),
            types: HashMap::new(),
            vats: HashMap::new(),
            photos: HashMap::new(),
            tags: HashMap::new(),
        };
        let words: Vec<(String, i64, String)> = dictionary_items::table
            .filter(dictionary_items::dictionary.eq_any([KINDS, TYPES, VATS]))
            .select((dictionary_items::dictionary, dictionary_items::id, dictionary_items::name))
            .load(connection)?;
        for (dictionary, id, name) in words {
            let into = match dictionary.as_str() {
                VATS => &mut all.vats,
                TYPES => &mut all.types,
                _ => &mut all.kinds,
            };
            into.insert(id, name);
        }
        let photos: Vec<(i64, String)> = nomenclature_photos::table
            .filter(nomenclature_photos::nomenclature_id.eq_any(ids.to_vec()))
            .order((nomenclature_photos::nomenclature_id, nomenclature_photos::position))
            .select((nomenclature_photos::nomenclature_id, nomenclature_photos::url))
            .load(connection)?;
        for (item, url) in photos {
            all.photos.entry(item).or_default().push(PhotoUrl::parse(&url).map_err(StoreError::corrupt)?);
        }
        let labels: Vec<(i64, i64, String)> = nomenclature_tags::table
            .inner_join(tags::table.on(nomenclature_tags::tag_id.eq(tags::id)))
            .filter(nomenclature_tags::nomenclature_id.eq_any(ids.to_vec()))
            .order((nomenclature_tags::nomenclature_id, tags::id))
            .select((nomenclature_tags::nomenclature_id, tags::id, tags::name))
            .load(connection)?;
        for (item, id, name) in labels {
            all.tags.entry(item).or_default().push(reference(id, &name)?);
        }
        Ok(all)
    }

    fn complete(&mut self, row: NomenclatureRow, names: Names) -> Result<Nomenclature, StoreError> {
        let (category, brand, country, unit, abbreviation) = names;
        let tags = self.tags.remove(&row.id).unwrap_or_default();
        let photos = self.photos.remove(&row.id).unwrap_or_default();
        let kind = self.kinds.get(&row.kind_id).ok_or_else(|| StoreError::corrupt("a card has an unknown kind"))?;
        let type_name = row.type_id.and_then(|id| self.types.get(&id));
        let vat_name = row.vat_id.and_then(|id| self.vats.get(&id));
        let labels = CardLabels {
            kind: decode::text(kind)?,
            nomenclature_type: label(row.type_id, type_name)?,
            category: label(row.category_id, category.as_ref())?,
            brand: label(row.brand_id, brand.as_ref())?,
            country: label(row.country_id, country.as_ref())?,
            storage_unit: storage_unit(row.storage_unit_id, unit, abbreviation)?,
            vat: label(row.vat_id, vat_name)?,
            tags,
        };
        Ok(Nomenclature {
            id: decode::id(row.id)?,
            version: decode::count(row.version)?,
            created_at: decode::moment(row.created_at),
            updated_at: decode::moment(row.updated_at),
            card: card(row, photos, labels.tags.iter().map(|tag| tag.id).collect())?,
            labels,
        })
    }
}

fn label<Id>(id: Option<i64>, name: Option<&String>) -> Result<Option<Reference<Id>>, StoreError>
where
    Id: TryFrom<i64, Error = kontor_kernel::InvalidId>,
{
    id.zip(name).map(|(id, name)| reference(id, name)).transpose()
}

fn storage_unit(
    id: Option<i64>,
    name: Option<String>,
    abbreviation: Option<String>,
) -> Result<Option<StorageUnit>, StoreError> {
    let (Some(id), Some(name), Some(abbreviation)) = (id, name, abbreviation) else { return Ok(None) };
    let (name, abbreviation): (Name, Name) = (decode::text(&name)?, decode::text(&abbreviation)?);
    Ok(Some(StorageUnit { id: decode::id(id)?, name, abbreviation }))
}

fn card(row: NomenclatureRow, photos: Vec<PhotoUrl>, tags: Vec<TagId>) -> Result<Card, StoreError> {
    let months = row.billing_period_months.map(|months| BillingPeriod::months(months.into())).transpose();
    let months = months.map_err(StoreError::corrupt)?;
    let pieces = |count: i32| Quantity::new(count.into()).map_err(StoreError::corrupt);
    Ok(Card {
        article: decode::optional_text(row.article.as_deref())?,
        name: decode::text(&row.name)?,
        kind: NomenclatureKind::try_from(row.kind_id)
            .map_err(|_| decode::unknown("nomenclatures", row.id, "kind_id", row.kind_id))?,
        type_id: decode::optional_id(row.type_id)?,
        category_id: decode::optional_id(row.category_id)?,
        brand_id: decode::optional_id(row.brand_id)?,
        country_id: decode::optional_id(row.country_id)?,
        storage_unit_id: decode::optional_id(row.storage_unit_id)?,
        vat_id: decode::optional_id(row.vat_id)?,
        price: decode::optional_money(row.price)?,
        description: decode::optional_text(row.description.as_deref())?,
        characteristics: decode::optional_text(row.characteristics.as_deref())?,
        share_link: row.share_link.as_deref().map(ShareLink::parse).transpose().map_err(StoreError::corrupt)?,
        subscription: BillingPeriod::of_card(row.is_subscription, months).map_err(StoreError::corrupt)?,
        packaging: Packaging {
            wholesale: row.wholesale,
            pieces_per_pack: pieces(row.pieces_per_pack)?,
            quantity_pack: pieces(row.quantity_pack)?,
        },
        photos: Gallery::new(photos).map_err(StoreError::corrupt)?,
        tags,
    })
}

/// Loads these items in this order with all related records. The number of statements does not depend on the number of
/// items of a page.
pub(super) fn load<R>(
    connection: &mut AnyConnection,
    ids: &[i64],
) -> Result<Vec<ProjectScoped<Nomenclature>>, Abort<R>> {
    let mut all = Vec::with_capacity(ids.len());
    for ids in ids.chunks(CHUNK) {
        let mut surroundings = SharedRecords::load(connection, ids)?;
        let rows: Vec<(NomenclatureRow, Names)> = nomenclatures::table
            .left_join(categories::table.on(nomenclatures::category_id.eq(categories::id.nullable())))
            .left_join(brands::table.on(nomenclatures::brand_id.eq(brands::id.nullable())))
            .left_join(countries::table.on(nomenclatures::country_id.eq(countries::id.nullable())))
            .left_join(storage_units::table.on(nomenclatures::storage_unit_id.eq(storage_units::id.nullable())))
            .filter(nomenclatures::id.eq_any(ids.to_vec()))
            .select((
                NomenclatureRow::as_select(),
                (
                    categories::name.nullable(),
                    brands::name.nullable(),
                    countries::name.nullable(),
                    storage_units::name.nullable(),
                    storage_units::abbreviation.nullable(),
                ),
            ))
            .load(connection)?;
        let mut rows: HashMap<i64, _> = rows.into_iter().map(|row| (row.0.id, row)).collect();
        for (row, names) in ids.iter().filter_map(|id| rows.remove(id)) {
            all.push(records::of_project(row.project_id, surroundings.complete(row, names))?);
        }
    }
    Ok(all)
}

/// Returns the references of the item that belong neither to the project nor to a dictionary.
pub(super) fn unknown(
    connection: &mut AnyConnection,
    project: ProjectId,
    card: &Card,
) -> QueryResult<Vec<CardReference>> {
    let mut unknown = Vec::new();
    let mut expect = |known: bool, reference| {
        if !known {
            unknown.push(reference);
        }
    };
    if let Some(id) = card.type_id {
        expect(found!(connection, dictionary_items::table.find((TYPES, id.get())))?, CardReference::Type);
    }
    if let Some(id) = card.category_id {
        let own = categories::table.find(id.get()).filter(categories::project_id.eq(project.get()));
        expect(found!(connection, own)?, CardReference::Category);
    }
    if let Some(id) = card.brand_id {
        let own = brands::table.find(id.get()).filter(brands::project_id.eq(project.get()));
        expect(found!(connection, own)?, CardReference::Brand);
    }
    if let Some(id) = card.country_id {
        expect(found!(connection, countries::table.find(id.get()))?, CardReference::Country);
    }
    if let Some(id) = card.storage_unit_id {
        expect(found!(connection, storage_units::table.find(id.get()))?, CardReference::StorageUnit);
    }
    if let Some(id) = card.vat_id {
        expect(found!(connection, dictionary_items::table.find((VATS, id.get())))?, CardReference::Vat);
    }
    if !card.tags.is_empty() {
        let own: Vec<i64> = tags::table.filter(tags::project_id.eq(project.get())).select(tags::id).load(connection)?;
        let own: BTreeSet<i64> = own.into_iter().collect();
        for (place, tag) in card.tags.iter().enumerate() {
            expect(own.contains(&tag.get()), CardReference::Tag(place));
        }
    }
    Ok(unknown)
}

#[derive(Insertable)]
#[diesel(table_name = nomenclature_photos)]
struct PhotoRow<'a> {
    nomenclature_id: i64,
    position: i32,
    url: &'a str,
}

#[derive(Insertable)]
#[diesel(table_name = nomenclature_tags)]
struct TagRow {
    nomenclature_id: i64,
    tag_id: i64,
}

/// Replaces the photos and tags of an item.
pub(super) fn replace_photos_and_tags(connection: &mut AnyConnection, item: i64, card: &Card) -> QueryResult<()> {
    diesel::delete(nomenclature_photos::table.filter(nomenclature_photos::nomenclature_id.eq(item)))
        .execute(connection)?;
    diesel::delete(nomenclature_tags::table.filter(nomenclature_tags::nomenclature_id.eq(item))).execute(connection)?;
    let photos: Vec<PhotoRow<'_>> = (1..)
        .zip(card.photos.photos())
        .map(|(position, photo)| PhotoRow { nomenclature_id: item, position, url: photo.as_str() })
        .collect();
    if !photos.is_empty() {
        on_each!(connection, concrete => {
            diesel::insert_into(nomenclature_photos::table).values(&photos).execute(concrete)?
        });
    }
    let tags: BTreeSet<i64> = card.tags.iter().map(|tag| tag.get()).collect();
    let tags: Vec<TagRow> = tags.into_iter().map(|tag_id| TagRow { nomenclature_id: item, tag_id }).collect();
    if !tags.is_empty() {
        on_each!(connection, concrete => {
            diesel::insert_into(nomenclature_tags::table).values(&tags).execute(concrete)?
        });
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::locks::with_articles;
    use crate::testing::{Kind, TestDatabase};

    #[tokio::test]
    async fn items_are_found_by_their_articles_and_not_by_walking_the_project() {
        let db = TestDatabase::fresh(Kind::Sqlite);
        let articles: Vec<String> = (0..CHUNK).map(|n| format!("A-{n}")).collect();
        let project = ProjectId::new(1).unwrap();
        let items = with_articles("id", project, articles.iter().map(String::as_str));
        let plan = db
            .database
            .read(move |connection| items.clone().plan(connection).map_err(Abort::<StoreError>::Query))
            .await
            .unwrap();
        assert!(plan.contains("(project_id=? AND article=?)"), "{plan}");
    }
}
