//! Catalogs of any size, the same every time, written in batches directly into the tables. The assortment, its counts
//! and the search data of items are derived by the service's own code afterwards.

use std::fmt::Write as _;

use kontor::cli::project::CreatedProject;

use super::store_in_batches;
use crate::Failure;
use crate::catalogue::{BRANDS, COLOURS, MATERIALS, SERIES, TestRng};
use crate::shop::{AT, Data};

/// Kinds of item in names; each is a category.
const THINGS: [&str; 20] = [
    "Стол",
    "Стул",
    "Полка",
    "Кровать",
    "Кастрюля",
    "Сковорода",
    "Нож",
    "Кружка",
    "Лампа",
    "Светильник",
    "Полотенце",
    "Штора",
    "Плед",
    "Лопата",
    "Кашпо",
    "Блокнот",
    "Ручка",
    "Зеркало",
    "Ковёр",
    "Комод",
];

/// Warehouses of a project.
const WAREHOUSES: usize = 3;

/// A generated item.
pub struct Item {
    /// Position among the items of its project, from 0.
    pub place: usize,
    thing: usize,
    words: [&'static str; 3],
    size: usize,
    model: usize,
}

impl Item {
    /// Returns the item at this position of the project with this seed.
    pub fn at(seed: usize, place: usize) -> Self {
        let mut rng = TestRng::new(seed * 1_000_003 + place);
        Self {
            place,
            thing: rng.below(THINGS.len()),
            words: [rng.one_of(&SERIES), rng.one_of(&MATERIALS), rng.one_of(&COLOURS)],
            size: 10 + 5 * rng.below(30),
            model: rng.below(9_000_000) + 1_000_000,
        }
    }

    /// Returns the kind of the item.
    pub fn thing(&self) -> &'static str {
        THINGS.get(self.thing).copied().unwrap_or_default()
    }

    /// Returns series, material and colour.
    pub fn words(&self) -> [&'static str; 3] {
        self.words
    }

    /// Returns the model number, which is almost unique.
    pub fn model(&self) -> usize {
        self.model
    }

    fn name(&self) -> String {
        let [series, material, colour] = self.words;
        format!("{} {series} {}, {material}, {colour}, {} см", self.thing(), self.model, self.size)
    }

    /// Returns the article.
    pub fn article(&self) -> String {
        format!("KN-{:07}", self.place)
    }
}

/// A project with a catalog.
pub struct Market {
    project: i64,
    /// Identifier of the first item; the others follow it.
    pub first_item: i64,
    /// Categories, in the order of the kinds of item.
    pub categories: Vec<i64>,
    first_brand: i64,
    /// Seed of the items.
    pub seed: usize,
    /// Number of items.
    pub size: usize,
}

/// Next free identifiers.
#[derive(Default)]
pub struct Place {
    projects: i64,
    items: i64,
}

/// First identifier, far above those that the service assigned.
const ABOVE: i64 = 1_000;

impl Place {
    /// Fills a project that the service created.
    pub fn fill(&mut self, data: &Data, project: &CreatedProject, size: usize) -> Result<Market, Failure> {
        self.fill_catalog(data, Vec::new(), [project.project_id, project.branch_id, project.application_id], size)
    }

    /// Creates a separate project, with an application that has no token.
    pub fn outsider(&mut self, data: &Data, size: usize) -> Result<Market, Failure> {
        let number = ABOVE + self.projects;
        let statements = vec![
            format!(
                "INSERT INTO projects (id, name, currency, created_at) VALUES ({number}, 'P{number}', 'RUB', '{AT}')"
            ),
            format!(
                "INSERT INTO branches (id, project_id, name, created_at, updated_at) \
                 VALUES ({number}, {number}, 'B', '{AT}', '{AT}')"
            ),
            format!(
                "INSERT INTO applications (id, project_id, branch_id, name, token_fingerprint, is_active, wholesale, \
                 created_at, updated_at) VALUES ({number}, {number}, {number}, 'A', 'nobody-{number}', true, false, '{AT}', '{AT}')"
            ),
        ];
        self.fill_catalog(data, statements, [number; 3], size)
    }

