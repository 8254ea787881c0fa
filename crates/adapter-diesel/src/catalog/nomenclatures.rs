use async_trait::async_trait;
use chrono::{DateTime, NaiveDateTime, Utc};
use diesel::prelude::*;
use kontor_catalog::model::{BillingPeriod, Card, Nomenclature, NomenclatureKind, SearchText};
use kontor_catalog::ports::NomenclatureRepository;
use kontor_catalog::{NomenclatureError, NomenclatureRefusal};
use kontor_kernel::history::Audited as _;
use kontor_kernel::{Line, Listing, Money, NomenclatureId, Page, ProjectId, ProjectScoped, Stamp, StoreError};

use super::cards;
use crate::collation::sort_key;
use crate::database::{Abort, AnyConnection, Database, found, on_duplicate};
use crate::decode;
use crate::histories;
use crate::listing::{Source, Totals, unsearched};
use crate::locks::lock_applications;
use crate::read_models::offers;
use crate::read_models::search::{MAX_FOUND, Search, put, update_index};
use crate::records::{self, StoredRecord};
use crate::schema::{inventories, nomenclatures};
use crate::statement::Statement;
use crate::unreadable;

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
        Ok(cards::load(connection, &[id])?.pop())
    }

    fn try_to_read(connection: &mut AnyConnection, ids: &[i64]) -> Result<Vec<()>, Abort<StoreError>> {
        cards::load(connection, ids).map(|_| Vec::new())
    }
}

/// Takes the locks needed before an item is written.
fn begin(connection: &mut AnyConnection, project: ProjectId, card: &Card) -> Result<(), Abort<NomenclatureError>> {
    if card.kind == NomenclatureKind::Service {
        lock_applications(connection, project)?;
    }
    let unknown = cards::unknown(connection, project, card)?;
    if unknown.is_empty() { Ok(()) } else { Err(Abort::refused(NomenclatureRefusal::UnknownReferences(unknown))) }
}

/// Writes the photos and tags of an item and refreshes its offers.
fn finish(connection: &mut AnyConnection, item: i64, card: &Card) -> QueryResult<()> {
    cards::replace_photos_and_tags(connection, item, card)?;
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
    let items = records::within(unreadable::records(connection, "nomenclatures", &found.ids, cards::load)?, project);
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
            let items = unreadable::records(connection, "nomenclatures", &found.items, cards::load)?;
            Ok(found.with_items(records::within(items, project)))
        })
        .await
    }

    async fn find(&self, id: NomenclatureId) -> Result<Option<ProjectScoped<Nomenclature>>, StoreError> {
        self.snapshot(move |connection| Ok(cards::load(connection, &[id.get()])?.pop())).await
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
            finish(connection, id, &card)?;
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
            finish(connection, id.get(), &card)?;
            let changed = records::load(connection, project, id.get())?;
            histories::changed(connection, &stamp, &seen, &changed)?;
            Ok(changed)
        })
        .await
    }
}
