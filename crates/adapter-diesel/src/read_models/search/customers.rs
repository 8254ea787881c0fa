//! Search text and sort keys of customers, updated in the transactions that write their records.

use diesel::QueryResult;
use kontor_catalog::model::{SearchQuery, SearchText};
use kontor_customers::model::title;
use kontor_kernel::{Line, Phone, ProjectId, StoreError};

use super::found::MAX_FOUND;
use super::terms::{Grams, conditions_by_grams, document, expression};
use crate::collation::sort_key;
use crate::database::{Abort, AnyConnection, repeat_until_zero};
use crate::decode;
use crate::statement::{Statement, by_place};

by_place! {
    struct CustomerRow {
        id: i64,
        project_id: i64,
        name: Option<String>,
        last_name: Option<String>,
        first_name: Option<String>,
        middle_name: Option<String>,
        phone_1: Option<String>,
        phone_2: Option<String>,
        email: Option<String>,
        inn: Option<String>,
        deleted_at: Option<chrono::NaiveDateTime>,
    }
}

const COLUMNS: &str = "SELECT id, project_id, name, last_name, first_name, middle_name, phone_1, phone_2, email, inn, \
                       deleted_at FROM counterparties WHERE ";

by_place! {
    struct ContactRow {
        customer: i64,
        value: String,
    }
}

impl CustomerRow {
    fn title(&self) -> String {
        let names = [self.last_name.as_deref(), self.first_name.as_deref(), self.middle_name.as_deref()];
        title(self.name.as_deref(), names, [self.phone_1.as_deref(), self.email.as_deref()])
    }

    fn found_by<'a>(&'a self, contacts: impl Iterator<Item = &'a str>) -> SearchText {
        if self.deleted_at.is_some() {
            return SearchText::of_texts([]);
        }
        let texts = [
            &self.name,
            &self.last_name,
            &self.first_name,
            &self.middle_name,
            &self.phone_1,
            &self.phone_2,
            &self.email,
            &self.inn,
        ];
        SearchText::of_texts(texts.into_iter().filter_map(Option::as_deref).chain(contacts))
    }
}

/// Updates search text and sort key of a customer. Every transaction that writes names, contacts or numbers of a
/// customer calls this.
pub(crate) fn index_customer<R>(connection: &mut AnyConnection, customer: i64) -> Result<(), Abort<R>> {
    let rows = Statement::new(format!("{COLUMNS}id = ")).value(customer).rows(connection)?;
    note(connection, rows)
}

fn note<R>(connection: &mut AnyConnection, rows: Vec<CustomerRow>) -> Result<(), Abort<R>> {
    if rows.is_empty() {
        return Ok(());
    }
    let ids: Vec<i64> = rows.iter().map(|row| row.id).collect();
    let contacts: Vec<ContactRow> =
        Statement::new("SELECT counterparty_id, value FROM counterparty_contacts WHERE counterparty_id")
            .among(&ids)
            .rows(connection)?;
    let mut entries: Vec<(&CustomerRow, SearchText)> = Vec::with_capacity(rows.len());
    for row in &rows {
        let own = contacts.iter().filter(|contact| contact.customer == row.id).map(|contact| contact.value.as_str());
        entries.push((row, row.found_by(own)));
    }
    let values = entries
        .iter()
        .map(|(row, text)| [row.id.into(), text.line().into(), sort_key(&row.title()).into(), row.project_id.into()]);
    let update =
        Statement::new("UPDATE counterparties SET search_text = v.column2, sort_key = v.column3 FROM (VALUES ")
            .tuples(values)
            .sql(") AS v WHERE counterparties.id = v.column1 AND counterparties.project_id = v.column4");
    // One customer is the common case, and stays prepared.
    if rows.len() == 1 { update } else { update.once() }.run(connection)?;
    if connection.is_postgres() {
        return Ok(());
    }
    Statement::new("DELETE FROM counterparty_search WHERE rowid").among(&ids).run(connection)?;
    let mut grams = Vec::with_capacity(entries.len());
    for (row, text) in entries.iter().filter(|(_, text)| !text.words().is_empty()) {
        grams.push((row.id, document(decode::id(row.project_id)?, text, Grams::Names)));
    }
    if grams.is_empty() {
        return Ok(());
    }
    let insert = Statement::new("INSERT INTO counterparty_search (rowid, grams) VALUES ")
        .tuples(grams.into_iter().map(|(id, grams)| [id.into(), grams.into()]));
    if rows.len() == 1 { insert } else { insert.once() }.run(connection)?;
    Ok(())
}

