//! The ledger of stock.

pub mod books;
mod doctor;
mod last_pieces;
mod movements;
mod races;
mod sources;
