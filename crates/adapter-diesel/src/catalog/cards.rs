//! Items: their rows with all columns, and their repository.

use std::collections::{BTreeSet, HashMap};

use async_trait::async_trait;
use chrono::{DateTime, NaiveDateTime, Utc};
use diesel::prelude::*;
use kontor_catalog::model::{
    BillingPeriod, Card, CardLabels, Gallery, Nomenclature, NomenclatureKind, Packaging, PhotoUrl, Reference,
    SearchText, ShareLink, StorageUnit,
};
use kontor_catalog::ports::NomenclatureRepository;
use kontor_catalog::{CardReference, NomenclatureError, NomenclatureRefusal};
use kontor_kernel::history::Audited as _;
use kontor_kernel::{
    Line, Listing, Money, Name, NomenclatureId, Page, ProjectId, ProjectScoped, Quantity, Stamp, StoreError, TagId,
};

use super::CHUNK;
use crate::collation::sort_key;
use crate::database::{Abort, AnyConnection, Database, found, on_duplicate, on_each};
use crate::decode::{self, reference};
use crate::listing::{Source, Totals, unsearched};
use crate::locks::lock_applications;
use crate::read_models::offers;
use crate::read_models::search::{MAX_FOUND, Search, put, update_index};
use crate::records::{self, StoredRecord};
use crate::schema::{
    brands, categories, countries, dictionary_items, inventories, nomenclature_photos, nomenclature_tags,
    nomenclatures, referred, storage_units, tags,
};
use crate::statement::Statement;
use crate::{histories, unreadable};

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
            .inner_join(referred!(tags, nomenclature_tags::tag_id))
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
        let mut shared = SharedRecords::load(connection, ids)?;
        let rows: Vec<(NomenclatureRow, Names)> = nomenclatures::table
            .left_join(referred!(categories, nomenclatures::category_id))
            .left_join(referred!(brands, nomenclatures::brand_id))
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
            all.push(records::of_project(row.project_id, shared.complete(row, names))?);
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
    project_id: i64,
    nomenclature_id: i64,
    position: i32,
    url: &'a str,
}

#[derive(Insertable)]
#[diesel(table_name = nomenclature_tags)]
#[expect(clippy::struct_field_names, reason = "the names of the columns")]
struct TagRow {
    project_id: i64,
    nomenclature_id: i64,
    tag_id: i64,
}

/// Replaces the photos and tags of an item.
pub(super) fn replace_photos_and_tags(
    connection: &mut AnyConnection,
    project: ProjectId,
    item: i64,
    card: &Card,
) -> QueryResult<()> {
    let project_id = project.get();
    let old_photos = nomenclature_photos::table.filter(nomenclature_photos::project_id.eq(project_id));
    diesel::delete(old_photos.filter(nomenclature_photos::nomenclature_id.eq(item))).execute(connection)?;
    let old_tags = nomenclature_tags::table.filter(nomenclature_tags::project_id.eq(project_id));
    diesel::delete(old_tags.filter(nomenclature_tags::nomenclature_id.eq(item))).execute(connection)?;
    let photos: Vec<PhotoRow<'_>> = (1..)
        .zip(card.photos.photos())
        .map(|(position, photo)| PhotoRow { project_id, nomenclature_id: item, position, url: photo.as_str() })
        .collect();
    if !photos.is_empty() {
        on_each!(connection, concrete => {
            diesel::insert_into(nomenclature_photos::table).values(&photos).execute(concrete)?
        });
    }
    let tags: BTreeSet<i64> = card.tags.iter().map(|tag| tag.get()).collect();
    let tags: Vec<TagRow> =
        tags.into_iter().map(|tag_id| TagRow { project_id, nomenclature_id: item, tag_id }).collect();
    if !tags.is_empty() {
        on_each!(connection, concrete => {
            diesel::insert_into(nomenclature_tags::table).values(&tags).execute(concrete)?
        });
    }
    Ok(())
}

