//! Contract of spreadsheets.

use kontor_catalog::testing::contract::sheets::{self as contract, Fixture};

use crate::fixtures::EmptyDatabase;

impl Fixture for EmptyDatabase<'_> {}

promises! {
    EmptyDatabase:
    a_sheet_is_written_whole_or_not_at_all
    an_article_is_imported_once
    foreign_items_are_not_imported
    items_are_read_in_pages
    a_part_is_written_with_its_step
    a_part_of_stock_is_written_with_its_step
    stock_is_uploaded_whole_or_not_at_all
    stock_is_uploaded_once
    stock_of_foreign_records_is_not_uploaded
    exported_stock_uploads_unchanged
    a_column_map_belongs_to_a_project_and_a_kind
}
