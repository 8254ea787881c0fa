//! Catalog of the demo project and its sheets: created on the first run, completed on later runs. Changes by visitors
//! are kept.

use std::collections::{BTreeMap, BTreeSet};

use kontor_adapter_diesel::Database;
use kontor_adapter_diesel::demo_data::{
    AddedDemoData, DemoData, DemoIdentity, DemoProject, NamedRow, PickupPoint, Shop,
};
use kontor_kernel::{Clock, Name, ProjectId};
use kontor_organization::model::ProjectPlan;
use reqwest::Method;
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::ApiClient;
use crate::cli::Failure;

const WAREHOUSE: &str = "Main warehouse";
const PROMO_CODE: &str = "HANSE10";
/// Article and slug of the plan that customers subscribe to.
const PLAN: (&str, &str) = ("CLUB-001", "club");

/// Ids of the records that the demo created. They identify renamed records and reveal deleted ones.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct MadeRecords {
    project: i64,
    warehouse: Option<i64>,
    promo_code: Option<i64>,
    shop: Option<i64>,
    pickup_point: Option<i64>,
    plan: Option<i64>,
    categories: BTreeMap<String, i64>,
    brands: BTreeMap<String, i64>,
    cards: BTreeMap<String, i64>,
}

impl MadeRecords {
    /// Returns the records of this project; empty if they belong to another one.
    pub fn of(self, project: ProjectId) -> Self {
        if self.project == project.get() { self } else { Self { project: project.get(), ..Self::default() } }
    }
}

/// Restoration of the catalog.
pub struct Restoration<'a> {
    pub database: &'a Database,
    pub clock: &'a dyn Clock,
    pub staff_client: &'a ApiClient<'a>,
    pub sandbox_url: &'a str,
    pub project: ProjectId,
    pub identity: DemoIdentity,
    pub application: i64,
}

/// Categories and brands: record id by name in the sheets, current names, and ids of new records.
#[derive(Default)]
struct MatchedRecords {
    ids: BTreeMap<String, i64>,
    names: BTreeMap<String, String>,
    made: BTreeSet<i64>,
}

impl MatchedRecords {
    fn id(&self, name: &str) -> Option<i64> {
        self.ids.get(name).copied()
    }

    /// Returns the current name of a record from the sheets.
    fn name<'n>(&'n self, name: &'n str) -> &'n str {
        self.names.get(name).map_or(name, String::as_str)
    }

    /// Returns the id of a record that was recreated.
    fn recreated_id(&self, name: &str) -> Option<i64> {
        self.id(name).filter(|id| self.made.contains(id))
    }
}

/// Returns the record that was created for a name if it still exists, otherwise a record with that name.
fn match_record(known: Option<i64>, there: &[NamedRow], name: &str) -> Option<i64> {
    let by_number = there.iter().find(|(id, _)| Some(*id) == known);
    by_number.or_else(|| there.iter().find(|(_, called)| called == name)).map(|(id, _)| *id)
}

