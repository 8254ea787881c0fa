//! Subscriptions from the first checkout on, on both databases.

mod claims;
mod contract;
mod daily_limits;
pub mod fixture;
mod forecasts;
mod leases;
mod lifecycle;
mod races;
mod restored;
mod staff_subscriptions;
mod waits;
mod worker;
mod years;