/// Source of the item list for staff.
const ITEMS: Source = Source {
    from: "nomenclatures n",
    id: "n.id",
    fields: &[
        ("id", "n.id"),
        ("category_id", "n.category_id"),
        ("brand_id", "n.brand_id"),
        ("kind_id", "n.kind_id"),
        ("type_id", "n.type_id"),
        ("name", "n.sort_key"),
        ("price", "n.price"),
        ("created_at", "n.created_at"),
        ("updated_at", "n.updated_at"),
    ],
    // Searched by the word index instead.
    search: unsearched,
};

/// Columns that staff write.
#[derive(Insertable, AsChangeset)]
#[diesel(table_name = nomenclatures, treat_none_as_null = true)]
struct CardRow<'a> {
    article: Option<String>,
    article_key: Option<String>,
    name: &'a str,
    name_key: String,
    sort_key: Vec<u8>,
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
    search_text: String,
    article_search: Option<String>,
    updated_at: NaiveDateTime,
}

impl<'a> CardRow<'a> {
    fn new(card: &'a Card, at: DateTime<Utc>) -> Result<Self, StoreError> {
        let count = |pieces: u32| i32::try_from(pieces).map_err(StoreError::corrupt);
        let text = found_by(card);
        Ok(Self {
            article: card.article.clone().map(String::from),
            article_key: card.article.as_ref().map(Line::key),
            name: card.name.as_str(),
            name_key: card.name.key(),
            sort_key: sort_key(&card.name),
            kind_id: card.kind.id(),
            type_id: card.type_id.map(i64::from),
            category_id: card.category_id.map(i64::from),
            brand_id: card.brand_id.map(i64::from),
            country_id: card.country_id.map(i64::from),
            storage_unit_id: card.storage_unit_id.map(i64::from),
            vat_id: card.vat_id.map(i64::from),
            price: card.price.map(Money::minor),
            description: card.description.clone().map(String::from),
            characteristics: card.characteristics.clone().map(String::from),
            share_link: card.share_link.as_ref().map(|link| link.as_str().to_owned()),
            is_subscription: card.subscription.is_some(),
            billing_period_months: card.subscription.map(|period| BillingPeriod::get(period).into()),
            wholesale: card.packaging.wholesale,
            pieces_per_pack: count(card.packaging.pieces_per_pack.get())?,
            quantity_pack: count(card.packaging.quantity_pack.get())?,
            search_text: text.line(),
            article_search: text.article().map(str::to_owned),
            updated_at: at.naive_utc(),
        })
    }
}

fn found_by(card: &Card) -> SearchText {
    SearchText::of(&card.name, card.article.as_ref())
}

impl StoredRecord for Nomenclature {
    const TABLE: &'static str = "nomenclatures";

    fn load<R>(connection: &mut AnyConnection, id: i64) -> Result<Option<ProjectScoped<Self>>, Abort<R>> {
        Ok(load(connection, &[id])?.pop())
    }

    fn try_to_read(connection: &mut AnyConnection, ids: &[i64]) -> Result<Vec<()>, Abort<StoreError>> {
        load(connection, ids).map(|_| Vec::new())
    }
}

/// Takes the locks needed before an item is written.
fn begin(connection: &mut AnyConnection, project: ProjectId, card: &Card) -> Result<(), Abort<NomenclatureError>> {
    if card.kind == NomenclatureKind::Service {
        lock_applications(connection, project)?;
    }
    let unknown = unknown(connection, project, card)?;
    if unknown.is_empty() { Ok(()) } else { Err(Abort::refused(NomenclatureRefusal::UnknownReferences(unknown))) }
}

/// Writes the photos and tags of an item and refreshes its offers.
fn finish(connection: &mut AnyConnection, project: ProjectId, item: i64, card: &Card) -> QueryResult<()> {
    replace_photos_and_tags(connection, project, item, card)?;
    offers::refresh(connection, &[item])
}