impl Restoration<'_> {
    /// Restores all missing records, and returns the current ids.
    pub async fn run(&self, known: MadeRecords) -> Result<MadeRecords, Failure> {
        let there = self.look().await?;
        let AddedDemoData { shop, pickup_point } =
            self.database.add_demo_data(self.project, demo_data(&known)?, self.clock.now()).await?;
        let warehouse = self.warehouse(&known, &there).await?;
        let rows = catalogue(self.sandbox_url)?;
        let categories = self.categories(&known, &there, &rows).await?;
        let brands = self.brands(&known, &there, &rows).await?;
        let cards = self.cards(&known, there, &rows, &categories, &brands).await?;
        let there = self.look().await?;
        self.serve(warehouse, &there).await?;
        self.stock(warehouse, &there, &cards).await?;
        self.show("categories", "category_id", &categories, &there.shown_categories).await?;
        self.show("brands", "brand_id", &brands, &there.shown_brands).await?;
        let promo_code = Some(self.promo_code(&known, &there).await?);
        let plan = Some(self.plan(&known, &there).await?);
        Ok(MadeRecords {
            project: self.project.get(),
            warehouse: Some(warehouse),
            promo_code,
            shop: Some(shop),
            pickup_point: Some(pickup_point),
            plan,
            categories: categories.ids,
            brands: brands.ids,
            cards,
        })
    }

    async fn look(&self) -> Result<DemoProject, Failure> {
        let there = self.database.demo_project(self.project, self.identity.clone()).await?;
        there.ok_or_else(|| "the demo project does not exist".into())
    }

    async fn warehouse(&self, known: &MadeRecords, there: &DemoProject) -> Result<i64, Failure> {
        if let Some(id) = match_record(known.warehouse, &there.warehouses, WAREHOUSE) {
            return Ok(id);
        }
        let body = json!({ "name": WAREHOUSE, "branch_id": there.branch });
        self.staff_client.make("/api/warehouses", &body, "/warehouse/id").await
    }

    /// Adds the warehouse to those that the application sells from.
    async fn serve(&self, warehouse: i64, there: &DemoProject) -> Result<(), Failure> {
        let of_warehouse = there.served.iter().filter(|(served, _)| *served == warehouse);
        let mut applications: BTreeSet<i64> = of_warehouse.map(|(_, application)| *application).collect();
        if applications.insert(self.application) {
            let path = format!("/api/warehouses/{warehouse}");
            let body = json!({ "application_ids": applications });
            self.staff_client.send(Method::PUT, &path, |request| request.json(&body)).await?;
        }
        Ok(())
    }

    async fn categories(
        &self,
        known: &MadeRecords,
        there: &DemoProject,
        rows: &[Row],
    ) -> Result<MatchedRecords, Failure> {
        let mut tree = there.categories.clone();
        let mut matched = MatchedRecords::default();
        for path in rows.iter().flat_map(|row| paths(&row.category)) {
            if matched.ids.contains_key(path) {
                continue;
            }
            let (parent, name) = match path.rsplit_once(CATEGORY_SEPARATOR) {
                Some((above, name)) => (matched.id(above), name),
                None => (None, path),
            };
            let by_number = tree.iter().find(|(id, ..)| known.categories.get(path) == Some(id));
            let same = by_number.or_else(|| tree.iter().find(|(_, above, called)| *above == parent && called == name));
            let id = if let Some((id, ..)) = same {
                *id
            } else {
                let body = json!({ "name": name, "parent_id": parent });
                let id = self.staff_client.make("/api/categories", &body, "/category/id").await?;
                tree.push((id, parent, name.to_owned()));
                matched.made.insert(id);
                id
            };
            matched.ids.insert(path.to_owned(), id);
        }
        matched.names = matched.ids.iter().map(|(path, id)| (path.clone(), path_of(&tree, *id))).collect();
        Ok(matched)
    }

    async fn brands(&self, known: &MadeRecords, there: &DemoProject, rows: &[Row]) -> Result<MatchedRecords, Failure> {
        let mut matched = MatchedRecords::default();
        for name in rows.iter().map(|row| row.brand.as_str()).filter(|name| !name.is_empty()) {
            if matched.ids.contains_key(name) {
                continue;
            }
            let settled = match_record(known.brands.get(name).copied(), &there.brands, name);
            let id = if let Some(id) = settled {
                id
            } else {
                let id = self.staff_client.make("/api/brands", &json!({ "name": name }), "/brand/id").await?;
                matched.made.insert(id);
                id
            };
            let called = there.brands.iter().find(|(brand, _)| *brand == id).map(|(_, called)| called.as_str());
            matched.names.insert(name.to_owned(), called.unwrap_or(name).to_owned());
            matched.ids.insert(name.to_owned(), id);
        }
        Ok(matched)
    }

    /// Imports the missing items, and moves items of deleted categories or brands to the new ones.
    async fn cards(
        &self,
        known: &MadeRecords,
        there: DemoProject,
        rows: &[Row],
        categories: &MatchedRecords,
        brands: &MatchedRecords,
    ) -> Result<BTreeMap<String, i64>, Failure> {
        let numbered = |there: &DemoProject| {
            let there: Vec<NamedRow> = there.cards.iter().map(|card| (card.id, card.article.clone())).collect();
            let ids = rows.iter().filter_map(|row| {
                let id = match_record(known.cards.get(&row.article).copied(), &there, &row.article)?;
                Some((row.article.clone(), id))
            });
            ids.collect::<BTreeMap<_, _>>()
        };
        let cards = numbered(&there);
        for row in rows {
            let Some(card) = there.cards.iter().find(|card| Some(&card.id) == cards.get(&row.article)) else {
                continue;
            };
            let category = categories.recreated_id(&row.category).filter(|_| card.category.is_none());
            let brand = brands.recreated_id(&row.brand).filter(|_| card.brand.is_none());
            let fields = [("category_id", category), ("brand_id", brand)];
            let body: BTreeMap<_, _> = fields.into_iter().filter_map(|(field, id)| Some((field, id?))).collect();
            if !body.is_empty() {
                let path = format!("/api/nomenclatures/{}", card.id);
                self.staff_client.send(Method::PUT, &path, |request| request.json(&body)).await?;
            }
        }
        let missing = rows.iter().filter(|row| !cards.contains_key(&row.article));
        let lines: String =
            missing.map(|row| row.line(categories.name(&row.category), brands.name(&row.brand))).collect();
        if lines.is_empty() {
            return Ok(cards);
        }
        let text = with_heading(&lines);
        self.staff_client.upload("/api/nomenclatures/import", "catalogue.csv", text).await?;
        Ok(numbered(&self.look().await?))
    }

    async fn stock(&self, warehouse: i64, there: &DemoProject, cards: &BTreeMap<String, i64>) -> Result<(), Failure> {
        let stocked: BTreeSet<_> = there.stocked.iter().copied().collect();
        for (article, quantity, price) in stock() {
            let Some(card) = cards.get(article).filter(|card| !stocked.contains(&(**card, warehouse))) else {
                continue;
            };
            let quantity: u32 = quantity.parse()?;
            let body = json!({
                "warehouse_id": warehouse, "nomenclature_id": card, "quantity": quantity, "price": price,
            });
            // An item that was changed to a service accepts no stock. The rest of the demo does.
            if let Err(error) = self.staff_client.post("/api/inventories", &body).await {
                tracing::warn!(article, %error, "the demo cannot restore the stock");
            }
        }
        Ok(())
    }

    async fn show(&self, kind: &str, field: &str, matched: &MatchedRecords, shown: &[i64]) -> Result<(), Failure> {
        let path = format!("/api/applications/{}/{kind}", self.application);
        for id in matched.ids.values().filter(|id| !shown.contains(id)) {
            self.staff_client.post(&path, &json!({ field: id })).await?;
        }
        Ok(())
    }

    async fn promo_code(&self, known: &MadeRecords, there: &DemoProject) -> Result<i64, Failure> {
        if let Some(id) = match_record(known.promo_code, &there.discounts, PROMO_CODE) {
            return Ok(id);
        }
        let body = json!({
            "name": "Ten per cent off the cart", "code": PROMO_CODE, "type": "percent", "value": "10.00",
            "usage_limit": 1_000,
        });
        self.staff_client.make("/api/discounts", &body, "/discount/id").await
    }

    /// Creates the item that is charged each month, and offers it in the application.
    async fn plan(&self, known: &MadeRecords, there: &DemoProject) -> Result<i64, Failure> {
        let (article, slug) = PLAN;
        let cards: Vec<NamedRow> = there.cards.iter().map(|card| (card.id, card.article.clone())).collect();
        let card = if let Some(card) = match_record(known.plan, &cards, article) {
            card
        } else {
            let body = json!({
                "name": "Hanse Club", "article": article, "kind_id": 1, "price": "490.00", "is_subscription": true,
                "billing_period_months": 1,
            });
            self.staff_client.make("/api/nomenclatures", &body, "/nomenclature/id").await?
        };
        if there.plans.iter().any(|(offered, called)| *offered == card || called == slug) {
            return Ok(card);
        }
        let path = format!("/api/applications/{}/subscription-nomenclatures", self.application);
        // An item that was changed to another kind cannot be a plan. The rest of the demo is complete.
        if let Err(error) = self.staff_client.post(&path, &json!({ "nomenclature_id": card, "plan_slug": slug })).await
        {
            tracing::warn!(slug, %error, "the demo cannot restore the plan");
        }
        Ok(card)
    }
}

