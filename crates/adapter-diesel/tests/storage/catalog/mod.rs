//! The catalogue: what a project sells, where it lies and which application shows it.

mod assortment;
mod cards;
mod records;
mod stock;
mod warehouses;