/// Fills in missing search texts and sort keys of customers. Each batch is one transaction, unless a transaction is
/// open; the next run continues with the rest.
pub(crate) fn fill_customers(connection: &mut AnyConnection) -> Result<(), Abort<StoreError>> {
    repeat_until_zero(connection, |connection| {
        let missing = format!("{COLUMNS}search_text IS NULL ORDER BY id LIMIT 200");
        let rows: Vec<CustomerRow> = Statement::new(missing).rows(connection)?;
        let count = rows.len();
        note(connection, rows)?;
        Ok(count)
    })
}

/// Returns the number in a text, with or without a sign before it; 0 if there is none.
pub(crate) fn number_in(text: &str) -> i64 {
    text.trim().trim_start_matches(['#', '№']).trim().parse().unwrap_or_default()
}

/// Maximum customers that are found individually. Of more, the newest are searched from the end. That reads all index
/// entries backwards and takes several times as long.
const MAX_FOUND_SINGLY: usize = 1_000;

/// Returns the end of a condition on a column with a customer id. It matches the newest customers of a project that the
/// text finds, at most [`MAX_FOUND`], and the customer with that id. A phone is found in any notation.
pub(crate) fn customers_found(
    connection: &mut AnyConnection,
    project: ProjectId,
    text: &Line<255>,
) -> QueryResult<Statement> {
    customers_named(connection, project, text, number_in(text))
}

/// The same, with an id that is known already.
pub(crate) fn customers_named(
    connection: &mut AnyConnection,
    project: ProjectId,
    text: &Line<255>,
    number: i64,
) -> QueryResult<Statement> {
    let phone = Phone::parse(text).ok().and_then(|phone| Line::parse(&phone).ok());
    let texts = [Some(text), phone.as_ref()].into_iter().flatten();
    let mut queries: Vec<SearchQuery> = texts.map(SearchQuery::of).filter(|query| !query.terms().is_empty()).collect();
    queries.dedup();
    let mut numbers = vec![number];
    let mut many = Vec::new();
    for query in &queries {
        let few = if connection.is_postgres() { None } else { find_few(connection, project, query)? };
        match few {
            Some(few) => numbers.extend(few),
            None => many.push(find_newest(connection, project, query)),
        }
    }
    if many.is_empty() {
        return Ok(Statement::default().among(&numbers));
    }
    let known = Statement::new(" IN (SELECT id FROM counterparties WHERE id").among(&numbers);
    Ok(many.into_iter().fold(known, |all, newest| all.sql(" UNION ").then(newest)).sql(")"))
}

/// Returns the customers that a query finds, unless they are more than [`MAX_FOUND_SINGLY`].
fn find_few(connection: &mut AnyConnection, project: ProjectId, query: &SearchQuery) -> QueryResult<Option<Vec<i64>>> {
    let ids: Vec<i64> = Statement::new("SELECT rowid AS id FROM counterparty_search WHERE counterparty_search MATCH ")
        .value(expression(project, query, Grams::Names))
        .sql(format!(" LIMIT {}", MAX_FOUND_SINGLY + 1))
        .scalars(connection)?;
    Ok((ids.len() <= MAX_FOUND_SINGLY).then_some(ids))
}

fn find_newest(connection: &AnyConnection, project: ProjectId, query: &SearchQuery) -> Statement {
    if connection.is_postgres() {
        Statement::new("SELECT id FROM (SELECT s.id FROM counterparties s WHERE s.project_id = ")
            .value(project.get())
            .sql(format!(" AND {}", conditions_by_grams(project, "s", query)))
            .sql(format!(" ORDER BY s.id DESC LIMIT {MAX_FOUND}) AS found"))
            .once()
    } else {
        Statement::new("SELECT rowid FROM (SELECT rowid FROM counterparty_search WHERE counterparty_search MATCH ")
            .value(expression(project, query, Grams::Names))
            .sql(format!(" ORDER BY rowid DESC LIMIT {MAX_FOUND})"))
    }
}
