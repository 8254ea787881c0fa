//! Discount amounts for the offers of a whole list.
//!
//! For one product [`super::storefront_query::reduction`] checks every discount. A list that is sorted or filtered by
//! price would do so for every offer of the application. Instead, one statement first reads the discounts on
//! categories, including all descendants. They become constants in the text of the statement. There may be as many
//! discounts on items as items, so these are looked up by the index of their targets.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

use chrono::{DateTime, Utc};
use diesel::result::QueryResult;
use kontor_kernel::AppScope;

use super::storefront_query::{in_force, reduction_of_item};
use crate::database::AnyConnection;
use crate::statement::{Statement, by_place};

/// A discount on a category or item: its effect on an offer of at least the minimum.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct DiscountEffect {
    percent: bool,
    value: i64,
    minimum: i64,
}

impl DiscountEffect {
    /// Returns `true` if this discount takes off at least as much as the other one in all cases.
    fn covers(self, other: Self) -> bool {
        self.percent == other.percent && self.value >= other.value && self.minimum <= other.minimum
    }
}

/// Records by the discounts that apply to them.
#[derive(Debug, Default)]
struct DiscountsByRecord(BTreeMap<BTreeSet<DiscountEffect>, Vec<i64>>);

impl DiscountsByRecord {
    fn new(of_records: BTreeMap<i64, BTreeSet<DiscountEffect>>) -> Self {
        let mut groups: BTreeMap<BTreeSet<DiscountEffect>, Vec<i64>> = BTreeMap::new();
        for (id, cuts) in of_records {
            let idle = |cut: &DiscountEffect| !cuts.iter().any(|other| other != cut && other.covers(*cut));
            groups.entry(cuts.iter().copied().filter(idle).collect()).or_default().push(id);
        }
        Self(groups)
    }

    fn records(&self) -> String {
        list(self.0.values().flatten())
    }

    /// Returns the expression for the amount taken off `o`; `column` is the column with the id of the record. With many
    /// different discounts, the expression is a binary search instead of a sequence of comparisons.
    fn expression(&self, column: &str, words: &Words) -> String {
        if self.0.is_empty() {
            return "0".to_owned();
        }
        if self.0.len() > MAX_COMPARED {
            let mut text = String::new();
            branch(&mut text, column, &self.runs(words));
            return text;
        }
        let mut text = format!("CASE WHEN {column} IN ({}) THEN CASE", self.records());
        for (cuts, records) in &self.0 {
            let amounts: Vec<String> = cuts.iter().map(|cut| words.amount(*cut)).collect();
            let _ = write!(text, " WHEN {column} IN ({}) THEN {}", list(records), words.largest(&amounts));
        }
        text + " END ELSE 0 END"
    }

    /// Returns the records by id; adjacent ones with the same discounts are combined.
    fn runs(&self, words: &Words) -> Vec<Run> {
        let mut records: Vec<(i64, String)> = Vec::new();
        for (cuts, ids) in &self.0 {
            let amounts: Vec<String> = cuts.iter().map(|cut| words.amount(*cut)).collect();
            let amount = words.largest(&amounts);
            records.extend(ids.iter().map(|id| (*id, amount.clone())));
        }
        records.sort_unstable();
        let mut runs: Vec<Run> = Vec::new();
        for (id, amount) in records {
            match runs.last_mut() {
                Some(run) if run.amount == amount => run.ids.push(id),
                _ => runs.push(Run { first: id, ids: vec![id], amount }),
            }
        }
        runs
    }
}

/// Maximum different discounts that are compared one after the other.
const MAX_COMPARED: usize = 16;

struct Run {
    first: i64,
    ids: Vec<i64>,
    amount: String,
}

