//! The ledger of stock.

mod books;
mod doctor;
mod movements;
mod races;
mod sources;
