//! Storage on both databases.
#![expect(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "tests fail by panicking")]

/// One test on each database for every named check of the module `contract`, with a fixture of its own.
macro_rules! promises {
    ($fixture:ident: $($promise:ident)+) => {
        kontor_adapter_diesel::database_tests! {$(
            async fn $promise(db: TestDatabase) {
                contract::$promise(&$fixture::open(&db).await).await;
            }
        )+}
    };
}

mod agent_action_races;
mod agent_actions;
mod agents;
mod approval_mails;
mod auth;
mod auth_contract;
mod branches;
mod callback;
mod catalog;
mod collation;
mod content;
mod content_contract;
mod contracts;
mod customer_contract;
mod customers;
mod demo_data;
mod disk;
mod employee_records;
mod expansion;
mod export_rows;
mod exports;
mod favourites;
mod files;
mod fixtures;
mod group_commit;
mod holder;
mod idempotency;
mod import;
mod import_columns;
mod interleavings;
mod introspection;
mod invalidation;
mod job_authors;
mod jobs;
mod login;
mod messages;
mod migrations;
mod offers;
mod orders;
mod organization;
mod organization_contract;
mod outages;
mod parsed_types;
mod payment_types;
mod payments;
mod prices;
mod profile;
mod project_move;
mod references;
mod rehearsals;
mod round_trip;
mod rows_of_one_project;
mod search;
mod search_at_scale;
mod sessions;
mod shelving;
mod staff;
mod staff_access;
mod staff_passwords;
mod stock;
mod storefront;
mod subscriptions;
mod task_mails;
mod tls;
mod transactions;
mod unknown_words;
mod unreadable;
mod upkeep;
mod versions;
mod webhook_contract;
mod webhook_shares;
mod webhooks;
mod without_project;

use kontor_adapter_diesel::testing::stock_fixture;