    /// Adds the catalog after statements that belong to the same commit.
    fn fill_catalog(
        &mut self,
        data: &Data,
        mut statements: Vec<String>,
        [project, branch, application]: [i64; 3],
        size: usize,
    ) -> Result<Market, Failure> {
        let things = i64::try_from(THINGS.len())?;
        let warehouses = i64::try_from(WAREHOUSES)?;
        let first_category = ABOVE + self.projects * things;
        let first_warehouse = ABOVE + self.projects * warehouses;
        let first_item = ABOVE + self.items;
        let market = Market {
            project,
            first_item,
            categories: (first_category..first_category + things).collect(),
            first_brand: ABOVE + self.projects * i64::try_from(BRANDS.len())?,
            seed: usize::try_from(project)?,
            size,
        };
        for (category, thing) in market.categories.iter().zip(THINGS) {
            statements.push(format!(
                "INSERT INTO categories (id, project_id, name, name_key, code, created_at, updated_at) \
                 VALUES ({category}, {project}, '{thing}', '{}', {category}, '{AT}', '{AT}')",
                thing.to_lowercase()
            ));
            statements.push(format!(
                "INSERT INTO application_categories (project_id, application_id, category_id, position) \
                 VALUES ({project}, {application}, {category}, {category})"
            ));
        }
        for (brand, name) in (market.first_brand..).zip(BRANDS) {
            statements.push(format!(
                "INSERT INTO brands (id, project_id, name, name_key, created_at, updated_at) \
                 VALUES ({brand}, {project}, '{name}', '{}', '{AT}', '{AT}')",
                name.to_lowercase()
            ));
        }
        for warehouse in first_warehouse..first_warehouse + warehouses {
            statements.push(format!(
                "INSERT INTO warehouses (id, project_id, branch_id, name, created_at, updated_at) \
                 VALUES ({warehouse}, {project}, {branch}, 'W{warehouse}', '{AT}', '{AT}')"
            ));
            statements.push(format!(
                "INSERT INTO warehouse_applications (project_id, warehouse_id, application_id) \
                 VALUES ({project}, {warehouse}, {application})"
            ));
        }
        store_in_batches(data, statements, size, |places| market.rows(places, first_warehouse))?;
        self.projects += 1;
        self.items += i64::try_from(size)?;
        Ok(market)
    }
}

impl Market {
    /// Returns the identifier of an item.
    pub fn id(&self, place: usize) -> Result<i64, Failure> {
        Ok(self.first_item + i64::try_from(place)?)
    }

    fn rows(&self, places: &[usize], first_warehouse: i64) -> Result<[String; 2], Failure> {
        let mut cards = "INSERT INTO nomenclatures (id, project_id, article, article_key, name, name_key, kind_id, \
            category_id, brand_id, price, is_subscription, wholesale, pieces_per_pack, quantity_pack, views_count, version, \
            created_at, updated_at) VALUES "
            .to_owned();
        let mut stock =
            "INSERT INTO inventories (project_id, warehouse_id, nomenclature_id, quantity, reserved, price, \
            created_at, updated_at) VALUES "
                .to_owned();
        let project = self.project;
        for (row, place) in places.iter().enumerate() {
            let item = Item::at(self.seed, *place);
            let (id, name, article) = (self.id(*place)?, item.name(), item.article());
            let category = self.categories.get(item.thing).copied().unwrap_or_default();
            let brand = self.first_brand + i64::try_from(item.model % BRANDS.len())?;
            let comma = if row > 0 { ", " } else { "" };
            write!(
                cards,
                "{comma}({id}, {project}, '{article}', '{}', '{name}', '{}', 2, {category}, {brand}, 0, false, false, 1, 1, {}, 1, \
                 '{AT}', '{AT}')",
                article.to_lowercase(),
                name.to_lowercase(),
                item.model % 997,
            )?;
            let warehouse = first_warehouse + i64::try_from(place % WAREHOUSES)?;
            let price = 9_900 + item.model % 2_000_000;
            write!(
                stock,
                "{comma}({project}, {warehouse}, {id}, {}, 0, {price}, '{AT}', '{AT}')",
                1 + item.model % 50
            )?;
        }
        Ok([cards, stock])
    }
}