/// Returns one page of the items that match a text, in the requested order or by relevance.
fn search(
    connection: &mut AnyConnection,
    project: ProjectId,
    text: &Line<255>,
    condition: Statement,
    listing: &Listing,
) -> Result<Page<Nomenclature>, Abort<StoreError>> {
    let search = Search::new(project, text, (ITEMS.from, ITEMS.id, "n.name_key"), condition, MAX_FOUND);
    let found = if listing.unsorted {
        search.ranked_page(connection, listing.page)?
    } else {
        search.sorted(connection, listing.page, &Statement::new(ITEMS.order(listing)?))?
    };
    let items = records::within(unreadable::records(connection, "nomenclatures", &found.ids, load)?, project);
    Ok(Page { items, total: decode::count(found.total)?, request: listing.page })
}

#[async_trait]
impl NomenclatureRepository for Database {
    async fn list(&self, project: ProjectId, listing: Listing) -> Result<Page<Nomenclature>, StoreError> {
        let totals = self.memory::<Totals>();
        self.snapshot(move |connection| {
            let own = Statement::new("n.project_id = ").value(project.get());
            if let Some(text) = &listing.text {
                return search(
                    connection,
                    project,
                    text,
                    ITEMS.matching(own, &Listing { text: None, ..listing.clone() })?,
                    &listing,
                );
            }
            let found = ITEMS.page_of_many(connection, own, &listing, &totals)?;
            let items = unreadable::records(connection, "nomenclatures", &found.items, load)?;
            Ok(found.with_items(records::within(items, project)))
        })
        .await
    }

    async fn find(&self, id: NomenclatureId) -> Result<Option<ProjectScoped<Nomenclature>>, StoreError> {
        self.snapshot(move |connection| Ok(load(connection, &[id.get()])?.pop())).await
    }

    async fn insert(&self, stamp: Stamp, card: Card) -> Result<Nomenclature, NomenclatureError> {
        let Stamp { project_id: project, at, .. } = stamp;
        records::insert(self, stamp, move |connection| {
            begin(connection, project, &card)?;
            let id: i64 = diesel::insert_into(nomenclatures::table)
                .values((
                    nomenclatures::project_id.eq(project.get()),
                    CardRow::new(&card, at)?,
                    nomenclatures::views_count.eq(0),
                    nomenclatures::version.eq(1),
                    nomenclatures::created_at.eq(at.naive_utc()),
                ))
                .returning(nomenclatures::id)
                .get_result(connection)
                .map_err(on_duplicate(NomenclatureRefusal::ArticleTaken))?;
            put(connection, project, &[(id, found_by(&card))])?;
            finish(connection, project, id, &card)?;
            Ok(id)
        })
        .await
    }

    async fn replace(&self, stamp: Stamp, seen: Nomenclature, card: Card) -> Result<Nomenclature, NomenclatureError> {
        let Stamp { project_id: project, at, .. } = stamp;
        let id = seen.id;
        let version = i64::try_from(seen.version).map_err(StoreError::corrupt)?;
        self.write(move |connection| {
            histories::invalidate_shown(connection, &stamp, Nomenclature::RESOURCE);
            begin(connection, project, &card)?;
            let current = nomenclatures::table
                .find(id.get())
                .filter(nomenclatures::project_id.eq(project.get()))
                .filter(nomenclatures::version.eq(version));
            let written = diesel::update(current)
                .set((CardRow::new(&card, at)?, nomenclatures::version.eq(version + 1)))
                .execute(connection)
                .map_err(on_duplicate(NomenclatureRefusal::ArticleTaken))?;
            if written == 0 {
                return Err(Abort::refused(NomenclatureRefusal::Stale));
            }
            let stock = inventories::table
                .filter(inventories::nomenclature_id.eq(id.get()))
                .filter(inventories::deleted_at.is_null());
            if !card.is_stocked() && found!(connection, stock)? {
                return Err(Abort::refused(NomenclatureRefusal::Stocked));
            }
            update_index(connection, project, &[(id.get(), found_by(&card))])?;
            // The update matched the version that was read, so `seen` is the state before it.
            finish(connection, project, id.get(), &card)?;
            let changed = records::load(connection, project, id.get())?;
            histories::changed(connection, &stamp, &seen, &changed)?;
            Ok(changed)
        })
        .await
    }
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