/// Returns the names from the root down to a category.
fn path_of(tree: &[(i64, Option<i64>, String)], id: i64) -> String {
    let (mut names, mut next) = (Vec::new(), Some(id));
    while let Some((_, parent, name)) = next.and_then(|next| tree.iter().find(|(id, ..)| *id == next)) {
        names.push(name.as_str());
        next = *parent;
    }
    names.reverse();
    names.join(CATEGORY_SEPARATOR)
}

fn demo_data(known: &MadeRecords) -> Result<DemoData, Failure> {
    let any = Name::parse(WAREHOUSE).map_err(|error| error.to_string())?;
    let ProjectPlan { delivery_types, delivery_subtypes, payment_types, .. } =
        ProjectPlan::ready_to_sell(any, String::new());
    let (name, address) = ("Old Harbour Shop", "Speicherstadt 1");
    Ok(DemoData {
        shop: Shop { known: known.shop, name, address, phone: "79001110000" },
        pickup_point: PickupPoint { known: known.pickup_point, name: "Harbour Gate", address: "Landing Stage 3" },
        delivery_types,
        delivery_subtypes,
        payment_types,
    })
}

const CATALOGUE: &str = include_str!("catalogue.csv");
const STOCK: &str = include_str!("stock.csv");

/// Separator between a category and its subcategory.
pub const CATEGORY_SEPARATOR: &str = " / ";

