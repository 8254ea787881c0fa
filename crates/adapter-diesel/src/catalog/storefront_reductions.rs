//! What discounts take off the offers of a whole list.
//!
//! For one product [`super::storefront_query::reduction`] asks every discount. A list that is sorted or narrowed by
//! prices would do so for every offer of the application, so here it is found out beforehand, by one statement, which
//! categories and items are reduced by what. It goes into the text of the statement as constants: an offer that nothing
//! reduces costs two look-ups in them, any other one the few discounts of its own category and item.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

use chrono::{DateTime, Utc};
use diesel::result::QueryResult;
use diesel::sql_types::{BigInt, Text};
use kontor_kernel::AppScope;

use super::storefront_query::in_force;
use crate::database::AnyConnection;
use crate::statement::{Statement, by_place};

/// A discount on a category or item: what it takes off an offer of at least the minimum.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Cut {
    percent: bool,
    value: i64,
    minimum: i64,
}

impl Cut {
    /// Whether this one takes off at least as much wherever the other one takes off anything.
    fn covers(self, other: Self) -> bool {
        self.percent == other.percent && self.value >= other.value && self.minimum <= other.minimum
    }
}

/// Records by the cuts that concern them.
#[derive(Debug, Default)]
struct Cuts(BTreeMap<BTreeSet<Cut>, Vec<i64>>);

impl Cuts {
    fn new(of_records: BTreeMap<i64, BTreeSet<Cut>>) -> Self {
        let mut groups: BTreeMap<BTreeSet<Cut>, Vec<i64>> = BTreeMap::new();
        for (id, cuts) in of_records {
            let idle = |cut: &Cut| !cuts.iter().any(|other| other != cut && other.covers(*cut));
            groups.entry(cuts.iter().copied().filter(idle).collect()).or_default().push(id);
        }
        Self(groups)
    }

    fn records(&self) -> String {
        list(self.0.values().flatten())
    }

    /// What is taken off `o`, where `column` says which record it belongs to.
    fn expression(&self, column: &str, words: &Words) -> String {
        if self.0.is_empty() {
            return "0".to_owned();
        }
        let mut text = format!("CASE WHEN {column} IN ({}) THEN CASE", self.records());
        for (cuts, records) in &self.0 {
            let amounts: Vec<String> = cuts.iter().map(|cut| words.amount(*cut)).collect();
            let _ = write!(text, " WHEN {column} IN ({}) THEN {}", list(records), words.largest(&amounts));
        }
        text + " END ELSE 0 END"
    }
}

fn list<'a>(ids: impl IntoIterator<Item = &'a i64>) -> String {
    ids.into_iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
}

/// What the database calls the larger and the smaller of two numbers.
#[derive(Debug)]
struct Words {
    larger: &'static str,
    smaller: &'static str,
}

impl Words {
    fn of(connection: &AnyConnection) -> Self {
        match connection {
            AnyConnection::Postgres(_) => Self { larger: "greatest", smaller: "least" },
            AnyConnection::Sqlite(_) => Self { larger: "max", smaller: "min" },
        }
    }

    /// As an order of one piece rounds it: half up.
    fn amount(&self, cut: Cut) -> String {
        let amount = if cut.percent {
            format!("(o.price * {} + 5000) / 10000", cut.value)
        } else {
            format!("{}(o.price, {})", self.smaller, cut.value)
        };
        if cut.minimum > 0 { format!("CASE WHEN o.price >= {} THEN {amount} ELSE 0 END", cut.minimum) } else { amount }
    }

    fn largest(&self, amounts: &[String]) -> String {
        match amounts {
            [] => "0".to_owned(),
            [amount] => amount.clone(),
            // A function takes so many arguments and no more.
            amounts if amounts.len() <= 50 => format!("{}({})", self.larger, amounts.join(", ")),
            amounts => {
                let parts: Vec<String> = amounts.chunks(50).map(|part| self.largest(part)).collect();
                self.largest(&parts)
            }
        }
    }
}

by_place! {
    struct ReachRow {
        kind: String as Text,
        value: i64 as BigInt,
        minimum: i64 as BigInt,
        target: String as Text,
        id: i64 as BigInt,
    }
}

