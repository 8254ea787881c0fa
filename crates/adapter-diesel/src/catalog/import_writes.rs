//! Writes items in bulk, a few hundred rows per statement.

use chrono::{DateTime, Utc};
use kontor_catalog::model::{BillingPeriod, Card, Nomenclature, NomenclatureKind, SearchText, ShareLink};
use kontor_catalog::spreadsheet::{ImportError, ResolvedCard};
use kontor_kernel::history::{FieldChange, changed_fields};
use kontor_kernel::{Line, Money, ProjectId, Resource, Stamp, StoreError};

use super::import_words;
use crate::collation::sort_key;
use crate::database::{Abort, AnyConnection, on_duplicate};
use crate::histories;
use crate::read_models::search;
use crate::statement::{Statement, Value, by_place};

/// Rows per statement. With all columns of an item this stays well below the maximum number of bound values.
const ROWS: usize = 200;

/// Photos per statement.
const PHOTOS: usize = 2_000;

/// Columns that staff write, in the order of [`values`].
const COLUMNS: [&str; 23] = [
    "article",
    "article_key",
    "name",
    "name_key",
    "sort_key",
    "kind_id",
    "type_id",
    "category_id",
    "brand_id",
    "country_id",
    "storage_unit_id",
    "vat_id",
    "price",
    "description",
    "characteristics",
    "share_link",
    "is_subscription",
    "billing_period_months",
    "wholesale",
    "pieces_per_pack",
    "quantity_pack",
    "search_text",
    "article_search",
];

fn values(card: &Card, text: &SearchText) -> [Value; 23] {
    [
        card.article.as_deref().into(),
        card.article.as_ref().map(Line::key).into(),
        card.name.as_str().into(),
        card.name.key().into(),
        sort_key(&card.name).into(),
        card.kind.id().into(),
        card.type_id.map(i64::from).into(),
        card.category_id.map(i64::from).into(),
        card.brand_id.map(i64::from).into(),
        card.country_id.map(i64::from).into(),
        card.storage_unit_id.map(i64::from).into(),
        card.vat_id.map(i64::from).into(),
        card.price.map(Money::minor).into(),
        card.description.as_deref().into(),
        card.characteristics.as_deref().into(),
        card.share_link.as_ref().map(ShareLink::as_str).into(),
        card.subscription.is_some().into(),
        card.subscription.map(|period| i64::from(BillingPeriod::get(period))).into(),
        card.packaging.wholesale.into(),
        card.packaging.pieces_per_pack.get().into(),
        card.packaging.quantity_pack.get().into(),
        text.line().into(),
        text.article().into(),
    ]
}

fn found_by(card: &Card) -> SearchText {
    SearchText::of(&card.name, card.article.as_ref())
}

by_place! {
    struct InsertedRow {
        id: i64,
        article: String,
    }
}

/// Writes the items. Returns the ids of those whose offers may have changed.
pub(super) fn write(
    connection: &mut AnyConnection,
    stamp: &Stamp,
    cards: &[ResolvedCard],
) -> Result<Vec<i64>, Abort<ImportError>> {
    let (project, at) = (stamp.project_id, stamp.at);
    let new: Vec<&Card> =
        cards.iter().filter(|resolved| resolved.id.is_none()).map(|resolved| &resolved.card).collect();
    let mut photos = Vec::new();
    let (mut offered, mut created) = (Vec::new(), Vec::new());
    for chunk in new.chunks(ROWS) {
        let texts: Vec<SearchText> = chunk.iter().map(|card| found_by(card)).collect();
        let mut numbers = insert(connection, project, chunk, &texts, at)?;
        let mut found = Vec::with_capacity(chunk.len());
        for (card, text) in chunk.iter().zip(texts) {
            let id = card.article.as_deref().and_then(|article| numbers.remove(article));
            let id = id.ok_or_else(|| StoreError::corrupt("the insert did not return the new card"))?;
            created.push(id);
            photos.push((id, *card));
            found.push((id, text));
            // New goods have no stock yet.
            if card.kind == NomenclatureKind::Service {
                offered.push(id);
            }
        }
        search::put(connection, project, &found)?;
    }
    let known: Vec<(i64, &ResolvedCard)> =
        cards.iter().filter_map(|resolved| Some((resolved.id?.get(), resolved))).collect();
    for chunk in known.chunks(ROWS) {
        let found: Vec<(i64, SearchText)> =
            chunk.iter().map(|(id, resolved)| (*id, found_by(&resolved.card))).collect();
        update(connection, project, chunk, &found, at)?;
        search::update_index(connection, project, &found)?;
        let ids: Vec<i64> = chunk.iter().filter(|(_, resolved)| resolved.new_photos).map(|(id, _)| *id).collect();
        if !ids.is_empty() {
            let old = Statement::new("DELETE FROM nomenclature_photos WHERE project_id = ").value(project.get());
            old.sql(" AND nomenclature_id").among(&ids).run(connection)?;
        }
        photos.extend(
            chunk.iter().filter(|(_, resolved)| resolved.new_photos).map(|(id, resolved)| (*id, &resolved.card)),
        );
        offered.extend(chunk.iter().map(|(id, _)| *id));
    }
    write_photos(connection, project, &photos)?;
    import_words::store_tags(connection, project, created.iter().copied().zip(new), &known)?;
    histories::created_many::<Nomenclature, _>(connection, stamp, "nomenclatures", &created)?;
    let changed: Vec<(i64, Vec<FieldChange>)> = known
        .iter()
        .filter_map(|(id, resolved)| {
            Some((*id, changed_fields(resolved.before.as_ref()?.audited_fields(), resolved.card.audited_fields())))
        })
        .collect();
    histories::changed_many(connection, stamp, Resource::Nomenclatures, &changed)?;
    Ok(offered)
}