/// Line of the catalog. Only the name and the fields after the brand may be quoted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Row {
    pub article: String,
    pub category: String,
    pub brand: String,
    before: String,
    after: String,
}

impl Row {
    fn read(line: &str) -> Option<Self> {
        let kinds = [",goods,", ",service,"];
        let (before, rest, kind) = kinds.iter().find_map(|kind| {
            let (before, rest) = line.split_once(kind)?;
            Some((before, rest, kind))
        })?;
        let (category, rest) = rest.split_once(',')?;
        let (brand, after) = rest.split_once(',')?;
        let (article, _) = before.split_once(',')?;
        let [article, category, brand, after] = [article, category, brand, after].map(str::to_owned);
        Some(Self { article, category, brand, before: format!("{before}{kind}"), after })
    }

    /// Returns the line with other names of the category and the brand.
    pub fn line(&self, category: &str, brand: &str) -> String {
        let quoted = |text: &str| format!("\"{}\"", text.replace('"', "\"\""));
        format!("{}{},{},{}\n", self.before, quoted(category), quoted(brand), self.after)
    }
}

/// Returns the lines of the catalog, with pictures from the sandbox.
pub fn catalogue(sandbox_url: &str) -> Result<Vec<Row>, Failure> {
    let pictures = format!("{sandbox_url}/pictures");
    let line = |line: &str| {
        Row::read(&line.replace("{pictures}", &pictures)).ok_or_else(|| format!("catalogue.csv: {line}").into())
    };
    CATALOGUE.lines().skip(1).map(line).collect()
}

/// Returns lines as a catalog with a header row.
pub fn with_heading(lines: &str) -> String {
    format!("{}\n{lines}", CATALOGUE.lines().next().unwrap_or_default())
}

/// Returns article, quantity and price.
pub fn stock() -> impl Iterator<Item = (&'static str, &'static str, &'static str)> {
    STOCK.lines().skip(1).filter_map(|line| {
        let mut cells = line.split(',');
        let (article, _warehouse) = (cells.next()?, cells.next()?);
        Some((article, cells.next()?, cells.next()?))
    })
}

/// Returns a path and all its ancestors, from the root down.
pub fn paths(path: &str) -> impl Iterator<Item = &str> {
    let ends = path.match_indices(CATEGORY_SEPARATOR).map(|(end, _)| end).chain([path.len()]);
    ends.filter_map(move |end| path.get(..end))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_of_the_sheets_is_read() {
        let rows = catalogue("http://sandbox").unwrap();
        assert_eq!((rows.len(), stock().count()), (30, 26));
        let tea = rows.first().unwrap();
        assert_eq!((tea.category.as_str(), tea.brand.as_str()), ("Tea and coffee / Tea", "Nordkai"));
        assert_eq!(paths(&tea.category).collect::<Vec<_>>(), ["Tea and coffee", "Tea and coffee / Tea"]);
        for (article, quantity, price) in stock() {
            assert!(rows.iter().any(|row| row.article == article), "{article}");
            assert!(quantity.parse::<u32>().is_ok() && price.contains('.'), "{article}");
        }
    }

    #[test]
    fn a_line_takes_the_names_of_today() {
        let row = Row::read("A-1,\"Tea, green\",goods,Tea,Nordkai,pc,20%,,<p>x</p>,y").unwrap();
        let line = row.line("Tea \"leaf\"", "Kai, Nord");
        let expected = "A-1,\"Tea, green\",goods,\"Tea \"\"leaf\"\"\",\"Kai, Nord\",pc,20%,,<p>x</p>,y\n";
        assert_eq!(line, expected);
    }
}
