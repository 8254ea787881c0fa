//! Order of an application's assortment.

use diesel::prelude::*;
use kontor_catalog::model::MoveDirection;

use crate::database::AnyConnection;
use crate::statement::{Statement, by_place};

/// Outcome of moving a record.
pub(super) enum MoveOutcome {
    /// The application does not show the record.
    NotShown,
    /// The record is at the end already.
    AtEnd,
    /// The record changed places with this one.
    SwappedWith(i64),
}

/// Table with the records that an application shows, and their order.
pub(super) struct Links {
    /// Table, keyed by `application_id` and `item`.
    pub table: &'static str,
    /// Column with the id of the record.
    pub item: &'static str,
    /// Column with the position of the record.
    pub place: &'static str,
    /// `true` if the lowest position comes first, `false` if the highest does.
    pub lowest_first: bool,
}

by_place! {
    struct SpotRow {
        place: i64,
        neighbour: Option<i64>,
        neighbour_place: Option<i64>,
    }
}

impl Links {
    fn order(&self) -> String {
        let direction = if self.lowest_first { "ASC" } else { "DESC" };
        format!("ORDER BY {} {direction}, {}", self.place, self.item)
    }

    /// Returns the position of a record and its neighbour.
    fn position_and_neighbour(
        &self,
        connection: &mut AnyConnection,
        application: i64,
        id: i64,
        shift: MoveDirection,
    ) -> QueryResult<Option<SpotRow>> {
        let Self { table, item, place, .. } = self;
        let beside = match shift {
            MoveDirection::Up => "LAG",
            MoveDirection::Down => "LEAD",
        };
        let order = self.order();
        let spot = Statement::new(format!(
            "SELECT place, neighbour, neighbour_place FROM (SELECT {item} AS item, {place} AS place, \
             {beside}({item}) OVER ({order}) AS neighbour, {beside}({place}) OVER ({order}) AS neighbour_place \
             FROM {table} WHERE application_id = "
        ))
        .value(application)
        .sql(") AS shown WHERE item = ")
        .value(id);
        Ok(spot.rows(connection)?.pop())
    }

    /// Swaps a record with its neighbour, if it has one. The caller has locked the application.
    pub fn shift(
        &self,
        connection: &mut AnyConnection,
        application: i64,
        id: i64,
        shift: MoveDirection,
    ) -> QueryResult<MoveOutcome> {
        let Some(mut spot) = self.position_and_neighbour(connection, application, id, shift)? else {
            return Ok(MoveOutcome::NotShown);
        };
        if spot.neighbour_place == Some(spot.place) {
            self.spread(connection, application)?;
            let Some(spread) = self.position_and_neighbour(connection, application, id, shift)? else {
                return Ok(MoveOutcome::NotShown);
            };
            spot = spread;
        }
        let (Some(neighbour), Some(place)) = (spot.neighbour, spot.neighbour_place) else {
            return Ok(MoveOutcome::AtEnd);
        };
        let Self { table, item, place: column, .. } = self;
        Statement::new(format!("UPDATE {table} SET version = version + 1, {column} = CASE {item} WHEN "))
            .value(id)
            .sql(" THEN ")
            .value(place)
            .sql(" ELSE ")
            .value(spot.place)
            .sql(" END WHERE application_id = ")
            .value(application)
            .sql(format!(" AND {item}"))
            .among(&[id, neighbour])
            .run(connection)?;
        Ok(MoveOutcome::SwappedWith(neighbour))
    }

    /// Assigns a distinct position to every record, keeping the order.
    fn spread(&self, connection: &mut AnyConnection, application: i64) -> QueryResult<()> {
        let Self { table, item, place, lowest_first } = self;
        let sign = if *lowest_first { "" } else { "-" };
        let order = self.order();
        Statement::new(format!(
            "UPDATE {table} SET version = {table}.version + 1, {place} = {sign}spread.place FROM (SELECT {item} AS item, \
             ROW_NUMBER() OVER ({order}) AS place FROM {table} WHERE application_id = "
        ))
        .value(application)
        .sql(format!(") AS spread WHERE {table}.{item} = spread.item AND {table}.application_id = "))
        .value(application)
        .run(connection)?;
        Ok(())
    }
}
