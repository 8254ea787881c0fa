//! Subscriptions from the first checkout on, on both databases.

mod claims;
pub mod club;
mod contract;
mod daily_limits;
mod desk;
mod forecasts;
mod leases;
mod lifecycle;
mod races;
mod restored;
mod waits;
mod worker;
mod years;