/// Writes a binary search: halves the runs until one is left.
fn branch(text: &mut String, column: &str, runs: &[Run]) {
    let (left, right) = runs.split_at(runs.len() / 2);
    match (left, right) {
        ([_, ..], [middle, ..]) => {
            let _ = write!(text, "CASE WHEN {column} < {} THEN ", middle.first);
            branch(text, column, left);
            text.push_str(" ELSE ");
            branch(text, column, right);
            text.push_str(" END");
        }
        (_, [run, ..]) => {
            let _ = write!(text, "CASE WHEN {column} IN ({}) THEN {} ELSE 0 END", list(&run.ids), run.amount);
        }
        (_, []) => text.push('0'),
    }
}

fn list<'a>(ids: impl IntoIterator<Item = &'a i64>) -> String {
    ids.into_iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
}

/// SQL functions for the larger and the smaller of two numbers.
#[derive(Debug, Clone, Copy)]
struct Words {
    larger: &'static str,
    smaller: &'static str,
}

impl Words {
    fn of(connection: &AnyConnection) -> Self {
        if connection.is_postgres() {
            Self { larger: "greatest", smaller: "least" }
        } else {
            Self { larger: "max", smaller: "min" }
        }
    }

    /// Returns the amount, rounded half up as for an order of one unit.
    fn amount(&self, cut: DiscountEffect) -> String {
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
            // A function takes a limited number of arguments.
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
        kind: String,
        value: i64,
        minimum: i64,
        target: String,
        id: i64,
    }
}

/// Selects every discount in force on a category with every category it reaches, and whether there are any on items.
/// UNION instead of UNION ALL: it ends even if the categories form a cycle.
fn reach(app: AppScope, at: DateTime<Utc>) -> Statement {
    Statement::new(
        "WITH RECURSIVE reach (kind, value, minimum, target, id) AS (SELECT d.kind, d.value, d.minimum_sum, d.target, \
         d.target_id FROM discounts d WHERE ",
    )
    .then(in_force(app, at))
    .sql(
        " AND d.target = 'category' UNION SELECT r.kind, r.value, r.minimum, r.target, c.id FROM reach r \
         JOIN categories c ON c.parent_id = r.id AND c.project_id = ",
    )
    .value(app.project_id.get())
    .sql(") SELECT kind, value, minimum, target, id FROM reach UNION ALL SELECT '', 0, 0, 'product', 0 WHERE EXISTS (")
    .then(reduced_items(app, at))
    .sql(")")
}

fn reduced_items(app: AppScope, at: DateTime<Utc>) -> Statement {
    Statement::new("SELECT d.target_id FROM discounts d WHERE ")
        .then(in_force(app, at))
        .sql(" AND d.target = 'product'")
}

/// Discounts of one project in force at one time.
#[derive(Debug)]
pub(super) struct ActiveDiscounts {
    app: AppScope,
    at: DateTime<Utc>,
    categories: DiscountsByRecord,
    items: bool,
    words: Words,
}

impl ActiveDiscounts {
    /// Loads the discounts with one statement; `None` when no discount is in force.
    pub fn load(connection: &mut AnyConnection, app: AppScope, at: DateTime<Utc>) -> QueryResult<Option<Self>> {
        let rows: Vec<ReachRow> = reach(app, at).rows(connection)?;
        if rows.is_empty() {
            return Ok(None);
        }
        let (mut categories, mut items) = (BTreeMap::<i64, BTreeSet<DiscountEffect>>::new(), false);
        for row in rows {
            if row.target == "category" {
                let cut = DiscountEffect { percent: row.kind == "percent", value: row.value, minimum: row.minimum };
                categories.entry(row.id).or_default().insert(cut);
            } else {
                items = true;
            }
        }
        Ok(Some(Self { app, at, categories: DiscountsByRecord::new(categories), items, words: Words::of(connection) }))
    }

    /// Returns `true` if there are discounts on categories.
    pub fn has_category_discounts(&self) -> bool {
        !self.categories.0.is_empty()
    }

    /// Returns only the discounts on items.
    pub fn of_items(&self) -> Self {
        Self { categories: DiscountsByRecord::default(), ..*self }
    }