/// Every discount in force with every record it reaches. UNION and not UNION ALL: it ends even if categories lay in a
/// circle.
fn reach(app: AppScope, at: DateTime<Utc>) -> Statement {
    Statement::new(
        "WITH RECURSIVE reach (kind, value, minimum, target, id) AS (SELECT d.kind, d.value, d.minimum_sum, d.target, \
         d.target_id FROM discounts d WHERE ",
    )
    .then(in_force(app, at))
    .sql(
        " UNION SELECT r.kind, r.value, r.minimum, r.target, c.id FROM reach r \
         JOIN categories c ON c.parent_id = r.id AND c.project_id = ",
    )
    .value(app.project_id.get())
    .sql(" WHERE r.target = 'category') SELECT kind, value, minimum, target, id FROM reach")
}

/// Which categories and items are reduced by what, in one project at one moment.
#[derive(Debug)]
pub(super) struct Reductions {
    categories: Cuts,
    items: Cuts,
    words: Words,
}

impl Reductions {
    /// By one statement; `None` when nothing is reduced.
    pub fn load(connection: &mut AnyConnection, app: AppScope, at: DateTime<Utc>) -> QueryResult<Option<Self>> {
        let rows: Vec<ReachRow> = reach(app, at).rows(connection)?;
        if rows.is_empty() {
            return Ok(None);
        }
        let (mut categories, mut items) = (BTreeMap::new(), BTreeMap::new());
        for row in rows {
            let cut = Cut { percent: row.kind == "percent", value: row.value, minimum: row.minimum };
            let of_records: &mut BTreeMap<i64, BTreeSet<Cut>> =
                if row.target == "category" { &mut categories } else { &mut items };
            of_records.entry(row.id).or_default().insert(cut);
        }
        let words = Words::of(connection);
        Ok(Some(Self { categories: Cuts::new(categories), items: Cuts::new(items), words }))
    }

    /// What is taken off one piece of the offer `o`.
    pub fn amount(&self) -> Statement {
        let on_category = self.categories.expression("o.category_id", &self.words);
        let on_item = self.items.expression("o.nomenclature_id", &self.words);
        Statement::new(format!("{}({on_category}, {on_item})", self.words.larger)).once()
    }

    /// Three conditions of which every offer `o` meets one: no discount concerns it; one concerns its category; one
    /// concerns the item alone. Each goes by an index.
    pub fn parts(&self) -> [Statement; 3] {
        let among = |column: &str, cuts: &Cuts| {
            let records = cuts.records();
            format!("{column} IN ({})", if records.is_empty() { "NULL" } else { &records })
        };
        let category = among("o.category_id", &self.categories);
        let item = among("o.nomenclature_id", &self.items);
        let part = |text: String| Statement::new(text).once();
        [
            part(format!("({category}) IS NOT TRUE AND ({item}) IS NOT TRUE")),
            part(category.clone()),
            part(format!("{item} AND ({category}) IS NOT TRUE")),
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cut(percent: bool, value: i64, minimum: i64) -> Cut {
        Cut { percent, value, minimum }
    }

    #[test]
    fn only_what_can_be_the_best_is_asked() {
        let records = BTreeMap::from([
            (1, BTreeSet::from([cut(true, 500, 0), cut(true, 1_000, 0), cut(true, 900, 100)])),
            (2, BTreeSet::from([cut(true, 1_000, 0)])),
            (3, BTreeSet::from([cut(true, 1_000, 0), cut(true, 2_000, 100), cut(false, 70, 0)])),
        ]);
        let cuts = Cuts::new(records);
        assert_eq!(cuts.0.len(), 2, "{cuts:?}");
        assert_eq!(cuts.0[&BTreeSet::from([cut(true, 1_000, 0)])], [1, 2]);
        let words = Words { larger: "max", smaller: "min" };
        assert_eq!(
            cuts.expression("o.x", &words),
            "CASE WHEN o.x IN (3, 1, 2) THEN CASE \
             WHEN o.x IN (3) THEN max(min(o.price, 70), (o.price * 1000 + 5000) / 10000, \
             CASE WHEN o.price >= 100 THEN (o.price * 2000 + 5000) / 10000 ELSE 0 END) \
             WHEN o.x IN (1, 2) THEN (o.price * 1000 + 5000) / 10000 END ELSE 0 END"
        );
    }

    #[test]
    fn many_amounts_stay_within_the_arguments_of_a_function() {
        let words = Words { larger: "max", smaller: "min" };
        let amounts: Vec<String> = (0..120).map(|number| number.to_string()).collect();
        let text = words.largest(&amounts);
        assert_eq!(text.matches("max(").count(), 4);
        assert!(text.starts_with("max(max(0, 1, ") && text.ends_with(", 119))"), "{text}");
    }
}