fn insert(
    connection: &mut AnyConnection,
    project: ProjectId,
    cards: &[&Card],
    texts: &[SearchText],
    at: DateTime<Utc>,
) -> Result<std::collections::HashMap<String, i64>, Abort<ImportError>> {
    // Values common to all items are bound once.
    let moment = at.naive_utc();
    let statement = Statement::new(format!(
        "INSERT INTO nomenclatures (project_id, created_at, updated_at, views_count, version, {}) SELECT ",
        COLUMNS.join(", ")
    ))
    .value(project.get())
    .sql(", ")
    .value(moment)
    .sql(", ")
    .value(moment)
    .sql(", 0, 1, v.* FROM (VALUES ")
    .tuples(cards.iter().zip(texts).map(|(card, text)| values(card, text)))
    .sql(") AS v RETURNING id, article");
    // Full chunks share one statement text, which stays prepared; the last chunk has any length.
    let statement = if cards.len() < ROWS { statement.once() } else { statement };
    let rows: Vec<InsertedRow> = statement.rows(connection).map_err(on_duplicate(ImportError::Stale))?;
    Ok(rows.into_iter().map(|row| (row.article, row.id)).collect())
}

fn update(
    connection: &mut AnyConnection,
    project: ProjectId,
    cards: &[(i64, &ResolvedCard)],
    found: &[(i64, SearchText)],
    at: DateTime<Utc>,
) -> Result<(), Abort<ImportError>> {
    // Both databases call the columns of a list of values `column1`, `column2` and so on.
    let settings: Vec<String> =
        (2..).zip(COLUMNS).map(|(place, column)| format!("{column} = v.column{place}")).collect();
    let rows = cards
        .iter()
        .zip(found)
        .map(|((id, resolved), (_, text))| std::iter::once((*id).into()).chain(values(&resolved.card, text)));
    Statement::new("UPDATE nomenclatures SET version = version + 1, updated_at = ")
        .value(at.naive_utc())
        .sql(format!(", {} FROM (VALUES ", settings.join(", ")))
        .tuples(rows)
        .sql(") AS v WHERE nomenclatures.id = v.column1 AND nomenclatures.project_id = ")
        .value(project.get())
        .once()
        .run(connection)
        .map_err(on_duplicate(ImportError::Stale))?;
    Ok(())
}

fn write_photos(
    connection: &mut AnyConnection,
    project: ProjectId,
    cards: &[(i64, &Card)],
) -> Result<(), Abort<ImportError>> {
    let rows: Vec<(i64, i64, &str)> = cards
        .iter()
        .flat_map(|(id, card)| (1..).zip(card.photos.photos()).map(|(place, photo)| (*id, place, photo.as_str())))
        .collect();
    for chunk in rows.chunks(PHOTOS) {
        let values =
            chunk.iter().map(|(id, place, url)| [project.get().into(), (*id).into(), (*place).into(), (*url).into()]);
        let statement =
            Statement::new("INSERT INTO nomenclature_photos (project_id, nomenclature_id, position, url) VALUES ");
        statement.tuples(values).once().run(connection)?;
    }
    Ok(())
}