    /// Amount taken off one unit of the offer `o`.
    pub fn amount(&self) -> Statement {
        let on_category = || Statement::new(self.categories.expression("o.category_id", &self.words)).once();
        let on_item = || reduction_of_item(self.app, self.at);
        match (self.has_category_discounts(), self.items) {
            (false, true) => on_item(),
            (_, false) => on_category(),
            (true, true) => {
                Statement::new(self.words.larger).sql("(").then(on_category()).sql(", ").then(on_item()).sql(")")
            }
        }
    }

    /// Returns three conditions, of which every offer `o` meets exactly one. Each uses an index:
    /// - no discount applies
    /// - a discount applies to its category
    /// - a discount applies to the item only
    pub fn parts(&self) -> [Statement; 3] {
        let nothing = || Statement::new("NULL");
        let records = self.categories.records();
        let categories = if records.is_empty() { nothing() } else { Statement::new(records).once() };
        let items = if self.items { reduced_items(self.app, self.at) } else { nothing() };
        let category = Statement::new("o.category_id IN (").then(categories).sql(")");
        let item = Statement::new("o.nomenclature_id IN (").then(items).sql(")");
        let not = |condition: &Statement| Statement::new("(").then(condition.clone()).sql(") IS NOT TRUE");
        [not(&category).sql(" AND ").then(not(&item)), category.clone(), item.sql(" AND ").then(not(&category))]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cut(percent: bool, value: i64, minimum: i64) -> DiscountEffect {
        DiscountEffect { percent, value, minimum }
    }

    #[test]
    fn only_what_can_be_the_best_is_asked() {
        let records = BTreeMap::from([
            (1, BTreeSet::from([cut(true, 500, 0), cut(true, 1_000, 0), cut(true, 900, 100)])),
            (2, BTreeSet::from([cut(true, 1_000, 0)])),
            (3, BTreeSet::from([cut(true, 1_000, 0), cut(true, 2_000, 100), cut(false, 70, 0)])),
        ]);
        let cuts = DiscountsByRecord::new(records);
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

    /// Returns the number of alternatives in the longest part of a text, and its nesting depth.
    fn shape(text: &str) -> (usize, usize) {
        let (mut open, mut longest, mut deepest) = (Vec::<usize>::new(), 0_usize, 0_usize);
        for word in text.split([' ', '(', ')']) {
            match word {
                "CASE" => open.push(0),
                "WHEN" => *open.last_mut().unwrap() += 1,
                "END" => longest = longest.max(open.pop().unwrap()),
                _ => {}
            }
            deepest = deepest.max(open.len());
        }
        (longest, deepest)
    }

    #[test]
    fn many_different_cuts_are_found_by_halving() {
        let words = Words { larger: "max", smaller: "min" };
        let of = |count: i64| {
            let records = (1..=count).map(|id| (2 * id, BTreeSet::from([cut(false, id, 0)])));
            DiscountsByRecord::new(records.collect()).expression("o.x", &words)
        };
        let (thousand, two_thousand) = (of(1_000), of(2_000));
        assert_eq!(shape(&thousand), (1, 11));
        assert_eq!(shape(&two_thousand), (1, 12));
        assert!(two_thousand.len() < thousand.len() * 21 / 10, "{} {}", thousand.len(), two_thousand.len());
        assert!(shape(&of(16)).0 <= 16);
        for id in [1, 777, 1_000] {
            assert!(thousand.contains(&format!("CASE WHEN o.x IN ({}) THEN min(o.price, {id}) ELSE 0 END", 2 * id)));
        }
        // Neighbours with the same discounts share one branch.
        let pairs = (0..40).map(|id| (id, BTreeSet::from([cut(false, id / 2 + 1, 0)])));
        let text = DiscountsByRecord::new(pairs.collect()).expression("o.x", &words);
        assert!(text.contains("WHEN o.x IN (38, 39) THEN min(o.price, 20) ELSE 0 END"), "{text}");
    }
}
